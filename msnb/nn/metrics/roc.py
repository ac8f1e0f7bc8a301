"""The receiver operating characteristic, and the area under a curve."""

from typing import Any

import numpy as np

from msnb.common.kinds import Bool, Int, PositiveInt, checked
from msnb.nn.metrics.metric import Metric, rearrange_inputs

__all__ = ["ROC", "auc"]


class ROC(Metric):
    """
    Receiver operating characteristic: false and true positive rates for all thresholds.

    Args:
        class_num (int): Number of classes if more than two; there is one curve for each class against all others.
            Default: None.
        pos_label (int): The positive one of two classes. Default: None, which means 1.

    Raises:
        TypeError: If an argument is no int.

    Examples:
        >>> metric = nn.ROC(pos_label=2)
        >>> false, true, thresholds = metric(np.array([0.28, 0.55, 0.15, 0.05]), np.array([0, 1, 2, 3]))
        >>> print(true, thresholds)
        [0. 0. 0. 1. 1.] [1.55 0.55 0.28 0.15 0.05]
    """

    @checked
    def __init__(self, class_num: PositiveInt | None = None, pos_label: Int | None = None) -> None:
        super().__init__()
        self.class_num, self.pos_label = class_num, pos_label
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        self._accumulated: Any = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """
        Set scores and labels. They replace the previous ones.

        Args:
            inputs: `y_pred`, scores (N,) or (N, C), and `y`, class numbers (N,); each a Tensor, a list or an array.

        Raises:
            ValueError: If there are not 2 inputs, or they do not fit each other, `class_num` or `pos_label`.
        """
        scores, true = self._to_arrays(inputs, "y_pred", "y")
        if scores.ndim == true.ndim:
            if self.class_num not in (None, 1):
                raise ValueError(f"For 'ROC' of {self.class_num} classes, 'y_pred' needs an axis of classes.")
            self._accumulated = scores.reshape(-1), true.reshape(-1)
        elif scores.ndim == true.ndim + 1:
            if self.pos_label is not None or self.class_num != scores.shape[1]:
                raise ValueError(
                    f"For 'ROC' and scores of {scores.shape[1]} classes, 'class_num' should be {scores.shape[1]} and "
                    f"'pos_label' None, but got {self.class_num} and {self.pos_label}."
                )
            self._accumulated = np.moveaxis(scores, 1, -1).reshape(-1, scores.shape[1]), true.reshape(-1)
        else:
            raise ValueError(
                f"For 'ROC', 'y_pred' should have the axes of 'y', or one more: {scores.shape} and {true.shape}."
            )

    def eval(self) -> tuple[Any, Any, Any]:
        """
        Return the ROC curve of the accumulated values, or one per class.

        Returns:
            tuple, false positive rates, true positive rates and thresholds: each an array, or a list with one array per
            class.

        Raises:
            RuntimeError: If there was no update since `clear`.
            ValueError: If there is no positive sample, or no negative one.
        """
        self._check_has_updates(self._accumulated is not None)
        scores, true = self._accumulated
        if scores.ndim == 1:
            return _compute_roc_curve(scores, true == (1 if self.pos_label is None else self.pos_label))
        curves = [_compute_roc_curve(scores[:, number], true == number) for number in range(scores.shape[1])]
        false, right, thresholds = (list(part) for part in zip(*curves, strict=True))
        return false, right, thresholds


def _compute_roc_curve(scores, positive):
    order = np.argsort(-scores)
    scores, positive = scores[order], positive[order].astype(np.int64)
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    true = np.cumsum(positive)[ends]
    false = 1 + ends - true
    if not (true[-1] and false[-1]):
        lacking = "negative" if true[-1] else "positive"
        raise ValueError(f"For 'ROC', there is no {lacking} sample, of which the rate would be.")
    rates = (np.append(0, part) / part[-1] for part in (false, true))
    return (*rates, np.append(scores[ends][0] + 1, scores[ends]))


@checked
def auc(x: np.ndarray, y: np.ndarray, reorder: Bool = False) -> float:
    """
    Return the area under a curve, by the trapezoidal rule.

    Args:
        x (numpy.ndarray): Coordinates of the points; ascending or descending, unless `reorder`.
        y (numpy.ndarray): Values of the curve at the points.
        reorder (bool): Whether to sort the points by x. Default: False.

    Returns:
        float.

    Raises:
        TypeError: If `x` or `y` is no array, or `reorder` is no bool.
        ValueError: If there are fewer than 2 points, `x` and `y` have different lengths, or `x` is neither ascending
            nor descending.

    Examples:
        >>> print(nn.auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])))
        0.75
    """
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"For 'auc', 'x' and 'y' should be arrays, but got {type(x).__name__} and {type(y).__name__}.")
    if any(a.ndim != 1 and (a.ndim != 2 or a.shape[1] != 1) for a in (x, y)) or len(x) != len(y) or len(x) < 2:
        raise ValueError(
            f"For 'auc', 'x' and 'y' should be of one axis and one length from 2 on: {x.shape} and {y.shape}."
        )
    x, y = x.reshape(-1), y.reshape(-1)
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if (steps < 0).any() and (steps > 0).any():
        raise ValueError("For 'auc', 'x' should ascend or descend; reorder=True sorts the points.")
    area = (steps * (y[1:] + y[:-1]) / 2).sum()
    return -area if (steps < 0).any() else area
