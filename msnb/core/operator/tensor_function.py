"""`mindspore.tensor` of MindSpore 2, a function; in r1.1 that name is the type of Tensors."""

from typing import Any

from msnb import log
from msnb.common import dtype as mstype
from msnb.core.operator.api_generations import replaces_in_api2
from msnb.core.tensor.tensor import Tensor


@replaces_in_api2(mstype.tensor, "it is a function that makes a Tensor, and not the type of Tensors", "msnb")
def tensor(
    input_data: Any = None,
    dtype: mstype.Type | None = None,
    shape: Any = None,
    init: Any = None,
    const_arg: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return a Tensor, see `Tensor`.

    Args:
        input_data (Union[Tensor, float, int, bool, tuple, list, numpy.ndarray]): Its values. Default: None.
        dtype (mindspore.dtype): Its element type. Default: None, that of `input_data`.
        shape (Union[tuple, list, int]): Its shape, where `init` gives the values. Default: None.
        init (Initializer): Computes the values. Default: None.
        const_arg (bool): True if a graph takes it as a constant; no effect. Default: False.
        device (str): No effect: every Tensor is on the device of the context. Default: None.

    Returns:
        Tensor.
    """
    log.unused("tensor", "what a graph takes as a constant is decided by how it is used", const_arg=const_arg)
    log.unused("tensor", "every Tensor is on the device of the context", device=device is not None)
    return Tensor(input_data, dtype, shape, init)
