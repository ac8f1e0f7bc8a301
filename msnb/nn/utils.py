"""`no_init_parameters`: delayed initialization of Parameters."""

from collections.abc import Iterator
from contextlib import contextmanager

from msnb.common.initializer import delaying

__all__ = ["no_init_parameters"]


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """
    Context in which an `initializer` delays the values of Parameters: they have shape and dtype, but take no memory.
    Parameters created from an array, as in recurrent layers, are not delayed.

    The values come from a checkpoint that is loaded, or from the initializer at the first use: when a program runs,
    when a Parameter is read, or in `Cell.init_parameters_data`. Random values are drawn at the first use, in the order
    of use. Before, such a network can be traced, viewed and planned (`msnb.parallel.plan`), however large it is. If
    several processes run one program, each process fills only its own shards.

    Examples:
        >>> from mindspore.nn.utils import no_init_parameters
        >>> with no_init_parameters():
        ...     net = nn.Dense(65536, 65536)
        >>> net.weight.shape
        (65536, 65536)
    """
    with delaying():
        yield
