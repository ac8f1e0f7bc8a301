"""Conversion of floating point numbers to int8 and back, for running a quantised network with real integers."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, OneOf, StrictFloat
from msnb.core.operator.cases import F, I, U, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._upcast import widened
from msnb.ops.nn.norm.batch_norm import check_channels, column

_SUMS = frozenset((np.dtype("int32"),))
_SCALES = _check.FLOAT | {np.dtype("uint64")}
_ROUND = {"Round": jnp.round, "Floor": jnp.floor, "Ceil": jnp.ceil, "Trunc": jnp.trunc}


@operator
def Quant(
    input_x, *, scale: StrictFloat, offset: StrictFloat, sqrt_mode: Bool = False, round_mode: OneOf(*_ROUND) = "Round"
):
    """round(x * scale + offset) as int8, clipped to [-128, 127].

    Args:
        scale (float): the reciprocal of the value of one integer step.
        offset (float): the integer that represents 0.
        sqrt_mode (bool): whether `scale` is the square root of the factor to multiply by. Default: False.
        round_mode (str): "Round" (halves to even), "Floor", "Ceil" or "Trunc". Default: "Round".

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor of the shape of `input_x`, int8.

    Raises:
        TypeError: If `input_x` is not a float Tensor.

    Examples:
        >>> from mindspore.ops.operations import _inner_ops as inner
        >>> print(inner.Quant(10.0, 3.0)(Tensor([0.0, 1.04, 100.0], mindspore.float32)))
        [  3  13 127]
    """
    _check.dtype_in("Quant", "input_x", input_x, _check.FLOAT)
    factor = scale * scale if sqrt_mode else scale
    return jnp.clip(_ROUND[round_mode](widened(input_x) * factor + offset), -128, 127).astype(jnp.int8)


@operator
def Dequant(input_x, deq_scale, *, sqrt_mode: Bool = False, relu_flag: Bool = False, dtype: DType = mstype.float16):
    """x * deq_scale: convert sums of integer products to floating point.

    Args:
        sqrt_mode (bool): whether `deq_scale` is the square root of the factor to multiply by. Default: False.
        relu_flag (bool): whether negative results become 0. Default: False.
        dtype (:class:`mindspore.dtype`): the element type of the result. Default: mindspore.float16.

    Inputs:
        - **input_x** (Tensor) - (N, C, ...), int32.
        - **deq_scale** (Tensor) - one value, or one value per channel, (C,): floats, or uint64 whose lower 32 bits are
          those of a float32.

    Outputs:
        Tensor of the shape of `input_x`.

    Raises:
        TypeError: If `input_x` is not int32, or `deq_scale` neither float nor uint64.
        ValueError: If `deq_scale` has another number of values.

    Examples:
        >>> from mindspore.ops.operations import _inner_ops as inner
        >>> x, scale = Tensor([[100, -4]], mindspore.int32), Tensor([0.5], mindspore.float32)
        >>> print(inner.Dequant()(x, scale))
        [[50. -2.]]
    """
    _check.dtype_in("Dequant", "input_x", input_x, _SUMS)
    _check.dtype_in("Dequant", "deq_scale", deq_scale, _SCALES)
    if deq_scale.dtype == jnp.uint64:
        deq_scale = lax.bitcast_convert_type(deq_scale.astype(jnp.uint32), jnp.float32)
    if deq_scale.size == 1:
        factor = widened(deq_scale).reshape(())
    else:
        if input_x.ndim < 2:
            raise ValueError(f"For 'Dequant', 'input_x' should have a scale a channel, but got shape {input_x.shape}.")
        check_channels("Dequant", input_x.shape[1], deq_scale=deq_scale)
        factor = column(deq_scale, input_x, 1)
    y = input_x.astype(jnp.float32) * (factor * factor if sqrt_mode else factor)
    return (jnp.maximum(y, 0) if relu_flag else y).astype(mstype.np_dtype(dtype))


_FEW = "the result is float16 or float32, whatever comes in"

CASES = [
    case(Quant, F(4, 3), scale=40.0, offset=3.0),
    case(Quant, F(4, 3), scale=4.0, offset=0.0, sqrt_mode=True, round_mode="Floor"),
    case(Dequant, I(4, 3), U(3)).without("differences", _FEW),
    case(Dequant, I(4, 3), Values([0.5]), sqrt_mode=True, relu_flag=True, dtype=mstype.float32).without(
        "differences", _FEW
    ),
    refused(TypeError, Quant, I(4, 3), scale=4.0, offset=0.0),
    refused(ValueError, Quant, scale=4.0, offset=0.0, round_mode="Away"),
    refused(TypeError, Dequant, F(4, 3), U(3)),
    refused(ValueError, Dequant, I(4, 3), U(2)),
]
