"""Readers of what changes shapes, makes arrays and repeats them."""

import math

import numpy as np

from msnb.formats import onnx

from .reader import Reader
from .values import Ref, handles


@handles("Shape")
def _shape(r, node):
    return r.const(np.array(node.inputs[0].shape[slice(node.attr("start", 0), node.attr("end"))], np.int64))


@handles("Size")
def _size(r, node):
    return r.const(np.int64(math.prod(node.inputs[0].shape)))


@handles("Reshape")
def _reshape(r, node):
    x, wanted = node.inputs[0], r.ints(node.inputs[1])
    if not node.attr("allowzero", 0):
        wanted = tuple(x.shape[i] if n == 0 else n for i, n in enumerate(wanted))
    if -1 in wanted:
        rest = math.prod(n for n in wanted if n != -1)
        left = math.prod(x.shape) // rest if rest else 0
        wanted = tuple(left if n == -1 else n for n in wanted)
    if math.prod(wanted) != math.prod(x.shape):
        raise ValueError(f"A Reshape of the model turns {x.shape} into {wanted}.")
    return r.reshape(x, wanted)


@handles("Flatten")
def _flatten(r, node):
    x, axis = node.inputs[0], node.attr("axis", 1)
    axis = axis + x.rank if axis < 0 else axis
    if axis == 1 and x.rank > 1:
        return r("Flatten", x)
    return r.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@handles("Transpose")
def _transpose(r, node):
    x = node.inputs[0]
    return r.transpose(x, node.attr("perm") or range(x.rank)[::-1])


def _axes(r, node, since, rank):
    found = node.attr("axes") if node.version < since else node.input(1)
    if found is None:
        return None
    return tuple(sorted(int(a) % rank for a in (r.ints(found) if isinstance(found, Ref) else found)))


@handles("Squeeze")
def _squeeze(r, node):
    x = node.inputs[0]
    axes = _axes(r, node, 13, max(x.rank, 1))
    axes = tuple(i for i, n in enumerate(x.shape) if n == 1) if axes is None else axes
    return r("Squeeze", x, axis=axes) if axes else x


@handles("Unsqueeze")
def _unsqueeze(r, node):
    x = node.inputs[0]
    found = node.attr("axes") if node.version < 13 else r.ints(node.input(1))
    rank = x.rank + len(found)
    axes = sorted(int(a) % rank for a in found)
    if len(axes) == 1:
        return r("ExpandDims", x, axes[0])
    rest = iter(x.shape)
    return r.reshape(x, [1 if i in axes else next(rest) for i in range(rank)])


@handles("Concat")
def _concat(r, node):
    inputs = node.inputs
    return r("Concat", inputs, axis=node.attr("axis", 1)) if len(inputs) > 1 else inputs[0]


@handles("Split")
def _split(r, node):
    x = node.inputs[0]
    axis = node.attr("axis", 0) % x.rank
    count = node.attr("num_outputs", len(node.outputs))
    sizes = node.attr("split") if node.version < 13 else node.input(1) and r.ints(node.input(1))
    if not sizes:
        if count > len(node.outputs):
            raise ValueError(f"{count} parts for {len(node.outputs)} results")
        each = -(-x.shape[axis] // count)
        sizes = [min(each, max(x.shape[axis] - i * each, 0)) for i in range(count)]
    if len(set(sizes)) == 1 and sizes[0]:
        made = r("Split", x, axis=axis, output_num=len(sizes))
        return (made,) if isinstance(made, Ref) else made
    found, at = [], 0
    for n in sizes:
        found.append(part(r, x, axis, at, at + n))
        at += n
    return found


def part(r: Reader, x: Ref, axis: int, begin: int, end: int) -> Ref:
    """The part of a value along an axis."""
    if (begin, end) == (0, x.shape[axis]):
        return x
    begins, size = [0] * x.rank, list(x.shape)
    begins[axis], size[axis] = begin, end - begin
    return r("Slice", x, tuple(begins), tuple(size)) if end > begin else _empty(r, x, size)


def _empty(r, x, shape):
    return r.filled(shape, 0, x.dtype)


@handles("Slice")
def _slice(r, node):
    x = node.inputs[0]
    if node.version < 10:
        starts, ends, axes, steps = node.attr("starts"), node.attr("ends"), node.attr("axes"), None
    else:
        starts, ends = r.ints(node.inputs[1]), r.ints(node.inputs[2])
        axes = r.ints(node.input(3)) if node.input(3) is not None else None
        steps = r.ints(node.input(4)) if node.input(4) is not None else None
    axes = axes or range(len(starts))
    whole = [(0, n, 1) for n in x.shape]
    for axis, start, end, step in zip(axes, starts, ends, steps or [1] * len(starts), strict=True):
        whole[axis] = slice(int(start), int(end), int(step)).indices(x.shape[axis])
        if step < 0 and end < -x.shape[axis]:
            whole[axis] = (whole[axis][0], -1, step)
    if all(w == (0, n, 1) for w, n in zip(whole, x.shape, strict=True)):
        return x
    lengths = [len(range(*w)) for w in whole]
    if 0 in lengths:
        return _empty(r, x, lengths)
    turned = tuple(i for i, (_, _, step) in enumerate(whole) if step < 0)
    if turned:
        x = r("ReverseV2", x, axis=turned)
        for i in turned:
            n = x.shape[i]
            first, _, step = whole[i]
            whole[i] = (n - 1 - first, n - 1 - first + (lengths[i] - 1) * -step + 1, -step)
    begin, end, step = zip(*whole, strict=True)
    if all(s == 1 for s in step):
        return r("Slice", x, begin, tuple(lengths))
    return r("StridedSlice", x, begin, end, step)


# ---------------------------------------------------------------------- making and repeating
@handles("Expand")
def _expand(r, node):
    x = node.inputs[0]
    shape = np.broadcast_shapes(x.shape, r.ints(node.inputs[1]))
    return x if shape == x.shape else r("BroadcastTo", x, shape=tuple(shape))


@handles("Tile")
def _tile(r, node):
    return r("Tile", node.inputs[0], r.ints(node.inputs[1])) if node.inputs[0].rank else node.inputs[0]


@handles("ConstantOfShape")
def _constant_of_shape(r, node):
    value = node.attr("value")
    value = np.zeros(1, np.float32) if value is None else onnx.array(value)
    return r.filled(r.ints(node.inputs[0]), value.reshape(-1)[0], value.dtype)


@handles("Range")
def _range(r, node):
    start, limit, delta = (r.static(x).reshape(()) for x in node.inputs)
    count = max(math.ceil((float(limit) - float(start)) / float(delta)), 0)
    r.room(count)
    return r.const((start + np.arange(count) * delta).astype(start.dtype))


@handles("EyeLike")
def _eye_like(r, node):
    x = node.inputs[0]
    dtype = onnx.DTYPES.get(node.attr("dtype", 0), x.dtype)
    r.room(*x.shape)
    return r.const(np.eye(*x.shape, k=node.attr("k", 0)).astype(dtype))


@handles("Trilu")
def _trilu(r, node):
    x = node.inputs[0]
    k = int(r.ints(node.input(1))[0]) if node.input(1) is not None else 0
    r.room(*x.shape[-2:])
    keep = np.triu(np.ones(x.shape[-2:], bool), k) if node.attr("upper", 1) else np.tril(np.ones(x.shape[-2:], bool), k)
    if 0 in x.shape:
        return x
    return r("Where", r.const(keep), x, r.like(0, x))


@handles("Pad")
def _pad(r, node):
    x, mode = node.inputs[0], node.attr("mode", "constant")
    if node.version < 11:
        pads, value, axes = node.attr("pads"), r.like(node.attr("value", 0.0), x), range(x.rank)
    else:
        pads, value = r.ints(node.inputs[1]), node.input(2)
        axes = [a % x.rank for a in r.ints(node.input(3))] if node.input(3) is not None else range(x.rank)
    before, after = [0] * x.rank, [0] * x.rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = int(pads[i]), int(pads[len(pads) // 2 + i])
    for axis in range(x.rank):  # what is negative is cut off
        if before[axis] < 0 or after[axis] < 0:
            x = part(r, x, axis, max(-before[axis], 0), x.shape[axis] - max(-after[axis], 0))
            before[axis], after[axis] = max(before[axis], 0), max(after[axis], 0)
    if not any(before) and not any(after):
        return x
    if mode == "constant":
        value = r.like(0, x) if value is None else r.reshape(value, ())
        if value.value is not None and not value.value:
            return r("Pad", x, paddings=tuple(zip(before, after, strict=True)))
        wide = tuple(p + n + q for p, n, q in zip(before, x.shape, after, strict=True))
        whole = r("BroadcastTo", r.cast(value, x.dtype), shape=wide)
        r.room(x.rank, *x.shape)
        index = np.stack(np.meshgrid(*[np.arange(n) + p for n, p in zip(x.shape, before)], indexing="ij"), -1)
        return r("TensorScatterUpdate", whole, r.const(index), x)
    for axis in range(x.rank):
        r.room(before[axis] + x.shape[axis] + after[axis])
        places = np.arange(-before[axis], x.shape[axis] + after[axis])
        n = x.shape[axis]
        if mode == "edge":
            places = np.clip(places, 0, n - 1)
        elif mode == "wrap":
            places = places % n
        else:
            round_ = max(2 * (n - 1), 1)
            places = (n - 1) - np.abs((places % round_) - (n - 1))
        if len(places) != n:
            x = r("Gather", x, r.const(places), axis)
    return x


@handles("CenterCropPad")
def _center_crop_pad(r, node):
    x, wanted = node.inputs[0], r.ints(node.inputs[1])
    axes = [a % x.rank for a in node.attr("axes") or range(x.rank)]
    paddings = [(0, 0)] * x.rank
    for axis, n in zip(axes, wanted, strict=True):
        more = n - x.shape[axis]
        if more < 0:
            x = part(r, x, axis, -more // 2, -more // 2 + n)
        else:
            paddings[axis] = (more // 2, more - more // 2)
    return r("Pad", x, paddings=tuple(paddings)) if any(map(any, paddings)) else x


@handles("DepthToSpace")
def _depth_to_space(r, node):
    x, size = node.inputs[0], node.attr("blocksize")
    n, c, h, w = x.shape
    if node.attr("mode", "DCR") == "CRD":
        parts = r.transpose(r.reshape(x, (n, c // size**2, size, size, h, w)), (0, 1, 4, 2, 5, 3))
    else:
        parts = r.transpose(r.reshape(x, (n, size, size, c // size**2, h, w)), (0, 3, 4, 1, 5, 2))
    return r.reshape(parts, (n, c // size**2, h * size, w * size))


@handles("SpaceToDepth")
def _space_to_depth(r, node):
    x, size = node.inputs[0], node.attr("blocksize")
    n, c, h, w = x.shape
    order = (0, 1, 3, 5, 2, 4) if node.attr("mode", "DCR") == "CRD" else (0, 3, 5, 1, 2, 4)
    parts = r.transpose(r.reshape(x, (n, c, h // size, size, w // size, size)), order)
    return r.reshape(parts, (n, c * size**2, h // size, w // size))
