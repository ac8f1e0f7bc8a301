"""Special functions of mint."""

from msnb.core.tensor.tensor import Tensor
from msnb.mint._rows import with_float_input
from msnb.mint.nn.functional import log_softmax
from msnb.ops import functional as F

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]

erfc, exp2, expm1, log1p, sinc = map(with_float_input, ("erfc", "exp2", "expm1", "log1p", "sinc"))


def round(input: Tensor) -> Tensor:
    """Round to the nearest integer; halves are rounded to the even integer.

    Args:
        input (Tensor): Numbers.

    Returns:
        Tensor.
    """
    return F.round(input)
