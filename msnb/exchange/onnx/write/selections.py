"""JAX's primitives that look through windows, take and write by index, and sort, in ONNX."""

from typing import Any

import numpy as np

from .builder import Builder, Extent, Refused, Value, primitives, size
from .primitives import reduced


# ---------------------------------------------------------------------- windows
def _windowed(b, x, window_dimensions, window_strides, padding, window_dilation, run, fill):
    """A pooling over the last axes; axes before the window's first that are not of length 1 count as the batch."""
    n = len(window_dimensions)
    window = [i for i in range(n) if window_dimensions[i] != 1 or window_strides[i] != 1 or any(padding[i])]
    if not window:
        return x
    spatial = window if window[-1] - window[0] + 1 <= 3 else None
    if spatial is None or len(window) > 3:
        raise Refused("ONNX has no pooling over more than 3 axes")
    rest = [i for i in range(n) if i not in window]
    perm = rest + window
    turned = b.transpose(x, perm)
    flat = b.reshape(turned, [1, _product([x.shape[i] for i in rest]), *(x.shape[i] for i in window)])
    made = run(
        flat,
        [window_dimensions[i] for i in window],
        [window_strides[i] for i in window],
        [padding[i][0] for i in window] + [padding[i][1] for i in window],
        [window_dilation[i] for i in window],
    )
    whole = b.reshape(made, [b.shape[i] for i in perm])
    return b.transpose(whole, [int(i) for i in np.argsort(perm)])


def _product(lengths):
    open_ = [n for n in lengths if isinstance(n, Extent)]
    factor = size(n for n in lengths if not isinstance(n, Extent))
    if not open_:
        return factor
    return Extent(factor * size(n.factor for n in open_), [axis for n in open_ for axis in n.axes])


@primitives.register("reduce_window_max")
def _window_max(b, x, window_dimensions, window_strides, padding, base_dilation=(), window_dilation=(), **_):
    if any(d != 1 for d in base_dilation):
        raise Refused("ONNX has no pooling of a dilated input")

    def run(flat, kernel, strides, pads, dilations):
        return b.op("MaxPool", flat, kernel_shape=kernel, strides=strides, pads=pads, dilations=dilations)

    dilation = window_dilation or [1] * len(window_dimensions)
    return _windowed(b, x, window_dimensions, window_strides, padding, dilation, run, -np.inf)


@primitives.register("reduce_window_min")
def _window_min(b, x, **settings):
    return b.op("Neg", _window_max(b, b.op("Neg", x), **settings))


@primitives.register("reduce_window_sum")
def _window_sum(b, x, window_dimensions, window_strides, padding, base_dilation=(), window_dilation=(), **_):
    if any(d != 1 for d in (*base_dilation, *window_dilation)):
        raise Refused("ONNX has no sum over dilated windows")
    kind = b.computing(x.dtype)
    if "float" not in kind:
        x, kind = b.cast(x, "float64"), "float64"

    def run(flat, kernel, strides, pads, dilations):
        ones = b.const(np.ones((1, 1, *kernel)), flat.dtype)
        rows = b.transpose(flat, [1, 0, *range(2, len(flat.shape))])
        made = b.op("Conv", rows, ones, strides=strides, pads=pads, kernel_shape=kernel)
        made.shape = (flat.shape[1], 1, *([None] * len(kernel)))
        return b.op("Transpose", made, perm=[1, 0, *range(2, len(flat.shape))])

    if kind == "float64":
        made = _windowed(b, b.cast(x, "float32"), window_dimensions, window_strides, padding, window_dimensions, run, 0)
    else:
        made = _windowed(b, b.cast(x, kind), window_dimensions, window_strides, padding, window_dimensions, run, 0)
    return b.cast(made, b.dtype)


# ---------------------------------------------------------------------- choosing by index
@primitives.register("gather")
def _gather(b, x, indices, dimension_numbers, slice_sizes, mode=None, fill_value=None, **_):
    """Gather or GatherND, where whole slices are taken along the axes that the indices count."""
    offsets, collapsed, counted, *batching = dimension_numbers
    batch_x, batch_i = (*batching, (), ())[:2]
    rank, last = len(x.shape), len(indices.shape) - 1
    taken = tuple(counted)
    whole = all(slice_sizes[i] == x.shape[i] for i in range(rank) if i not in taken and i not in batch_x)
    single = all(slice_sizes[i] == 1 for i in taken)
    if not whole or not single or tuple(collapsed) != tuple(sorted(taken)):
        raise Refused("it takes windows by index, which ONNX does not")
    turn = [*batch_i, *(i for i in range(last) if i not in batch_i)]  # GatherND has the batch in front
    indices = b.transpose(b.cast(indices, "int64"), [*turn, last])
    lengths = [x.shape[i] for i in taken]
    highest = b.op("Sub", b.ints(lengths), b.ints([1] * len(lengths)))
    clipped = b.op("Max", b.op("Min", indices, highest), b.const(np.zeros(1, np.int64)))
    clipped.shape = indices.shape
    rest = [i for i in range(rank) if i not in taken and i not in batch_x]
    perm = [*batch_x, *taken, *rest]
    turned = b.transpose(x, perm)
    made = b.op("GatherND", turned, clipped, batch_dims=len(batch_x))
    groups = last  # axes of the result that come from the indices, then those of the slices
    if str(mode) in ("FILL_OR_DROP", "1") and fill_value is None or str(mode) == "FILL_OR_DROP":
        within = b.op("Equal", indices, clipped, dtype="bool")
        within = b.cast(reduced(b, "ReduceMin", b.cast(within, "int32"), [last]), "bool")
        within.shape = indices.shape[:-1]
        within = b.unsqueeze(within, [groups + i for i in range(len(rest))])
        if fill_value is None:
            edges = np.iinfo(made.dtype).min if made.dtype.startswith("int") else None
            fill_value = np.nan if "float" in made.dtype else edges if edges is not None else 0
            if made.dtype.startswith("uint"):
                fill_value = np.iinfo(made.dtype).max
            if made.dtype == "bool":
                fill_value = True
        made = b.op("Where", within, made, b.const(np.asarray(fill_value), made.dtype), dtype=made.dtype)
    places = [i for i in range(len(b.shape)) if i not in offsets]
    order = [*(places[i] for i in turn), *offsets]
    return b.transpose(made, [int(i) for i in np.argsort(order)])


def _window_written(b, x, indices, updates, windows, inserted, taken, reduction):
    """A scatter of one window: every element of it is written at its own place."""
    if len(updates.shape) != len(windows):
        raise Refused("it writes many windows by index, which ONNX does not")
    rank = len(x.shape)
    kept = [i for i in range(rank) if i not in inserted]
    lengths = [1] * rank
    for axis, n in zip(kept, updates.shape, strict=True):
        lengths[axis] = int(n)
    begins: list[Any] = [0] * rank
    for number, axis in enumerate(taken):
        one = b.slice(b.reshape(b.cast(indices, "int64"), (len(taken),)), [number], [number + 1], [0])
        last = b.ints([int(x.shape[axis]) - lengths[axis]])
        begins[axis] = b.op("Max", b.op("Min", one, last), b.ints([0]))
    index = None
    for axis in range(rank):
        line = b.const(np.arange(lengths[axis]))
        if isinstance(begins[axis], Value):
            line = b.op("Add", line, begins[axis])
        line = b.expand(b.reshape(line, [lengths[i] if i == axis else 1 for i in range(rank)] + [1]), (*lengths, 1))
        index = line if index is None else b.op("Concat", index, line, axis=-1)
    return b.op("ScatterND", x, index, b.reshape(updates, lengths), reduction=reduction)


def _scatter(name, reduction):
    @primitives.register(name)
    def lower(b: Builder, x: Value, indices: Value, updates: Value, dimension_numbers: Any, **more: Any) -> Value:
        windows, inserted, counted, *batching = dimension_numbers
        if any(batching):
            raise Refused("it writes by index in a batch, which ONNX does not")
        taken = tuple(counted)
        if x.dtype == "bool" and reduction:
            raise Refused("ONNX adds no bools by index")
        if tuple(inserted) != tuple(sorted(taken)):
            return _window_written(b, x, indices, updates, windows, inserted, taken, reduction)
        rest = [i for i in range(len(x.shape)) if i not in taken]
        places = [i for i in range(len(updates.shape)) if i not in windows]
        if [updates.shape[i] for i in windows] != [x.shape[i] for i in rest]:
            raise Refused("it writes parts of slices by index, which ONNX does not")
        perm = [*taken, *rest]
        turned = b.transpose(x, perm)
        rows = b.transpose(updates, [*places, *windows])
        indices = b.cast(indices, "int64")
        lengths = [int(x.shape[i]) for i in taken]
        # what lies outside is dropped: it is written to a further row, which is cut off
        low, high = b.const(np.zeros(1, np.int64)), b.const(np.array(lengths, np.int64))
        outside = b.op(
            "Or",
            b.op("Less", indices, low, dtype="bool"),
            b.op("GreaterOrEqual", indices, high, dtype="bool"),
            dtype="bool",
        )
        kind = b.computing(turned.dtype)
        pads = [0] * len(perm) + [1] * len(taken) + [0] * len(rest)
        wide = b.op("Pad", b.cast(turned, kind), b.ints(pads))
        if len(taken) > 1:
            some = b.op("ReduceMax", b.cast(outside, "int32"), b.ints([-1]), keepdims=1)
            outside = b.cast(some, "bool")
        placed = b.op("Where", outside, high, indices, dtype="int64")
        made = b.op("ScatterND", wide, placed, b.cast(rows, kind), reduction=reduction)
        made = b.slice(made, [0] * len(taken), lengths, range(len(taken)))
        return b.transpose(made, [int(i) for i in np.argsort(perm)])


@primitives.register("scatter-sub", "scatter_sub")
def _scatter_sub(b, x, indices, updates, **settings):
    return primitives["scatter-add"](b, x, indices, b.op("Neg", updates, shape=updates.shape), **settings)


_scatter("scatter", None)
_scatter("scatter-add", "add")
_scatter("scatter_add", "add")
_scatter("scatter-mul", "mul")
_scatter("scatter_mul", "mul")
_scatter("scatter_max", "max")
_scatter("scatter_min", "min")
_scatter("scatter-max", "max")
_scatter("scatter-min", "min")


@primitives.register("sort")
def _sort(b, x, *others, dimension, num_keys=1, **_):
    """TopK of all; further values are taken in the order of the first."""
    if num_keys != 1:
        raise Refused("ONNX sorts by one key")
    count = b.ints([x.shape[dimension]])
    kind = b.computing(x.dtype)
    values, places = b.ops(
        "TopK", b.cast(x, kind), count, count=2, dtypes=[kind, "int64"], axis=dimension, largest=0, sorted=1
    )
    taken = [b.op("GatherElements", other, places, axis=dimension) for other in others]
    return [b.cast(values, x.dtype), *taken]


@primitives.register("top_k")
def _top_k(b, x, k, axis=-1, **_):
    kind = b.computing(x.dtype)
    return b.ops("TopK", b.cast(x, kind), b.ints([k]), count=2, dtypes=[kind, "int64"], axis=axis, largest=1, sorted=1)
