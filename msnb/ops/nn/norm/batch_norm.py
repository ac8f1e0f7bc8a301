"""Normalization of each channel by batch statistics or by running ones."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, OneOf
from msnb.core.operator.cases import F, U, Written, case, refused
from msnb.core.operator.declare import operator, spelling, variant
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32, widened
from msnb.ops.nn._kinds import Epsilon, Layout, Momentum
from msnb.ops.nn.norm._standardize import scale_and_shift, standardise


def channel_axis(op, x, data_format):
    """Return the index of the channel axis. Raise an error if `x` has none."""
    _check.dtype_in(op, "x", x, _check.FLOAT)
    if x.ndim < 2:
        raise ValueError(f"For '{op}', 'x' should have at least 2 dimensions, but got shape {x.shape}.")
    return x.ndim - 1 if data_format == "NHWC" and x.ndim > 2 else 1


def check_channels(op, channels, **vectors):
    """Raise ValueError unless each of `vectors` that is not None has one value per channel."""
    for name, v in vectors.items():
        if v is not None and tuple(v.shape) != (channels,):
            raise ValueError(
                f"For '{op}', '{name}' should have shape ({channels},), one value a channel of 'x', but got {v.shape}."
            )


def column(vector, x, axis):
    """Reshape `vector`, one value per channel, so that it broadcasts against `x`."""
    return widened(vector).reshape((-1,) + (1,) * (x.ndim - 1 - axis))


def scale_shift(x, mean, variance, scale, bias, axis, epsilon):
    """Return (x - mean) / sqrt(variance + epsilon) * scale + bias with one value per channel, in the type of `x`."""
    mean, variance, scale, bias = (column(v, x, axis) for v in (mean, variance, scale, bias))
    return scale_and_shift(x, mean, variance, epsilon, scale, bias).astype(x.dtype)


def moved(moving, batch, momentum):
    """Return (1 - momentum) * moving + momentum * batch, without gradient, and `moving` where the sum is not finite."""
    # The mean of an empty batch is NaN, and an overflow makes it infinite. Either would stay in the running statistics.
    new = ((1 - momentum) * moving + momentum * batch).astype(moving.dtype)
    return lax.stop_gradient(jnp.where(jnp.isfinite(new), new, moving))


def unbiased(x, axis, variance):
    """Return the sample variance from the biased variance over every axis but `axis`."""
    count = x.size // x.shape[axis]
    return variance * (count / max(count - 1, 1))


def normalise_batch(x, scale, bias, mean, variance, axis, epsilon, momentum):
    """Normalize a batch in training. Return (running mean, running variance, result, batch mean, batch variance)."""
    others = tuple(i for i in range(x.ndim) if i != axis)
    y, batch_mean, batch_variance = standardise(x, others, epsilon, column(scale, x, axis), column(bias, x, axis))
    batch_mean, batch_variance = batch_mean.reshape(-1), batch_variance.reshape(-1)
    return (
        moved(mean, batch_mean, momentum),
        moved(variance, unbiased(x, axis, batch_variance), momentum),
        y.astype(x.dtype),
        batch_mean,
        batch_variance,
    )


@operator
def BatchNorm(
    x,
    scale,
    bias,
    mean,
    variance,
    *,
    is_training: Bool = False,
    epsilon: Epsilon = 1e-5,
    momentum: Momentum = 0.1,
    data_format: Layout = "NCHW",
):
    """Normalizes each channel by the statistics of the batch, or by running ones (arXiv:1502.03167).

    Args:
        is_training (bool): True normalizes by the statistics of the batch and updates `mean` and `variance` with them;
            False normalizes by `mean` and `variance`. Default: False.
        epsilon (float): added to the variance. Default: 1e-5.
        momentum (float): weight of the batch in the running statistics, (1 - momentum) * running + momentum * batch,
            with the unbiased variance. Default: 0.1.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C) or (N, C, ...).
        - **scale**, **bias** (Tensor) - (C,).
        - **mean**, **variance** (Parameter) - (C,); updated in place while training.

    Outputs:
        Tuple of the result (shape and type of `x`), the mean and the variance that were used, and the same two again
        as reserved space.
    """
    axis = channel_axis("BatchNorm", x, data_format)
    check_channels("BatchNorm", x.shape[axis], scale=scale, bias=bias, mean=mean, variance=variance)
    mean, variance = lax.stop_gradient(mean), lax.stop_gradient(variance)
    y = scale_shift(x, mean, variance, scale, bias, axis, epsilon)
    return y, mean, variance, mean, variance


@variant(BatchNorm, lambda attributes: attributes["is_training"], writes=("mean", "variance"))
def _batch_norm_training(
    x,
    scale,
    bias,
    mean,
    variance,
    *,
    is_training: Bool = True,
    epsilon: Epsilon = 1e-5,
    momentum: Momentum = 0.1,
    data_format: Layout = "NCHW",
):
    axis = channel_axis("BatchNorm", x, data_format)
    check_channels("BatchNorm", x.shape[axis], scale=scale, bias=bias, mean=mean, variance=variance)
    new_mean, new_variance, y, batch_mean, batch_variance = normalise_batch(
        x, scale, bias, mean, variance, axis, epsilon, momentum
    )
    return new_mean, new_variance, y, batch_mean, batch_variance, batch_mean, batch_variance


@spelling(BatchNorm)
def batch_norm(
    input_x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor,
    bias: Tensor,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Batch normalisation. In training it also updates the running statistics.

    Args:
        input_x (Tensor): (N, C) or (N, C, ...).
        running_mean (Parameter): (C,); updated in place while training.
        running_var (Parameter): (C,); updated in place while training.
        weight (Tensor): (C,).
        bias (Tensor): (C,).
        training (bool): Whether to normalize by the statistics of the batch instead of the running ones. Default:
            False.
        momentum (float): Weight of the batch in the running statistics. Default: 0.1.
        eps (float): Added to the variance. Default: 1e-5.

    Returns:
        Tensor, shape and type of `input_x`.
    """
    return BatchNorm.functional(input_x, weight, bias, running_mean, running_var, training, eps, momentum)[0]


def batch_norm_grad(dy, x, scale, mean, inverse, axis, training):
    """Return the gradients of batch normalization for input, scale and bias, from the mean and 1 / (standard
    deviation)."""
    others = tuple(i for i in range(x.ndim) if i != axis)
    column = lambda v: jnp.expand_dims(v, others)
    hat = (x - column(mean)) * column(inverse)
    dscale, dbias = jnp.sum(dy * hat, others), jnp.sum(dy, others)
    if training:
        count = x.size // x.shape[axis]
        dy = dy - (column(dbias) + hat * column(dscale)) / count
    return (dy * column(inverse * scale)).astype(x.dtype), dscale, dbias


@operator
@shapes("y_backprop x: n c *s, scale saved_mean saved_variance: c")
@in_float32
def BatchNormGrad(
    y_backprop, x, scale, saved_mean, saved_variance, *, is_training: Bool = False, epsilon: Epsilon = 1e-5
):
    """Gradients of BatchNorm with respect to input, scale and bias, and two zeros for its reserved space."""
    grads = batch_norm_grad(y_backprop, x, scale, saved_mean, lax.rsqrt(saved_variance + epsilon), 1, is_training)
    return (*grads, jnp.zeros_like(scale), jnp.zeros_like(scale))


@operator
def BNTrainingReduce(x):
    """Return the sum of `x` and of x^2 over each channel, for BNTrainingUpdate.

    Inputs:
        - **x** (Tensor) - (N, C, H, W).

    Outputs:
        Tuple of the sum and the sum of squares, (C,), float32.
    """
    _check.dtype_in("BNTrainingReduce", "x", x, _check.FLOAT)
    _check.rank("BNTrainingReduce", "x", x, 4)
    x = widened(x)
    return jnp.sum(x, (0, 2, 3)), jnp.sum(x * x, (0, 2, 3))


@operator(writes=("mean", "variance"))
@shapes("x: n c *s, sum square_sum scale offset mean variance: c")
def BNTrainingUpdate(
    x,
    sum,
    square_sum,
    scale,
    offset,
    mean,
    variance,
    *,
    isRef: OneOf(True, otherwise="mean and variance are always written in place") = True,
    epsilon: Epsilon = 1e-5,
    factor: Momentum = 0.1,
):
    """Batch normalisation from the sums of BNTrainingReduce. It also updates the running statistics.

    Args:
        isRef (bool): no effect: mean and variance are always written in place. Default: True.
        epsilon (float): added to the variance. Default: 1e-5.
        factor (float): weight of the batch in the running statistics. Default: 0.1.

    Inputs:
        - **x** (Tensor) - (N, C, H, W).
        - **sum**, **square_sum** (Tensor) - (C,), from BNTrainingReduce.
        - **scale**, **offset** (Tensor) - (C,).
        - **mean**, **variance** (Parameter) - (C,); updated in place.

    Outputs:
        Tuple of the result, the running mean, the running variance, the mean and the variance of the batch.
    """
    check_channels(
        "BNTrainingUpdate",
        x.shape[1],
        sum=sum,
        square_sum=square_sum,
        scale=scale,
        offset=offset,
        mean=mean,
        variance=variance,
    )
    count = x.size // x.shape[1]
    batch_mean = sum / count
    batch_variance = square_sum / count - batch_mean * batch_mean
    y = scale_shift(x, batch_mean, batch_variance, scale, offset, 1, epsilon)
    new_mean = moved(mean, batch_mean, factor)
    new_variance = moved(variance, unbiased(x, 1, batch_variance), factor)
    return new_mean, new_variance, y, new_mean, new_variance, batch_mean, batch_variance


_STATISTICS = F(4, 3, 5, 5), U(3, low=0.5, high=2), F(3), F(3), U(3, low=0.5, high=2)
_MOVING = tuple(map(Written, _STATISTICS[3:]))

CASES = [
    case(BatchNorm, *_STATISTICS, is_training=False).results(0).wrt(0, 1, 2),
    case(BatchNorm, *_STATISTICS[:3], *_MOVING, is_training=True, momentum=0.3).results(0),
    case(BatchNorm, F(6, 3), *_STATISTICS[1:3], *_MOVING, is_training=True, epsilon=1e-3).results(0),
    case(BatchNormGrad, F(4, 3, 5, 5), *_STATISTICS[:2], F(3), U(3, low=0.5, high=2)),
    case(BNTrainingReduce, F(4, 3, 2, 2)),
    case(BNTrainingUpdate, F(4, 3, 2, 2), F(3), U(3, low=9, high=12), *_STATISTICS[1:]).without(
        "differences", "no gradient reaches the moving statistics"
    ),
    refused(ValueError, BatchNorm, momentum=2.0),
    refused(TypeError, BatchNorm, is_training=1),
]
