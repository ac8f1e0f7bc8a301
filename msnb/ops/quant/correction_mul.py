"""Weights with batch normalisation folded into them."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import NonNegInt
from msnb.core.operator.cases import F, U, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._upcast import in_float32, widened
from msnb.ops.quant._grid import columns


@operator
def CorrectionMul(x, batch_std, running_std, *, channel_axis: NonNegInt = 0):
    """x * batch_std / running_std, each standard deviation with one value per channel: fold batch normalisation into
    weights.

    To fold weights, pass the gamma of the normalisation as `batch_std`.

    Args:
        channel_axis (int): the axis of the channels. Default: 0.

    Inputs:
        - **x** (Tensor) - any shape, float.
        - **batch_std** (Tensor) - (C,).
        - **running_std** (Tensor) - (C,); gets no gradient.

    Outputs:
        Tensor, shape and type of `x`.

    Raises:
        TypeError: If `x` is not a float Tensor.
        ValueError: If another input does not have one value per channel.

    Examples:
        >>> from mindspore.ops.operations import _quant_ops as Q
        >>> weight = Tensor([[1.0, 2.0], [3.0, 4.0]], mindspore.float32)
        >>> gamma, std = Tensor([1.0, 0.5], mindspore.float32), Tensor([2.0, 1.0], mindspore.float32)
        >>> print(Q.CorrectionMul()(weight, gamma, std))
        [[0.5 1. ]
         [1.5 2. ]]
    """
    _check.dtype_in("CorrectionMul", "x", x, _check.FLOAT)
    batch_std, running_std = columns(
        "CorrectionMul", x, channel_axis, batch_std=batch_std, running_std=lax.stop_gradient(running_std)
    )
    return (widened(x) * (batch_std / running_std)).astype(x.dtype)


@operator
@in_float32
def CorrectionMulGrad(dout, x, gamma, running_std, *, channel_axis: NonNegInt = 0):
    """Gradients of CorrectionMul with respect to `x` and `batch_std`. The argument `gamma` is that `batch_std`."""
    op = "CorrectionMulGrad"
    _check.same_shape(op, dout=dout, x=x)
    gamma, running_std = columns(op, x, channel_axis, gamma=gamma, running_std=running_std)
    return dout * (gamma / running_std), _sum_per_channel(dout * x / running_std, channel_axis)


@operator
@in_float32
def CorrectionMulGradReduce(mul_dx, *, channel_axis: NonNegInt = 0):
    """Return the sum over each channel, of shape (C,)."""
    _check.axis_in("CorrectionMulGradReduce", channel_axis, mul_dx.ndim, "channel_axis")
    return _sum_per_channel(mul_dx, channel_axis)


def _sum_per_channel(each, axis):
    return jnp.sum(each, tuple(i for i in range(each.ndim) if i != axis))


_STD = U(3, low=0.5, high=2)
_STAYING = "no gradient reaches the running deviation"

CASES = [
    case(CorrectionMul, F(3, 4), F(3), _STD).without("differences", _STAYING),
    case(CorrectionMul, F(2, 3, 2), F(3), _STD, channel_axis=1).without("differences", _STAYING),
    case(CorrectionMulGrad, F(3, 4), F(3, 4), F(3), _STD),
    case(CorrectionMulGradReduce, F(3, 4)),
    refused(ValueError, CorrectionMul, F(2, 4), F(3), _STD),
    refused(ValueError, CorrectionMul, F(3, 4), F(3), _STD, channel_axis=2),
]
