"""`Accuracy`: the fraction of correct predictions."""

from typing import Any

from msnb.common.arguments import answered
from msnb.common.kinds import readable
from msnb.nn.metrics._evaluation import EvalType, EvaluationBase
from msnb.nn.metrics._mean import Mean

__all__ = ["Accuracy"]


class Accuracy(Mean, EvaluationBase):
    r"""
    Fraction of samples whose class is predicted correctly. For "multilabel", all labels of a sample must be correct.

    Args:
        eval_type (str): "classification" or "multilabel". Default: "classification".

    Raises:
        TypeError: If `eval_type` is neither.

    Examples:
        >>> x = Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), mindspore.float32)
        >>> metric = nn.Accuracy('classification')
        >>> metric.clear()
        >>> metric.update(x, Tensor(np.array([1, 0, 1]), mindspore.float32))
        >>> print(metric.eval())
        0.6666666666666666
    """

    @answered
    @readable
    def __init__(self, eval_type: EvalType = "classification") -> None:
        EvaluationBase.__init__(self, eval_type)
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        super().clear()
        self._class_num = 0

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
        right = (predicted == true).all(axis=1) if self._is_multilabel else predicted.argmax(axis=1) == true
        self._add_to_mean(right.sum(), right.size)
