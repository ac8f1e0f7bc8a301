"""Gradients of operators as operators of their own, as `mindspore.ops.operations._grad_ops` has them.

Automatic differentiation does not need them; custom `bprop` methods call them. Each is differentiable again.
"""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, ConstantAt, Float, Int, IntOrTuple, OneOf, Shape, StrictFloat
from msnb.core.checks import Check, Range
from msnb.core.declare import operator
from msnb.core.operator import REGISTRY
from msnb.ops import _check
from msnb.ops._half import in_float32
from msnb.ops.nn import activation, loss, norm
from msnb.ops.nn._kinds import Epsilon, KeepProb, Layout, Momentum, Reduction
from msnb.ops.nn.pad import MirrorPaddings

BOTH_GRADIENTS = "both gradients are returned; XLA leaves out the one that nobody uses"
FROM_FORWARD = "the statistics that the forward operator returned hold it already"


def pull(fn, *primals):
    """Pullback of `fn` at `primals`: takes a cotangent of the result, returns a tuple, one for each primal."""
    return jax.vjp(fn, *primals)[1]


# ---------------------------------------------------------------------- element by element
@operator
def AbsGrad(y, dy):
    """Gradient of Abs from its input `y` and the cotangent `dy`."""
    return dy * jnp.sign(y)


@operator
@in_float32
def ACosGrad(x, dout):
    """Gradient of ACos from its input and the cotangent."""
    return -dout * lax.rsqrt(1 - x * x)


@operator
@in_float32
def AcoshGrad(y, dout):
    """Gradient of Acosh from its output and the cotangent."""
    return dout / jnp.sinh(y)


@operator
@in_float32
def AsinGrad(x, dout):
    """Gradient of Asin from its input and the cotangent."""
    return dout * lax.rsqrt(1 - x * x)


@operator
@in_float32
def AsinhGrad(y, dout):
    """Gradient of Asinh from its output and the cotangent."""
    return dout / jnp.cosh(y)


@operator
@in_float32
def AtanGrad(x, dout):
    """Gradient of Atan from its input and the cotangent."""
    return dout / (1 + x * x)


@operator(aliases=("InvGrad",))
@in_float32
def ReciprocalGrad(y, dout):
    """Gradient of Reciprocal from its output and the cotangent."""
    return -dout * y * y


@operator
@in_float32
def RsqrtGrad(y, dout):
    """Gradient of Rsqrt from its output and the cotangent."""
    return (-0.5 * dout * y * y * y).astype(dout.dtype)


@operator
@in_float32
def SqrtGrad(y, dout):
    """Gradient of Sqrt from its output and the cotangent."""
    return 0.5 * dout / y


@operator
@in_float32
def SigmoidGrad(y, dy):
    """Gradient of Sigmoid from its output and the cotangent."""
    return dy * y * (1 - y)


@operator
@in_float32
def TanhGrad(y, dy):
    """Gradient of Tanh from its output and the cotangent."""
    return dy * (1 - y * y)


@operator
def ReluGrad(y_backprop, x):
    """Gradient of ReLU from the cotangent and its input or output."""
    _check.same_shape("ReluGrad", y_backprop=y_backprop, x=x)
    return jnp.where(x > 0, y_backprop, jnp.zeros_like(y_backprop))


@operator
def ReLU6Grad(y_grad, x):
    """Gradient of ReLU6 from the cotangent and its input."""
    _check.same_shape("ReLU6Grad", y_grad=y_grad, x=x)
    return jnp.where((x > 0) & (x <= 6), y_grad, jnp.zeros_like(y_grad))


@operator
def ReluGradV2(gradients, mask):
    """Gradient of ReLUV2 from the cotangent and its mask."""
    return jnp.where(mask > 0, gradients, jnp.zeros_like(gradients))


@operator
def EluGrad(y_grad, y):
    """Gradient of Elu from the cotangent and its output."""
    return jnp.where(y > 0, y_grad, y_grad * (y + 1))


@operator
def HSwishGrad(y_grad, x):
    """Gradient of HSwish from the cotangent and its input."""
    return pull(activation.HSwish.kernel, x)(y_grad)[0]


@operator
def HSigmoidGrad(y_grad, x):
    """Gradient of HSigmoid from the cotangent and its input."""
    return pull(activation.HSigmoid.kernel, x)(y_grad)[0]


@operator
def GeLUGrad(dy, x, y):
    """Gradient of GeLU from the cotangent, its input and its output."""
    return pull(activation.GeLU.kernel, x)(dy)[0]


@operator
def FastGeLUGrad(dy, x):
    """Gradient of FastGeLU from the cotangent and its input."""
    return pull(activation.FastGeLU.kernel, x)(dy)[0]


@operator
def SoftplusGrad(dout, x):
    """Gradient of Softplus from the cotangent and its input."""
    return dout * lax.logistic(x)


@operator
def PReLUGrad(y_backprop, x, w):
    """Gradients of PReLU with respect to input and weight."""
    return pull(activation.PReLU.kernel, x, w)(y_backprop)


@operator
def DropoutGrad(dy, mask, *, keep_prob: KeepProb = 0.5):
    """Gradient of Dropout from the cotangent and its mask."""
    return (dy * mask / jnp.asarray(keep_prob, dy.dtype)).astype(dy.dtype)


@operator
def MaximumGrad(
    x,
    y,
    dout,
    *,
    grad_x: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
    grad_y: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
):
    """Gradients of Maximum; where both are equal the first takes it."""
    return _choice_grad(x >= y, x, y, dout)


@operator
def MinimumGrad(
    x,
    y,
    dout,
    *,
    grad_x: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
    grad_y: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
):
    """Gradients of Minimum; where both are equal the first takes it."""
    return _choice_grad(x <= y, x, y, dout)


def _choice_grad(first, x, y, dout):
    none = jnp.zeros_like(dout)
    return _sum_to(jnp.where(first, dout, none), x.shape), _sum_to(jnp.where(first, none, dout), y.shape)


def _sum_to(x, shape):
    """`x` summed over the axes along which `shape` was broadcast."""
    x = x.sum(tuple(range(x.ndim - len(shape)))) if x.ndim > len(shape) else x
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1)
    return x.sum(axes, keepdims=True) if axes else x


# ---------------------------------------------------------------------- losses and normalisation
@operator
@in_float32
def SoftmaxGrad(y, dy):
    """Gradient of Softmax over the last axis from its output and the cotangent."""
    return (dy - jnp.sum(y * dy, -1, keepdims=True)) * y


@operator
@in_float32
def LogSoftmaxGrad(y, dy, *, axis: Int = -1):
    """Gradient of LogSoftmax from its output and the cotangent."""
    axis = _check.axis_in("LogSoftmaxGrad", axis, y.ndim)
    return dy - jnp.exp(y) * jnp.sum(dy, axis, keepdims=True)


@operator
def KLDivLossGrad(x, y, doutput, *, reduction: Reduction = "mean"):
    """Gradients of KLDivLoss with respect to both inputs."""
    return pull(lambda x, y: loss.KLDivLoss.kernel(x, y, reduction=reduction), x, y)(doutput)


@operator
def BinaryCrossEntropyGrad(x, y, doutput, weight=None, *, reduction: Reduction = "mean"):
    """Gradient of BinaryCrossEntropy with respect to the probabilities."""
    return pull(lambda x: loss.BinaryCrossEntropy.kernel(x, y, weight, reduction=reduction), x)(doutput)[0]


@operator
def SmoothL1LossGrad(prediction, target, dloss, *, beta: StrictFloat = 1.0):
    """Gradient of SmoothL1Loss with respect to the prediction."""
    return pull(lambda p: loss.SmoothL1Loss.kernel(p, target, beta=beta), prediction)(dloss)[0]


@operator
def SigmoidCrossEntropyWithLogitsGrad(x, y, dout):
    """Gradient of SigmoidCrossEntropyWithLogits with respect to the logits."""
    return (lax.logistic(x) - y) * dout


@operator
def L2NormalizeGrad(input_x, out, dout, *, axis: IntOrTuple = 0, epsilon: Float = 1e-4):
    """Gradient of L2Normalize."""
    return pull(lambda x: norm.L2Normalize.kernel(x, axis=axis, epsilon=epsilon), input_x)(dout)[0]


@operator
def LRNGrad(
    grads,
    x,
    y,
    *,
    depth_radius: Int = 5,
    bias: StrictFloat = 1.0,
    alpha: StrictFloat = 1.0,
    beta: ConstantAt(StrictFloat, 0.5) = 0.5,
):
    """Gradient of LRN."""
    return pull(lambda x: norm.LRN.kernel(x, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta), x)(grads)[0]


_LAYER_NORM_EPSILON = 1e-12  # the operator has no attribute for it; this is what MindSpore's kernel takes


def _layer_norm_grad(x, dy, variance, mean, gamma, norm_axis, params_axis):
    axes = tuple(range(norm_axis % x.ndim, x.ndim))
    outer = tuple(range(params_axis % x.ndim))
    inverse = lax.rsqrt(variance + _LAYER_NORM_EPSILON)
    hat = (x - mean) * inverse
    g = dy * gamma
    dx = inverse * (g - jnp.mean(g, axes, keepdims=True) - hat * jnp.mean(g * hat, axes, keepdims=True))
    return dx, jnp.sum(dy * hat, outer), jnp.sum(dy, outer)


@operator
def LayerNormGrad(x, dy, variance, mean, gamma, *, begin_norm_axis: Int = 1, begin_params_axis: Int = 1):
    """Gradients of LayerNorm with respect to input, gamma and beta, from the statistics it returned."""
    return _layer_norm_grad(x, dy, variance, mean, gamma, begin_norm_axis, begin_params_axis)


@operator
def LayerNormGradGrad(
    x, dy, variance, mean, gamma, grad_dx, grad_dg, grad_db, *, begin_norm_axis: Int = 1, begin_params_axis: Int = 1
):
    """Gradients of LayerNormGrad with respect to input, cotangent and gamma; the statistics follow the input."""
    axes = tuple(range(begin_norm_axis % x.ndim, x.ndim))

    def gradients(x, dy, gamma):
        mean = jnp.mean(x, axes, keepdims=True)
        variance = jnp.mean((x - mean) ** 2, axes, keepdims=True)
        return _layer_norm_grad(x, dy, variance, mean, gamma, begin_norm_axis, begin_params_axis)

    return pull(gradients, x, dy, gamma)((grad_dx, grad_dg, grad_db))


def _batch_norm_grad(dy, x, scale, mean, inverse, axis, training):
    others = tuple(i for i in range(x.ndim) if i != axis)
    column = lambda v: jnp.expand_dims(v, others)
    hat = (x - column(mean)) * column(inverse)
    dscale, dbias = jnp.sum(dy * hat, others), jnp.sum(dy, others)
    if training:
        count = x.size // x.shape[axis]
        dy = dy - (column(dbias) + hat * column(dscale)) / count
    return (dy * column(inverse * scale)).astype(x.dtype), dscale, dbias


@operator
def BatchNormGrad(
    y_backprop, x, scale, saved_mean, saved_variance, *, is_training: Bool = False, epsilon: Epsilon = 1e-5
):
    """Gradients of BatchNorm with respect to input, scale and bias, and two zeros for its reserved space."""
    grads = _batch_norm_grad(y_backprop, x, scale, saved_mean, lax.rsqrt(saved_variance + epsilon), 1, is_training)
    return (*grads, jnp.zeros_like(scale), jnp.zeros_like(scale))


@operator
def FusedBatchNormGrad(
    dy,
    x,
    scale,
    save_mean,
    save_inv_variance,
    *,
    epsilon: OneOf(0.0, otherwise=FROM_FORWARD, among=Float) = 0.0,
    momentum: OneOf(0.1, otherwise=FROM_FORWARD, among=Momentum) = 0.1,
):
    """Gradients of FusedBatchNorm with respect to input, scale and bias."""
    return _batch_norm_grad(dy, x, scale, save_mean, save_inv_variance, 1, True)


@operator
def FusedBatchNormGradCPU(
    dy,
    x,
    scale,
    bias,
    save_mean,
    save_inv_variance,
    *,
    epsilon: OneOf(0.0, otherwise=FROM_FORWARD, among=Float) = 0.0,
    momentum: OneOf(0.1, otherwise=FROM_FORWARD, among=Momentum) = 0.1,
):
    """Gradients of FusedBatchNorm with respect to input, scale and bias."""
    return _batch_norm_grad(dy, x, scale, save_mean, save_inv_variance, 1, True)


@operator
def FusedBatchNormGradEx(
    dy,
    x,
    scale,
    save_mean,
    save_inv_variance,
    reserve,
    *,
    epsilon: OneOf(0.0, otherwise=FROM_FORWARD, among=Float) = 0.0,
    momentum: OneOf(0.1, otherwise=FROM_FORWARD, among=Momentum) = 0.1,
    data_format: Layout = "NCHW",
):
    """Gradients of FusedBatchNormEx with respect to input, scale and bias."""
    axis = x.ndim - 1 if data_format == "NHWC" else 1
    return _batch_norm_grad(dy, x, scale, save_mean, save_inv_variance, axis, True)


@operator
def InstanceNormGrad(
    dy,
    x,
    gamma,
    save_mean,
    save_variance,
    *,
    is_training: Bool = True,
    epsilon: OneOf(0.0, otherwise=FROM_FORWARD, among=Float) = 0.0,
    momentum: OneOf(0.1, otherwise=FROM_FORWARD, among=Momentum) = 0.1,
):
    """Gradients of InstanceNorm with respect to input, gamma and beta, from the inverse deviation it returned."""
    n, c = x.shape[:2]
    flat = (1, n * c, -1)
    dx, dgamma, dbeta = _batch_norm_grad(
        dy.reshape(flat), x.reshape(flat), jnp.tile(gamma, n), save_mean, save_variance, 1, is_training
    )
    return dx.reshape(x.shape), dgamma.reshape(n, c).sum(0), dbeta.reshape(n, c).sum(0)


# ---------------------------------------------------------------------- layout
@operator
@in_float32
def BiasAddGrad(dout, *, data_format: OneOf("NCHW", "NHWC", "NCDHW") = "NCHW"):
    """Gradient of BiasAdd with respect to the bias."""
    axis = dout.ndim - 1 if data_format == "NHWC" else 1
    if dout.ndim < 2:
        raise ValueError(f"For 'BiasAddGrad', 'dout' should have at least 2 dimensions, but got shape {dout.shape}.")
    return jnp.sum(dout, tuple(i for i in range(dout.ndim) if i != axis))


@operator
def FlattenGrad(x, shape: Shape):
    """Gradient of Flatten: the cotangent in the shape of the input."""
    return x.reshape(shape)


@operator
def MirrorPadGrad(dout, paddings: MirrorPaddings, *, mode: OneOf("REFLECT", "SYMMETRIC") = "REFLECT"):
    """Gradient of MirrorPad."""
    shape = tuple(n - sum(p) for n, p in zip(dout.shape, paddings, strict=True))
    template = jax.ShapeDtypeStruct(shape, dout.dtype)
    return jax.linear_transpose(lambda x: jnp.pad(x, paddings, mode=mode.lower()), template)(dout)[0]


def _along_dim(given):
    dim, shape = given["dim"], given["shape"]
    return [Range(given["index"], shape[dim], -shape[dim])] if -len(shape) <= dim < len(shape) else ()


@operator(checks=[Check("index", _along_dim)])
def GatherDGrad(index, grad, *, dim: Int = 0, shape: Shape):
    """Gradient of GatherD with respect to its input, of shape `shape`."""
    dim = _check.axis_in("GatherDGrad", dim, len(shape), "dim")
    place = list(jnp.indices(index.shape, sparse=True))
    place[dim] = index
    return jnp.zeros(shape, grad.dtype).at[tuple(place)].add(grad)


@operator
def SliceGrad(dy, x, begin: Shape, size: Shape):
    """Gradient of Slice: the cotangent within zeros of the input's shape."""
    if tuple(dy.shape) != size or len(begin) != x.ndim:
        raise ValueError(
            f"For 'SliceGrad', 'dy' should have shape {size} and 'begin' {x.ndim} entries, but got "
            f"{dy.shape} and {begin}."
        )
    return jnp.pad(dy, [(b, n - b - s) for b, n, s in zip(begin, x.shape, size, strict=True)])


@operator
def StridedSliceGrad(
    dy,
    shapex: Shape,
    begin: Shape,
    end: Shape,
    strides: Shape,
    *,
    begin_mask: Int = 0,
    end_mask: Int = 0,
    ellipsis_mask: Int = 0,
    new_axis_mask: Int = 0,
    shrink_axis_mask: Int = 0,
):
    """Gradient of StridedSlice with respect to an input of shape `shapex`."""

    def cut(x):
        return REGISTRY["StridedSlice"].fn(
            x,
            begin,
            end,
            strides,
            begin_mask=begin_mask,
            end_mask=end_mask,
            ellipsis_mask=ellipsis_mask,
            new_axis_mask=new_axis_mask,
            shrink_axis_mask=shrink_axis_mask,
        )

    return jax.linear_transpose(cut, jax.ShapeDtypeStruct(shapex, dy.dtype))(dy)[0]
