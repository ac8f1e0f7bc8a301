"""Import ONNX operators: gather, scatter and sorting."""

import numpy as np

from .shapes import slice_axis
from .values import Ref, handles


def _wrap_negative_indices(r, indices, count):
    """Add `count` to negative indices, unless the ONNX model itself adds it."""
    if indices.value is not None:
        return r.const(np.where(indices.value < 0, indices.value + count, indices.value))
    if _model_wraps_negative_indices(indices, count):
        return indices
    return r("Where", r("Less", indices, r.like(0, indices)), r("Add", indices, r.like(count, indices)), indices)


def _model_wraps_negative_indices(indices, count):
    """Return True if the ONNX model itself adds the length to negative indices, as msnb's exports do."""
    node = indices.node
    if getattr(node, "op", "") != "Where":
        return False
    (is_negative, _), (shifted, _), index_use = node.uses
    if (getattr(is_negative, "op", ""), getattr(shifted, "op", "")) != ("Less", "Add"):
        return False
    (index, zero), (other, length) = is_negative.uses, shifted.uses
    zero, length = Ref(*zero).value, Ref(*length).value
    has_expected_constants = (
        zero is not None and length is not None and not zero.any() and np.array_equal(length, count)
    )
    return has_expected_constants and index == other == index_use


@handles("Gather")
def _read_gather(r, node):
    x, indices = node.inputs
    axis = node.attr("axis", 0) % x.rank
    return r("Gather", x, _wrap_negative_indices(r, indices, x.shape[axis]), axis)


@handles("GatherElements")
def _read_gather_elements(r, node):
    x, indices = node.inputs
    axis = node.attr("axis", 0) % x.rank
    indices = _wrap_negative_indices(r, indices, x.shape[axis])
    rest = [indices.shape[i] if i != axis else n for i, n in enumerate(x.shape)]
    if tuple(rest) != x.shape:  # MindSpore requires all other axes to be as long as those of the indices
        x = r("Slice", x, (0,) * x.rank, tuple(rest))
    return r("GatherD", x, axis, indices)


@handles("GatherND")
def _read_gather_nd(r, node):
    x, indices = node.inputs
    batch = node.attr("batch_dims", 0)
    depth = indices.shape[-1]
    if not batch:
        return r("GatherNd", x, _wrap_negative_nd_indices(r, indices, x.shape[:depth]))
    r.reserve_constant(batch, *indices.shape[:-1])
    grids = [
        np.broadcast_to(
            np.arange(n).reshape([-1 if i == j else 1 for j in range(indices.rank)]), (*indices.shape[:-1], 1)
        )
        for i, n in enumerate(indices.shape[:batch])
    ]
    batch_indices = r.const(np.concatenate(grids, -1).astype(indices.dtype))
    full = r("Concat", [batch_indices, indices], axis=-1)
    return r("GatherNd", x, _wrap_negative_nd_indices(r, full, x.shape[: batch + depth]))


def _wrap_negative_nd_indices(r, indices, shape):
    counts = r.const(np.array(shape, indices.dtype))
    if indices.value is not None:
        return r.const(np.where(indices.value < 0, indices.value + counts.value, indices.value))
    if _model_wraps_negative_indices(indices, counts.value):
        return indices
    return r("Where", r("Less", indices, r.like(0, indices)), r("Add", indices, counts), indices)


@handles("ScatterND")
def _read_scatter_nd(r, node):
    x, indices, updates = node.inputs
    suffix = {"none": "Update", "add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}[node.attr("reduction", "none")]
    return r(f"TensorScatter{suffix}", x, _wrap_negative_nd_indices(r, indices, x.shape[: indices.shape[-1]]), updates)


@handles("Scatter", "ScatterElements")
def _read_scatter_elements(r, node):
    x, indices, updates = node.inputs
    reduction, axis = node.attr("reduction", "none"), node.attr("axis", 0) % x.rank
    indices = _wrap_negative_indices(r, indices, x.shape[axis])
    if reduction in ("none", "add"):
        return r("TensorScatterElements", x, indices, updates, axis=axis, reduction=reduction)
    coordinates = []
    r.reserve_constant(x.rank, *indices.shape)
    for i in range(x.rank):
        if i == axis:
            coordinates.append(indices)
        else:
            positions = np.arange(indices.shape[i]).reshape([-1 if j == i else 1 for j in range(x.rank)])
            coordinates.append(r.const(np.broadcast_to(positions, indices.shape).astype(indices.dtype)))
    suffix = {"mul": "Mul", "max": "Max", "min": "Min"}[reduction]
    return r(f"TensorScatter{suffix}", x, r("Stack", coordinates, axis=-1), updates)


@handles("TopK")
def _read_top_k(r, node):
    x = node.inputs[0]
    axis = node.attr("axis", -1) % x.rank
    k = node.attr("k") if node.version < 10 else r.ints(node.inputs[1])[0]
    is_transposed = axis != x.rank - 1
    perm = [i for i in range(x.rank) if i != axis] + [axis]
    y = r.transpose(x, perm) if is_transposed else x
    if node.attr("largest", 1):
        values, indices = r("TopK", y, int(k), sorted=True)
    else:
        values, indices = r("Sort", y, axis=-1, descending=False)
        values, indices = slice_axis(r, values, x.rank - 1, 0, int(k)), slice_axis(r, indices, x.rank - 1, 0, int(k))
    indices = r.cast(indices, np.int64)
    inverse_perm = [int(i) for i in np.argsort(perm)]
    return (
        (r.transpose(values, inverse_perm), r.transpose(indices, inverse_perm)) if is_transposed else (values, indices)
    )


@handles("ReverseSequence")
def _read_reverse_sequence(r, node):
    batch, time = node.attr("batch_axis", 1), node.attr("time_axis", 0)
    return r("ReverseSequence", node.inputs[0], node.inputs[1], seq_dim=time, batch_dim=batch)


@handles("OneHot")
def _read_one_hot(r, node):
    indices, depth, values = node.inputs
    depth = int(r.ints(depth)[0])
    if indices.is_float:
        indices = r.cast(indices, np.int64)
    off, on = (r.reshape(slice_axis(r, values, 0, i, i + 1), ()) for i in (0, 1))
    indices = r.cast(indices, np.int64)
    return r("OneHot", _wrap_negative_indices(r, indices, depth), depth, on, off, axis=node.attr("axis", -1))
