"""Lowerings to ONNX: JAX primitives for windows, gather, scatter and sort."""

from typing import Any

import numpy as np

from .builder import Builder, Extent, Refused, Value, primitives, size
from .primitives import reduced


# ---------------------------------------------------------------------- windows
def _pool_windows(b, x, window_dimensions, window_strides, padding, window_dilation, run, fill):
    """Pool over the axes of a window with `run`. The other axes are merged into the channel axis."""
    n = len(window_dimensions)
    window = [i for i in range(n) if window_dimensions[i] != 1 or window_strides[i] != 1 or any(padding[i])]
    if not window:
        return x
    spatial = window if window[-1] - window[0] + 1 <= 3 else None
    if spatial is None or len(window) > 3:
        raise Refused("ONNX has no pooling over more than 3 axes")
    rest = [i for i in range(n) if i not in window]
    perm = rest + window
    transposed = b.transpose(x, perm)
    flat = b.reshape(transposed, [1, _multiply_lengths([x.shape[i] for i in rest]), *(x.shape[i] for i in window)])
    pooled = run(
        flat,
        [window_dimensions[i] for i in window],
        [window_strides[i] for i in window],
        [padding[i][0] for i in window] + [padding[i][1] for i in window],
        [window_dilation[i] for i in window],
    )
    unflattened = b.reshape(pooled, [b.shape[i] for i in perm])
    return b.transpose(unflattened, [int(i) for i in np.argsort(perm)])


def _multiply_lengths(lengths):
    open_ = [n for n in lengths if isinstance(n, Extent)]
    factor = size(n for n in lengths if not isinstance(n, Extent))
    if not open_:
        return factor
    return Extent(factor * size(n.factor for n in open_), [axis for n in open_ for axis in n.axes])


@primitives.register("reduce_window_max")
def _lower_window_max(b, x, window_dimensions, window_strides, padding, base_dilation=(), window_dilation=(), **_):
    if any(d != 1 for d in base_dilation):
        raise Refused("ONNX has no pooling of a dilated input")

    def run(flat, kernel, strides, pads, dilations):
        return b.op("MaxPool", flat, kernel_shape=kernel, strides=strides, pads=pads, dilations=dilations)

    dilation = window_dilation or [1] * len(window_dimensions)
    return _pool_windows(b, x, window_dimensions, window_strides, padding, dilation, run, -np.inf)


@primitives.register("reduce_window_min")
def _lower_window_min(b, x, **settings):
    return b.op("Neg", _lower_window_max(b, b.op("Neg", x), **settings))


@primitives.register("reduce_window_sum")
def _lower_window_sum(b, x, window_dimensions, window_strides, padding, base_dilation=(), window_dilation=(), **_):
    if any(d != 1 for d in (*base_dilation, *window_dilation)):
        raise Refused("ONNX has no sum over dilated windows")
    kind = b.computing(x.dtype)
    if "float" not in kind:
        x, kind = b.cast(x, "float64"), "float64"

    def run(flat, kernel, strides, pads, dilations):
        ones = b.const(np.ones((1, 1, *kernel)), flat.dtype)
        rows = b.transpose(flat, [1, 0, *range(2, len(flat.shape))])
        sums = b.op("Conv", rows, ones, strides=strides, pads=pads, kernel_shape=kernel)
        sums.shape = (flat.shape[1], 1, *([None] * len(kernel)))
        return b.op("Transpose", sums, perm=[1, 0, *range(2, len(flat.shape))])

    if kind == "float64":
        pooled = _pool_windows(
            b, b.cast(x, "float32"), window_dimensions, window_strides, padding, window_dimensions, run, 0
        )
    else:
        pooled = _pool_windows(
            b, b.cast(x, kind), window_dimensions, window_strides, padding, window_dimensions, run, 0
        )
    return b.cast(pooled, b.dtype)


# ---------------------------------------------------------------------- gather and scatter
@primitives.register("gather")
def _lower_gather(b, x, indices, dimension_numbers, slice_sizes, mode=None, fill_value=None, **_):
    """Write a GatherND. Raise Refused unless each slice has length 1 along indexed axes and full length along
    others.
    """
    offsets, collapsed, indexed_axes, *batching = dimension_numbers
    batch_x, batch_i = (*batching, (), ())[:2]
    rank, last = len(x.shape), len(indices.shape) - 1
    indexed = tuple(indexed_axes)
    has_full_slices = all(slice_sizes[i] == x.shape[i] for i in range(rank) if i not in indexed and i not in batch_x)
    has_unit_slices = all(slice_sizes[i] == 1 for i in indexed)
    if not has_full_slices or not has_unit_slices or tuple(collapsed) != tuple(sorted(indexed)):
        raise Refused("it takes windows by index, which ONNX does not")
    index_order = [*batch_i, *(i for i in range(last) if i not in batch_i)]  # GatherND expects the batch axes first
    indices = b.transpose(b.cast(indices, "int64"), [*index_order, last])
    lengths = [x.shape[i] for i in indexed]
    highest = b.op("Sub", b.ints(lengths), b.ints([1] * len(lengths)))
    clipped = b.op("Max", b.op("Min", indices, highest), b.const(np.zeros(1, np.int64)))
    clipped.shape = indices.shape
    rest = [i for i in range(rank) if i not in indexed and i not in batch_x]
    perm = [*batch_x, *indexed, *rest]
    transposed = b.transpose(x, perm)
    gathered = b.op("GatherND", transposed, clipped, batch_dims=len(batch_x))
    groups = last  # number of result axes that come from the indices; the axes of the slices follow
    if str(mode) in ("FILL_OR_DROP", "1") and fill_value is None or str(mode) == "FILL_OR_DROP":
        is_inside = b.op("Equal", indices, clipped, dtype="bool")
        is_inside = b.cast(reduced(b, "ReduceMin", b.cast(is_inside, "int32"), [last]), "bool")
        is_inside.shape = indices.shape[:-1]
        is_inside = b.unsqueeze(is_inside, [groups + i for i in range(len(rest))])
        if fill_value is None:
            edges = np.iinfo(gathered.dtype).min if gathered.dtype.startswith("int") else None
            fill_value = np.nan if "float" in gathered.dtype else edges if edges is not None else 0
            if gathered.dtype.startswith("uint"):
                fill_value = np.iinfo(gathered.dtype).max
            if gathered.dtype == "bool":
                fill_value = True
        gathered = b.op(
            "Where", is_inside, gathered, b.const(np.asarray(fill_value), gathered.dtype), dtype=gathered.dtype
        )
    index_axes = [i for i in range(len(b.shape)) if i not in offsets]
    order = [*(index_axes[i] for i in index_order), *offsets]
    return b.transpose(gathered, [int(i) for i in np.argsort(order)])


def _write_window_scatter(b, x, indices, updates, windows, inserted, indexed, reduction):
    """Write the scatter of a single window as a ScatterND with one index for each element of the window."""
    if len(updates.shape) != len(windows):
        raise Refused("it writes many windows by index, which ONNX does not")
    rank = len(x.shape)
    window_axes = [i for i in range(rank) if i not in inserted]
    lengths = [1] * rank
    for axis, n in zip(window_axes, updates.shape, strict=True):
        lengths[axis] = int(n)
    begins: list[Any] = [0] * rank
    for number, axis in enumerate(indexed):
        start = b.slice(b.reshape(b.cast(indices, "int64"), (len(indexed),)), [number], [number + 1], [0])
        last = b.ints([int(x.shape[axis]) - lengths[axis]])
        begins[axis] = b.op("Max", b.op("Min", start, last), b.ints([0]))
    index = None
    for axis in range(rank):
        positions = b.const(np.arange(lengths[axis]))
        if isinstance(begins[axis], Value):
            positions = b.op("Add", positions, begins[axis])
        positions = b.expand(
            b.reshape(positions, [lengths[i] if i == axis else 1 for i in range(rank)] + [1]), (*lengths, 1)
        )
        index = positions if index is None else b.op("Concat", index, positions, axis=-1)
    return b.op("ScatterND", x, index, b.reshape(updates, lengths), reduction=reduction)


def _register_scatter(name, reduction):
    @primitives.register(name)
    def lower(b: Builder, x: Value, indices: Value, updates: Value, dimension_numbers: Any, **more: Any) -> Value:
        windows, inserted, indexed_axes, *batching = dimension_numbers
        if any(batching):
            raise Refused("it writes by index in a batch, which ONNX does not")
        indexed = tuple(indexed_axes)
        if x.dtype == "bool" and reduction:
            raise Refused("ONNX adds no bools by index")
        if tuple(inserted) != tuple(sorted(indexed)):
            return _write_window_scatter(b, x, indices, updates, windows, inserted, indexed, reduction)
        rest = [i for i in range(len(x.shape)) if i not in indexed]
        update_axes = [i for i in range(len(updates.shape)) if i not in windows]
        if [updates.shape[i] for i in windows] != [x.shape[i] for i in rest]:
            raise Refused("it writes parts of slices by index, which ONNX does not")
        perm = [*indexed, *rest]
        transposed = b.transpose(x, perm)
        rows = b.transpose(updates, [*update_axes, *windows])
        indices = b.cast(indices, "int64")
        lengths = [int(x.shape[i]) for i in indexed]
        # XLA drops updates out of range: they are written to an additional row, and that row is removed afterwards
        low, high = b.const(np.zeros(1, np.int64)), b.const(np.array(lengths, np.int64))
        is_outside = b.op(
            "Or",
            b.op("Less", indices, low, dtype="bool"),
            b.op("GreaterOrEqual", indices, high, dtype="bool"),
            dtype="bool",
        )
        kind = b.computing(transposed.dtype)
        pads = [0] * len(perm) + [1] * len(indexed) + [0] * len(rest)
        padded = b.op("Pad", b.cast(transposed, kind), b.ints(pads))
        if len(indexed) > 1:
            is_any_outside = b.op("ReduceMax", b.cast(is_outside, "int32"), b.ints([-1]), keepdims=1)
            is_outside = b.cast(is_any_outside, "bool")
        safe_indices = b.op("Where", is_outside, high, indices, dtype="int64")
        updated = b.op("ScatterND", padded, safe_indices, b.cast(rows, kind), reduction=reduction)
        updated = b.slice(updated, [0] * len(indexed), lengths, range(len(indexed)))
        return b.transpose(updated, [int(i) for i in np.argsort(perm)])


@primitives.register("scatter-sub", "scatter_sub")
def _lower_scatter_sub(b, x, indices, updates, **settings):
    return primitives["scatter-add"](b, x, indices, b.op("Neg", updates, shape=updates.shape), **settings)


_register_scatter("scatter", None)
_register_scatter("scatter-add", "add")
_register_scatter("scatter_add", "add")
_register_scatter("scatter-mul", "mul")
_register_scatter("scatter_mul", "mul")
_register_scatter("scatter_max", "max")
_register_scatter("scatter_min", "min")
_register_scatter("scatter-max", "max")
_register_scatter("scatter-min", "min")


@primitives.register("sort")
def _lower_sort(b, x, *others, dimension, num_keys=1, **_):
    """Write a sort as a TopK of all elements. Other operands are permuted in the same way with GatherElements."""
    if num_keys != 1:
        raise Refused("ONNX sorts by one key")
    count = b.ints([x.shape[dimension]])
    kind = b.computing(x.dtype)
    values, order = b.ops(
        "TopK", b.cast(x, kind), count, count=2, dtypes=[kind, "int64"], axis=dimension, largest=0, sorted=1
    )
    gathered = [b.op("GatherElements", other, order, axis=dimension) for other in others]
    return [b.cast(values, x.dtype), *gathered]


@primitives.register("top_k")
def _lower_top_k(b, x, k, axis=-1, **_):
    kind = b.computing(x.dtype)
    return b.ops("TopK", b.cast(x, kind), b.ints([k]), count=2, dtypes=[kind, "int64"], axis=axis, largest=1, sorted=1)
