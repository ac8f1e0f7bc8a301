"""Convert the operators that compute gradients to nodes of a MINDIR file, and back."""

from msnb.exchange.mindir.operator_mappings import (
    convolution_attributes,
    io_names,
    read_convolution_attributes,
    read_max_pool,
)
from msnb.exchange.mindir.operators import NotExpressible, forms, reads
from msnb.ops import operations as P
from msnb.ops.nn.activation.softmax import _SoftmaxBackward

_PAD_MODES = {"same": 1, "valid": 2}
_PAD_NAMES = {number: name for name, number in _PAD_MODES.items()}


@forms.register(P.Conv2DBackpropFilter)
def _write_conv2d_backprop_filter(writer, node, args):
    sizes = node.inputs[1].types[node.slots[1]].shape[2:]
    attributes = convolution_attributes(args, sizes)
    attributes.update(io_names(["out_backprop", "input", "filter_sizes"], ["output"]))
    return writer.call(
        "Conv2DBackpropFilter", [args["out_backprop"], args["input_x"], args["filter_sizes"]], node, attributes
    )


@reads("Conv2DBackpropFilter")
def _read_conv2d_backprop_filter(values, attributes):
    op = P.Conv2DBackpropFilter.operator
    return op.name, read_convolution_attributes(op, values, attributes)


# ---------------------------------------------------------------------- pooling
@forms.register(P.MaxPoolGrad)
def _write_max_pool_grad(writer, node, args):
    if args["data_format"] != "NCHW":
        raise NotExpressible(f"data_format={args['data_format']!r}")
    attributes = {
        "kernel_size": (1, 1, *args["kernel_size"]),
        "strides": (1, 1, *args["strides"]),
        "pad_mode": args["pad_mode"].upper(),
        "format": "NCHW",
        "data_format": "NCHW",
        **io_names(("x_origin", "out_origin", "grad"), ["output"]),
    }
    return writer.call("MaxPoolGrad", [args["x_origin"], args["out_origin"], args["grad"]], node, attributes)


@reads("MaxPoolGrad")
def _read_max_pool_grad(values, attributes):
    op = P.MaxPoolGrad.operator
    _, windows = read_max_pool(values[:1], attributes)
    args = {key: value for key, value in windows.items() if key in op.attributes}
    return op.name, {**args, **dict(zip(op.positions, values))}


@forms.register(P.AvgPoolGradGpu)
def _write_avg_pool_grad(writer, node, args):
    if args.get("data_format", "NCHW") != "NCHW":
        raise NotExpressible(f"data_format={args['data_format']!r}")
    windows = [tuple(args["kernel_size"]), tuple(args["strides"]), _PAD_MODES[args["pad_mode"]], 0]
    return writer.call("AvgPoolGrad", [args[name] for name in P.AvgPoolGradGpu.operator.positions] + windows, node)


@reads("AvgPoolGrad")
def _read_avg_pool_grad(values, attributes):
    op = P.AvgPoolGradGpu.operator
    *tensors, kernel_size, strides, mode, layout = values
    if layout != 0:
        raise NotExpressible(f"data_format number {layout}")
    if mode not in _PAD_NAMES:
        raise NotExpressible(f"pad_mode number {mode}")
    return op.name, {
        **dict(zip(op.positions, tensors)),
        "kernel_size": tuple(kernel_size),
        "strides": tuple(strides),
        "pad_mode": _PAD_NAMES[mode],
    }


# ---------------------------------------------------------------------- norms
@forms.register(P.BatchNormGrad)
def _write_batch_norm_grad(writer, node, args):
    """Write BatchNormGrad with the additional input `reserve`, which MindSpore's CPU kernel ignores.

    The node has three results.
    """
    tensors = [args[name] for name in P.BatchNormGrad.operator.positions]
    kinds = [(kind.dtype, kind.shape) for kind in node.types[:3]]
    return writer.emit_multiple("BatchNormGrad", [*tensors, tensors[3], args["is_training"], args["epsilon"], 0], kinds)


@reads("BatchNormGrad")
def _read_batch_norm_grad(values, attributes):
    *tensors, _, training, epsilon, layout = values
    if layout != 0:
        raise NotExpressible(f"data_format number {layout}")
    op = P.BatchNormGrad.operator
    return op.name, {**dict(zip(op.positions, tensors)), "is_training": training, "epsilon": epsilon}


@forms.register(P.LayerNormGrad)
def _write_layer_norm_grad(writer, node, args):
    tensors = [args[name] for name in P.LayerNormGrad.operator.positions]
    return writer.call("LayerNormGrad", [*tensors, args["begin_norm_axis"], args["begin_params_axis"]], node)


@reads("LayerNormGrad")
def _read_layer_norm_grad(values, attributes):
    *tensors, norm, params = values
    op = P.LayerNormGrad.operator
    return op.name, {**dict(zip(op.positions, tensors)), "begin_norm_axis": norm, "begin_params_axis": params}


@forms.register(_SoftmaxBackward)
def _write_softmax_grad(writer, node, args):
    return writer.call("SoftmaxBackward", [args["dout"], args["out"], args["dim"]], node)


@reads("SoftmaxBackward")
def _read_softmax_grad(values, attributes):
    return "_SoftmaxBackward", dict(zip(("dout", "out", "dim"), values, strict=True))


# ---------------------------------------------------------------------- losses
@forms.register(P.SparseSoftmaxCrossEntropyWithLogits)
def _write_sparse_cross_entropy(writer, node, args):
    attributes = {"is_grad": args["is_grad"], "sens": 1.0, **io_names(["features", "labels"], ["output"])}
    return writer.call("SparseSoftmaxCrossEntropyWithLogits", [args["logits"], args["labels"]], node, attributes)
