"""Simulated quantisation with a scale that is learned together with the weights (Esser et al., 2020)."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool, NonNegInt
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._upcast import in_float32, widened
from msnb.ops.quant._grid import columns, delayed, one_value

LEAST = 1e-6  # the smallest scale; one nearer to 0 is replaced by it


def _divide_and_round(x, alpha, quant_max, neg_trunc):
    """Return x / alpha, x / alpha rounded to multiples of 1 / quant_max, and a mask of the elements within the
    range."""
    share = x / _replace_small_alpha(alpha)
    within = (share >= (0 if neg_trunc else -1)) & (share <= 1)
    clipped = jnp.clip(share, 0 if neg_trunc else -1, 1)
    return share, jnp.floor(clipped * quant_max + 0.5) / quant_max, within


def _replace_small_alpha(alpha):
    return jnp.where(jnp.abs(alpha) < LEAST, LEAST, alpha)


def _compute_alpha_derivative(share, rounded, within):
    """Return the derivative of the quantised value with respect to `alpha`: rounded - share within the range,
    sign(share) outside.
    """
    return jnp.where(within, rounded - share, jnp.sign(share))


@jax.custom_jvp
def _attach_scale_gradient(x, alpha, value, within, slope):
    """Return `value` with a given gradient: the derivative with respect to `x` is 1 where `within` is True and 0
    elsewhere, and with respect to `alpha` it is `slope`.
    """
    return value


@_attach_scale_gradient.defjvp
def _attach_scale_gradient_jvp(primals, tangents):
    value, within, slope = primals[2:]
    return value, (jnp.where(within, tangents[0], 0) + slope * tangents[1]).astype(value.dtype)


def _fake_quant(op, x, alpha, quant_max, step, quant_delay, neg_trunc):
    wide = widened(x)
    share, rounded, within = _divide_and_round(wide, alpha, quant_max, neg_trunc)
    value = delayed(op, quant_delay, step, rounded * _replace_small_alpha(alpha), wide)
    slope = delayed(op, quant_delay, step, _compute_alpha_derivative(share, rounded, within), jnp.zeros_like(share))
    within = delayed(op, quant_delay, step, within, jnp.ones_like(within))
    return _attach_scale_gradient(wide, alpha, value, within, slope).astype(x.dtype)


def _compute_elementwise_gradients(op, dout, x, alpha, quant_max, step, quant_delay, neg_trunc):
    """Return the gradients with respect to `x` and, before the sum over elements, to `alpha`."""
    _check.same_shape(op, dout=dout, x=x)
    share, rounded, within = _divide_and_round(x, alpha, quant_max, neg_trunc)
    return (
        delayed(op, quant_delay, step, jnp.where(within, dout, 0), dout),
        delayed(op, quant_delay, step, dout * _compute_alpha_derivative(share, rounded, within), jnp.zeros_like(dout)),
    )


def _check_layer_inputs(op, x, alpha, quant_max):
    _check.dtype_in(op, "input_x", x, _check.FLOAT)
    one_value(op, alpha=alpha, quant_max=quant_max)
    return widened(alpha).reshape(()), widened(quant_max).reshape(())


def _check_channel_inputs(op, x, alpha, quant_max, axis):
    _check.dtype_in(op, "input_x", x, _check.FLOAT)
    one_value(op, quant_max=quant_max)
    return columns(op, x, axis, alpha=alpha)[0], widened(quant_max).reshape(())


@operator
def FakeLearnedScaleQuantPerLayer(
    input_x,
    alpha,
    quant_max,
    step=None,
    *,
    quant_delay: NonNegInt = 0,
    neg_trunc: Bool = False,
    training: Bool = True,
):
    """Rounds to multiples of alpha / quant_max between -alpha and alpha, where alpha is learned.

    Args:
        quant_delay (int): number of training steps before rounding begins. Default: 0.
        neg_trunc (bool): whether negative numbers become 0, as for the result of a ReLU. Default: False.
        training (bool): whether `quant_delay` applies. Default: True.

    Inputs:
        - **input_x** (Tensor) - any shape, float.
        - **alpha** (Tensor) - the end of the range, one value.
        - **quant_max** (Tensor) - the largest integer, 127 for 8 bits; one value.
        - **step** (Tensor) - number of steps before this one, one value; required only if `quant_delay` is not 0.

    Outputs:
        Tensor, shape and type of `input_x`. The gradient is passed to `input_x` unchanged within the range. The
        derivative with respect to `alpha` is the rounding error within the range, and the sign of `input_x` outside.

    Raises:
        TypeError: If an input is not a float Tensor.
        ValueError: If `alpha` or `quant_max` has more than one value, or `quant_delay` is set without `step`.

    Examples:
        >>> from mindspore.ops.operations import _quant_ops as Q
        >>> x, alpha = Tensor([-9.0, 0.6, 1.2], mindspore.float32), Tensor([3.0], mindspore.float32)
        >>> print(Q.FakeLearnedScaleQuantPerLayer()(x, alpha, Tensor([3.0], mindspore.float32)))
        [-3.  1.  1.]
    """
    ends = _check_layer_inputs("FakeLearnedScaleQuantPerLayer", input_x, alpha, quant_max)
    delay = quant_delay if training else 0
    return _fake_quant("FakeLearnedScaleQuantPerLayer", input_x, *ends, step, delay, neg_trunc)


@operator
@in_float32
def FakeLearnedScaleQuantPerLayerGrad(
    dout, x, alpha, quant_max, step=None, *, quant_delay: NonNegInt = 0, neg_trunc: Bool = False
):
    """Gradients of FakeLearnedScaleQuantPerLayer with respect to `x` and `alpha`."""
    op = "FakeLearnedScaleQuantPerLayerGrad"
    dx, each = _compute_elementwise_gradients(
        op, dout, x, *_check_layer_inputs(op, x, alpha, quant_max), step, quant_delay, neg_trunc
    )
    return dx, jnp.sum(each).reshape(alpha.shape)


@operator
@in_float32
def FakeLearnedScaleQuantPerLayerGradD(dout, x, alpha, quant_max, *, neg_trunc: Bool = False):
    """FakeLearnedScaleQuantPerLayerGrad without the sum: the gradient of `alpha` still has the shape of `x`."""
    op = "FakeLearnedScaleQuantPerLayerGradD"
    return _compute_elementwise_gradients(
        op, dout, x, *_check_layer_inputs(op, x, alpha, quant_max), None, 0, neg_trunc
    )


@operator
@in_float32
def FakeLearnedScaleQuantPerLayerGradDReduce(dout_alpha):
    """Gradient with respect to `alpha`, of shape (1,): the sum of the second result of
    FakeLearnedScaleQuantPerLayerGradD."""
    return jnp.sum(dout_alpha).reshape(1)


@operator
def FakeLearnedScaleQuantPerChannel(
    input_x,
    alpha,
    quant_max,
    step=None,
    *,
    quant_delay: NonNegInt = 0,
    neg_trunc: Bool = False,
    training: Bool = True,
    channel_axis: NonNegInt = 1,
):
    """FakeLearnedScaleQuantPerLayer with a separate `alpha` for each channel.

    Args:
        quant_delay (int): number of training steps before rounding begins. Default: 0.
        neg_trunc (bool): whether negative numbers become 0, as for the result of a ReLU. Default: False.
        training (bool): whether `quant_delay` applies. Default: True.
        channel_axis (int): the axis of the channels. Default: 1.

    Inputs:
        - **input_x** (Tensor) - any shape, float.
        - **alpha** (Tensor) - the ends of the ranges, (C,).
        - **quant_max** (Tensor) - the largest integer, one value.
        - **step** (Tensor) - number of steps before this one, one value; required only if `quant_delay` is not 0.

    Outputs:
        Tensor, shape and type of `input_x`.

    Raises:
        TypeError: If an input is not a float Tensor.
        ValueError: If `alpha` does not have one value per channel, or `quant_delay` is set without `step`.
    """
    ends = _check_channel_inputs("FakeLearnedScaleQuantPerChannel", input_x, alpha, quant_max, channel_axis)
    delay = quant_delay if training else 0
    return _fake_quant("FakeLearnedScaleQuantPerChannel", input_x, *ends, step, delay, neg_trunc)


@operator
@in_float32
def FakeLearnedScaleQuantPerChannelGrad(
    dout,
    x,
    alpha,
    quant_max,
    step=None,
    *,
    quant_delay: NonNegInt = 0,
    neg_trunc: Bool = False,
    channel_axis: NonNegInt = 1,
):
    """Gradients of FakeLearnedScaleQuantPerChannel with respect to `x` and `alpha`."""
    op = "FakeLearnedScaleQuantPerChannelGrad"
    ends = _check_channel_inputs(op, x, alpha, quant_max, channel_axis)
    dx, each = _compute_elementwise_gradients(op, dout, x, *ends, step, quant_delay, neg_trunc)
    return dx, _sum_per_channel(each, channel_axis)


@operator
@in_float32
def FakeLearnedScaleQuantPerChannelGradD(
    dout, x, alpha, quant_max, *, neg_trunc: Bool = False, channel_axis: NonNegInt = 1
):
    """FakeLearnedScaleQuantPerChannelGrad without the sum: the gradient of `alpha` still has the shape of `x`."""
    op = "FakeLearnedScaleQuantPerChannelGradD"
    return _compute_elementwise_gradients(
        op, dout, x, *_check_channel_inputs(op, x, alpha, quant_max, channel_axis), None, 0, neg_trunc
    )


@operator
@in_float32
def FakeLearnedScaleQuantPerChannelGradDReduce(dout_alpha, *, channel_axis: NonNegInt = 1):
    """Gradient with respect to `alpha`, of shape (C,): sums of the second result of
    FakeLearnedScaleQuantPerChannelGradD."""
    _check.axis_in("FakeLearnedScaleQuantPerChannelGradDReduce", channel_axis, dout_alpha.ndim, "channel_axis")
    return _sum_per_channel(dout_alpha, channel_axis)


def _sum_per_channel(each, axis):
    return jnp.sum(each, tuple(i for i in range(each.ndim) if i != axis))


_ALPHA, _ALPHAS, _MAX = Values([1.3]), Values([1.3, 0.7, 1.9]), Values([127.0])
_STAIRCASE = "the gradient is that of clipping and of the error, not of the staircase"

CASES = [
    case(FakeLearnedScaleQuantPerLayer, F(4, 3), _ALPHA, _MAX).without("differences", _STAIRCASE),
    case(FakeLearnedScaleQuantPerLayer, F(4, 3), _ALPHA, _MAX, neg_trunc=True).without("differences", _STAIRCASE),
    case(FakeLearnedScaleQuantPerLayerGrad, F(4, 3), F(4, 3), _ALPHA, _MAX).without("differences", _STAIRCASE),
    case(FakeLearnedScaleQuantPerLayerGradD, F(4, 3), F(4, 3), _ALPHA, _MAX).without("differences", _STAIRCASE),
    case(FakeLearnedScaleQuantPerLayerGradDReduce, F(4, 3)),
    case(FakeLearnedScaleQuantPerChannel, F(4, 3), _ALPHAS, _MAX).without("differences", _STAIRCASE),
    case(FakeLearnedScaleQuantPerChannel, F(3, 4), _ALPHAS, _MAX, channel_axis=0).without("differences", _STAIRCASE),
    case(FakeLearnedScaleQuantPerChannelGrad, F(4, 3), F(4, 3), _ALPHAS, _MAX).without("differences", _STAIRCASE),
    case(FakeLearnedScaleQuantPerChannelGradD, F(4, 3), F(4, 3), _ALPHAS, _MAX).without("differences", _STAIRCASE),
    case(FakeLearnedScaleQuantPerChannelGradDReduce, F(4, 3)),
    refused(ValueError, FakeLearnedScaleQuantPerLayer, F(4, 3), _ALPHAS, _MAX),
    refused(ValueError, FakeLearnedScaleQuantPerLayer, F(4, 3), _ALPHA, _MAX, quant_delay=1),
    refused(ValueError, FakeLearnedScaleQuantPerChannel, F(3, 4), _ALPHAS, _MAX),
]
