"""Lowerings of normalisation, as it is in evaluation."""

from msnb.ops import operations as ops

from .builder import lowerings
from .primitives import reduced


@lowerings.register(ops.BatchNorm)
def _batch_norm(b, x, scale, bias, mean, variance, *, is_training, epsilon, momentum, data_format):
    """In evaluation the statistics are those given, and go out again as they are."""
    if is_training or x.dtype not in ("float32", "float64"):
        return NotImplemented
    if data_format == "NHWC" and x.rank > 2:
        turned = b.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])
        made = b.op("BatchNormalization", turned, scale, bias, mean, variance, epsilon=epsilon)
        made = b.op("Transpose", made, perm=[0, *range(2, x.rank), 1])
    else:
        made = b.op("BatchNormalization", x, scale, bias, mean, variance, epsilon=epsilon)
    if len(b.types) != 5:
        return made
    return made, mean, variance, mean, variance


@lowerings.register(ops.LayerNorm)
def _layer_norm(b, x, gamma, beta, *, begin_norm_axis, begin_params_axis, epsilon):
    """LayerNormalization knows the inverse of the deviation, MindSpore's the variance: that is computed beside it."""
    axis = begin_norm_axis % x.rank
    if begin_params_axis % x.rank != axis or gamma is None or x.dtype not in ("float32", "float64"):
        return NotImplemented
    made = b.op("LayerNormalization", x, gamma, beta, axis=axis, epsilon=epsilon)
    axes = list(range(axis, x.rank))
    mean = reduced(b, "ReduceMean", x, axes, True)
    centred = b.op("Sub", x, mean)
    return made, mean, reduced(b, "ReduceMean", b.op("Mul", centred, centred), axes, True)


@lowerings.register(ops.RmsNorm)
def _rms_norm(b, x, gamma, *, epsilon):
    if x.dtype != "float32":
        return NotImplemented
    axes = list(range(x.rank - gamma.rank, x.rank))
    square = reduced(b, "ReduceMean", b.op("Mul", x, x), axes, True)
    scale = b.op("Reciprocal", b.op("Sqrt", b.op("Add", square, b.like(epsilon, x))))
    return b.op("Mul", b.op("Mul", x, scale), gamma), scale


@lowerings.register(ops.GroupNorm)
def _group_norm(b, x, weight, bias, *, num_groups, eps):
    """ONNX's own for groups knew one factor a group until opset 21: instances of a group, then a factor a channel."""
    if x.dtype != "float32" or x.rank < 3:
        return NotImplemented
    ones = b.const([1.0] * num_groups, "float32")
    zeros = b.const([0.0] * num_groups, "float32")
    groups = b.op("Reshape", x, b.const([0, num_groups, -1], "int64"))
    made = b.reshape(b.op("InstanceNormalization", groups, ones, zeros, epsilon=eps), x.shape)
    lined = (x.shape[1], *[1] * (x.rank - 2))
    if weight is not None:
        made = b.op("Mul", made, b.reshape(weight, lined))
    if bias is not None:
        made = b.op("Add", made, b.reshape(bias, lined))
    return made if len(b.types) == 1 else NotImplemented
