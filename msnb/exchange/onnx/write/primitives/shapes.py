"""Primitives that change shapes, join, divide and take or replace windows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..builder import Builder, Value, primitives


@primitives.register("reshape")
def _reshape(b, x, dimensions=None, **_):
    """`dimensions` is the order of axes in which the elements are taken."""
    return b.reshape(x if dimensions is None else b.transpose(x, dimensions), b.shape)


@primitives.register("squeeze")
def _squeeze(b, x, dimensions, **_):
    return b.squeeze(x, dimensions)


@primitives.register("expand_dims")
def _expand_dims(b, x, dimensions, **_):
    return b.unsqueeze(x, dimensions)


@primitives.register("broadcast_in_dim")
def _broadcast_in_dim(b, x, *_, broadcast_dimensions, **__):
    lined = [1] * len(b.shape)
    for axis, n in zip(broadcast_dimensions, x.shape, strict=True):
        lined[axis] = n
    if tuple(lined) != x.shape:
        x = b.reshape(x, lined)
    return b.expand(x, b.shape)


@primitives.register("transpose")
def _transpose(b, x, permutation, **_):
    return b.transpose(x, permutation)


@primitives.register("rev")
def _rev(b, x, dimensions, **_):
    count = len(dimensions)
    return b.slice(x, [-1] * count, [-(2**62)] * count, dimensions, [-1] * count) if count else x


@primitives.register("concatenate")
def _concatenate(b, *values, dimension, **_):
    return b.op("Concat", *values, axis=dimension)


@primitives.register("stack")
def _stack(b, *values, axis, **_):
    axis %= len(b.shape)
    return b.op("Concat", *[b.unsqueeze(v, [axis]) for v in values], axis=axis)


@primitives.register("unstack")
def _unstack(b, x, axis, **_):
    count, axis = len(b.types), axis % x.rank
    shapes = [(*x.shape[:axis], 1, *x.shape[axis + 1 :])] * count
    parts = b.ops("Split", x, b.ints([1] * count), count=count, dtypes=[x.dtype] * count, shapes=shapes, axis=axis)
    return [b.squeeze(part, [axis]) for part in parts]


@primitives.register("tile")
def _tile(b, x, reps, **_):
    return b.op("Tile", x, b.ints(reps))


@primitives.register("platform_index")
def _platform(b, platforms=(), **_):
    """A model is for any platform: the branch for all others, which stands last."""
    return b.const(len(platforms) - 1, b.dtype)


@primitives.register("split")
def _split(b, x, sizes, axis, **_):
    dtypes, shapes = zip(*b.types, strict=True)
    return b.ops("Split", x, b.ints(sizes), count=len(sizes), dtypes=list(dtypes), shapes=list(shapes), axis=axis)


@primitives.register("slice")
def _slice(b, x, start_indices, limit_indices, strides=None, **_):
    return b.slice(x, start_indices, limit_indices, None, strides)


@primitives.register("pad")
def pad(b: Builder, x: Value, value: Value, padding_config: Any, **_: Any) -> Value:
    low, high, inner = zip(*padding_config, strict=True) if padding_config else ((), (), ())
    for axis, gap in enumerate(inner):
        if gap:
            x = spread(b, x, value, axis, gap)
    kind = b.computing(x.dtype)
    x, value = b.cast(x, kind), b.cast(value, kind)
    positive = [max(n, 0) for n in (*low, *high)]
    if any(positive):
        shape = (
            None
            if x.shape is None
            else tuple(n + p + q if p or q else n for n, p, q in zip(x.shape, positive, positive[len(low) :]))
        )
        x = b.op("Pad", x, b.ints(positive), b.reshape(value, ()) if value.shape else value, shape=shape)
    if any(n < 0 for n in (*low, *high)):
        begin = [max(-n, 0) for n in low]
        end = [n if n < 0 else 2**62 for n in high]
        x = b.slice(x, begin, end)
    return x


def spread(b: Builder, x: Value, value: Value, axis: int, gap: int) -> Value:
    """`x` with `gap` times `value` between its elements along an axis."""
    shape = list(x.shape)
    lined = b.reshape(x, [*shape[: axis + 1], 1, *shape[axis + 1 :]])
    pads = [0] * (2 * len(lined.shape))
    pads[len(lined.shape) + axis + 1] = gap
    wide = b.op("Pad", lined, b.ints(pads), value)
    whole = [*shape[:axis], shape[axis] * (gap + 1), *shape[axis + 1 :]]
    made = b.slice(b.reshape(wide, whole), [0], [shape[axis] * (gap + 1) - gap], [axis])
    made.shape = (*shape[:axis], shape[axis] * (gap + 1) - gap, *shape[axis + 1 :])
    return made


@primitives.register("iota")
def _iota(b, dimension, **_):
    count = b.shape[dimension]
    if isinstance(count, int):
        line = b.const(np.arange(count), b.dtype)
    else:
        zero, one = b.const(np.int64(0)), b.const(np.int64(1))
        line = b.cast(b.op("Range", zero, b.squeeze(b.length(count), [0]), one, dtype="int64"), b.dtype)
    lined = [1] * len(b.shape)
    lined[dimension] = count
    return b.expand(b.reshape(line, lined) if len(lined) != 1 else line, b.shape)


def start_of(b: Builder, starts: Sequence[Value], shape: Sequence[Any], lengths: Sequence[Any]) -> list[Any]:
    """First indices of a window, as numbers where they are known, moved so that the window lies within."""
    found: list[Any] = []
    for start, n, length in zip(starts, shape, lengths, strict=True):
        if n == length:
            found.append(0)
        elif start.known is not None:
            found.append(min(max(int(start.known), 0), int(n) - int(length)))
        else:
            made = b.reshape(b.cast(start, "int64"), (1,))
            last = b.op("Sub", b.ints([n]), b.ints([length]))
            found.append(b.op("Max", b.op("Min", made, last), b.ints([0])))
    return found


def _joined(b, numbers):
    if all(not isinstance(n, Value) for n in numbers):
        return b.ints(numbers)
    return b.op("Concat", *[n if isinstance(n, Value) else b.ints([n]) for n in numbers], axis=0)


@primitives.register("dynamic_slice")
def _dynamic_slice(b, x, *starts, slice_sizes, **_):
    begins = start_of(b, starts, x.shape, slice_sizes)
    chosen = [i for i, (n, length) in enumerate(zip(x.shape, slice_sizes, strict=True)) if n != length]
    if not chosen:
        return x
    begin = _joined(b, [begins[i] for i in chosen])
    lengths = b.ints([slice_sizes[i] for i in chosen])
    known = all(not isinstance(begins[i], Value) for i in chosen)
    end = b.ints([begins[i] + slice_sizes[i] for i in chosen]) if known else b.op("Add", begin, lengths)
    return b.op("Slice", x, begin, end, b.ints(chosen))


@primitives.register("dynamic_update_slice")
def _dynamic_update_slice(b, x, update, *starts, **_):
    if not x.shape or update.shape == x.shape:
        return update
    begins = start_of(b, starts, x.shape, update.shape)
    index = None
    for axis, (begin, length) in enumerate(zip(begins, update.shape, strict=True)):
        line = b.const(np.arange(int(length)))
        line = b.op("Add", line, begin if isinstance(begin, Value) else b.ints([begin]))
        shape = [1] * len(x.shape) + [1]
        shape[axis] = length
        line = b.expand(b.reshape(line, shape), (*update.shape, 1))
        index = line if index is None else b.op("Concat", index, line, axis=-1)
    return b.op("ScatterND", x, index, update)
