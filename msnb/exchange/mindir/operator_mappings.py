"""Rules that write operators as nodes of a MINDIR file, and read them back.

There is a rule for an operator that is a primitive with attributes, or whose name or inputs differ in MindSpore.
"""

import numpy as np

from msnb.exchange.mindir.encoding import dtype_of, element_type_name, is_length
from msnb.exchange.mindir.operators import NotExpressible, dtype_of_id, forms, reads
from msnb.ops import operations as P
from msnb.ops.math.division import _TrueDiv
from msnb.ops.math.matmul import _MatMulBroadcast
from msnb.ops.nn.recurrent.lstm import matrix_offsets, on_cpu


def io_names(inputs, outputs):
    return {"input_names": list(inputs), "output_names": list(outputs)}


def _prepend_batch_channel_ones(pair):
    return (1, 1, *pair)


def _get_height_width(value):
    """Return (height, width) from an argument of one, two or four numbers."""
    if isinstance(value, int):
        return (value, value)
    value = tuple(value)
    return value[2:] if len(value) == 4 else value


# ---------------------------------------------------------------------- primitives with equal attributes
_EQUAL_PRIMITIVES = (
    "BesselI0e BesselI1e BitwiseAnd BitwiseOr BitwiseXor DepthToSpace DiagPart Digamma DivNoNan Hypot Igamma Inv "
    "Invert InvertPermutation IsNan L2Loss L2Normalize LRN Lgamma MirrorPad Mish Mod Pad PopulationCount "
    "ReverseSequence Rint SeLU SigmoidCrossEntropyWithLogits SoftmaxCrossEntropyWithLogits "
    "Softplus Softsign Sort SpaceToDepth SquareSumAll SquaredDifference TensorScatterAdd TensorScatterDiv "
    "TensorScatterMax TensorScatterMin TensorScatterMul TensorScatterSub TensorScatterUpdate TopK Tril TruncateDiv "
    "TruncateMod UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd Unstack Xdivy"
).split()


@forms.register(*[getattr(P, name) for name in _EQUAL_PRIMITIVES])
def _write_primitive_unchanged(writer, node, args):
    op = getattr(P, node.op).operator
    attributes = {name: args[name] for name in op.attributes if args[name] is not None}
    return writer.call(op.name, [args[inp.name] for inp in op.inputs], node, attributes)


# ---------------------------------------------------------------------- convolution
def _compute_pad_list(args, sizes):
    """Return the padding of a convolution: top, bottom, left, right."""
    if args["pad_mode"] == "valid":
        return (0, 0, 0, 0)
    if args["pad_mode"] == "pad":
        return tuple(args["pad"])
    pads = []
    for size, kernel, stride, dilation in zip(
        sizes, args["kernel_size"], _get_height_width(args["stride"]), _get_height_width(args["dilation"]), strict=True
    ):
        if is_length(size):
            pads += [-1, -1]  # MindSpore's value for an unknown padding
            continue
        total = max((-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
        pads += [total // 2, total - total // 2]
    return tuple(pads)


def convolution_attributes(args, sizes):
    if args["data_format"] != "NCHW":
        raise NotExpressible(f"data_format={args['data_format']!r}")
    return {
        "kernel_size": _get_height_width(args["kernel_size"]),
        "mode": args["mode"],
        "out_channel": args["out_channel"],
        "pad": tuple(args["pad"]),
        "pad_mode": args["pad_mode"],
        "format": "NCHW",
        "pad_list": _compute_pad_list(args, sizes),
        "groups": args["group"],
        "group": args["group"],
        "stride": _prepend_batch_channel_ones(_get_height_width(args["stride"])),
        "dilation": _prepend_batch_channel_ones(_get_height_width(args["dilation"])),
    }


@forms.register(P.Conv2D)
def _write_conv2d(writer, node, args):
    sizes = node.inputs[0].types[node.slots[0]].shape[2:]
    attributes = {**convolution_attributes(args, sizes), **io_names("xw", ["output"])}
    return writer.call("Conv2D", [args["x"], args["weight" if "weight" in args else "w"]], node, attributes)


@forms.register(P.Conv2DBackpropInput)
def _write_conv2d_transpose(writer, node, args):
    inputs = [inp.name for inp in P.Conv2DBackpropInput.operator.inputs]
    attributes = convolution_attributes(args, node.types[0].shape[2:])
    attributes.update(io_names(["out_backprop", "filter", "input_sizes"], ["output"]))
    return writer.call("Conv2DBackpropInput", [args[name] for name in inputs], node, attributes)


@reads("Conv2D", "Conv2DBackpropInput", "Conv2DTranspose")
def _read_convolution(values, attributes, name="Conv2D"):
    transposed = len(values) == 3
    op = (P.Conv2DBackpropInput if transposed else P.Conv2D).operator
    return op.name, read_convolution_attributes(op, values, attributes)


def read_convolution_attributes(op, values, attributes):
    if attributes.get("format", "NCHW") != "NCHW":
        raise NotExpressible(f"format={attributes['format']!r}")
    args = dict(zip([inp.name for inp in op.inputs], values))
    mode = str(attributes.get("pad_mode", "valid")).lower()
    pads = attributes.get("pad", (0, 0, 0, 0))
    pads = (pads,) * 4 if isinstance(pads, int) else tuple(pads)
    args.update(
        out_channel=attributes["out_channel"],
        kernel_size=_get_height_width(attributes["kernel_size"]),
        mode=attributes.get("mode", 1),
        pad_mode=mode,
        pad=pads,
        stride=_get_height_width(attributes["stride"]),
        dilation=_get_height_width(attributes["dilation"]),
        group=attributes.get("group", 1),
    )
    return args


# ---------------------------------------------------------------------- pooling
@forms.register(P.MaxPool)
def _write_max_pool(writer, node, args):
    if args["data_format"] != "NCHW":
        raise NotExpressible(f"data_format={args['data_format']!r}")
    attributes = {
        "kernel_size": _prepend_batch_channel_ones(_get_height_width(args["kernel_size"])),
        "strides": _prepend_batch_channel_ones(_get_height_width(args["strides"])),
        "pad_mode": args["pad_mode"].upper(),
        "format": "NCHW",
        **io_names("x", ["output"]),
    }
    return writer.call("MaxPool", [args["x"]], node, attributes)


@reads("MaxPool")
def read_max_pool(values, attributes):
    return "MaxPool", {
        P.MaxPool.operator.inputs[0].name: values[0],
        "kernel_size": _get_height_width(attributes["kernel_size"]),
        "strides": _get_height_width(attributes["strides"]),
        "pad_mode": str(attributes["pad_mode"]).lower(),
        "data_format": attributes.get("format", "NCHW"),
    }


# ---------------------------------------------------------------------- joining
@forms.register(P.Stack)
def _write_stack(writer, node, args):
    items = next(v for v in args.values() if isinstance(v, list))
    attributes = {"axis": args["axis"], "num": len(items), "N": len(items), **io_names("x", "y")}
    return writer.call("Stack", [items], node, attributes)


# ---------------------------------------------------------------------- operators with other names or inputs
@forms.register(_TrueDiv)
def _write_true_division(writer, node, args):
    x, y = (writer.cast(args[name], node.types[0].dtype) for name in ("x", "y"))
    return writer.call("RealDiv", [x, y], node)


@forms.register(_MatMulBroadcast)
def _write_matmul(writer, node, args):
    x, y = node.inputs[0].types[node.slots[0]], node.inputs[1].types[node.slots[1]]
    if len(x.shape) < 2 or len(y.shape) < 2 or (len(x.shape), len(y.shape)) == (2, 2):
        if len(x.shape) != 2 or len(y.shape) != 2:
            raise NotExpressible("a product with a vector")
        return writer.call("MatMul", [args["x1"], args["x2"], False, False], node)
    if len(y.shape) > 2 and x.shape[:-2] != y.shape[:-2]:
        raise NotExpressible("a product that broadcasts its batches")
    return writer.call("BatchMatMul", [args["x1"], args["x2"], False, False], node)


@reads("MatMulExt")
def _read_matmul(values, attributes):
    return "_MatMulBroadcast", dict(zip(("x1", "x2"), values, strict=True))


@forms.register(P.StopGradient)
def _write_stop_gradient(writer, node, args):
    """Return the input: an inference graph has no gradients to stop."""
    (value,) = args.values()
    return value


def _make_arg_with_value_writer(name):
    def write(writer, node, args):
        """Write the operator and cast its index to int32: the index is int64 in MindSpore's operator."""
        kinds = (("Int64", node.types[0].shape), (node.types[1].dtype, node.types[1].shape))
        index, value = writer.emit_multiple(name, [args[n] for n in args if n not in ("axis", "keep_dims")] + [
            args["axis"], args["keep_dims"]], kinds)  # fmt: skip
        return [writer.cast(index, node.types[0].dtype), value]

    return write


for _class in (P.ArgMaxWithValue, P.ArgMinWithValue):
    forms.register(_class)(_make_arg_with_value_writer(_class.__name__))


@forms.register(P.ResizeBilinear)
def _write_resize_bilinear(writer, node, args):
    x = args[P.ResizeBilinear.operator.inputs[0].name]
    half = args.get("half_pixel_centers", False)
    return writer.call("ResizeBilinearV2", [x, tuple(args["size"]), args["align_corners"], half], node)


@reads("ResizeBilinearV2")
def _read_resize_bilinear(values, attributes):
    x, size, align, half = values
    op = P.ResizeBilinear.operator
    if half and "half_pixel_centers" not in op.attributes:
        raise NotExpressible("half_pixel_centers=True")
    args = {op.inputs[0].name: x, "size": tuple(size), "align_corners": bool(align), "half_pixel_centers": bool(half)}
    return op.name, {k: v for k, v in args.items() if k in op.attributes or k == op.inputs[0].name}


@reads("Muls")
def _read_muls_as_mul(values, attributes):
    return "Mul", {"x": values[0], "y": values[1]}


@reads("StopGradient")
def _read_stop_gradient(values, attributes):
    return "StopGradient", {P.StopGradient.operator.inputs[0].name: values[0]}


def _get_element_type(value):
    """Return the element type of an input of a MINDIR node."""
    return value.node.types[value.slot].dtype if hasattr(value, "node") else element_type_name(np.asarray(value).dtype)


def _make_reduction_reader(name):
    def read(values, attributes):
        x, axis, keep = values[:3]
        if len(values) > 3 and values[3] is not None and dtype_of_id(values[3]) != dtype_of(_get_element_type(x)):
            raise NotExpressible("a reduction into another element type")
        axis = () if axis is None else axis
        names = [i.name for i in getattr(P, name).operator.inputs]
        return name, {**dict(zip(names, (x, axis))), "keep_dims": bool(keep)}

    return read


for _mindspore_name, _msnb_name in {"SumExt": "ReduceSum", "MeanExt": "ReduceMean"}.items():
    reads(_mindspore_name)(_make_reduction_reader(_msnb_name))


# ---------------------------------------------------------------------- LSTM
@forms.register(P.LSTM)
def _write_lstm(writer, node, args):
    """Write an LSTM layer by layer: MindSpore's kernel takes several layers only if all have the same input size."""
    layers, directions = args["num_layers"], 2 if args["bidirectional"] else 1
    size, kind = args["hidden_size"], node.types[0].dtype
    steps, batch, width = node.types[0].shape
    x, ends, states = args["x"], [], (directions, batch, size)
    for layer, weights in enumerate(_pack_lstm_weights(writer, node, args)):
        attributes = {
            "input_size": args["input_size"] if layer == 0 else size * directions,
            "hidden_size": size,
            "num_layers": 1,
            "has_bias": args["has_bias"],
            "bidirectional": args["bidirectional"],
            "dropout": 0.0,
            "proj_size": 0,
        }
        first = [args["h"], args["c"]]
        if layers > 1:
            slice_arguments = (
                (layer * directions, 0, 0),
                ((layer + 1) * directions, batch, size),
                (1, 1, 1),
                0,
                0,
                0,
                0,
                0,
            )
            first = [writer.emit_function("StridedSlice", [state, *slice_arguments], kind, states) for state in first]
        kinds = [(kind, (steps, batch, width)), (kind, states), (kind, states), (kind, (1, 1)), (kind, (1, 1))]
        x, *last = writer.emit_multiple("LSTM", [x, *first, weights], kinds, attributes)
        ends.append(last)
    if layers > 1:
        full_shape = (layers * directions, batch, size)
        last[:2] = [writer.emit_function("Concat", [[end[i] for end in ends], 0], kind, full_shape) for i in range(2)]
    return [x, *last]


def _pack_lstm_weights(writer, node, args):
    """Return the weights of each layer in MindSpore's order on CPU: input matrices, hidden matrices, sums of the
    biases.
    """
    kind = node.inputs[3].types[node.slots[3]]
    layers, directions, biases = args["num_layers"], 2 if args["bidirectional"] else 1, args["has_bias"]
    gates = 4 * args["hidden_size"]
    widths = [args["input_size"] if i == 0 else args["hidden_size"] * directions for i in range(layers)]
    sizes = [width for width in widths for _ in range(directions)]
    hidden, count = gates * args["hidden_size"], len(sizes)
    matrices = sum(gates * n for n in sizes) + hidden * count
    has_summed_bias = biases and kind.size == matrices + gates * count
    inputs_first = has_summed_bias or (not biases and on_cpu())
    if layers == 1 and inputs_first:
        return [args["w"]]  # the weights already have this order
    flat = args["w"] if len(kind.shape) == 3 else writer.emit_function("Reshape", [args["w"], (-1, 1, 1)], kind.dtype,
                                                               (kind.size, 1, 1))  # fmt: skip

    def slice_weights(start, size):
        slice_arguments = (start, 0, 0), (start + size, 1, 1), (1, 1, 1)
        return writer.emit_function("StridedSlice", [flat, *slice_arguments, 0, 0, 0, 0, 0], kind.dtype, (size, 1, 1))

    def bias(number):
        if has_summed_bias:
            return slice_weights(matrices + number * gates, gates)
        start = matrices + number * 2 * gates
        return writer.emit_function(
            "Add", [slice_weights(start, gates), slice_weights(start + gates, gates)], kind.dtype, (gates, 1, 1)
        )

    offsets = matrix_offsets(sizes, args["hidden_size"], inputs_first)
    cell_weights = [
        [slice_weights(input_offset, gates * n), slice_weights(hidden_offset, hidden)]
        for input_offset, hidden_offset, n in zip(*offsets, sizes, strict=True)
    ]
    for number, weights in enumerate(cell_weights if biases else ()):
        weights.append(bias(number))
    packed = []
    for layer in range(layers):
        input_offset = cell_weights[layer * directions : (layer + 1) * directions]
        size = directions * (gates * widths[layer] + hidden + (gates if biases else 0))
        ordered = [weights[i] for i in range(len(input_offset[0])) for weights in input_offset]
        packed.append(writer.emit_function("Concat", [ordered, 0], kind.dtype, (size, 1, 1)))
    return packed
