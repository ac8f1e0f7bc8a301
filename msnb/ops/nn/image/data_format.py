"""Conversion of axis indices between data formats."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import OneOf
from msnb.core.operator.cases import I, case
from msnb.core.operator.declare import operator
from msnb.ops import _check


@operator
def DataFormatDimMap(
    input_x, *, src_format: OneOf("NHWC", "NCHW") = "NHWC", dst_format: OneOf("NHWC", "NCHW") = "NCHW"
):
    """Convert axis indices of the layout `dst_format` to indices of the same axes in the layout `src_format`.

    Args:
        src_format (str): "NHWC" or "NCHW". Default: "NHWC".
        dst_format (str): "NHWC" or "NCHW". Default: "NCHW".

    Inputs:
        - **input_x** (Tensor) - int32, values in [-4, 4).

    Outputs:
        Tensor, shape and type of `input_x`.

    Examples:
        >>> print(ops.DataFormatDimMap()(Tensor([0, 1, 2, 3], mindspore.int32)))
        [0 3 1 2]
    """
    _check.dtype_in("DataFormatDimMap", "input_x", input_x, _check.SIGNED)
    axes = np.array([src_format.index(letter) for letter in dst_format])
    return jnp.take(jnp.asarray(axes, input_x.dtype), input_x % 4)


CASES = [
    case(DataFormatDimMap, I(3, low=-4, high=4)),
]
