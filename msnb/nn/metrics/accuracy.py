"""The share of correct predictions."""

from msnb.nn.metrics._evaluation import EvaluationBase

__all__ = ["Accuracy"]


class Accuracy(EvaluationBase):
    r"""
    The share of samples whose class ("multilabel": all of whose labels) is predicted right.

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

    def __init__(self, eval_type="classification"):
        super().__init__(eval_type)
        self.clear()

    def clear(self):
        """Forget what was seen."""
        self._correct_num = 0
        self._total_num = 0
        self._class_num = 0

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
            correct = (y_pred.argmax(axis=1) == y).reshape(-1)
        else:
            last = y_pred.ndim - 1
            y_pred = y_pred.swapaxes(1, last).reshape(-1, self._class_num)
            y = y.swapaxes(1, last).reshape(-1, self._class_num)
            correct = (y_pred == y).all(axis=1)
        self._correct_num += int(correct.sum())
        self._total_num += correct.shape[0]

    def eval(self):
        """
        The share over all that was seen since `clear`.

        Returns:
            float.

        Raises:
            RuntimeError: If nothing was seen.
        """
        if self._total_num == 0:
            raise RuntimeError("Accuracy can not be calculated, because the number of samples is 0.")
        return self._correct_num / self._total_num
