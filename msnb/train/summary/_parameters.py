"""Which Parameters a training records."""

from collections.abc import Iterable, Iterator

from msnb import log
from msnb.core.tensor.parameter import Parameter
from msnb.parallel.modes.multiprocess_mesh import is_locally_available


def recorded(parameters: Iterable[Parameter]) -> Iterator[Parameter]:
    """Those of which there is a histogram to be had: what is no single number, and whose values this process has."""
    for parameter in parameters:
        if not is_locally_available(parameter._array):
            log.once("Of Parameters that lie on devices of several processes no histograms are recorded.")
        elif parameter.shape:
            yield parameter
