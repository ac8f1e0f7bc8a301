"""Selection of the Parameters that a training records."""

from collections.abc import Iterable, Iterator

from msnb import log
from msnb.core.tensor.parameter import Parameter
from msnb.parallel.modes.multiprocess_mesh import is_locally_available


def select_recorded(parameters: Iterable[Parameter]) -> Iterator[Parameter]:
    """Yield the Parameters that get a histogram: not scalars, and with values in this process."""
    for parameter in parameters:
        if not is_locally_available(parameter._array):
            log.once("Of Parameters that lie on devices of several processes no histograms are recorded.")
        elif parameter.shape:
            yield parameter
