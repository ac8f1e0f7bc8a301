"""Operators whose form in MINDIR differs from what they are here: primitives with attributes, and other spellings."""

from typing import Any

import numpy as np

from msnb.core.operator import REGISTRY
from msnb.exchange.mindir.operators import Unsayable, forms, reads
from msnb.ops import operations as P
from msnb.ops.index import ALL, ARRAY, NEW, NUMBER


def plain(value: Any) -> Any:
    """A number of numpy, or an array of one, as Python's; anything else as it is."""
    return value.item() if isinstance(value, (np.generic, np.ndarray)) and not value.ndim else value


def _names(inputs, outputs):
    return {"input_names": list(inputs), "output_names": list(outputs)}


def _four(pair):
    return (1, 1, *pair)


def _two(value):
    """Height and width of one number, two or four."""
    if isinstance(value, int):
        return (value, value)
    value = tuple(value)
    return value[2:] if len(value) == 4 else value


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
        total = max((-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
        found += [total // 2, total - total // 2]
    return tuple(found)


def _convolution(given, sizes):
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
    attributes = {**_convolution(given, sizes), **_names("xw", ["output"])}
    return writer.call("Conv2D", [given["x"], given["weight" if "weight" in given else "w"]], node, attributes)


@forms.register(P.Conv2DBackpropInput)
def _conv2d_transpose(writer, node, given):
    inputs = [inp.name for inp in REGISTRY["Conv2DBackpropInput"].inputs]
    attributes = _convolution(given, node.types[0].shape[2:])
    attributes.update(_names(["out_backprop", "filter", "input_sizes"], ["output"]))
    return writer.call("Conv2DBackpropInput", [given[name] for name in inputs], node, attributes)


@reads("Conv2D", "Conv2DBackpropInput", "Conv2DTranspose")
def _read_convolution(values, attributes, name="Conv2D"):
    transposed = len(values) == 3
    op = REGISTRY["Conv2DBackpropInput" if transposed else "Conv2D"]
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
    return op.name, given


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
        **_names("x", ["output"]),
    }
    return writer.call("MaxPool", [given["x"]], node, attributes)


@reads("MaxPool")
def _read_max_pool(values, attributes):
    return "MaxPool", {
        REGISTRY["MaxPool"].inputs[0].name: values[0],
        "kernel_size": _two(attributes["kernel_size"]),
        "strides": _two(attributes["strides"]),
        "pad_mode": str(attributes["pad_mode"]).lower(),
        "data_format": attributes.get("format", "NCHW"),
    }


# ---------------------------------------------------------------------- joining
@forms.register(P.Stack)
def _stack(writer, node, given):
    items = next(v for v in given.values() if isinstance(v, list))
    attributes = {"axis": given["axis"], "num": len(items), "N": len(items), **_names("x", "y")}
    return writer.call("Stack", [items], node, attributes)


# ---------------------------------------------------------------------- indices
@forms.register(REGISTRY["_TensorGetItem"])
def _get_item(writer, node, given):
    """Slices and whole numbers are one StridedSlice."""
    starts, begin, end, step = list(given["starts"]), [], [], []
    new, shrunk, dimension = 0, 0, 0
    shape = node.inputs[0].types[node.slots[0]].shape
    for entry in given["plan"]:
        place = len(begin)
        if entry == ARRAY:
            raise Unsayable("an index Tensor")
        if entry == NEW:
            new |= 1 << place
            begin, end, step = [*begin, 0], [*end, 1], [*step, 1]
            continue
        if entry == ALL:
            begin, end, step = [*begin, 0], [*end, shape[dimension]], [*step, 1]
        else:
            start = plain(starts.pop(0))
            if not isinstance(start, int):
                raise Unsayable("an index that is computed")
            if entry == NUMBER:
                shrunk |= 1 << place
                begin, end, step = [*begin, start], [*end, start + 1], [*step, 1]
            else:
                length, stride = entry
                if stride < 0:
                    raise Unsayable("a slice backwards")
                begin, end, step = [*begin, start], [*end, start + (length - 1) * stride + 1], [*step, stride]
        dimension += 1
    return writer.call("StridedSlice", [given["x"], tuple(begin), tuple(end), tuple(step), 0, 0, 0, new, shrunk], node)


# ---------------------------------------------------------------------- other spellings
@forms.register(REGISTRY["_TrueDiv"])
def _true_division(writer, node, given):
    x, y = (writer.cast(given[name], node.types[0].dtype) for name in ("x", "y"))
    return writer.call("RealDiv", [x, y], node)


@forms.register(REGISTRY["_MatMulBroadcast"])
def _matmul(writer, node, given):
    x, y = node.inputs[0].types[node.slots[0]], node.inputs[1].types[node.slots[1]]
    if len(x.shape) < 2 or len(y.shape) < 2 or (len(x.shape), len(y.shape)) == (2, 2):
        if len(x.shape) != 2 or len(y.shape) != 2:
            raise Unsayable("a product with a vector")
        return writer.call("MatMul", [given["x1"], given["x2"], False, False], node)
    if len(y.shape) > 2 and x.shape[:-2] != y.shape[:-2]:
        raise Unsayable("a product that broadcasts its batches")
    return writer.call("BatchMatMul", [given["x1"], given["x2"], False, False], node)


@reads("Muls")
def _read_muls(values, attributes):
    return "Mul", {"x": values[0], "y": values[1]}


@reads("StopGradient")
def _read_stop_gradient(values, attributes):
    return "StopGradient", {REGISTRY["StopGradient"].inputs[0].name: values[0]}


def _reduction(ours):
    def read(values, attributes):
        x, axis, keep = values[:3]
        if len(values) > 3 and values[3] is not None:
            raise Unsayable("a reduction into another element type")
        axis = () if axis is None else axis
        return ours, {**dict(zip([i.name for i in REGISTRY[ours].inputs], (x, axis))), "keep_dims": bool(keep)}

    return read


for _theirs, _ours in {"SumExt": "ReduceSum", "MeanExt": "ReduceMean"}.items():
    reads(_theirs)(_reduction(_ours))


# ---------------------------------------------------------------------- LSTM
@forms.register(P.LSTM)
def _lstm(writer, node, given):
    attributes = {
        name: given[name]
        for name in ("input_size", "hidden_size", "num_layers", "has_bias", "bidirectional", "dropout")
    }
    attributes["dropout"] = float(attributes["dropout"])
    attributes["proj_size"] = 0
    weights = _packed(writer, node, given)
    return writer.call("LSTM", [given["x"], given["h"], given["c"], weights], node, attributes)


def _packed(writer, node, given):
    """The weights as MindSpore has them on CPU: all input matrices, all hidden ones, the sums of the biases."""
    kind = node.inputs[3].types[node.slots[3]]
    layers, directions = given["num_layers"], 2 if given["bidirectional"] else 1
    gates = 4 * given["hidden_size"]
    widths = [given["input_size"] if i == 0 else given["hidden_size"] * directions for i in range(layers)]
    sizes = [gates * width for width in widths for _ in range(directions)]
    hidden, biases = gates * given["hidden_size"], 2 * gates * len(sizes)
    if not given["has_bias"] or kind.size != sum(sizes) + hidden * len(sizes) + biases:
        if len(sizes) == 1 or given["has_bias"]:
            return given["w"]  # they are packed so already
        biases = 0
    at, inputs, states, added = 0, [], [], []

    def piece(size):
        nonlocal at
        at += size
        part = (at - size, 0, 0), (at, 1, 1), (1, 1, 1)
        return writer.made("StridedSlice", [given["w"], *part, 0, 0, 0, 0, 0], kind.dtype, (size, 1, 1))

    for size in sizes:
        inputs.append(piece(size))
        states.append(piece(hidden))
    for _ in sizes if biases else ():
        added.append(writer.made("Add", [piece(gates), piece(gates)], kind.dtype, (gates, 1, 1)))
    size = kind.size - biases // 2
    return writer.made("Concat", [[*inputs, *states, *added], 0], kind.dtype, (size, 1, 1))
