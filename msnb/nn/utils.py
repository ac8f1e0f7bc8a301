"""`no_init_parameters`: networks whose Parameters have their first values later."""

from collections.abc import Iterator
from contextlib import contextmanager

from msnb.common.initializer import delaying

__all__ = ["no_init_parameters"]


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """
    Within, networks are made whose Parameters know their shape and type alone, and take no memory: those that an
    `initializer` is to fill. What is made of an array, as recurrent layers are, is there at once.

    They get the values of a checkpoint that is loaded, or their first values when somebody needs them: a program that
    runs, whoever reads them, or `Cell.init_parameters_data`. Random ones are drawn then, in that order. Before, such a
    network can be traced, looked at and planned (`msnb.parallel.plan`), however large it is. Where
    several processes run a program as one, each keeps only its part of what it fills.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> from mindspore.nn.utils import no_init_parameters
        >>> with no_init_parameters():
        ...     net = nn.Dense(65536, 65536)
        >>> net.weight.shape
        (65536, 65536)
    """
    with delaying():
        yield
