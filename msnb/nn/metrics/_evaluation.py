"""Base classes of classification metrics: they check predictions and labels, and count correct ones."""

from abc import abstractmethod
from typing import Annotated, Any

import numpy as np

from msnb import log
from msnb.common.arguments import answered
from msnb.common.kinds import Bool, Kind, check, checked, readable
from msnb.nn.metrics.metric import Metric


def _accept_eval_type(value):
    if value not in ("classification", "multilabel"):
        raise TypeError
    return value


EvalType = Annotated[str, Kind("'classification' or 'multilabel'", _accept_eval_type)]


class ClassMetric(Metric):
    """Base class of metrics that compare scores of classes, (N, C, ...), with the true classes, given as indices or
    one-hot."""

    _class_num = 0

    def _get_scores_and_class_indices(self, inputs):
        """Return scores and class indices. One-hot labels are converted to class indices."""
        scores, true = self._to_arrays(inputs, "y_pred", "y")
        one_hot = true.ndim == scores.ndim and self._check_onehot_data(true)
        return scores, np.argmax(true, axis=1) if one_hot else true

    def _check_class_count(self, scores):
        """Raise an error if a batch has another number of classes than the first batch."""
        count = scores.shape[1]
        self._class_num = self._class_num or count
        if count != self._class_num:
            raise ValueError(
                f"For '{type(self).__name__}', 'y_pred' should have the {self._class_num} classes of the first batch, "
                f"but got {count}."
            )

    def _warn_invalid_classes(self, scores, true):
        """Warn once about NaN scores and about labels that are no class index. Both falsify the counts."""
        name, classes = type(self).__name__, scores.shape[1]
        if np.issubdtype(scores.dtype, np.inexact) and np.isnan(scores).any():
            log.once("%s: there are NaN among the predictions, whose predicted class means nothing.", name)
        if ((true < 0) | (true >= classes)).any():
            log.once(
                "%s: there are labels outside the %d classes of the predictions (0 to %d), which no prediction can "
                "match.",
                name,
                classes,
                classes - 1,
            )

    def _count_predictions(self, scores, true):
        """Return the counts of correct predictions, predictions and labels of each class: an array of shape (3,
        C)."""
        if true.size and not 0 <= true.min() <= true.max() < self._class_num:
            raise ValueError(
                f"For '{type(self).__name__}', 'y' should hold class numbers from 0 to {self._class_num - 1}, "
                f"but got {true.min()} to {true.max()}."
            )
        true, predicted = true.reshape(-1).astype(np.int64), scores.argmax(axis=1).reshape(-1)
        rows = true[true == predicted], predicted, true
        return np.array([np.bincount(row, minlength=self._class_num) for row in rows])

    def _average_classes(self, values, average):
        """Return `values`, or their mean if `average`."""
        if not check(Bool, average, "average", type(self).__name__):
            return values
        return float(values.mean()) if values.size else 0.0


class EvaluationBase(ClassMetric):
    """
    Base class of metrics for samples with one class each, or with any number of labels each.

    Args:
        eval_type (str): "classification" (one class for each sample) or "multilabel" (any number).

    Raises:
        TypeError: If `eval_type` is neither.
    """

    @checked
    def __init__(self, eval_type: EvalType) -> None:
        super().__init__()
        self._type = eval_type

    @property
    def _is_multilabel(self):
        return self._type == "multilabel"

    def _check_inputs(self, inputs):
        """Return checked predictions and labels. For "classification" the labels are class indices."""
        predicted, true = (
            self._to_arrays(inputs, "y_pred", "y")
            if self._is_multilabel
            else self._get_scores_and_class_indices(inputs)
        )
        expected = predicted.shape if self._is_multilabel else predicted.shape[:1] + predicted.shape[2:]
        if true.shape != expected or predicted.ndim < 2:
            raise ValueError(
                f"For '{type(self).__name__}' of type '{self._type}' and 'y_pred' of shape {predicted.shape}, 'y' "
                f"should be of shape {expected}, but got {true.shape}."
            )
        if self._is_multilabel and not all(np.isin(labels, (0, 1)).all() for labels in (predicted, true)):
            raise ValueError(f"For '{type(self).__name__}' of type 'multilabel', all values should be 0 or 1.")
        self._check_class_count(predicted)
        if not self._is_multilabel:
            self._warn_invalid_classes(predicted, true)
        return predicted, true


class ShareOfTruePositives(EvaluationBase):
    """
    Base class of precision and recall: the number of true positives divided by another count.

    Args:
        eval_type (str): "classification" or "multilabel". Default: "classification".
    """

    @answered
    @readable
    def __init__(self, eval_type: EvalType = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        self._class_num = 0
        self._right = self._counted = np.zeros(0)

    @abstractmethod
    def _select_divisor_array(self, predicted, true) -> np.ndarray:
        """Return `predicted` or `true`: the array whose positives are the divisor."""

    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: `y_pred` and `y`, each a Tensor, a list or an array. For "classification" y_pred is of shape
                (N, C, ...) and y of class numbers (N, ...) or one-hot vectors; for "multilabel" both hold 0 and 1.

        Raises:
            ValueError: If there are not 2 inputs, or their shapes or values do not fit.
        """
        predicted, true = self._check_inputs(inputs)
        if self._is_multilabel:  # one entry for each sample: the average is over samples, not classes
            right = (predicted * true).sum(axis=1).reshape(-1)
            self._right = np.append(self._right, right)
            self._counted = np.append(
                self._counted, self._select_divisor_array(predicted, true).sum(axis=1).reshape(-1)
            )
        else:
            right, *both = self._count_predictions(predicted, true)
            before = self._right.size > 0
            self._right = self._right + right if before else right
            self._counted = (
                self._counted + self._select_divisor_array(*both) if before else self._select_divisor_array(*both)
            )

    def eval(self, average: bool = False) -> Any:
        """
        Return the value over all batches since `clear`.

        Args:
            average (bool): Whether to average over classes. Default: False.

        Returns:
            float with `average`; otherwise an array with one value for each class ("multilabel": each sample).

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        self._check_has_updates(self._class_num)
        return self._average_classes(divide_or_zero(self._right, self._counted), average)


def divide_or_zero(part, total):
    """Return ``part / total``, and 0 where `total` is 0."""
    return np.divide(part, total, out=np.zeros(len(total)), where=total > 0)
