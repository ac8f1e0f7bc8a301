"""Lowerings to ONNX: indexing, gathering and sorting."""

from typing import Any

import numpy as np

from msnb.ops import operations as ops
from msnb.ops.index import _TensorGetItem, _TensorGetRow

from .builder import Extent, lowerings
from .primitives import clamped_starts

_ALL, _NUMBER, _NEW, _ARRAY = ":", "i", "new", "array"  # entries of a plan, see msnb/ops/index.py


@lowerings.register(_TensorGetRow)
def _lower_get_row(b, x, index):
    return b.op("Gather", x, _clamp_index(b, index, x.shape[0]), axis=0)


def _clamp_index(b, index, count):
    """Clamp an index to the range of its axis, as msnb does."""
    if index.constant is not None and not isinstance(count, Extent):
        return b.const(np.int64(min(max(int(index.constant), 0), count - 1)))
    (index_or_value,) = clamped_starts(b, [index], [count], [1]) if count != 1 else (0,)
    return b.squeeze(index_or_value, [0]) if hasattr(index_or_value, "name") else b.const(np.int64(index_or_value))


def _cast_indices(b, indices):
    return indices if indices.dtype in ("int32", "int64") else b.cast(indices, "int64")


@lowerings.register(ops.Gather, ops.SparseGatherV2)
def _lower_gather(b, params, indices, *, axis, batch_dims=0):
    """Lower to one Gather node. No range check is written, because ONNX runtimes raise an error for an index out of
    range.
    """
    if batch_dims:
        return NotImplemented
    return b.op("Gather", params, _cast_indices(b, indices), axis=axis)


@lowerings.register(ops.GatherD)
def _lower_gather_d(b, x, index, *, dim):
    return b.op("GatherElements", x, _cast_indices(b, index), axis=dim)


@lowerings.register(ops.GatherNd)
def _lower_gather_nd(b, input_x, indices):
    return b.op("GatherND", input_x, b.cast(indices, "int64"))


@lowerings.register(ops.ReverseSequence)
def _lower_reverse_sequence(b, x, seq_lengths, *, seq_dim, batch_dim):
    time, batch = seq_dim % x.rank, batch_dim % x.rank
    if {time, batch} != {0, 1}:
        return NotImplemented
    kind = b.computing(x.dtype)
    lengths = b.cast(seq_lengths, "int64")
    return b.op("ReverseSequence", b.cast(x, kind), lengths, time_axis=time, batch_axis=batch)


@lowerings.register(_TensorGetItem)
def _lower_getitem(b, x, starts, tensors, *, plan):
    """Lower slices and integers, or slices and index Tensors."""
    if _ARRAY in plan:
        return _write_index_by_tensors(b, x, tensors, plan)
    starts = iter(starts)
    sliced: dict[str, list[Any]] = {"begin": [], "end": [], "axes": [], "steps": []}
    numbers, new_axes, dimension, position = [], [], 0, 0
    for entry in plan:
        if entry == _NEW:
            new_axes.append(position)
            position += 1
            continue
        if entry == _NUMBER:
            numbers.append((dimension, next(starts)))
        elif entry != _ALL:
            length, step = entry
            start = next(starts)
            if start.constant is None:
                return NotImplemented
            first = int(start.constant)
            if step < 0:  # `start` is the lowest index of the slice
                first += (int(length) - 1) * -step
            stop = first + int(length) * step
            sliced["begin"].append(first)
            sliced["end"].append(stop if stop >= 0 else -(2**62))
            sliced["axes"].append(dimension)
            sliced["steps"].append(step)
        if entry != _NUMBER:
            position += 1
        dimension += 1
    if any(isinstance(n, Extent) for n in sliced["end"]):
        return NotImplemented
    shape = x.shape
    if sliced["axes"]:
        has_unit_steps = all(step == 1 for step in sliced["steps"])
        x = b.slice(x, sliced["begin"], sliced["end"], sliced["axes"], None if has_unit_steps else sliced["steps"])
    for axis, index in reversed(numbers):
        x = b.op("Gather", x, _clamp_index(b, index, shape[axis]), axis=axis)
    x.shape = tuple(n for i, n in enumerate(b.shape) if i not in new_axes)
    return b.unsqueeze(x, new_axes)


def _write_index_by_tensors(b, x, tensors, plan):
    """Write slices, then one Gather or GatherND. GatherND needs the indexed axes in front.

    Return NotImplemented if the index Tensors are not adjacent; the operator's kernel is exported then.
    """
    positions = [position for position, entry in enumerate(plan) if entry == _ARRAY]
    old_axes = [entry for entry in plan if entry != _NEW]
    first, last = old_axes.index(_ARRAY), old_axes.index(_ARRAY) + len(positions)
    if positions[-1] - positions[0] + 1 != len(positions) or any(isinstance(n, Extent) for n in (*x.shape, *b.shape)):
        return NotImplemented
    shape = list(x.shape)
    for axis, entry in enumerate(old_axes):
        if isinstance(entry, tuple):
            axis_range = range(shape[axis])[slice(*entry)]
            x = b.slice(
                x,
                [axis_range.start],
                [axis_range.stop if axis_range.stop >= 0 else -(2**62)],
                [axis],
                [axis_range.step],
            )
            x.shape = tuple(shape[:axis]) + (len(axis_range), *shape[axis + 1 :])
            shape[axis] = len(axis_range)
    if len(positions) == 1:
        gathered = b.op("Gather", x, _cast_indices(b, tensors[0]), axis=first)
    else:
        rest = [*range(first), *range(last, len(shape))]
        index_shape = np.broadcast_shapes(*(t.shape for t in tensors))
        columns = [_broadcast_as_column(b, t, index_shape) for t in tensors]
        x = b.transpose(x, [*range(first, last), *rest])
        gathered = b.op("GatherND", x, b.op("Concat", *columns, axis=-1))
        n = len(index_shape)
        gathered.shape = (*index_shape, *(shape[axis] for axis in rest))
        gathered = b.transpose(gathered, [*range(n, n + first), *range(n), *range(n + first, len(gathered.shape))])
    return b.reshape(gathered, b.shape) if _NEW in plan else gathered


def _broadcast_as_column(b, index, shape):
    """Broadcast an index to `shape` and append an axis of length 1."""
    if index.constant is not None:
        return b.const(np.broadcast_to(np.asarray(index.constant, np.int64), shape)[..., None])
    return b.unsqueeze(b.expand(b.cast(index, "int64"), shape), [len(shape)])


@lowerings.register(ops.Slice)
def _lower_slice(b, x, *, begin, size):
    if any(isinstance(n, Extent) for n in (*begin, *size)):
        axes = [i for i in range(x.rank) if begin[i] != 0 or size[i] not in (-1, x.shape[i])]
    else:
        axes = list(range(x.rank))
    end = [2**62 if size[i] == -1 else begin[i] + size[i] for i in axes]
    return b.slice(x, [begin[i] for i in axes], end, axes) if axes else x


@lowerings.register(ops.TopK)
def _lower_top_k(b, x, *, k, sorted):
    kind = b.computing(x.dtype)
    if not x.rank or k < 0:
        return NotImplemented
    return b.ops("TopK", b.cast(x, kind), b.ints([k]), count=2, dtypes=[kind, "int64"], axis=-1, largest=1, sorted=1)


@lowerings.register(ops.Sort)
def _lower_sort(b, x, *, axis, descending):
    kind = b.computing(x.dtype)
    if not x.rank or x.dtype == "bool" or isinstance(x.shape[axis], Extent):
        return NotImplemented
    return b.ops(
        "TopK",
        b.cast(x, kind),
        b.ints([x.shape[axis]]),
        count=2,
        dtypes=[kind, "int64"],
        axis=axis,
        largest=int(descending),
        sorted=1,
    )
