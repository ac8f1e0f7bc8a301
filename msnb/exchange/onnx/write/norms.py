"""Lowerings to ONNX: normalisation in evaluation mode."""

from msnb.ops import operations as ops

from .builder import lowerings
from .primitives import reduced


@lowerings.register(ops.BatchNorm)
def _lower_batch_norm(b, x, scale, bias, mean, variance, *, is_training, epsilon, momentum, data_format):
    """Lower BatchNorm in evaluation. The statistics are inputs and are returned unchanged."""
    if is_training or x.dtype not in ("float32", "float64"):
        return NotImplemented
    if data_format == "NHWC" and x.rank > 2:
        channels_first = b.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])
        normalized = b.op("BatchNormalization", channels_first, scale, bias, mean, variance, epsilon=epsilon)
        normalized = b.op("Transpose", normalized, perm=[0, *range(2, x.rank), 1])
    else:
        normalized = b.op("BatchNormalization", x, scale, bias, mean, variance, epsilon=epsilon)
    if len(b.types) != 5:
        return normalized
    return normalized, mean, variance, mean, variance


@lowerings.register(ops.LayerNorm)
def _lower_layer_norm(b, x, gamma, beta, *, begin_norm_axis, begin_params_axis, epsilon):
    """Lower LayerNorm. The variance is computed separately, because LayerNormalization returns only the inverse
    standard deviation.
    """
    axis = begin_norm_axis % x.rank
    if begin_params_axis % x.rank != axis or gamma is None or x.dtype not in ("float32", "float64"):
        return NotImplemented
    normalized = b.op("LayerNormalization", x, gamma, beta, axis=axis, epsilon=epsilon)
    axes = list(range(axis, x.rank))
    mean = reduced(b, "ReduceMean", x, axes, True)
    centred = b.op("Sub", x, mean)
    return normalized, mean, reduced(b, "ReduceMean", b.op("Mul", centred, centred), axes, True)


@lowerings.register(ops.RmsNorm)
def _lower_rms_norm(b, x, gamma, *, epsilon):
    if x.dtype != "float32":
        return NotImplemented
    axes = list(range(x.rank - gamma.rank, x.rank))
    square = reduced(b, "ReduceMean", b.op("Mul", x, x), axes, True)
    scale = b.op("Reciprocal", b.op("Sqrt", b.op("Add", square, b.like(epsilon, x))))
    return b.op("Mul", b.op("Mul", x, scale), gamma), scale


@lowerings.register(ops.GroupNorm)
def _lower_group_norm(b, x, weight, bias, *, num_groups, eps):
    """Lower GroupNorm to InstanceNormalization of groups and a scale per channel."""
    # ONNX's GroupNormalization is not used: until opset 21 it has one scale per group, not per channel
    if x.dtype != "float32" or x.rank < 3:
        return NotImplemented
    ones = b.const([1.0] * num_groups, "float32")
    zeros = b.const([0.0] * num_groups, "float32")
    groups = b.op("Reshape", x, b.const([0, num_groups, -1], "int64"))
    normalized = b.reshape(b.op("InstanceNormalization", groups, ones, zeros, epsilon=eps), x.shape)
    channel_shape = (x.shape[1], *[1] * (x.rank - 2))
    if weight is not None:
        normalized = b.op("Mul", normalized, b.reshape(weight, channel_shape))
    if bias is not None:
        normalized = b.op("Add", normalized, b.reshape(bias, channel_shape))
    return normalized if len(b.types) == 1 else NotImplemented
