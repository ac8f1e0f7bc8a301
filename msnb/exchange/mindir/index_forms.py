"""Indices in MINDIR: slices and numbers are one StridedSlice, index Tensors a Gather or a GatherNd."""

from typing import Any

import numpy as np

from msnb.exchange.mindir.operators import Unsayable, forms
from msnb.exchange.mindir.spelling import Name, is_length
from msnb.ir.anf import ValueNode
from msnb.ops.index import ALL, ARRAY, NEW, NUMBER, _TensorGetItem, _TensorGetRow


def plain(value: Any) -> Any:
    """A number of numpy, or an array of one, as Python's; anything else as it is."""
    return value.item() if isinstance(value, (np.generic, np.ndarray)) and not value.ndim else value


@forms.register(_TensorGetItem)
def _get_item(writer, node, given):
    """Slices and whole numbers are one StridedSlice."""
    if ARRAY in given["plan"]:
        return _gathered(writer, node, given)
    starts, begin, end, step = list(given["starts"]), [], [], []
    new, shrunk, whole, dimension = False, 0, 0, 0
    shape = node.inputs[0].types[node.slots[0]].shape
    for entry in given["plan"]:
        place = len(begin)
        if entry == NEW:
            new = True
            continue
        if entry == ALL:
            if is_length(shape[dimension]):
                whole |= 1 << place  # from its beginning to its end, whatever these are
            begin, end, step = [*begin, 0], [*end, 0 if is_length(shape[dimension]) else shape[dimension]], [*step, 1]
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
                if is_length(length):
                    raise Unsayable("a part of an axis of any length")
                begin, end, step = [*begin, start], [*end, start + (length - 1) * stride + 1], [*step, stride]
        dimension += 1
    values = [given["x"], tuple(begin), tuple(end), tuple(step), whole, whole, 0, 0, shrunk]
    if not new:
        return writer.call("StridedSlice", values, node)
    kind, inside = node.types[0], [e for e in given["plan"] if e not in (NEW, NUMBER)]
    sizes = [e[0] if isinstance(e, tuple) else None for e in inside]
    kept = [size for entry, size in zip((e for e in given["plan"] if e != NUMBER), kind.shape) if entry != NEW]
    kept += shape[dimension:] if len(kept) < len(sizes) + len(shape) - dimension else ()
    part = writer.made("StridedSlice", values, kind.dtype, tuple(kept))
    return writer.call("Reshape", [part, kind.shape], node)


@forms.register(_TensorGetRow)
def _get_row(writer, node, given):
    """One position of the first axis, a number or a Tensor."""
    if not isinstance(node.inputs[1], ValueNode):
        return writer.call("Gather", [given["x"], given["index"], 0, 0], node)
    index = int(node.inputs[1].value)
    shape = node.inputs[0].types[node.slots[0]].shape
    begin, end = (index,) + (0,) * (len(shape) - 1), (index + 1, *(0 if is_length(n) else n for n in shape[1:]))
    whole = sum(1 << place for place, n in enumerate(shape) if place and is_length(n))
    return writer.call("StridedSlice", [given["x"], begin, end, (1,) * len(shape), whole, whole, 0, 0, 1], node)


# ---------------------------------------------------------------------- index Tensors
def _gathered(writer, node, given):
    """Slices first, then the elements that the index Tensors count; where these stand apart, their axes come first."""
    kind, plan = node.types[0], [entry for entry in given["plan"] if entry != NEW]
    shape = node.inputs[0].types[node.slots[0]].shape
    if any(map(is_length, (*shape, *kind.shape))):
        raise Unsayable("an index Tensor where an axis is of any length")
    axes = [axis for axis, entry in enumerate(plan) if entry == ARRAY]
    if plan[axes[0] : axes[-1] + 1] != [ARRAY] * len(axes) or _is_parted(given["plan"]):
        raise Unsayable("index Tensors that stand apart")
    x, shape = _sliced(writer, given["x"], shape, plan, kind.dtype)
    indices = [_from_zero(writer, index, shape[axis]) for axis, index in zip(axes, given["tensors"], strict=True)]
    counted = np.broadcast_shapes(*(_shape(writer, index) for index in indices))
    first, last = axes[0], axes[-1] + 1
    whole = (*shape[:first], *counted, *shape[last:])
    end = writer.call if whole == kind.shape else None  # otherwise new axes come in behind it

    def made(op, values):
        return end(op, values, node) if end else writer.made(op, values, kind.dtype, whole)

    if len(axes) == 1:
        found = made("Gather", [x, indices[0], first, 0])
    else:
        if first:  # GatherNd counts the first axes
            order = (*axes, *range(first), *range(last, len(shape)))
            x = writer.made("Transpose", [x, order], kind.dtype, tuple(shape[i] for i in order))
        places = [_lined(writer, index, counted) for index in indices]
        if any(isinstance(place, Name) for place in places):
            place = writer.made("Concat", [places, -1], "Int64", (*counted, len(axes)))
        else:
            place = np.concatenate(places, -1)
        if not first:
            found = made("GatherNd", [x, place])
        else:
            found = writer.made("GatherNd", [x, place], kind.dtype, (*counted, *shape[:first], *shape[last:]))
            n = len(counted)
            order = (*range(n, n + first), *range(n), *range(n + first, len(whole)))
            found = made("Transpose", [found, order])
    return found if end else writer.call("Reshape", [found, kind.shape], node)


def _is_parted(plan):
    """Whether new axes stand among index Tensors."""
    places = [place for place, entry in enumerate(plan) if entry == ARRAY]
    return NEW in plan[places[0] : places[-1]]


def _sliced(writer, x, shape, plan, dtype):
    """(what the slices of a plan leave, its shape)."""
    ranges = [range(n)[slice(*entry)] if isinstance(entry, tuple) else range(n) for entry, n in zip(plan, shape)]
    if all(len(part) == n for part, n in zip(ranges, shape, strict=True)):
        return x, shape
    if any(part.step < 0 for part in ranges):
        raise Unsayable("a slice backwards")
    begin, end, step = zip(*((part.start, part.stop, part.step) for part in ranges), strict=True)
    left = tuple(map(len, ranges))
    return writer.made("StridedSlice", [x, begin, end, step, 0, 0, 0, 0, 0], dtype, left), left


def _from_zero(writer, index, length):
    """An index, int64, of which those that count from the end count from the beginning."""
    if not isinstance(index, Name):
        index = np.asarray(index).astype(np.int64)
        return np.where(index < 0, index + length, index)
    shape = writer.type_of(index).shape
    index = writer.cast(index, "Int64")
    below = writer.made("Less", [index, np.int64(0)], "Bool", shape)
    return writer.made("Select", [below, writer.made("Add", [index, np.int64(length)], "Int64", shape), index], "Int64",
                       shape)  # fmt: skip


def _shape(writer, index):
    return writer.type_of(index).shape if isinstance(index, Name) else index.shape


def _lined(writer, index, shape):
    """An index of `shape`, with one more axis of length 1."""
    if not isinstance(index, Name):
        return np.broadcast_to(index, shape)[..., None]
    if _shape(writer, index) != shape:
        index = writer.made("BroadcastTo", [index, shape], "Int64", shape)
    return writer.made("Reshape", [index, (*shape, 1)], "Int64", (*shape, 1))
