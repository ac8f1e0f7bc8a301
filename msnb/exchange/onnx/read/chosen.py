"""Readers of what has as many results as values say: they are computed when the model is read, of constants alone."""

import numpy as np

from .reader import Reader
from .values import Node, handles


@handles("Compress")
def _compress(r, node):
    x, chosen = node.inputs[0], np.flatnonzero(r.static(node.inputs[1]))
    axis = node.attr("axis")
    if axis is None:
        x, axis = r.reshape(x, (int(np.prod(x.shape)),)), 0
    return r("Gather", x, r.const(chosen), axis % x.rank)


@handles("NonZero")
def _non_zero(r, node):
    return r.const(np.stack(np.nonzero(np.atleast_1d(r.static(node.inputs[0])))).astype(np.int64))


@handles("Unique")
def _unique(r, node):
    x, axis = r.static(node.inputs[0]), node.attr("axis")
    values, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    inverse = inverse.reshape(-1)
    if not node.attr("sorted", 1):  # in the order in which they come
        order = np.argsort(first)
        values = values[order] if axis is None else np.take(values, order, axis)
        first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
    return [r.const(values), *(r.const(v.astype(np.int64)) for v in (first, inverse, counts))]


@handles("NonMaxSuppression")
def _non_max_suppression(r: Reader, node: Node):
    """Of the boxes of a class the best, then each next one that overlaps none of those so far by too much."""
    boxes, scores = (r.static(x) for x in node.inputs[:2])
    most, overlap, least = (
        None
        if node.input(place) is None or not r.static(node.input(place)).size
        else r.static(node.input(place)).flat[0]
        for place in (2, 3, 4)
    )
    if node.attr("center_point_box", 0):
        middle, half = boxes[..., :2], boxes[..., 2:] / 2
        low, high = middle - half, middle + half
    else:
        low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    area = np.prod(high - low, axis=-1)
    found = []
    for batch, of_class in np.ndindex(*scores.shape[:2]):
        line, taken = scores[batch, of_class], []
        for box in np.argsort(-line, kind="stable"):
            if len(taken) >= int(most or 0):
                break
            if least is not None and line[box] <= least:
                continue
            common = np.minimum(high[batch, taken], high[batch, box]) - np.maximum(low[batch, taken], low[batch, box])
            shared = np.prod(np.maximum(common, 0), axis=-1)
            whole = area[batch, taken] + area[batch, box] - shared
            if not np.any((shared > 0) & (whole > 0) & (shared > whole * float(overlap or 0))):
                taken.append(int(box))
                found.append((batch, of_class, int(box)))
    return r.const(np.array(found, np.int64).reshape(-1, 3))
