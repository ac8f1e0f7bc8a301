"""Readers of what takes and replaces parts by index."""

import numpy as np

from .shapes import part
from .values import Ref, handles


def _counted(r, indices, count):
    """Indices with those that count from the end turned into places, unless the model does so."""
    if indices.value is not None:
        return r.const(np.where(indices.value < 0, indices.value + count, indices.value))
    if _is_counted(indices, count):
        return indices
    return r("Where", r("Less", indices, r.like(0, indices)), r("Add", indices, r.like(count, indices)), indices)


def _is_counted(indices, count):
    """Whether indices are what `_counted` makes: the file of a Cell that was read from a file has them so."""
    node = indices.node
    if getattr(node, "op", "") != "Where":
        return False
    (below, _), (moved, _), plain = node.uses
    if (getattr(below, "op", ""), getattr(moved, "op", "")) != ("Less", "Add"):
        return False
    (index, zero), (other, length) = below.uses, moved.uses
    zero, length = Ref(*zero).value, Ref(*length).value
    known = zero is not None and length is not None and not zero.any() and np.array_equal(length, count)
    return known and index == other == plain


@handles("Gather")
def _gather(r, node):
    x, indices = node.inputs
    axis = node.attr("axis", 0) % x.rank
    return r("Gather", x, _counted(r, indices, x.shape[axis]), axis)


@handles("GatherElements")
def _gather_elements(r, node):
    x, indices = node.inputs
    axis = node.attr("axis", 0) % x.rank
    indices = _counted(r, indices, x.shape[axis])
    rest = [indices.shape[i] if i != axis else n for i, n in enumerate(x.shape)]
    if tuple(rest) != x.shape:  # MindSpore wants all other axes as long as those of the indices
        x = r("Slice", x, (0,) * x.rank, tuple(rest))
    return r("GatherD", x, axis, indices)


@handles("GatherND")
def _gather_nd(r, node):
    x, indices = node.inputs
    batch = node.attr("batch_dims", 0)
    depth = indices.shape[-1]
    if not batch:
        return r("GatherNd", x, _counted_nd(r, indices, x.shape[:depth]))
    r.room(batch, *indices.shape[:-1])
    grids = [
        np.broadcast_to(
            np.arange(n).reshape([-1 if i == j else 1 for j in range(indices.rank)]), (*indices.shape[:-1], 1)
        )
        for i, n in enumerate(indices.shape[:batch])
    ]
    before = r.const(np.concatenate(grids, -1).astype(indices.dtype))
    full = r("Concat", [before, indices], axis=-1)
    return r("GatherNd", x, _counted_nd(r, full, x.shape[: batch + depth]))


def _counted_nd(r, indices, shape):
    counts = r.const(np.array(shape, indices.dtype))
    if indices.value is not None:
        return r.const(np.where(indices.value < 0, indices.value + counts.value, indices.value))
    if _is_counted(indices, counts.value):
        return indices
    return r("Where", r("Less", indices, r.like(0, indices)), r("Add", indices, counts), indices)


@handles("ScatterND")
def _scatter_nd(r, node):
    x, indices, updates = node.inputs
    ours = {"none": "Update", "add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}[node.attr("reduction", "none")]
    return r(f"TensorScatter{ours}", x, _counted_nd(r, indices, x.shape[: indices.shape[-1]]), updates)


@handles("Scatter", "ScatterElements")
def _scatter_elements(r, node):
    x, indices, updates = node.inputs
    reduction, axis = node.attr("reduction", "none"), node.attr("axis", 0) % x.rank
    indices = _counted(r, indices, x.shape[axis])
    if reduction in ("none", "add"):
        return r("TensorScatterElements", x, indices, updates, axis=axis, reduction=reduction)
    places = []
    r.room(x.rank, *indices.shape)
    for i in range(x.rank):
        if i == axis:
            places.append(indices)
        else:
            line = np.arange(indices.shape[i]).reshape([-1 if j == i else 1 for j in range(x.rank)])
            places.append(r.const(np.broadcast_to(line, indices.shape).astype(indices.dtype)))
    ours = {"mul": "Mul", "max": "Max", "min": "Min"}[reduction]
    return r(f"TensorScatter{ours}", x, r("Stack", places, axis=-1), updates)


@handles("TopK")
def _top_k(r, node):
    x = node.inputs[0]
    axis = node.attr("axis", -1) % x.rank
    k = node.attr("k") if node.version < 10 else r.ints(node.inputs[1])[0]
    turned = axis != x.rank - 1
    perm = [i for i in range(x.rank) if i != axis] + [axis]
    y = r.transpose(x, perm) if turned else x
    if node.attr("largest", 1):
        values, places = r("TopK", y, int(k), sorted=True)
    else:
        values, places = r("Sort", y, axis=-1, descending=False)
        values, places = part(r, values, x.rank - 1, 0, int(k)), part(r, places, x.rank - 1, 0, int(k))
    places = r.cast(places, np.int64)
    back = [int(i) for i in np.argsort(perm)]
    return (r.transpose(values, back), r.transpose(places, back)) if turned else (values, places)


@handles("ReverseSequence")
def _reverse_sequence(r, node):
    batch, time = node.attr("batch_axis", 1), node.attr("time_axis", 0)
    return r("ReverseSequence", node.inputs[0], node.inputs[1], seq_dim=time, batch_dim=batch)


@handles("OneHot")
def _one_hot(r, node):
    indices, depth, values = node.inputs
    depth = int(r.ints(depth)[0])
    if indices.is_float:
        indices = r.cast(indices, np.int64)
    off, on = (r.reshape(part(r, values, 0, i, i + 1), ()) for i in (0, 1))
    indices = r.cast(indices, np.int64)
    return r("OneHot", _counted(r, indices, depth), depth, on, off, axis=node.attr("axis", -1))
