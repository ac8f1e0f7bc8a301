"""Import ONNX operators whose result size depends on values. They are computed when the model is read, from constants
only.
"""

import numpy as np

from .reader import Reader
from .values import Node, handles


@handles("Compress")
def _read_compress(r, node):
    x, indices = node.inputs[0], np.flatnonzero(r.static(node.inputs[1]))
    axis = node.attr("axis")
    if axis is None:
        x, axis = r.reshape(x, (int(np.prod(x.shape)),)), 0
    return r("Gather", x, r.const(indices), axis % x.rank)


@handles("NonZero")
def _read_non_zero(r, node):
    return r.const(np.stack(np.nonzero(np.atleast_1d(r.static(node.inputs[0])))).astype(np.int64))


@handles("Unique")
def _read_unique(r, node):
    x, axis = r.static(node.inputs[0]), node.attr("axis")
    values, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    inverse = inverse.reshape(-1)
    if not node.attr("sorted", 1):  # in order of first occurrence
        order = np.argsort(first)
        values = values[order] if axis is None else np.take(values, order, axis)
        first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
    return [r.const(values), *(r.const(v.astype(np.int64)) for v in (first, inverse, counts))]


@handles("NonMaxSuppression")
def _read_non_max_suppression(r: Reader, node: Node):
    """Select boxes of each class by descending score, skipping those that overlap a selected box too much."""
    boxes, scores = (r.static(x) for x in node.inputs[:2])
    max_boxes, max_overlap, min_score = (
        None
        if node.input(index) is None or not r.static(node.input(index)).size
        else r.static(node.input(index)).flat[0]
        for index in (2, 3, 4)
    )
    if node.attr("center_point_box", 0):
        middle, half = boxes[..., :2], boxes[..., 2:] / 2
        low, high = middle - half, middle + half
    else:
        low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    area = np.prod(high - low, axis=-1)
    selected = []
    for batch, of_class in np.ndindex(*scores.shape[:2]):
        class_scores, class_boxes = scores[batch, of_class], []
        for box in np.argsort(-class_scores, kind="stable"):
            if len(class_boxes) >= int(max_boxes or 0):
                break
            if min_score is not None and class_scores[box] <= min_score:
                continue
            sides = np.minimum(high[batch, class_boxes], high[batch, box]) - np.maximum(
                low[batch, class_boxes], low[batch, box]
            )
            intersection = np.prod(np.maximum(sides, 0), axis=-1)
            union = area[batch, class_boxes] + area[batch, box] - intersection
            if not np.any((intersection > 0) & (union > 0) & (intersection > union * float(max_overlap or 0))):
                class_boxes.append(int(box))
                selected.append((batch, of_class, int(box)))
    return r.const(np.array(selected, np.int64).reshape(-1, 3))
