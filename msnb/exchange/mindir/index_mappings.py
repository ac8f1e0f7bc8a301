"""Convert indexing to nodes of a MINDIR file: slices and numbers become one StridedSlice, index Tensors a Gather or a
GatherNd.
"""

from typing import Any

import numpy as np

from msnb.exchange.mindir.encoding import Name, is_length
from msnb.exchange.mindir.operators import NotExpressible, forms
from msnb.ir.anf import ValueNode
from msnb.ops.index import ALL, ARRAY, NEW, NUMBER, _TensorGetItem, _TensorGetRow


def to_python_number(value: Any) -> Any:
    """Return a scalar of numpy as a Python number, and any other value unchanged."""
    return value.item() if isinstance(value, (np.generic, np.ndarray)) and not value.ndim else value


@forms.register(_TensorGetItem)
def _write_getitem(writer, node, args):
    """Write slices and integers as one StridedSlice."""
    if ARRAY in args["plan"]:
        return _write_index_by_tensors(writer, node, args)
    starts, begin, end, step = list(args["starts"]), [], [], []
    has_new_axis, shrink_mask, full_axes_mask, dimension = False, 0, 0, 0
    shape = node.inputs[0].types[node.slots[0]].shape
    for entry in args["plan"]:
        position = len(begin)
        if entry == NEW:
            has_new_axis = True
            continue
        if entry == ALL:
            if is_length(shape[dimension]):
                full_axes_mask |= 1 << position  # the slice contains the full axis, whose length is unknown
            begin, end, step = [*begin, 0], [*end, 0 if is_length(shape[dimension]) else shape[dimension]], [*step, 1]
        else:
            start = to_python_number(starts.pop(0))
            if not isinstance(start, int):
                raise NotExpressible("an index that is computed")
            if entry == NUMBER:
                shrink_mask |= 1 << position
                begin, end, step = [*begin, start], [*end, start + 1], [*step, 1]
            else:
                length, stride = entry
                if stride < 0:
                    raise NotExpressible("a slice backwards")
                if is_length(length):
                    raise NotExpressible("a part of an axis of any length")
                begin, end, step = [*begin, start], [*end, start + (length - 1) * stride + 1], [*step, stride]
        dimension += 1
    values = [args["x"], tuple(begin), tuple(end), tuple(step), full_axes_mask, full_axes_mask, 0, 0, shrink_mask]
    if not has_new_axis:
        return writer.call("StridedSlice", values, node)
    kind, old_axes = node.types[0], [e for e in args["plan"] if e not in (NEW, NUMBER)]
    sizes = [e[0] if isinstance(e, tuple) else None for e in old_axes]
    sliced_shape = [size for entry, size in zip((e for e in args["plan"] if e != NUMBER), kind.shape) if entry != NEW]
    sliced_shape += shape[dimension:] if len(sliced_shape) < len(sizes) + len(shape) - dimension else ()
    sliced = writer.emit_function("StridedSlice", values, kind.dtype, tuple(sliced_shape))
    return writer.call("Reshape", [sliced, kind.shape], node)


@forms.register(_TensorGetRow)
def _write_get_row(writer, node, args):
    """Write ``x[index]``, one row of the first axis, where the index is a number or a Tensor."""
    if not isinstance(node.inputs[1], ValueNode):
        return writer.call("Gather", [args["x"], args["index"], 0, 0], node)
    index = int(node.inputs[1].value)
    shape = node.inputs[0].types[node.slots[0]].shape
    begin, end = (index,) + (0,) * (len(shape) - 1), (index + 1, *(0 if is_length(n) else n for n in shape[1:]))
    full_axes_mask = sum(1 << axis for axis, n in enumerate(shape) if axis and is_length(n))
    return writer.call(
        "StridedSlice", [args["x"], begin, end, (1,) * len(shape), full_axes_mask, full_axes_mask, 0, 0, 1], node
    )


# ---------------------------------------------------------------------- index Tensors
def _write_index_by_tensors(writer, node, args):
    """Write indexing with Tensors: first the slices, then a Gather or GatherNd."""
    kind, plan = node.types[0], [entry for entry in args["plan"] if entry != NEW]
    shape = node.inputs[0].types[node.slots[0]].shape
    if any(map(is_length, (*shape, *kind.shape))):
        raise NotExpressible("an index Tensor where an axis is of any length")
    axes = [axis for axis, entry in enumerate(plan) if entry == ARRAY]
    if plan[axes[0] : axes[-1] + 1] != [ARRAY] * len(axes) or _has_new_axis_between_indices(args["plan"]):
        raise NotExpressible("index Tensors that stand apart")
    x, shape = _apply_slices(writer, args["x"], shape, plan, kind.dtype)
    indices = [
        _wrap_negative_index(writer, index, shape[axis]) for axis, index in zip(axes, args["tensors"], strict=True)
    ]
    index_shape = np.broadcast_shapes(*(_get_index_shape(writer, index) for index in indices))
    first, last = axes[0], axes[-1] + 1
    gathered_shape = (*shape[:first], *index_shape, *shape[last:])
    finish = writer.call if gathered_shape == kind.shape else None  # otherwise a Reshape inserts new axes afterwards

    def emit(op, values):
        return finish(op, values, node) if finish else writer.emit_function(op, values, kind.dtype, gathered_shape)

    if len(axes) == 1:
        gathered = emit("Gather", [x, indices[0], first, 0])
    else:
        if first:  # GatherNd indexes the leading axes
            order = (*axes, *range(first), *range(last, len(shape)))
            x = writer.emit_function("Transpose", [x, order], kind.dtype, tuple(shape[i] for i in order))
        columns = [_broadcast_as_column(writer, index, index_shape) for index in indices]
        if any(isinstance(coordinates, Name) for coordinates in columns):
            coordinates = writer.emit_function("Concat", [columns, -1], "Int64", (*index_shape, len(axes)))
        else:
            coordinates = np.concatenate(columns, -1)
        if not first:
            gathered = emit("GatherNd", [x, coordinates])
        else:
            gathered = writer.emit_function(
                "GatherNd", [x, coordinates], kind.dtype, (*index_shape, *shape[:first], *shape[last:])
            )
            n = len(index_shape)
            order = (*range(n, n + first), *range(n), *range(n + first, len(gathered_shape)))
            gathered = emit("Transpose", [gathered, order])
    return gathered if finish else writer.call("Reshape", [gathered, kind.shape], node)


def _has_new_axis_between_indices(plan):
    """Return True if new axes are between index Tensors."""
    positions = [position for position, entry in enumerate(plan) if entry == ARRAY]
    return NEW in plan[positions[0] : positions[-1]]


def _apply_slices(writer, x, shape, plan, dtype):
    """Write the slices of an indexing plan; return the sliced Tensor and its shape."""
    ranges = [range(n)[slice(*entry)] if isinstance(entry, tuple) else range(n) for entry, n in zip(plan, shape)]
    if all(len(axis_range) == n for axis_range, n in zip(ranges, shape, strict=True)):
        return x, shape
    if any(axis_range.step < 0 for axis_range in ranges):
        raise NotExpressible("a slice backwards")
    begin, end, step = zip(
        *((axis_range.start, axis_range.stop, axis_range.step) for axis_range in ranges), strict=True
    )
    sliced_shape = tuple(map(len, ranges))
    return writer.emit_function("StridedSlice", [x, begin, end, step, 0, 0, 0, 0, 0], dtype, sliced_shape), sliced_shape


def _wrap_negative_index(writer, index, length):
    """Return an index as int64, with `length` added to negative elements."""
    if not isinstance(index, Name):
        index = np.asarray(index).astype(np.int64)
        return np.where(index < 0, index + length, index)
    shape = writer.type_of(index).shape
    index = writer.cast(index, "Int64")
    is_negative = writer.emit_function("Less", [index, np.int64(0)], "Bool", shape)
    shifted = writer.emit_function("Add", [index, np.int64(length)], "Int64", shape)
    return writer.emit_function("Select", [is_negative, shifted, index], "Int64", shape)


def _get_index_shape(writer, index):
    return writer.type_of(index).shape if isinstance(index, Name) else index.shape


def _broadcast_as_column(writer, index, shape):
    """Broadcast an index to `shape` and append an axis of length 1."""
    if not isinstance(index, Name):
        return np.broadcast_to(index, shape)[..., None]
    if _get_index_shape(writer, index) != shape:
        index = writer.emit_function("BroadcastTo", [index, shape], "Int64", shape)
    return writer.emit_function("Reshape", [index, (*shape, 1)], "Int64", (*shape, 1))
