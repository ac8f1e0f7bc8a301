"""Non-maximum suppression: boxes are selected by score, and each selected box removes those that overlap it too much.

The number of selected boxes depends on values, so these operators do not run in graphs. `NMSWithMask` returns a mask
instead, and runs in graphs.
"""

import numpy as np

from msnb.common.kinds import Bool, checked
from msnb.core.errors.messages import describe
from msnb.core.operator.cases import F, U, Values, case, refused
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._host import HostPrimitive, host_operator


def _read_number(op, name, value, low=None, high=None):
    """Return a number, or the element of a one-element Tensor, checked against inclusive bounds."""
    values = value.asnumpy().reshape(-1).tolist() if isinstance(value, Tensor) else [value]
    if len(values) != 1 or isinstance(values[0], bool) or not isinstance(values[0], (int, float)):
        raise TypeError(f"For '{op}', '{name}' should be a number, or a Tensor of one, but got {describe(value)}.")
    if (low is not None and values[0] < low) or (high is not None and values[0] > high):
        raise ValueError(f"For '{op}', '{name}' should be in [{low}, {high}], but got {values[0]}.")
    return values[0]


def _compute_iou(box, boxes):
    """Return the intersection over union of `box` with each of `boxes`. Boxes are given by two opposite corners."""
    low, high = (pick(box[:2], box[2:]) for pick in (np.minimum, np.maximum))
    lows, highs = (pick(boxes[:, :2], boxes[:, 2:]) for pick in (np.minimum, np.maximum))
    shared = np.clip(np.minimum(high, highs) - np.maximum(low, lows), 0, None).prod(1)
    union = (high - low).prod() + (highs - lows).prod(1) - shared
    return np.where(union > 0, shared / np.where(union > 0, union, 1), 0)


def _select_boxes(scores, overlaps, most, limit, least):
    """Return the indices of at most `most` boxes with a score above `least`, highest first.

    A box is skipped if it overlaps a box that is already selected by more than `limit`. `overlaps(i)` returns the
    overlap of box i with each box.
    """
    indices = []
    left = scores > least
    for i in np.argsort(-scores, kind="stable"):
        if len(indices) == most:
            break
        if left[i]:
            indices.append(i)
            left = left & ~(overlaps(i) > limit)
    return np.array(indices, np.int32)


def _check_rows_and_scores(op, name, x, columns, scores):
    tensor_argument(op, name, x)
    tensor_argument(op, "scores", scores)
    if scores.ndim != 1 or x.shape != (scores.shape[0], columns or scores.shape[0]):
        raise ValueError(
            f"For '{op}', '{name}' should have shape (N, {columns or 'N'}) and 'scores' shape (N,), "
            f"but got {x.shape} and {scores.shape}."
        )


@host_operator()
class NonMaxSuppressionV3(HostPrimitive):
    """Return the indices of boxes in descending order of scores, without boxes that overlap an earlier one too much.

    Inputs:
        - **boxes** (Tensor) - Two opposite corners of each box, of shape (N, 4).
        - **scores** (Tensor) - Their scores, of shape (N,).
        - **max_output_size** (Union[int, Tensor]) - Largest number of boxes to select.
        - **iou_threshold** (Union[float, Tensor]) - In [0, 1]; a box is removed if its intersection over union with a
          selected box is larger.
        - **score_threshold** (Union[float, Tensor]) - Only boxes with a higher score are selected.

    Outputs:
        Tensor of int32, of shape (M,).

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shapes do not fit, or a threshold is out of range.

    Examples:
        >>> boxes = Tensor([[0, 0, 2, 2], [0, 0, 2, 1.9], [3, 3, 4, 4]], mindspore.float32)
        >>> print(ops.NonMaxSuppressionV3()(boxes, Tensor([0.5, 0.9, 0.7], mindspore.float32), 3, 0.5, 0.1))
        [1 2]
    """

    def __call__(
        self,
        boxes: Tensor,
        scores: Tensor,
        max_output_size: int | Tensor,
        iou_threshold: float | Tensor,
        score_threshold: float | Tensor,
    ) -> Tensor:
        op = "NonMaxSuppressionV3"
        _check_rows_and_scores(op, "boxes", boxes, 4, scores)
        corners, numbers = self.values_of(boxes, scores)
        most = _read_number(op, "max_output_size", max_output_size, 0)
        limit = _read_number(op, "iou_threshold", iou_threshold, 0, 1)
        least = _read_number(op, "score_threshold", score_threshold)
        return Tensor(_select_boxes(numbers, lambda i: _compute_iou(corners[i], corners), most, limit, least))


@host_operator()
class NonMaxSuppressionWithOverlaps(HostPrimitive):
    """Return the indices of boxes in descending order of scores, without boxes that overlap an earlier one too much.
    The overlaps are given as a matrix.

    Inputs:
        - **overlaps** (Tensor) - How much the box of a row overlaps that of a column, of shape (N, N).
        - **scores** (Tensor) - Their scores, of shape (N,).
        - **max_output_size** (Union[int, Tensor]) - Largest number of boxes to select.
        - **overlap_threshold** (Union[float, Tensor]) - A box is removed if its overlap with a selected box is larger.
        - **score_threshold** (Union[float, Tensor]) - Only boxes with a higher score are selected.

    Outputs:
        Tensor of int32, of shape (M,).

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shapes do not fit.

    Examples:
        >>> overlaps = Tensor([[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]], mindspore.float32)
        >>> scores = Tensor([0.5, 0.9, 0.7], mindspore.float32)
        >>> print(ops.NonMaxSuppressionWithOverlaps()(overlaps, scores, 3, 0.5, 0.1))
        [1 2]
    """

    def __call__(
        self,
        overlaps: Tensor,
        scores: Tensor,
        max_output_size: int | Tensor,
        overlap_threshold: float | Tensor,
        score_threshold: float | Tensor,
    ) -> Tensor:
        op = "NonMaxSuppressionWithOverlaps"
        _check_rows_and_scores(op, "overlaps", overlaps, None, scores)
        table, numbers = self.values_of(overlaps, scores)
        most = _read_number(op, "max_output_size", max_output_size, 0)
        limit = _read_number(op, "overlap_threshold", overlap_threshold)
        least = _read_number(op, "score_threshold", score_threshold)
        return Tensor(_select_boxes(numbers, lambda i: table[:, i], most, limit, least))


@host_operator()
class CombinedNonMaxSuppression(HostPrimitive):
    """Non-maximum suppression for each class separately; the boxes with the best scores of all classes remain.

    Args:
        pad_per_class (bool): Whether to limit the result length M to max_output_size_per_class * classes, if that is
            less than `max_total_size`. Default: False.
        clip_boxes (bool): Whether to clip corners to [0, 1]. Default: True.

    Inputs:
        - **boxes** (Tensor) - Two opposite corners of each box, float32 of shape (batch, N, Q, 4), where Q is 1 or the
          number of classes.
        - **scores** (Tensor) - Their scores in each class, float32 of shape (batch, N, classes).
        - **max_output_size_per_class** (Union[int, Tensor]) - Largest number of boxes of a class.
        - **max_total_size** (Union[int, Tensor]) - Largest number of boxes of all classes.
        - **iou_threshold** (Union[float, Tensor]) - In [0, 1]; a box is removed if its intersection over union with a
          selected box is larger.
        - **score_threshold** (Union[float, Tensor]) - Only boxes with a higher score are selected.

    Outputs:
        A tuple of the boxes (batch, M, 4), their scores and classes (batch, M), float32, padded with 0, and the number
        of boxes, int32 of shape (batch,).

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shapes do not fit, or a threshold is out of range.

    Examples:
        >>> boxes = Tensor([[[[0, 0, .5, .5]], [[0, 0, .5, .4]], [[.6, .6, 1, 1]]]], mindspore.float32)
        >>> scores = Tensor([[[0.5], [0.9], [0.7]]], mindspore.float32)
        >>> print(ops.CombinedNonMaxSuppression()(boxes, scores, 3, 2, 0.5, 0.1)[1])
        [[0.9 0.7]]
    """

    @checked
    def __init__(self, pad_per_class: Bool = False, clip_boxes: Bool = True) -> None:
        super().__init__()
        self.pad_per_class = pad_per_class
        self.clip_boxes = clip_boxes

    def __call__(
        self,
        boxes: Tensor,
        scores: Tensor,
        max_output_size_per_class: int | Tensor,
        max_total_size: int | Tensor,
        iou_threshold: float | Tensor,
        score_threshold: float | Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        op = "CombinedNonMaxSuppression"
        tensor_argument(op, "boxes", boxes)
        tensor_argument(op, "scores", scores)
        shape = boxes.shape
        if len(shape) != 4 or scores.ndim != 3 or shape[:2] != scores.shape[:2] or shape[3] != 4:
            raise ValueError(
                f"For '{op}', 'boxes' should have shape (batch, N, Q, 4) and 'scores' shape (batch, N, classes), "
                f"but got {shape} and {scores.shape}."
            )
        if shape[2] not in (1, scores.shape[2]):
            raise ValueError(f"For '{op}', 'boxes' should be of 1 or of {scores.shape[2]} classes, not of {shape[2]}.")
        each = _read_number(op, "max_output_size_per_class", max_output_size_per_class, 1)
        total = _read_number(op, "max_total_size", max_total_size, 1)
        limit = _read_number(op, "iou_threshold", iou_threshold, 0, 1)
        least = _read_number(op, "score_threshold", score_threshold)
        length = min(total, each * scores.shape[2]) if self.pad_per_class else total
        results = [
            self._suppress_boxes_of_image(b, s, each, length, limit, least)
            for b, s in zip(*self.values_of(boxes, scores), strict=True)
        ]
        chosen, best, classes = (Tensor(np.stack(part)) for part in list(zip(*results, strict=True))[:3])
        return chosen, best, classes, Tensor(np.array([one[3] for one in results], np.int32))

    def _suppress_boxes_of_image(self, boxes, scores, each, length, limit, least):
        """Return boxes, scores, classes and their number for one image."""
        detections = []
        for c in range(scores.shape[1]):
            corners = boxes[:, min(c, boxes.shape[1] - 1)]
            indices = _select_boxes(scores[:, c], lambda i, b=corners: _compute_iou(b[i], b), each, limit, least)
            detections += [(scores[i, c], c, corners[i]) for i in indices]
        detections = sorted(detections, key=lambda one: -one[0])[:length]
        out = np.zeros((length, 4), np.float32), np.zeros(length, np.float32), np.zeros(length, np.float32)
        for i, (score, c, box) in enumerate(detections):
            out[0][i], out[1][i], out[2][i] = np.clip(box, 0, 1) if self.clip_boxes else box, score, c
        return (*out, len(detections))


_SIZE, _HALF, _LEAST = Values(4, "int32"), Values(0.3, "float32"), Values(0.2, "float32")
_LOOSE = Values(0.5, "float32")
_BY_VALUES = "its shape depends on values"
CASES = [
    case(NonMaxSuppressionV3, U(20, 4), U(20), Values(20, "int32"), _LEAST, Values(0.0, "float32"))
    .without("mindspore", "the CPU has no kernel")
    .without("graph", _BY_VALUES),
    case(NonMaxSuppressionWithOverlaps, U(8, 8), U(8), _SIZE, _LOOSE, _LEAST).without("graph", _BY_VALUES),
    *(
        case(
            CombinedNonMaxSuppression,
            U(2, 6, groups, 4, high=1.5),
            U(2, 6, 3),
            Values(3, "int32"),
            Values(total, "int32"),
            _HALF,
            _LEAST,
            pad_per_class=padded,
            clip_boxes=not padded,
        )
        .without("graph", _BY_VALUES)
        .without("gradient", "numbers of boxes are what they were")
        for groups, total, padded in ((3, 4, False), (1, 12, True))
    ),
    refused(ValueError, NonMaxSuppressionV3, F(3, 4), F(2), 2, 0.5, 0.5),
    refused(ValueError, NonMaxSuppressionV3, F(3, 4), F(3), 2, 1.5, 0.5),
]
