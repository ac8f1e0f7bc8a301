"""Operators whose form in MINDIR differs from what they are here: primitives with attributes, and other spellings."""

import numpy as np

from msnb.exchange.mindir.operators import Unsayable, dtype_numbered, forms, reads
from msnb.exchange.mindir.spelling import dtype_of, is_length, spelled
from msnb.ops import operations as P
from msnb.ops.math.division import _TrueDiv
from msnb.ops.math.matmul import _MatMulBroadcast
from msnb.ops.nn.lstm import matrix_places, on_cpu


def named(inputs, outputs):
    return {"input_names": list(inputs), "output_names": list(outputs)}


def _four(pair):
    return (1, 1, *pair)


def _two(value):
    """Height and width of one number, two or four."""
    if isinstance(value, int):
        return (value, value)
    value = tuple(value)
    return value[2:] if len(value) == 4 else value


# ---------------------------------------------------------------------- primitives whose attributes are those here
_ALIKE = (
    "BesselI0e BesselI1e BitwiseAnd BitwiseOr BitwiseXor DepthToSpace DiagPart Digamma DivNoNan Hypot Igamma Inv "
    "Invert InvertPermutation IsNan L2Loss L2Normalize LRN Lgamma MirrorPad Mish Mod Pad PopulationCount "
    "ReverseSequence Rint SeLU SigmoidCrossEntropyWithLogits SoftmaxCrossEntropyWithLogits "
    "Softplus Softsign Sort SpaceToDepth SquareSumAll SquaredDifference TensorScatterAdd TensorScatterDiv "
    "TensorScatterMax TensorScatterMin TensorScatterMul TensorScatterSub TensorScatterUpdate TopK Tril TruncateDiv "
    "TruncateMod UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd Unstack Xdivy"
).split()


@forms.register(*[getattr(P, name) for name in _ALIKE])
def _alike(writer, node, given):
    op = getattr(P, node.op).operator
    attributes = {name: given[name] for name in op.attributes if given[name] is not None}
    return writer.call(op.name, [given[inp.name] for inp in op.inputs], node, attributes)


# ---------------------------------------------------------------------- convolution
def _pads(given, sizes):
    """Top, bottom, left, right of what a convolution adds."""
    if given["pad_mode"] == "valid":
        return (0, 0, 0, 0)
    if given["pad_mode"] == "pad":
        return tuple(given["pad"])
    found = []
    for size, kernel, stride, dilation in zip(
        sizes, given["kernel_size"], _two(given["stride"]), _two(given["dilation"]), strict=True
    ):
        if is_length(size):
            found += [-1, -1]  # as MindSpore has it
            continue
        total = max((-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
        found += [total // 2, total - total // 2]
    return tuple(found)


def geometry(given, sizes):
    if given["data_format"] != "NCHW":
        raise Unsayable(f"data_format={given['data_format']!r}")
    return {
        "kernel_size": _two(given["kernel_size"]),
        "mode": given["mode"],
        "out_channel": given["out_channel"],
        "pad": tuple(given["pad"]),
        "pad_mode": given["pad_mode"],
        "format": "NCHW",
        "pad_list": _pads(given, sizes),
        "groups": given["group"],
        "group": given["group"],
        "stride": _four(_two(given["stride"])),
        "dilation": _four(_two(given["dilation"])),
    }


@forms.register(P.Conv2D)
def _conv2d(writer, node, given):
    sizes = node.inputs[0].types[node.slots[0]].shape[2:]
    attributes = {**geometry(given, sizes), **named("xw", ["output"])}
    return writer.call("Conv2D", [given["x"], given["weight" if "weight" in given else "w"]], node, attributes)


@forms.register(P.Conv2DBackpropInput)
def _conv2d_transpose(writer, node, given):
    inputs = [inp.name for inp in P.Conv2DBackpropInput.operator.inputs]
    attributes = geometry(given, node.types[0].shape[2:])
    attributes.update(named(["out_backprop", "filter", "input_sizes"], ["output"]))
    return writer.call("Conv2DBackpropInput", [given[name] for name in inputs], node, attributes)


@reads("Conv2D", "Conv2DBackpropInput", "Conv2DTranspose")
def _read_convolution(values, attributes, name="Conv2D"):
    transposed = len(values) == 3
    op = (P.Conv2DBackpropInput if transposed else P.Conv2D).operator
    return op.name, geometry_read(op, values, attributes)


def geometry_read(op, values, attributes):
    if attributes.get("format", "NCHW") != "NCHW":
        raise Unsayable(f"format={attributes['format']!r}")
    given = dict(zip([inp.name for inp in op.inputs], values))
    mode = str(attributes.get("pad_mode", "valid")).lower()
    pads = attributes.get("pad", (0, 0, 0, 0))
    pads = (pads,) * 4 if isinstance(pads, int) else tuple(pads)
    given.update(
        out_channel=attributes["out_channel"],
        kernel_size=_two(attributes["kernel_size"]),
        mode=attributes.get("mode", 1),
        pad_mode=mode,
        pad=pads,
        stride=_two(attributes["stride"]),
        dilation=_two(attributes["dilation"]),
        group=attributes.get("group", 1),
    )
    return given


# ---------------------------------------------------------------------- pooling
@forms.register(P.MaxPool)
def _max_pool(writer, node, given):
    if given["data_format"] != "NCHW":
        raise Unsayable(f"data_format={given['data_format']!r}")
    attributes = {
        "kernel_size": _four(_two(given["kernel_size"])),
        "strides": _four(_two(given["strides"])),
        "pad_mode": given["pad_mode"].upper(),
        "format": "NCHW",
        **named("x", ["output"]),
    }
    return writer.call("MaxPool", [given["x"]], node, attributes)


@reads("MaxPool")
def windows_read(values, attributes):
    return "MaxPool", {
        P.MaxPool.operator.inputs[0].name: values[0],
        "kernel_size": _two(attributes["kernel_size"]),
        "strides": _two(attributes["strides"]),
        "pad_mode": str(attributes["pad_mode"]).lower(),
        "data_format": attributes.get("format", "NCHW"),
    }


# ---------------------------------------------------------------------- joining
@forms.register(P.Stack)
def _stack(writer, node, given):
    items = next(v for v in given.values() if isinstance(v, list))
    attributes = {"axis": given["axis"], "num": len(items), "N": len(items), **named("x", "y")}
    return writer.call("Stack", [items], node, attributes)


# ---------------------------------------------------------------------- other spellings
@forms.register(_TrueDiv)
def _true_division(writer, node, given):
    x, y = (writer.cast(given[name], node.types[0].dtype) for name in ("x", "y"))
    return writer.call("RealDiv", [x, y], node)


@forms.register(_MatMulBroadcast)
def _matmul(writer, node, given):
    x, y = node.inputs[0].types[node.slots[0]], node.inputs[1].types[node.slots[1]]
    if len(x.shape) < 2 or len(y.shape) < 2 or (len(x.shape), len(y.shape)) == (2, 2):
        if len(x.shape) != 2 or len(y.shape) != 2:
            raise Unsayable("a product with a vector")
        return writer.call("MatMul", [given["x1"], given["x2"], False, False], node)
    if len(y.shape) > 2 and x.shape[:-2] != y.shape[:-2]:
        raise Unsayable("a product that broadcasts its batches")
    return writer.call("BatchMatMul", [given["x1"], given["x2"], False, False], node)


@reads("MatMulExt")
def _read_matmul(values, attributes):
    return "_MatMulBroadcast", dict(zip(("x1", "x2"), values, strict=True))


@forms.register(P.StopGradient)
def _stop_gradient(writer, node, given):
    """Nothing is differentiated there."""
    (value,) = given.values()
    return value


def _with_value(name):
    def form(writer, node, given):
        """MindSpore counts in int64, this operator in int32."""
        kinds = (("Int64", node.types[0].shape), (node.types[1].dtype, node.types[1].shape))
        place, value = writer.several(name, [given[n] for n in given if n not in ("axis", "keep_dims")] + [
            given["axis"], given["keep_dims"]], kinds)  # fmt: skip
        return [writer.cast(place, node.types[0].dtype), value]

    return form


for _class in (P.ArgMaxWithValue, P.ArgMinWithValue):
    forms.register(_class)(_with_value(_class.__name__))


@forms.register(P.ResizeBilinear)
def _resize_bilinear(writer, node, given):
    x = given[P.ResizeBilinear.operator.inputs[0].name]
    half = given.get("half_pixel_centers", False)
    return writer.call("ResizeBilinearV2", [x, tuple(given["size"]), given["align_corners"], half], node)


@reads("ResizeBilinearV2")
def _read_resize_bilinear(values, attributes):
    x, size, align, half = values
    op = P.ResizeBilinear.operator
    if half and "half_pixel_centers" not in op.attributes:
        raise Unsayable("half_pixel_centers=True")
    given = {op.inputs[0].name: x, "size": tuple(size), "align_corners": bool(align), "half_pixel_centers": bool(half)}
    return op.name, {k: v for k, v in given.items() if k in op.attributes or k == op.inputs[0].name}


@reads("Muls")
def _read_muls(values, attributes):
    return "Mul", {"x": values[0], "y": values[1]}


@reads("StopGradient")
def _read_stop_gradient(values, attributes):
    return "StopGradient", {P.StopGradient.operator.inputs[0].name: values[0]}


def _kind(value):
    """The element type of an input that is read."""
    return value.node.types[value.slot].dtype if hasattr(value, "node") else spelled(np.asarray(value).dtype)


def _reduction(ours):
    def read(values, attributes):
        x, axis, keep = values[:3]
        if len(values) > 3 and values[3] is not None and dtype_numbered(values[3]) != dtype_of(_kind(x)):
            raise Unsayable("a reduction into another element type")
        axis = () if axis is None else axis
        names = [i.name for i in getattr(P, ours).operator.inputs]
        return ours, {**dict(zip(names, (x, axis))), "keep_dims": bool(keep)}

    return read


for _theirs, _ours in {"SumExt": "ReduceSum", "MeanExt": "ReduceMean"}.items():
    reads(_theirs)(_reduction(_ours))


# ---------------------------------------------------------------------- LSTM
@forms.register(P.LSTM)
def _lstm(writer, node, given):
    """Layer by layer: MindSpore's kernel takes several only when all of them have one width."""
    layers, directions = given["num_layers"], 2 if given["bidirectional"] else 1
    size, kind = given["hidden_size"], node.types[0].dtype
    steps, batch, width = node.types[0].shape
    x, ends, states = given["x"], [], (directions, batch, size)
    for layer, weights in enumerate(_packed(writer, node, given)):
        attributes = {
            "input_size": given["input_size"] if layer == 0 else size * directions,
            "hidden_size": size,
            "num_layers": 1,
            "has_bias": given["has_bias"],
            "bidirectional": given["bidirectional"],
            "dropout": 0.0,
            "proj_size": 0,
        }
        first = [given["h"], given["c"]]
        if layers > 1:
            part = (layer * directions, 0, 0), ((layer + 1) * directions, batch, size), (1, 1, 1), 0, 0, 0, 0, 0
            first = [writer.made("StridedSlice", [state, *part], kind, states) for state in first]
        kinds = [(kind, (steps, batch, width)), (kind, states), (kind, states), (kind, (1, 1)), (kind, (1, 1))]
        x, *last = writer.several("LSTM", [x, *first, weights], kinds, attributes)
        ends.append(last)
    if layers > 1:
        whole = (layers * directions, batch, size)
        last[:2] = [writer.made("Concat", [[end[i] for end in ends], 0], kind, whole) for i in range(2)]
    return [x, *last]


def _packed(writer, node, given):
    """The weights of each layer as MindSpore has them on CPU: input matrices, hidden ones, the sums of the biases."""
    kind = node.inputs[3].types[node.slots[3]]
    layers, directions, biases = given["num_layers"], 2 if given["bidirectional"] else 1, given["has_bias"]
    gates = 4 * given["hidden_size"]
    widths = [given["input_size"] if i == 0 else given["hidden_size"] * directions for i in range(layers)]
    sizes = [width for width in widths for _ in range(directions)]
    hidden, count = gates * given["hidden_size"], len(sizes)
    matrices = sum(gates * n for n in sizes) + hidden * count
    one = biases and kind.size == matrices + gates * count
    inputs_first = one or (not biases and on_cpu())
    if layers == 1 and inputs_first:
        return [given["w"]]  # they are packed so already
    flat = given["w"] if len(kind.shape) == 3 else writer.made("Reshape", [given["w"], (-1, 1, 1)], kind.dtype,
                                                               (kind.size, 1, 1))  # fmt: skip

    def piece(at, size):
        part = (at, 0, 0), (at + size, 1, 1), (1, 1, 1)
        return writer.made("StridedSlice", [flat, *part, 0, 0, 0, 0, 0], kind.dtype, (size, 1, 1))

    def bias(number):
        if one:
            return piece(matrices + number * gates, gates)
        at = matrices + number * 2 * gates
        return writer.made("Add", [piece(at, gates), piece(at + gates, gates)], kind.dtype, (gates, 1, 1))

    places = matrix_places(sizes, given["hidden_size"], inputs_first)
    parts = [[piece(own, gates * n), piece(later, hidden)] for own, later, n in zip(*places, sizes, strict=True)]
    for number, part in enumerate(parts if biases else ()):
        part.append(bias(number))
    made = []
    for layer in range(layers):
        own = parts[layer * directions : (layer + 1) * directions]
        size = directions * (gates * widths[layer] + hidden + (gates if biases else 0))
        ordered = [part[i] for i in range(len(own[0])) for part in own]
        made.append(writer.made("Concat", [ordered, 0], kind.dtype, (size, 1, 1)))
    return made
