"""The weighted harmonic mean of precision and recall."""

import sys

from msnb._checkparam import Validator
from msnb.nn.metrics._evaluation import one_hot_pair, say_what_is_no_class
from msnb.nn.metrics.metric import Metric

__all__ = ["Fbeta", "F1"]


class Fbeta(Metric):
    r"""
    For each class, :math:`(1 + \beta^2) TP / ((1 + \beta^2) TP + \beta^2 FN + FP)`.

    Args:
        beta (Union[int, float]): How much more recall counts than precision, greater than 0.

    Raises:
        ValueError: If `beta` is not greater than 0.

    Examples:
        >>> x = Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]))
        >>> metric = nn.Fbeta(1)
        >>> metric.update(x, Tensor(np.array([1, 0, 1])))
        >>> print(metric.eval())
        [0.66666667 0.66666667]
    """

    def __init__(self, beta):
        super().__init__()
        self.eps = sys.float_info.min
        if not 0 < beta < float("inf"):
            raise ValueError(f"`beta` must be greater than zero, but got {beta}.")
        self.beta = beta
        self.clear()

    def clear(self):
        """Forget what was seen."""
        self._true_positives = 0
        self._actual_positives = 0
        self._positives = 0
        self._class_num = 0

    def update(self, *inputs):
        """
        Take a batch.

        Args:
            inputs: `y_pred`, of shape (N, C), and `y`, of class numbers (N,) or one-hot vectors (N, C); each a Tensor,
                a list or an array.

        Raises:
            ValueError: If there are not 2 inputs, or the classes do not fit.
        """
        y_pred, y = self._two_arrays(inputs)
        if y_pred.ndim == y.ndim and self._check_onehot_data(y):
            y = y.argmax(axis=1)
        if self._class_num == 0:
            self._class_num = y_pred.shape[1]
        elif y_pred.shape[1] != self._class_num:
            raise ValueError(
                f"Class number not match, last input data contain {self._class_num} classes, but current data contain "
                f"{y_pred.shape[1]} classes."
            )
        say_what_is_no_class(self, y_pred, y)
        y_pred, y = one_hot_pair(y_pred, y, self._class_num)
        self._true_positives = self._true_positives + (y * y_pred).sum(axis=0)
        self._positives = self._positives + y_pred.sum(axis=0)
        self._actual_positives = self._actual_positives + y.sum(axis=0)

    def eval(self, average=False):
        """
        The value over all that was seen since `clear`.

        Args:
            average (bool): Whether to average over classes. Default: False.

        Returns:
            float with `average`; without, an array of one value for each class.

        Raises:
            RuntimeError: If nothing was seen.
        """
        Validator.check_value_type("average", average, [bool], type(self).__name__)
        if self._class_num == 0:
            raise RuntimeError(f"{type(self).__name__} can not be calculated, because the number of samples is 0.")
        square = self.beta**2
        fbeta = (1.0 + square) * self._true_positives / (square * self._actual_positives + self._positives + self.eps)
        return float(fbeta.mean()) if average else fbeta


class F1(Fbeta):
    """
    Fbeta of beta 1: the harmonic mean of precision and recall.

    Examples:
        >>> metric = nn.F1()
        >>> metric.update(Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]])), Tensor(np.array([1, 0, 1])))
        >>> print(metric.eval())
        [0.66666667 0.66666667]
    """

    def __init__(self):
        super().__init__(1.0)
