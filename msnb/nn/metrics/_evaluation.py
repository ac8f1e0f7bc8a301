"""What the metrics of classification share."""

import sys

import numpy as np

from msnb import log
from msnb._checkparam import Validator
from msnb.nn.metrics.metric import Metric

_EVAL_TYPES = ("classification", "multilabel")


class EvaluationBase(Metric):
    """
    Base of metrics that compare predicted and true classes.

    Args:
        eval_type (str): "classification" (one class for each sample) or "multilabel" (any number).

    Raises:
        TypeError: If `eval_type` is neither.
    """

    def __init__(self, eval_type):
        super().__init__()
        if eval_type not in _EVAL_TYPES:
            raise TypeError(f"'eval_type' must be in {_EVAL_TYPES}, but got {eval_type!r}.")
        self._type = eval_type

    def _check_shape(self, y_pred, y):
        if self._type == "multilabel":
            if y_pred.shape != y.shape:
                raise ValueError(
                    f"For multilabel, y_pred and y should have one shape, but got {y_pred.shape} and {y.shape}."
                )
            return
        if y_pred.ndim != y.ndim + 1:
            raise ValueError(
                f"For classification, y_pred should have one axis more than y, but got {y_pred.ndim} and {y.ndim} axes."
            )
        if y.shape != (y_pred.shape[0], *y_pred.shape[2:]):
            raise ValueError(
                "For classification, y should have the shape of y_pred without axis 1, "
                f"but got y_pred {y_pred.shape} and y {y.shape}."
            )

    def _check_value(self, y_pred, y):
        if self._type == "multilabel" and not (np.isin(y_pred, (0, 1)).all() and np.isin(y, (0, 1)).all()):
            raise ValueError("For multilabel, input values must be 1 or 0.")

    def _checked(self, inputs):
        """Predictions and labels, checked; one-hot labels as class numbers."""
        y_pred, y = self._two_arrays(inputs)
        if self._type == "classification" and y_pred.ndim == y.ndim and self._check_onehot_data(y):
            y = y.argmax(axis=1)
        self._check_shape(y_pred, y)
        self._check_value(y_pred, y)
        self._check_classes(y_pred)
        if self._type == "classification":
            say_what_is_no_class(self, y_pred, y)
        return y_pred, y

    def _check_classes(self, y_pred):
        """Every batch has as many classes as the first."""
        if self._class_num == 0:
            self._class_num = y_pred.shape[1]
        elif y_pred.shape[1] != self._class_num:
            raise ValueError(
                f"Class number not match, last input data contain {self._class_num} classes, but current data contain "
                f"{y_pred.shape[1]} classes."
            )


def say_what_is_no_class(metric, y_pred, y):
    """Log, once, that scores are NaN or that labels name no class: both count, and count as wrong or by chance."""
    name, classes = type(metric).__name__, y_pred.shape[1]
    if np.issubdtype(y_pred.dtype, np.inexact) and np.isnan(y_pred).any():
        log.once("%s: there are NaN among the predictions, whose predicted class means nothing.", name)
    if y.size and not (y.min() >= 0 and y.max() < classes):
        log.once(
            "%s: there are labels outside the %d classes of the predictions (0 to %d), which no prediction can match.",
            name,
            classes,
            classes - 1,
        )


def one_hot_pair(y_pred, y, class_num):
    """Predicted and true class of each sample as one-hot rows."""
    if y.min() < 0:
        raise ValueError(f"y should hold class numbers from 0, but holds {y.min()}.")
    if y.max() + 1 > class_num:
        raise ValueError(f"y_pred contains {class_num} classes less than y contains {y.max() + 1} classes.")
    rows = np.eye(class_num)
    return rows[y_pred.argmax(axis=1).reshape(-1)], rows[y.reshape(-1).astype(np.int64)]


class ShareOfTruePositives(EvaluationBase):
    """
    True positives over another count: the base of precision and recall.

    Args:
        eval_type (str): "classification" or "multilabel". Default: "classification".
    """

    def __init__(self, eval_type="classification"):
        super().__init__(eval_type)
        self.eps = sys.float_info.min
        self.clear()

    def clear(self):
        """Forget what was seen."""
        self._class_num = 0
        multilabel = self._type == "multilabel"
        self._true_positives = np.empty(0) if multilabel else 0
        self._totals = np.empty(0) if multilabel else 0
        self._share_sum = 0

    def _total_of(self, y_pred, y):
        """Which of the two is counted."""
        raise NotImplementedError

    def update(self, *inputs):
        """
        Take a batch.

        Args:
            inputs: `y_pred` and `y`, each a Tensor, a list or an array. For "classification" y_pred is of shape
                (N, C, ...) and y of class numbers (N, ...) or one-hot vectors; for "multilabel" both hold 0 and 1.

        Raises:
            ValueError: If there are not 2 inputs, or their shapes or values do not fit.
        """
        y_pred, y = self._checked(inputs)
        if self._type == "classification":
            y_pred, y = one_hot_pair(y_pred, y, self._class_num)
        else:
            y_pred = y_pred.swapaxes(1, 0).reshape(self._class_num, -1)
            y = y.swapaxes(1, 0).reshape(self._class_num, -1)
        totals = self._total_of(y_pred, y).sum(axis=0)
        true_positives = (y * y_pred).sum(axis=0)
        if self._type == "classification":
            self._true_positives = self._true_positives + true_positives
            self._totals = self._totals + totals
        else:
            # One entry for each sample: the average is over samples, not classes.
            self._share_sum += np.sum(true_positives / (totals + self.eps))
            self._true_positives = np.concatenate((self._true_positives, true_positives))
            self._totals = np.concatenate((self._totals, totals))

    def eval(self, average=False):
        """
        The value over all that was seen since `clear`.

        Args:
            average (bool): Whether to average. Default: False.

        Returns:
            float with `average`; without, an array of one value for each class ("multilabel": each sample).

        Raises:
            RuntimeError: If nothing was seen.
        """
        if self._class_num == 0:
            raise RuntimeError(f"{type(self).__name__} can not be calculated, because the number of samples is 0.")
        Validator.check_value_type("average", average, [bool], type(self).__name__)
        if average and self._type == "multilabel":
            return float(self._share_sum / (len(self._totals) + self.eps))
        result = self._true_positives / (self._totals + self.eps)
        return float(result.mean()) if average else result
