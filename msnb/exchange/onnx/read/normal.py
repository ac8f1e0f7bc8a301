"""Import ONNX operators: normalisation and losses."""

import math

import numpy as np

from .reader import Reader
from .values import Ref, UnsupportedOperator, handles


def standardize(r: Reader, x: Ref, axes: tuple[int, ...], epsilon: float) -> tuple[Ref, Ref, Ref]:
    """Return (x - mean) / sqrt(variance + epsilon) over the axes, the mean, and the inverse standard deviation."""
    mean = r("ReduceMean", x, axes, keep_dims=True)
    centred = r("Sub", x, mean)
    variance = r("ReduceMean", r("Square", centred), axes, keep_dims=True)
    factor = r("Rsqrt", r("Add", variance, r.like(epsilon, x)))
    return r("Mul", centred, factor), mean, factor


@handles("BatchNormalization")
def _read_batch_norm(r, node):
    x, scale, bias, mean, variance = node.inputs[:5]
    epsilon, momentum = float(node.attr("epsilon", 1e-5)), float(node.attr("momentum", 0.9))
    if node.attr("training_mode", 0):
        return _read_training_batch_norm(r, x, scale, bias, mean, variance, epsilon, momentum)
    scale, bias, mean, variance = (r.cast(v, x.dtype) for v in (scale, bias, mean, variance))
    if x.rank < 2:
        normalized = r("Mul", r("Sub", x, mean), r("Rsqrt", r("Add", variance, r.like(epsilon, x))))
        return r("Add", r("Mul", normalized, scale), bias)
    # MindSpore's momentum weighs the new value
    return r("BatchNorm", x, scale, bias, mean, variance, epsilon=epsilon, momentum=1 - momentum)[0]


def _read_training_batch_norm(r, x, scale, bias, mean, variance, epsilon, momentum):
    axes = tuple(i for i in range(x.rank) if i != 1)
    batch_mean = r("ReduceMean", x, axes)
    channel_shape = (1, x.shape[1], *[1] * (x.rank - 2))
    centred = r("Sub", x, r.reshape(batch_mean, channel_shape))
    batch_variance = r("ReduceMean", r("Square", centred), axes)
    normalized = r("Mul", centred, r.reshape(r("Rsqrt", r("Add", batch_variance, r.like(epsilon, x))), channel_shape))
    normalized = r("Add", r("Mul", normalized, r.reshape(scale, channel_shape)), r.reshape(bias, channel_shape))

    def update_average(old, new):
        return r("Add", r("Mul", old, r.like(momentum, old)), r("Mul", new, r.like(1 - momentum, new)))

    return normalized, update_average(mean, batch_mean), update_average(variance, batch_variance)


@handles("InstanceNormalization")
def _read_instance_norm(r, node):
    x, scale, bias = node.inputs
    normalized, _, _ = standardize(r, x, tuple(range(2, x.rank)), node.attr("epsilon", 1e-5))
    channel_shape = (x.shape[1], *[1] * (x.rank - 2))
    return r("Add", r("Mul", normalized, r.reshape(scale, channel_shape)), r.reshape(bias, channel_shape))


@handles("LayerNormalization")
def _read_layer_norm(r, node):
    x, scale, bias = node.inputs[0], node.inputs[1], node.input(2)
    axis, epsilon = node.attr("axis", -1) % x.rank, float(node.attr("epsilon", 1e-5))
    bias = r.filled(scale.shape, 0, scale.dtype) if bias is None else bias
    if scale.shape == bias.shape == x.shape[axis:] and scale.dtype == x.dtype:
        normalized, mean, variance = r(
            "LayerNorm", x, scale, bias, begin_norm_axis=axis, begin_params_axis=axis, epsilon=epsilon
        )
        return normalized, mean, r("Rsqrt", r("Add", variance, r.like(epsilon, variance)))
    normalized, mean, factor = standardize(r, x, tuple(range(axis, x.rank)), epsilon)
    return r("Add", r("Mul", normalized, scale), bias), mean, factor


@handles("GroupNormalization")
def _read_group_norm(r, node):
    x, scale, bias = node.inputs
    groups, epsilon = node.attr("num_groups"), float(node.attr("epsilon", 1e-5))
    flat = r.reshape(x, (x.shape[0], groups, math.prod(x.shape[1:]) // groups))
    normalized, _, _ = standardize(r, flat, (2,), epsilon)
    if node.version < 21:  # one scale per group
        normalized = r("Add", r("Mul", normalized, r.reshape(scale, (groups, 1))), r.reshape(bias, (groups, 1)))
        return r.reshape(normalized, x.shape)
    normalized, channel_shape = r.reshape(normalized, x.shape), (x.shape[1], *[1] * (x.rank - 2))
    return r("Add", r("Mul", normalized, r.reshape(scale, channel_shape)), r.reshape(bias, channel_shape))


@handles("RMSNormalization")
def _read_rms_norm(r, node):
    x, scale = node.inputs
    axes = tuple(range(node.attr("axis", -1) % x.rank, x.rank))
    square = r("ReduceMean", r("Square", x), axes, keep_dims=True)
    factor = r("Rsqrt", r("Add", square, r.like(node.attr("epsilon", 1e-5), x)))
    return r("Mul", r("Mul", x, factor), scale)


@handles("MeanVarianceNormalization")
def _read_mean_variance_normalization(r, node):
    x = node.inputs[0]
    axes = tuple(node.attr("axes") or (0, 2, 3))
    centred = r("Sub", x, r("ReduceMean", x, axes, keep_dims=True))
    deviation = r("Sqrt", r("ReduceMean", r("Square", centred), axes, keep_dims=True))
    return r("RealDiv", centred, r("Add", deviation, r.like(1e-9, x)))


@handles("LpNormalization")
def _read_lp_norm(r, node):
    x, axis, p = node.inputs[0], node.attr("axis", -1), node.attr("p", 2)
    if p == 1:
        norm = r("ReduceSum", r("Abs", x), (axis,), keep_dims=True)
    else:
        norm = r("Sqrt", r("ReduceSum", r("Square", x), (axis,), keep_dims=True))
    is_zero = r("Equal", norm, r.like(0, norm))
    return r("Where", is_zero, r.like(0, x), r("RealDiv", x, r("Where", is_zero, r.like(1, x), norm)))


@handles("LRN")
def _read_lrn(r, node):
    """Read LRN: x is divided by (bias + alpha / size * (sum of squares of neighbouring channels)) ** beta."""
    x, size = node.inputs[0], node.attr("size")
    alpha, beta, bias = node.attr("alpha", 1e-4), node.attr("beta", 0.75), node.attr("bias", 1.0)
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    channels = x.shape[1]
    r.reserve_constant(channels, channels)
    offset = np.arange(channels)[None, :] - np.arange(channels)[:, None]
    band = r.const(((offset >= -low) & (offset <= high)).astype(x.dtype))
    flat = r.reshape(r("Square", x), (x.shape[0], channels, math.prod(x.shape[2:])))
    sums = r.reshape(r("MatMulBroadcast", band, flat), x.shape)
    base = r("Add", r("Mul", sums, r.like(alpha / size, x)), r.like(bias, x))
    return r("RealDiv", x, r("Pow", base, r.like(beta, x)))


# ---------------------------------------------------------------------- losses
@handles("NegativeLogLikelihoodLoss")
def _read_nll_loss(r, node):
    return _add_nll_loss(r, node, node.inputs[0], node.inputs[1], node.input(2))


@handles("SoftmaxCrossEntropyLoss")
def _read_softmax_cross_entropy(r, node):
    logs = r("LogSoftmax", node.inputs[0], axis=1)
    return _add_nll_loss(r, node, logs, node.inputs[1], node.input(2)), logs


def _add_nll_loss(r, node, logs, target, weight):
    classes, ignored = logs.shape[1], node.attr("ignore_index")
    target = r.cast(target, np.int64)
    is_counted = None if ignored is None else r("NotEqual", target, r.like(ignored, target))
    safe_target = target if is_counted is None else r("Where", is_counted, target, r.like(0, target))
    one_hot = r("OneHot", safe_target, classes, r.like(1, logs), r.like(0, logs), axis=1)
    loss = r("Neg", r("ReduceSum", r("Mul", one_hot, logs), (1,)))
    weights = None
    if weight is not None:
        class_weights = r.reshape(weight, (classes, *[1] * (logs.rank - 2)))
        weights = r("ReduceSum", r("Mul", one_hot, class_weights), (1,))
    if is_counted is not None:
        mask = r.cast(is_counted, logs.dtype)
        weights = mask if weights is None else r("Mul", weights, mask)
    if weights is not None:
        loss = r("Mul", loss, weights)
    reduction = node.attr("reduction", "mean")
    if reduction == "none":
        return loss
    total = r("ReduceSum", loss)
    if reduction == "sum":
        return total
    if reduction != "mean":
        raise UnsupportedOperator(f"its reduction is {reduction!r}")
    count = r("ReduceSum", weights) if weights is not None else r.like(math.prod(loss.shape), total)
    return r("RealDiv", total, count)
