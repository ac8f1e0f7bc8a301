"""`Fbeta` and `F1`: the weighted harmonic mean of precision and recall."""

from typing import Any

from msnb.common.arguments import answered
from msnb.common.kinds import checked
from msnb.nn._hyperparameter_kinds import PositiveNumber
from msnb.nn.metrics._evaluation import ClassMetric, divide_or_zero

__all__ = ["Fbeta", "F1"]


class Fbeta(ClassMetric):
    r"""
    F-beta score of each class: :math:`(1 + \beta^2) TP / ((1 + \beta^2) TP + \beta^2 FN + FP)`.

    Args:
        beta (Union[int, float]): Weight of recall relative to precision, greater than 0.

    Raises:
        ValueError: If `beta` is not greater than 0.

    Examples:
        >>> x = Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]))
        >>> metric = nn.Fbeta(1)
        >>> metric.update(x, Tensor(np.array([1, 0, 1])))
        >>> print(metric.eval())
        [0.66666667 0.66666667]
    """

    @checked
    def __init__(self, beta: PositiveNumber) -> None:
        super().__init__()
        self.beta: float = beta
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        self._class_num = 0
        self._accumulated: Any = None

    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: `y_pred`, of shape (N, C), and `y`, of class numbers (N,) or one-hot vectors (N, C); each a Tensor,
                a list or an array.

        Raises:
            ValueError: If there are not 2 inputs, or the classes do not fit.
        """
        scores, true = self._get_scores_and_class_indices(inputs)
        self._check_class_count(scores)
        self._warn_invalid_classes(scores, true)
        counts = self._count_predictions(scores, true)
        self._accumulated = counts if self._accumulated is None else self._accumulated + counts

    def eval(self, average: bool = False) -> Any:
        """
        Return the value over all batches since `clear`.

        Args:
            average (bool): Whether to average over classes. Default: False.

        Returns:
            float with `average`; otherwise an array with one value for each class.

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        self._check_has_updates(self._class_num)
        right, predicted, true = self._accumulated
        weight = self.beta**2
        return self._average_classes(divide_or_zero((1 + weight) * right, weight * true + predicted), average)


class F1(Fbeta):
    """
    Fbeta with beta = 1: the harmonic mean of precision and recall.

    Examples:
        >>> metric = nn.F1()
        >>> metric.update(Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]])), Tensor(np.array([1, 0, 1])))
        >>> print(metric.eval())
        [0.66666667 0.66666667]
    """

    @answered
    def __init__(self) -> None:
        super().__init__(1.0)
