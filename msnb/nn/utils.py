"""`no_init_parameters`: networks whose Parameters are to be loaded."""

from collections.abc import Iterator
from contextlib import contextmanager

from msnb import log

__all__ = ["no_init_parameters"]


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """
    Within, Parameters need no first value, since a checkpoint is loaded afterwards. Here they have one all the same:
    what is not in the checkpoint starts as it would without, and `init_parameters_data` has nothing to do.

    Examples:
        >>> from mindspore.nn.utils import no_init_parameters
        >>> with no_init_parameters():
        ...     net = nn.Dense(3, 2)
    """
    log.once("no_init_parameters() has no effect: Parameters have their first values at once.")
    yield
