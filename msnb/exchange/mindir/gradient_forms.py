"""Forms of the operators that gradients are made of."""

from msnb.exchange.mindir.forms import geometry, geometry_read, named, windows_read
from msnb.exchange.mindir.operators import Unsayable, forms, reads
from msnb.ops import operations as P
from msnb.ops.nn.softmax import _SoftmaxBackward

_PAD_MODES = {"same": 1, "valid": 2}
_PAD_NAMES = {number: name for name, number in _PAD_MODES.items()}


@forms.register(P.Conv2DBackpropFilter)
def _convolution_by_weight(writer, node, given):
    sizes = node.inputs[1].types[node.slots[1]].shape[2:]
    attributes = geometry(given, sizes)
    attributes.update(named(["out_backprop", "input", "filter_sizes"], ["output"]))
    return writer.call(
        "Conv2DBackpropFilter", [given["out_backprop"], given["input_x"], given["filter_sizes"]], node, attributes
    )


@reads("Conv2DBackpropFilter")
def _read_convolution_by_weight(values, attributes):
    op = P.Conv2DBackpropFilter.operator
    return op.name, geometry_read(op, values, attributes)


# ---------------------------------------------------------------------- pooling
@forms.register(P.MaxPoolGrad)
def _max_pool_grad(writer, node, given):
    if given["data_format"] != "NCHW":
        raise Unsayable(f"data_format={given['data_format']!r}")
    attributes = {
        "kernel_size": (1, 1, *given["kernel_size"]),
        "strides": (1, 1, *given["strides"]),
        "pad_mode": given["pad_mode"].upper(),
        "format": "NCHW",
        "data_format": "NCHW",
        **named(("x_origin", "out_origin", "grad"), ["output"]),
    }
    return writer.call("MaxPoolGrad", [given["x_origin"], given["out_origin"], given["grad"]], node, attributes)


@reads("MaxPoolGrad")
def _read_max_pool_grad(values, attributes):
    op = P.MaxPoolGrad.operator
    _, windows = windows_read(values[:1], attributes)
    given = {key: value for key, value in windows.items() if key in op.attributes}
    return op.name, {**given, **dict(zip(op.positions, values))}


@forms.register(P.AvgPoolGradGpu)
def _avg_pool_grad(writer, node, given):
    if given.get("data_format", "NCHW") != "NCHW":
        raise Unsayable(f"data_format={given['data_format']!r}")
    windows = [tuple(given["kernel_size"]), tuple(given["strides"]), _PAD_MODES[given["pad_mode"]], 0]
    return writer.call("AvgPoolGrad", [given[name] for name in P.AvgPoolGradGpu.operator.positions] + windows, node)


@reads("AvgPoolGrad")
def _read_avg_pool_grad(values, attributes):
    op = P.AvgPoolGradGpu.operator
    *tensors, kernel_size, strides, mode, layout = values
    if layout != 0:
        raise Unsayable(f"data_format number {layout}")
    if mode not in _PAD_NAMES:
        raise Unsayable(f"pad_mode number {mode}")
    return op.name, {
        **dict(zip(op.positions, tensors)),
        "kernel_size": tuple(kernel_size),
        "strides": tuple(strides),
        "pad_mode": _PAD_NAMES[mode],
    }


# ---------------------------------------------------------------------- norms
@forms.register(P.BatchNormGrad)
def _batch_norm_grad(writer, node, given):
    """MindSpore's takes what its own forward kernel has reserved, which on a CPU is not looked at, and gives three."""
    tensors = [given[name] for name in P.BatchNormGrad.operator.positions]
    kinds = [(kind.dtype, kind.shape) for kind in node.types[:3]]
    return writer.several("BatchNormGrad", [*tensors, tensors[3], given["is_training"], given["epsilon"], 0], kinds)


@reads("BatchNormGrad")
def _read_batch_norm_grad(values, attributes):
    *tensors, _, training, epsilon, layout = values
    if layout != 0:
        raise Unsayable(f"data_format number {layout}")
    op = P.BatchNormGrad.operator
    return op.name, {**dict(zip(op.positions, tensors)), "is_training": training, "epsilon": epsilon}


@forms.register(P.LayerNormGrad)
def _layer_norm_grad(writer, node, given):
    tensors = [given[name] for name in P.LayerNormGrad.operator.positions]
    return writer.call("LayerNormGrad", [*tensors, given["begin_norm_axis"], given["begin_params_axis"]], node)


@reads("LayerNormGrad")
def _read_layer_norm_grad(values, attributes):
    *tensors, norm, params = values
    op = P.LayerNormGrad.operator
    return op.name, {**dict(zip(op.positions, tensors)), "begin_norm_axis": norm, "begin_params_axis": params}


@forms.register(_SoftmaxBackward)
def _softmax_grad(writer, node, given):
    return writer.call("SoftmaxBackward", [given["dout"], given["out"], given["dim"]], node)


@reads("SoftmaxBackward")
def _read_softmax_grad(values, attributes):
    return "_SoftmaxBackward", dict(zip(("dout", "out", "dim"), values, strict=True))


# ---------------------------------------------------------------------- losses
@forms.register(P.SparseSoftmaxCrossEntropyWithLogits)
def _sparse_cross_entropy(writer, node, given):
    attributes = {"is_grad": given["is_grad"], "sens": 1.0, **named(["features", "labels"], ["output"])}
    return writer.call("SparseSoftmaxCrossEntropyWithLogits", [given["logits"], given["labels"]], node, attributes)
