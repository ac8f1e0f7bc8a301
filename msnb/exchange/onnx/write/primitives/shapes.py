"""Primitives that change shapes, concatenate, split, slice and update slices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..builder import Builder, Value, primitives


@primitives.register("reshape")
def _lower_reshape(b, x, dimensions=None, **_):
    """Write a Reshape. `dimensions` is the order of axes in which elements are read."""
    return b.reshape(x if dimensions is None else b.transpose(x, dimensions), b.shape)


@primitives.register("squeeze")
def _lower_squeeze(b, x, dimensions, **_):
    return b.squeeze(x, dimensions)


@primitives.register("expand_dims")
def _lower_expand_dims(b, x, dimensions, **_):
    return b.unsqueeze(x, dimensions)


@primitives.register("broadcast_in_dim")
def _lower_broadcast_in_dim(b, x, *_, broadcast_dimensions, **__):
    aligned_shape = [1] * len(b.shape)
    for axis, n in zip(broadcast_dimensions, x.shape, strict=True):
        aligned_shape[axis] = n
    if tuple(aligned_shape) != x.shape:
        x = b.reshape(x, aligned_shape)
    return b.expand(x, b.shape)


@primitives.register("transpose")
def _lower_transpose(b, x, permutation, **_):
    return b.transpose(x, permutation)


@primitives.register("rev")
def _lower_rev(b, x, dimensions, **_):
    count = len(dimensions)
    return b.slice(x, [-1] * count, [-(2**62)] * count, dimensions, [-1] * count) if count else x


@primitives.register("concatenate")
def _lower_concatenate(b, *values, dimension, **_):
    return b.op("Concat", *values, axis=dimension)


@primitives.register("stack")
def _lower_stack(b, *values, axis, **_):
    axis %= len(b.shape)
    return b.op("Concat", *[b.unsqueeze(v, [axis]) for v in values], axis=axis)


@primitives.register("unstack")
def _lower_unstack(b, x, axis, **_):
    count, axis = len(b.types), axis % x.rank
    shapes = [(*x.shape[:axis], 1, *x.shape[axis + 1 :])] * count
    slices = b.ops("Split", x, b.ints([1] * count), count=count, dtypes=[x.dtype] * count, shapes=shapes, axis=axis)
    return [b.squeeze(piece, [axis]) for piece in slices]


@primitives.register("tile")
def _lower_tile(b, x, reps, **_):
    return b.op("Tile", x, b.ints(reps))


@primitives.register("platform_index")
def _lower_platform_index(b, platforms=(), **_):
    """Select the last branch, which is JAX's default for other platforms: an ONNX model is not specific to a
    platform.
    """
    return b.const(len(platforms) - 1, b.dtype)


@primitives.register("split")
def _lower_split(b, x, sizes, axis, **_):
    dtypes, shapes = zip(*b.types, strict=True)
    return b.ops("Split", x, b.ints(sizes), count=len(sizes), dtypes=list(dtypes), shapes=list(shapes), axis=axis)


@primitives.register("slice")
def _lower_slice(b, x, start_indices, limit_indices, strides=None, **_):
    return b.slice(x, start_indices, limit_indices, None, strides)


@primitives.register("pad")
def pad(b: Builder, x: Value, value: Value, padding_config: Any, **_: Any) -> Value:
    low, high, inner = zip(*padding_config, strict=True) if padding_config else ((), (), ())
    for axis, gap in enumerate(inner):
        if gap:
            x = interleave(b, x, value, axis, gap)
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


def interleave(b: Builder, x: Value, value: Value, axis: int, gap: int) -> Value:
    """Insert `gap` copies of `value` between the elements of `x` along an axis."""
    shape = list(x.shape)
    expanded = b.reshape(x, [*shape[: axis + 1], 1, *shape[axis + 1 :]])
    pads = [0] * (2 * len(expanded.shape))
    pads[len(expanded.shape) + axis + 1] = gap
    padded = b.op("Pad", expanded, b.ints(pads), value)
    padded_shape = [*shape[:axis], shape[axis] * (gap + 1), *shape[axis + 1 :]]
    result = b.slice(b.reshape(padded, padded_shape), [0], [shape[axis] * (gap + 1) - gap], [axis])
    result.shape = (*shape[:axis], shape[axis] * (gap + 1) - gap, *shape[axis + 1 :])
    return result


@primitives.register("iota")
def _lower_iota(b, dimension, **_):
    count = b.shape[dimension]
    if isinstance(count, int):
        line = b.const(np.arange(count), b.dtype)
    else:
        zero, one = b.const(np.int64(0)), b.const(np.int64(1))
        line = b.cast(b.op("Range", zero, b.squeeze(b.length(count), [0]), one, dtype="int64"), b.dtype)
    aligned_shape = [1] * len(b.shape)
    aligned_shape[dimension] = count
    return b.expand(b.reshape(line, aligned_shape) if len(aligned_shape) != 1 else line, b.shape)


def clamped_starts(b: Builder, starts: Sequence[Value], shape: Sequence[Any], lengths: Sequence[Any]) -> list[Any]:
    """Clamp the start indices of a window so that the window is inside the array. A result is a Python number if it is
    known, else a Value.
    """
    clamped: list[Any] = []
    for start, n, length in zip(starts, shape, lengths, strict=True):
        if n == length:
            clamped.append(0)
        elif start.constant is not None:
            clamped.append(min(max(int(start.constant), 0), int(n) - int(length)))
        else:
            start_value = b.reshape(b.cast(start, "int64"), (1,))
            last = b.op("Sub", b.ints([n]), b.ints([length]))
            clamped.append(b.op("Max", b.op("Min", start_value, last), b.ints([0])))
    return clamped


def _concatenate_numbers(b, numbers):
    if all(not isinstance(n, Value) for n in numbers):
        return b.ints(numbers)
    return b.op("Concat", *[n if isinstance(n, Value) else b.ints([n]) for n in numbers], axis=0)


@primitives.register("dynamic_slice")
def _lower_dynamic_slice(b, x, *starts, slice_sizes, **_):
    begins = clamped_starts(b, starts, x.shape, slice_sizes)
    axes = [i for i, (n, length) in enumerate(zip(x.shape, slice_sizes, strict=True)) if n != length]
    if not axes:
        return x
    begin = _concatenate_numbers(b, [begins[i] for i in axes])
    lengths = b.ints([slice_sizes[i] for i in axes])
    has_constant_starts = all(not isinstance(begins[i], Value) for i in axes)
    end = b.ints([begins[i] + slice_sizes[i] for i in axes]) if has_constant_starts else b.op("Add", begin, lengths)
    return b.op("Slice", x, begin, end, b.ints(axes))


@primitives.register("dynamic_update_slice")
def _lower_dynamic_update_slice(b, x, update, *starts, **_):
    if not x.shape or update.shape == x.shape:
        return update
    begins = clamped_starts(b, starts, x.shape, update.shape)
    index = None
    for axis, (begin, length) in enumerate(zip(begins, update.shape, strict=True)):
        positions = b.const(np.arange(int(length)))
        positions = b.op("Add", positions, begin if isinstance(begin, Value) else b.ints([begin]))
        shape = [1] * len(x.shape) + [1]
        shape[axis] = length
        positions = b.expand(b.reshape(positions, shape), (*update.shape, 1))
        index = positions if index is None else b.op("Concat", index, positions, axis=-1)
    return b.op("ScatterND", x, index, update)
