"""Readers of normalisation and of losses."""

import math

import numpy as np

from .reader import Reader
from .values import Ref, Unread, handles


def standardised(r: Reader, x: Ref, axes: tuple[int, ...], epsilon: float) -> tuple[Ref, Ref, Ref]:
    """(x - mean) / sqrt(variance + epsilon) over the axes; the mean, and what it is multiplied with."""
    mean = r("ReduceMean", x, axes, keep_dims=True)
    centred = r("Sub", x, mean)
    variance = r("ReduceMean", r("Square", centred), axes, keep_dims=True)
    factor = r("Rsqrt", r("Add", variance, r.like(epsilon, x)))
    return r("Mul", centred, factor), mean, factor


@handles("BatchNormalization")
def _batch_norm(r, node):
    x, scale, bias, mean, variance = node.inputs[:5]
    epsilon = float(node.attr("epsilon", 1e-5))
    if node.attr("training_mode", 0):
        return _batch_norm_training(r, node, x, scale, bias, mean, variance, epsilon)
    scale, bias, mean, variance = (r.cast(v, x.dtype) for v in (scale, bias, mean, variance))
    if x.rank < 2:
        lined = r("Mul", r("Sub", x, mean), r("Rsqrt", r("Add", variance, r.like(epsilon, x))))
        return r("Add", r("Mul", lined, scale), bias)
    return r("BatchNorm", x, scale, bias, mean, variance, epsilon=epsilon)[0]


def _batch_norm_training(r, node, x, scale, bias, mean, variance, epsilon):
    share = float(node.attr("momentum", 0.9))
    axes = tuple(i for i in range(x.rank) if i != 1)
    now = r("ReduceMean", x, axes)
    lined = (1, x.shape[1], *[1] * (x.rank - 2))
    centred = r("Sub", x, r.reshape(now, lined))
    spread = r("ReduceMean", r("Square", centred), axes)
    made = r("Mul", centred, r.reshape(r("Rsqrt", r("Add", spread, r.like(epsilon, x))), lined))
    made = r("Add", r("Mul", made, r.reshape(scale, lined)), r.reshape(bias, lined))

    def moved(old, new):
        return r("Add", r("Mul", old, r.like(share, old)), r("Mul", new, r.like(1 - share, new)))

    return made, moved(mean, now), moved(variance, spread)


@handles("InstanceNormalization")
def _instance_norm(r, node):
    x, scale, bias = node.inputs
    made, _, _ = standardised(r, x, tuple(range(2, x.rank)), node.attr("epsilon", 1e-5))
    lined = (x.shape[1], *[1] * (x.rank - 2))
    return r("Add", r("Mul", made, r.reshape(scale, lined)), r.reshape(bias, lined))


@handles("LayerNormalization")
def _layer_norm(r, node):
    x, scale, bias = node.inputs[0], node.inputs[1], node.input(2)
    axis, epsilon = node.attr("axis", -1) % x.rank, float(node.attr("epsilon", 1e-5))
    bias = r.filled(scale.shape, 0, scale.dtype) if bias is None else bias
    if scale.shape == bias.shape == x.shape[axis:] and scale.dtype == x.dtype:
        made, mean, variance = r(
            "LayerNorm", x, scale, bias, begin_norm_axis=axis, begin_params_axis=axis, epsilon=epsilon
        )
        return made, mean, r("Rsqrt", r("Add", variance, r.like(epsilon, variance)))
    made, mean, factor = standardised(r, x, tuple(range(axis, x.rank)), epsilon)
    return r("Add", r("Mul", made, scale), bias), mean, factor


@handles("GroupNormalization")
def _group_norm(r, node):
    x, scale, bias = node.inputs
    groups, epsilon = node.attr("num_groups"), float(node.attr("epsilon", 1e-5))
    flat = r.reshape(x, (x.shape[0], groups, math.prod(x.shape[1:]) // groups))
    made, _, _ = standardised(r, flat, (2,), epsilon)
    if node.version < 21:  # one factor a group
        made = r("Add", r("Mul", made, r.reshape(scale, (groups, 1))), r.reshape(bias, (groups, 1)))
        return r.reshape(made, x.shape)
    made, lined = r.reshape(made, x.shape), (x.shape[1], *[1] * (x.rank - 2))
    return r("Add", r("Mul", made, r.reshape(scale, lined)), r.reshape(bias, lined))


@handles("RMSNormalization")
def _rms_norm(r, node):
    x, scale = node.inputs
    axes = tuple(range(node.attr("axis", -1) % x.rank, x.rank))
    square = r("ReduceMean", r("Square", x), axes, keep_dims=True)
    factor = r("Rsqrt", r("Add", square, r.like(node.attr("epsilon", 1e-5), x)))
    return r("Mul", r("Mul", x, factor), scale)


@handles("MeanVarianceNormalization")
def _mean_variance(r, node):
    x = node.inputs[0]
    axes = tuple(node.attr("axes") or (0, 2, 3))
    centred = r("Sub", x, r("ReduceMean", x, axes, keep_dims=True))
    spread = r("Sqrt", r("ReduceMean", r("Square", centred), axes, keep_dims=True))
    return r("RealDiv", centred, r("Add", spread, r.like(1e-9, x)))


@handles("LpNormalization")
def _lp_norm(r, node):
    x, axis, p = node.inputs[0], node.attr("axis", -1), node.attr("p", 2)
    if p == 1:
        size = r("ReduceSum", r("Abs", x), (axis,), keep_dims=True)
    else:
        size = r("Sqrt", r("ReduceSum", r("Square", x), (axis,), keep_dims=True))
    none = r("Equal", size, r.like(0, size))
    return r("Where", none, r.like(0, x), r("RealDiv", x, r("Where", none, r.like(1, x), size)))


@handles("LRN")
def _lrn(r, node):
    """Each value is divided by a power of the sum of squares over neighbouring channels."""
    x, size = node.inputs[0], node.attr("size")
    alpha, beta, bias = node.attr("alpha", 1e-4), node.attr("beta", 0.75), node.attr("bias", 1.0)
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    channels = x.shape[1]
    r.room(channels, channels)
    offset = np.arange(channels)[None, :] - np.arange(channels)[:, None]
    band = r.const(((offset >= -low) & (offset <= high)).astype(x.dtype))
    flat = r.reshape(r("Square", x), (x.shape[0], channels, math.prod(x.shape[2:])))
    sums = r.reshape(r("MatMulBroadcast", band, flat), x.shape)
    base = r("Add", r("Mul", sums, r.like(alpha / size, x)), r.like(bias, x))
    return r("RealDiv", x, r("Pow", base, r.like(beta, x)))


# ---------------------------------------------------------------------- losses
@handles("NegativeLogLikelihoodLoss")
def _nll(r, node):
    return _nll_of(r, node, node.inputs[0], node.inputs[1], node.input(2))


@handles("SoftmaxCrossEntropyLoss")
def _cross_entropy(r, node):
    logs = r("LogSoftmax", node.inputs[0], axis=1)
    return _nll_of(r, node, logs, node.inputs[1], node.input(2)), logs


def _nll_of(r, node, logs, target, weight):
    classes, ignored = logs.shape[1], node.attr("ignore_index")
    target = r.cast(target, np.int64)
    kept = None if ignored is None else r("NotEqual", target, r.like(ignored, target))
    chosen = target if kept is None else r("Where", kept, target, r.like(0, target))
    hot = r("OneHot", chosen, classes, r.like(1, logs), r.like(0, logs), axis=1)
    loss = r("Neg", r("ReduceSum", r("Mul", hot, logs), (1,)))
    share = None
    if weight is not None:
        lined = r.reshape(weight, (classes, *[1] * (logs.rank - 2)))
        share = r("ReduceSum", r("Mul", hot, lined), (1,))
    if kept is not None:
        mask = r.cast(kept, logs.dtype)
        share = mask if share is None else r("Mul", share, mask)
    if share is not None:
        loss = r("Mul", loss, share)
    reduction = node.attr("reduction", "mean")
    if reduction == "none":
        return loss
    total = r("ReduceSum", loss)
    if reduction == "sum":
        return total
    if reduction != "mean":
        raise Unread(f"its reduction is {reduction!r}")
    count = r("ReduceSum", share) if share is not None else r.like(math.prod(loss.shape), total)
    return r("RealDiv", total, count)
