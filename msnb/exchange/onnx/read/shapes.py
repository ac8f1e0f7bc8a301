"""Import ONNX operators: changes of shapes, creation and repetition of arrays."""

import math

import numpy as np

from msnb.formats import onnx

from .reader import Reader
from .values import Ref, handles


@handles("Shape")
def _read_shape(r, node):
    return r.const(np.array(node.inputs[0].shape[slice(node.attr("start", 0), node.attr("end"))], np.int64))


@handles("Size")
def _read_size(r, node):
    return r.const(np.int64(math.prod(node.inputs[0].shape)))


@handles("Reshape")
def _read_reshape(r, node):
    x, shape = node.inputs[0], r.ints(node.inputs[1])
    if not node.attr("allowzero", 0):
        shape = tuple(x.shape[i] if n == 0 else n for i, n in enumerate(shape))
    if -1 in shape:
        rest = math.prod(n for n in shape if n != -1)
        open_length = math.prod(x.shape) // rest if rest else 0
        shape = tuple(open_length if n == -1 else n for n in shape)
    if math.prod(shape) != math.prod(x.shape):
        raise ValueError(f"A Reshape of the model turns {x.shape} into {shape}.")
    return r.reshape(x, shape)


@handles("Flatten")
def _read_flatten(r, node):
    x, axis = node.inputs[0], node.attr("axis", 1)
    axis = axis + x.rank if axis < 0 else axis
    if axis == 1 and x.rank > 1:
        return r("Flatten", x)
    return r.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@handles("Transpose")
def _read_transpose(r, node):
    x = node.inputs[0]
    return r.transpose(x, node.attr("perm") or range(x.rank)[::-1])


def _read_normalized_axes(r, node, since, rank):
    source = node.attr("axes") if node.version < since else node.input(1)
    if source is None:
        return None
    return tuple(sorted(int(a) % rank for a in (r.ints(source) if isinstance(source, Ref) else source)))


@handles("Squeeze")
def _read_squeeze(r, node):
    x = node.inputs[0]
    axes = _read_normalized_axes(r, node, 13, max(x.rank, 1))
    axes = tuple(i for i, n in enumerate(x.shape) if n == 1) if axes is None else axes
    return r("Squeeze", x, axis=axes) if axes else x


@handles("Unsqueeze")
def _read_unsqueeze(r, node):
    x = node.inputs[0]
    new_axes = node.attr("axes") if node.version < 13 else r.ints(node.input(1))
    rank = x.rank + len(new_axes)
    axes = sorted(int(a) % rank for a in new_axes)
    if len(axes) == 1:
        return r("ExpandDims", x, axes[0])
    rest = iter(x.shape)
    return r.reshape(x, [1 if i in axes else next(rest) for i in range(rank)])


@handles("Concat")
def _read_concat(r, node):
    inputs = node.inputs
    axis = node.attr("axis", 1)
    return r("Concat", inputs, axis=axis) if len(inputs) > 1 else inputs[0]


@handles("Split")
def _read_split(r, node):
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
        results = r("Split", x, axis=axis, output_num=len(sizes))
        return (results,) if isinstance(results, Ref) else results
    pieces, start = [], 0
    for n in sizes:
        pieces.append(slice_axis(r, x, axis, start, start + n))
        start += n
    return pieces


def slice_axis(r: Reader, x: Ref, axis: int, begin: int, end: int) -> Ref:
    """Return a slice of a value along an axis."""
    if (begin, end) == (0, x.shape[axis]):
        return x
    begins, size = [0] * x.rank, list(x.shape)
    begins[axis], size[axis] = begin, end - begin
    return r("Slice", x, tuple(begins), tuple(size)) if end > begin else _make_empty_array(r, x, size)


def _make_empty_array(r, x, shape):
    return r.filled(shape, 0, x.dtype)


@handles("Slice")
def _read_slice(r, node):
    x = node.inputs[0]
    if node.version < 10:
        starts, ends, axes, steps = node.attr("starts"), node.attr("ends"), node.attr("axes"), None
    else:
        starts, ends = r.ints(node.inputs[1]), r.ints(node.inputs[2])
        axes = r.ints(node.input(3)) if node.input(3) is not None else None
        steps = r.ints(node.input(4)) if node.input(4) is not None else None
    axes = axes or range(len(starts))
    ranges = [(0, n, 1) for n in x.shape]
    for axis, start, end, step in zip(axes, starts, ends, steps or [1] * len(starts), strict=True):
        ranges[axis] = slice(int(start), int(end), int(step)).indices(x.shape[axis])
        if step < 0 and end < -x.shape[axis]:
            ranges[axis] = (ranges[axis][0], -1, step)
    if all(w == (0, n, 1) for w, n in zip(ranges, x.shape, strict=True)):
        return x
    lengths = [len(range(*w)) for w in ranges]
    if 0 in lengths:
        return _make_empty_array(r, x, lengths)
    reversed_axes = tuple(i for i, (_, _, step) in enumerate(ranges) if step < 0)
    if reversed_axes:
        x = r("ReverseV2", x, axis=reversed_axes)
        for i in reversed_axes:
            n = x.shape[i]
            first, _, step = ranges[i]
            ranges[i] = (n - 1 - first, n - 1 - first + (lengths[i] - 1) * -step + 1, -step)
    begin, end, step = zip(*ranges, strict=True)
    if all(s == 1 for s in step):
        return r("Slice", x, begin, tuple(lengths))
    return r("StridedSlice", x, begin, end, step)


# ---------------------------------------------------------------------- creation and repetition
@handles("Expand")
def _read_expand(r, node):
    x = node.inputs[0]
    shape = np.broadcast_shapes(x.shape, r.ints(node.inputs[1]))
    return x if shape == x.shape else r("BroadcastTo", x, shape=tuple(shape))


@handles("Tile")
def _read_tile(r, node):
    return r("Tile", node.inputs[0], r.ints(node.inputs[1])) if node.inputs[0].rank else node.inputs[0]


@handles("ConstantOfShape")
def _read_constant_of_shape(r, node):
    value = node.attr("value")
    value = np.zeros(1, np.float32) if value is None else onnx.array(value)
    return r.filled(r.ints(node.inputs[0]), value.reshape(-1)[0], value.dtype)


@handles("Range")
def _read_range(r, node):
    start, limit, delta = (r.static(x).reshape(()) for x in node.inputs)
    count = max(math.ceil((float(limit) - float(start)) / float(delta)), 0)
    r.reserve_constant(count)
    return r.const((start + np.arange(count) * delta).astype(start.dtype))


@handles("EyeLike")
def _read_eye_like(r, node):
    x = node.inputs[0]
    dtype = onnx.DTYPES.get(node.attr("dtype", 0), x.dtype)
    r.reserve_constant(*x.shape)
    return r.const(np.eye(*x.shape, k=node.attr("k", 0)).astype(dtype))


@handles("Trilu")
def _read_trilu(r, node):
    x = node.inputs[0]
    k = int(r.ints(node.input(1))[0]) if node.input(1) is not None else 0
    r.reserve_constant(*x.shape[-2:])
    mask = np.triu(np.ones(x.shape[-2:], bool), k) if node.attr("upper", 1) else np.tril(np.ones(x.shape[-2:], bool), k)
    if 0 in x.shape:
        return x
    return r("Where", r.const(mask), x, r.like(0, x))


@handles("Pad")
def _read_pad(r, node):
    x, mode = node.inputs[0], node.attr("mode", "constant")
    if node.version < 11:
        pads, value, axes = node.attr("pads"), r.like(node.attr("value", 0.0), x), range(x.rank)
    else:
        pads, value = r.ints(node.inputs[1]), node.input(2)
        axes = [a % x.rank for a in r.ints(node.input(3))] if node.input(3) is not None else range(x.rank)
    before, after = [0] * x.rank, [0] * x.rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = int(pads[i]), int(pads[len(pads) // 2 + i])
    for axis in range(x.rank):  # a negative padding crops
        if before[axis] < 0 or after[axis] < 0:
            x = slice_axis(r, x, axis, max(-before[axis], 0), x.shape[axis] - max(-after[axis], 0))
            before[axis], after[axis] = max(before[axis], 0), max(after[axis], 0)
    if not any(before) and not any(after):
        return x
    if mode == "constant":
        value = r.like(0, x) if value is None else r.reshape(value, ())
        if value.value is not None and not value.value:
            return r("Pad", x, paddings=tuple(zip(before, after, strict=True)))
        padded_shape = tuple(p + n + q for p, n, q in zip(before, x.shape, after, strict=True))
        background = r("BroadcastTo", r.cast(value, x.dtype), shape=padded_shape)
        r.reserve_constant(x.rank, *x.shape)
        index = np.stack(np.meshgrid(*[np.arange(n) + p for n, p in zip(x.shape, before)], indexing="ij"), -1)
        return r("TensorScatterUpdate", background, r.const(index), x)
    for axis in range(x.rank):
        r.reserve_constant(before[axis] + x.shape[axis] + after[axis])
        sources = np.arange(-before[axis], x.shape[axis] + after[axis])
        n = x.shape[axis]
        if mode == "edge":
            sources = np.clip(sources, 0, n - 1)
        elif mode == "wrap":
            sources = sources % n
        else:
            round_ = max(2 * (n - 1), 1)
            sources = (n - 1) - np.abs((sources % round_) - (n - 1))
        if len(sources) != n:
            x = r("Gather", x, r.const(sources), axis)
    return x


@handles("CenterCropPad")
def _read_center_crop_pad(r, node):
    x, shape = node.inputs[0], r.ints(node.inputs[1])
    axes = [a % x.rank for a in node.attr("axes") or range(x.rank)]
    paddings = [(0, 0)] * x.rank
    for axis, n in zip(axes, shape, strict=True):
        difference = n - x.shape[axis]
        if difference < 0:
            x = slice_axis(r, x, axis, -difference // 2, -difference // 2 + n)
        else:
            paddings[axis] = (difference // 2, difference - difference // 2)
    return r("Pad", x, paddings=tuple(paddings)) if any(map(any, paddings)) else x


@handles("DepthToSpace")
def _read_depth_to_space(r, node):
    x, size = node.inputs[0], node.attr("blocksize")
    n, c, h, w = x.shape
    if node.attr("mode", "DCR") == "CRD":
        blocks = r.transpose(r.reshape(x, (n, c // size**2, size, size, h, w)), (0, 1, 4, 2, 5, 3))
    else:
        blocks = r.transpose(r.reshape(x, (n, size, size, c // size**2, h, w)), (0, 3, 4, 1, 5, 2))
    return r.reshape(blocks, (n, c // size**2, h * size, w * size))


@handles("SpaceToDepth")
def _read_space_to_depth(r, node):
    x, size = node.inputs[0], node.attr("blocksize")
    n, c, h, w = x.shape
    order = (0, 1, 3, 5, 2, 4) if node.attr("mode", "DCR") == "CRD" else (0, 3, 5, 1, 2, 4)
    blocks = r.transpose(r.reshape(x, (n, c, h // size, size, w // size, size)), order)
    return r.reshape(blocks, (n, c * size**2, h // size, w // size))
