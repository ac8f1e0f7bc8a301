"""Lowerings to ONNX: operators that change shapes or create arrays."""

from typing import Any

import numpy as np

from msnb.ops import operations as ops

from .builder import Builder, Extent, Value, lowerings


@lowerings.register(ops.Reshape, ops.TransShape)
def _lower_reshape(b, x, *, shape):
    return b.reshape(x, b.shape)


@lowerings.register(ops.Flatten)
def _lower_flatten(b, x):
    return b.op("Flatten", x, axis=1) if x.rank > 1 else b.reshape(x, b.shape)


@lowerings.register(ops.FlattenExt)
def _lower_flatten_ext(b, x, *, start_dim, end_dim):
    return b.reshape(x, b.shape)


@lowerings.register(ops.Transpose)
def _lower_transpose(b, x, *, perm):
    return b.transpose(x, [int(p) % max(x.rank, 1) for p in perm])


@lowerings.register(ops.ExpandDims)
def _lower_expand_dims(b, x, *, axis):
    axes = axis if isinstance(axis, (tuple, list)) else [axis]
    return b.unsqueeze(x, sorted(int(a) % len(b.shape) for a in axes))


@lowerings.register(ops.Squeeze)
def _lower_squeeze(b, x, *, axis):
    axes = [axis] if isinstance(axis, int) else list(axis)
    if not axes:
        axes = [i for i, n in enumerate(x.shape) if not isinstance(n, Extent) and n == 1]
    return b.squeeze(x, sorted(int(a) % x.rank for a in axes))


@lowerings.register(ops.Concat)
def _lower_concat(b, inputs, *, axis):
    kind = b.dtype
    return b.op("Concat", *[b.cast(x, kind) for x in inputs], axis=axis)


@lowerings.register(ops.Stack)
def _lower_stack(b, inputs, *, axis):
    position = axis % len(b.shape)
    return b.op("Concat", *[b.unsqueeze(b.cast(x, b.dtype), [position]) for x in inputs], axis=position)


@lowerings.register(ops.Unstack)
def _lower_unstack(b, x, *, axis, num=None):
    return [b.squeeze(piece, [axis % x.rank]) for piece in _write_split(b, x, axis, [1] * len(b.types))]


@lowerings.register(ops.Split)
def _lower_split(b, x, *, axis, output_num):
    count = len(b.types)
    return _write_split(b, x, axis, [kind[1][axis] for kind in b.types]) if count > 1 else x


def _write_split(b, x, axis, sizes):
    count = len(sizes)
    axis %= x.rank
    shapes = [(*x.shape[:axis], n, *x.shape[axis + 1 :]) for n in sizes]
    return b.ops("Split", x, b.ints(sizes), count=count, dtypes=[x.dtype] * count, shapes=shapes, axis=axis)


@lowerings.register(ops.BroadcastTo)
def _lower_broadcast_to(b, x, *, shape):
    return b.expand(x, b.shape)


@lowerings.register(ops.Tile)
def _lower_tile(b, x, *, multiples):
    extra = len(multiples) - x.rank
    if extra < 0:
        multiples = (*[1] * -extra, *multiples)
    return b.op("Tile", b.unsqueeze(x, list(range(extra))) if extra > 0 else x, b.ints(multiples))


@lowerings.register(ops.Pad)
def _lower_pad(b, x, *, paddings):
    if any(n < 0 for pair in paddings for n in pair):
        return NotImplemented
    return b.op("Pad", x, b.ints([p for p, _ in paddings] + [q for _, q in paddings]))


@lowerings.register(ops.MirrorPad)
def _lower_mirror_pad(b, x, *, paddings, mode):
    paddings = [tuple(map(int, pair)) for pair in np.asarray(paddings)]
    if mode != "REFLECT" or any(max(p) >= n for p, n in zip(paddings, x.shape, strict=True)):
        return NotImplemented
    return b.op("Pad", x, b.ints([p for p, _ in paddings] + [q for _, q in paddings]), mode="reflect")


@lowerings.register(ops.Fill, ops.Zeros, ops.Ones)
def _lower_fill(b, *values, shape, **_):
    value = values[0] if values else None
    if value is None:
        return NotImplemented
    return b.expand(b.cast(value, b.dtype), b.shape)


def _register_fill_like_lowering(operator, number):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value) -> Any:
        return b.expand(b.const(number, b.dtype), b.shape)


_register_fill_like_lowering(ops.ZerosLike, 0)
_register_fill_like_lowering(ops.OnesLike, 1)


@lowerings.register(ops.OneHot)
def _lower_one_hot(b, indices, on_value, off_value, *, depth, axis):
    values = [b.reshape(b.cast(v, b.dtype), (1,)) for v in (off_value, on_value)]
    classes = b.cast(indices, "int64")
    encoded = b.op(
        "OneHot", classes, b.const(np.int64(depth)), b.op("Concat", *values, axis=0), dtype=b.dtype, axis=axis
    )
    # ONNX counts negative indices from the end; in MindSpore they belong to no class
    new_axis = axis % (indices.rank + 1)
    classes.shape = indices.shape
    is_negative = b.unsqueeze(
        b.op("Less", classes, b.const(np.int64(0)), dtype="bool", shape=indices.shape), [new_axis]
    )
    return b.op("Where", is_negative, b.cast(off_value, b.dtype), encoded, dtype=b.dtype)


@lowerings.register(ops.DepthToSpace)
def _lower_depth_to_space(b, x, *, block_size):
    return b.op("DepthToSpace", x, blocksize=block_size) if x.is_float else NotImplemented


@lowerings.register(ops.PixelShuffle)
def _lower_pixel_shuffle(b, x, *, upscale_factor):
    if x.rank != 4 or not x.is_float:
        return NotImplemented
    return b.op("DepthToSpace", x, blocksize=upscale_factor, mode="CRD")


def _register_triangle(operator, upper):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, *, diagonal: int) -> Any:
        if not x.is_float and x.dtype not in ("int32", "int64"):
            return NotImplemented
        widened = b.cast(x, "int64") if x.dtype == "int32" else x
        return b.op("Trilu", widened, b.const(np.int64(diagonal)), upper=upper)


_register_triangle(ops.Tril, 0)
_register_triangle(ops.Triu, 1)
