"""Normalisation: by batch, layer, instance, channel neighbourhood and length."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Bool, ConstantAt, Float, Int, IntOrTuple, NonNegInt, OneOf, StrictFloat
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops._half import widened
from msnb.ops.nn._kinds import Epsilon, Layout, Momentum
from msnb.ops.nn._variant import variant

PER_CHANNEL = "the statistics are per channel in either mode"


def _channel_axis(op, x, data_format):
    _check.dtype_in(op, "x", x, _check.FLOAT)
    if x.ndim < 2:
        raise ValueError(f"For '{op}', 'x' should have at least 2 dimensions, but got shape {x.shape}.")
    return x.ndim - 1 if data_format == "NHWC" and x.ndim > 2 else 1


def _check_channels(op, channels, **vectors):
    for name, v in vectors.items():
        if tuple(v.shape) != (channels,):
            raise ValueError(
                f"For '{op}', '{name}' should have shape ({channels},), one value a channel of 'x', but got {v.shape}."
            )


def moments(x, axis):
    """Mean and biased variance of `x` over every axis but `axis`, in float32 at least."""
    x = widened(x)
    others = tuple(i for i in range(x.ndim) if i != axis)
    mean = jnp.mean(x, others)
    centred = x - jnp.expand_dims(mean, others)
    return mean, jnp.mean(centred * centred, others)


def scale_shift(x, mean, variance, scale, bias, axis, epsilon):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias along `axis`, in the type of `x`."""
    others = tuple(i for i in range(x.ndim) if i != axis)
    column = lambda v: jnp.expand_dims(widened(v), others)  # noqa: E731
    factor = lax.rsqrt(column(variance) + epsilon) * column(scale)
    return ((widened(x) - column(mean)) * factor + column(bias)).astype(x.dtype)


def _moved(moving, batch, momentum):
    """(1 - momentum) * moving + momentum * batch, outside the gradient; `moving` itself where that is no number.

    An empty batch has no mean, and that of an overflow is infinite: either would stay in the statistics for ever.
    """
    new = ((1 - momentum) * moving + momentum * batch).astype(moving.dtype)
    return lax.stop_gradient(jnp.where(jnp.isfinite(new), new, moving))


def _unbiased(x, axis, variance):
    count = x.size // x.shape[axis]
    return variance * (count / max(count - 1, 1))


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
    """Normalises each channel by the statistics of the batch, or by given ones (arXiv:1502.03167).

    Args:
        is_training (bool): True takes mean and variance from the batch and moves the given ones towards them, False
            uses those given. Default: False.
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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    axis = _channel_axis("BatchNorm", x, data_format)
    _check_channels("BatchNorm", x.shape[axis], scale=scale, bias=bias, mean=mean, variance=variance)
    mean, variance = lax.stop_gradient(mean), lax.stop_gradient(variance)
    y = scale_shift(x, mean, variance, scale, bias, axis, epsilon)
    return y, mean, variance, mean, variance


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
    axis = _channel_axis("BatchNorm", x, data_format)
    _check_channels("BatchNorm", x.shape[axis], scale=scale, bias=bias, mean=mean, variance=variance)
    new_mean, new_variance, y, batch_mean, batch_variance = _normalise_batch(
        x, scale, bias, mean, variance, axis, epsilon, momentum
    )
    return new_mean, new_variance, y, batch_mean, batch_variance, batch_mean, batch_variance


def _normalise_batch(x, scale, bias, mean, variance, axis, epsilon, momentum):
    batch_mean, batch_variance = moments(x, axis)
    y = scale_shift(x, batch_mean, batch_variance, scale, bias, axis, epsilon)
    return (
        _moved(mean, batch_mean, momentum),
        _moved(variance, _unbiased(x, axis, batch_variance), momentum),
        y,
        batch_mean,
        batch_variance,
    )


variant("BatchNorm", _batch_norm_training, lambda a: a["is_training"], writes=("mean", "variance"))


def _fused(op, x, scale, bias, mean, variance, epsilon, momentum, data_format="NCHW"):
    axis = _channel_axis(op, x, data_format)
    _check_channels(op, x.shape[axis], scale=scale, bias=bias, mean=mean, variance=variance)
    new_mean, new_variance, y, batch_mean, batch_variance = _normalise_batch(
        x, scale, bias, mean, variance, axis, epsilon, momentum
    )
    return new_mean, new_variance, y, new_mean, new_variance, batch_mean, lax.rsqrt(batch_variance + epsilon)


@operator(writes=("mean", "variance"))
def FusedBatchNorm(
    x,
    scale,
    b,
    mean,
    variance,
    *,
    mode: OneOf(0, otherwise=PER_CHANNEL, among=OneOf(0, 1)) = 0,
    epsilon: Epsilon = 1e-5,
    momentum: Momentum = 0.1,
):
    """Batch normalisation in training: also moves the running mean and variance.

    running = (1 - momentum) * running + momentum * batch, with the unbiased variance of the batch.

    Args:
        mode (int): 0 or 1; no effect, both are per channel here. Default: 0.
        epsilon (float): added to the variance. Default: 1e-5.
        momentum (float): weight of the batch in the running statistics. Default: 0.1.

    Inputs:
        - **x** (Tensor) - (N, C) or (N, C, ...).
        - **scale**, **b** (Parameter) - (C,).
        - **mean**, **variance** (Parameter) - (C,); updated in place.

    Outputs:
        Tuple of the result, the running mean, the running variance, the mean and the inverse deviation of the batch.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _fused("FusedBatchNorm", x, scale, b, mean, variance, epsilon, momentum)


@operator(writes=("mean", "variance"))
def FusedBatchNormEx(
    x,
    scale,
    b,
    mean,
    variance,
    *,
    mode: OneOf(0, otherwise=PER_CHANNEL, among=OneOf(0, 1)) = 0,
    epsilon: Epsilon = 1e-5,
    momentum: Momentum = 0.1,
    data_format: Layout = "NCHW",
):
    """FusedBatchNorm with a choice of layout and one more output, reserved.

    Args:
        mode (int): 0 or 1; no effect, both are per channel here. Default: 0.
        epsilon (float): added to the variance. Default: 1e-5.
        momentum (float): weight of the batch in the running statistics. Default: 0.1.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C) or (N, C, ...).
        - **scale**, **b** (Parameter) - (C,).
        - **mean**, **variance** (Parameter) - (C,); updated in place.

    Outputs:
        Tuple of the result, the running mean, the running variance, the mean and the inverse deviation of the batch,
        and the mean again as reserved space.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    out = _fused("FusedBatchNormEx", x, scale, b, mean, variance, epsilon, momentum, data_format)
    return (*out, out[5])


@operator
def FusedBatchNormV3(x, scale, b, mean, variance, *, epsilon: Epsilon = 1e-5, momentum: Momentum = 0.1):
    """Batch normalisation in training that returns the moved statistics instead of writing them.

    Args:
        epsilon (float): added to the variance. Default: 1e-5.
        momentum (float): weight of the batch in the running statistics. Default: 0.1.

    Inputs:
        - **x** (Tensor) - (N, C) or (N, C, ...).
        - **scale**, **b**, **mean**, **variance** (Tensor) - (C,).

    Outputs:
        Tuple of the result, the running mean, the running variance, the mean and the inverse deviation of the batch,
        and the mean again as reserved space.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    out = _fused("FusedBatchNormV3", x, scale, b, mean, variance, epsilon, momentum)[2:]
    return (*out, out[3])


@operator
def BNTrainingReduce(x):
    """Sums over each channel that batch normalisation needs.

    Inputs:
        - **x** (Tensor) - (N, C, H, W).

    Outputs:
        Tuple of the sum and the sum of squares, (C,), float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("BNTrainingReduce", "x", x, _check.FLOAT)
    _check.rank("BNTrainingReduce", "x", x, 4)
    x = widened(x)
    return jnp.sum(x, (0, 2, 3)), jnp.sum(x * x, (0, 2, 3))


@operator(writes=("mean", "variance"))
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
    """Batch normalisation from the sums of BNTrainingReduce; moves the running statistics.

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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check_channels(
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
    new_mean = _moved(mean, batch_mean, factor)
    new_variance = _moved(variance, _unbiased(x, 1, batch_variance), factor)
    return new_mean, new_variance, y, new_mean, new_variance, batch_mean, batch_variance


@operator
def InstanceNorm(
    x, gamma, beta, mean, variance, *, is_training: Bool = True, epsilon: Epsilon = 1e-5, momentum: Momentum = 0.1
):
    """Normalises each channel of each image by its own statistics (arXiv:1607.08022).

    Args:
        is_training (bool): True takes the statistics from the image and moves the running ones, False uses the
            running ones. Default: True.
        epsilon (float): added to the variance. Default: 1e-5.
        momentum (float): weight of the batch in the running statistics. Default: 0.1.

    Inputs:
        - **x** (Tensor) - (N, C, ...).
        - **gamma**, **beta** (Parameter) - (C,).
        - **mean**, **variance** (Parameter) - (C,); updated in place while training.

    Outputs:
        Tuple of the result, and mean and inverse deviation of each channel of each image, (N * C,).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    n = _check_instances(x, gamma, beta, mean, variance)
    mean, variance = lax.stop_gradient(mean), lax.stop_gradient(variance)
    return _normalise_instances(x, gamma, beta, jnp.tile(mean, (n, 1)), jnp.tile(variance, (n, 1)), epsilon)


def _instance_norm_training(
    x, gamma, beta, mean, variance, *, is_training: Bool = True, epsilon: Epsilon = 1e-5, momentum: Momentum = 0.1
):
    n = _check_instances(x, gamma, beta, mean, variance)
    flat = widened(x).reshape(n, x.shape[1], -1)
    own_mean = jnp.mean(flat, 2)
    own_variance = jnp.mean((flat - own_mean[..., None]) ** 2, 2)
    unbiased = flat.shape[2] / max(flat.shape[2] - 1, 1)
    new_mean = _moved(mean, jnp.mean(own_mean, 0), momentum)
    new_variance = _moved(variance, jnp.mean(own_variance, 0) * unbiased, momentum)
    return (new_mean, new_variance, *_normalise_instances(x, gamma, beta, own_mean, own_variance, epsilon))


def _check_instances(x, gamma, beta, mean, variance):
    _channel_axis("InstanceNorm", x, "NCHW")
    _check_channels("InstanceNorm", x.shape[1], gamma=gamma, beta=beta, mean=mean, variance=variance)
    return x.shape[0]


def _normalise_instances(x, gamma, beta, mean, variance, epsilon):
    inverse = lax.rsqrt(variance + epsilon)
    flat = widened(x).reshape(*x.shape[:2], -1)
    y = (flat - mean[..., None]) * (inverse * widened(gamma))[..., None] + widened(beta)[:, None]
    return y.reshape(x.shape).astype(x.dtype), mean.reshape(-1), inverse.reshape(-1)


variant("InstanceNorm", _instance_norm_training, lambda a: a["is_training"], writes=("mean", "variance"))


@operator
def LayerNorm(input_x, gamma, beta, *, begin_norm_axis: Int = 1, begin_params_axis: Int = 1, epsilon: Float = 1e-7):
    """Normalises each example over its trailing axes (arXiv:1607.06450).

    Args:
        begin_norm_axis (int): the first axis to normalise over. Default: 1.
        begin_params_axis (int): the first axis that `gamma` and `beta` have. Default: 1.
        epsilon (float): added to the variance. Default: 1e-7.

    Inputs:
        - **input_x** (Tensor) - any shape.
        - **gamma**, **beta** (Tensor) - the shape of `input_x` from `begin_params_axis` on.

    Outputs:
        Tuple of the result (shape and type of `input_x`), and mean and variance with 1 for the normalised axes.

    Raises:
        ValueError: If an axis is out of range or a shape does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
        >>> print(ops.LayerNorm()(x, ops.ones(3, mindspore.float32), ops.zeros(3, mindspore.float32))[0])
        [[-1.2247448  0.         1.2247448]
         [-1.2247448  0.         1.2247448]]
    """
    op = "LayerNorm"
    _check.dtype_in(op, "input_x", input_x, _check.FLOAT)
    first = _check.axis_in(op, begin_norm_axis, input_x.ndim, "begin_norm_axis")
    params = _check.axis_in(op, begin_params_axis, input_x.ndim, "begin_params_axis")
    for name, v in (("gamma", gamma), ("beta", beta)):
        if tuple(v.shape) != tuple(input_x.shape[params:]):
            raise ValueError(
                f"For '{op}', '{name}' should have shape {tuple(input_x.shape[params:])}, but got {v.shape}."
            )
    x = widened(input_x)
    axes = tuple(range(first, x.ndim))
    mean = jnp.mean(x, axes, keepdims=True)
    centred = x - mean
    variance = jnp.mean(centred * centred, axes, keepdims=True)
    y = centred * lax.rsqrt(variance + epsilon) * gamma + beta
    return y.astype(input_x.dtype), mean, variance


@operator
def L2Normalize(input_x, *, axis: IntOrTuple = 0, epsilon: Float = 1e-4):
    """x / sqrt(max(sum(x^2), epsilon)) along `axis`.

    Args:
        axis (Union[int, list[int], tuple[int]]): one axis. Default: 0.
        epsilon (float): the least sum that is divided by. Default: 1e-4.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Raises:
        TypeError: If `axis` names more than one axis.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("L2Normalize", "input_x", input_x, _check.FLOAT)
    if not isinstance(axis, int) and len(axis) != 1:
        raise TypeError(f"For 'L2Normalize', 'axis' should name one axis, but got {axis}.")
    axes = _check.axes_in("L2Normalize", axis, input_x.ndim)
    x = widened(input_x)
    total = jnp.sum(x * x, axes, keepdims=True)
    return (x / jnp.sqrt(jnp.maximum(total, epsilon))).astype(input_x.dtype)


@operator(functional="lrn")
def LRN(
    x,
    *,
    depth_radius: NonNegInt = 5,
    bias: StrictFloat = 1.0,
    alpha: StrictFloat = 1.0,
    beta: ConstantAt(StrictFloat, 0.5) = 0.5,
    norm_region: OneOf("ACROSS_CHANNELS") = "ACROSS_CHANNELS",
):
    """Divides each value by (bias + alpha * sum of squares of neighbouring channels) ** beta (AlexNet).

    Args:
        depth_radius (int): how many channels on each side count. Default: 5.
        bias (float): offset. Default: 1.0.
        alpha (float): scale of the sum. Default: 1.0.
        beta (float): exponent. Default: 0.5.
        norm_region (str): "ACROSS_CHANNELS". Default: "ACROSS_CHANNELS".

    Inputs:
        - **x** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor, shape and type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("LRN", "x", x, _check.FLOAT)
    _check.rank("LRN", "x", x, 4)
    wide = widened(x)
    total = lax.reduce_window(
        wide * wide,
        np.zeros((), wide.dtype),
        lax.add,
        (1, 2 * depth_radius + 1, 1, 1),
        (1, 1, 1, 1),
        ((0, 0), (depth_radius, depth_radius), (0, 0), (0, 0)),
    )
    return (wide * (bias + alpha * total) ** -beta).astype(x.dtype)
