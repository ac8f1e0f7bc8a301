"""Whether the true class is among the best k."""

import numpy as np

from msnb.nn.metrics._evaluation import say_what_is_no_class
from msnb.nn.metrics.metric import Metric

__all__ = ["TopKCategoricalAccuracy", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy"]


class TopKCategoricalAccuracy(Metric):
    """
    The share of samples whose true class is among the k most likely ones.

    Args:
        k (int): At least 1.

    Raises:
        TypeError: If `k` is not an int.
        ValueError: If `k` is less than 1.

    Examples:
        >>> x = Tensor(np.array([[0.2, 0.5, 0.3, 0.6, 0.2], [0.1, 0.35, 0.5, 0.2, 0.]]), mindspore.float32)
        >>> topk = nn.TopKCategoricalAccuracy(3)
        >>> topk.update(x, Tensor(np.array([2, 0]), mindspore.float32))
        >>> print(topk.eval())
        0.5
    """

    def __init__(self, k):
        super().__init__()
        if not isinstance(k, int) or isinstance(k, bool):
            raise TypeError(f"k should be integer type, but got {type(k).__name__}.")
        if k < 1:
            raise ValueError(f"k must be at least 1, but got {k}.")
        self.k = k
        self.clear()

    def clear(self):
        """Forget what was seen."""
        self._correct_num = 0
        self._samples_num = 0

    def update(self, *inputs):
        """
        Take a batch.

        Args:
            inputs: `y_pred`, of shape (N, C), and `y`, of class numbers (N,) or one-hot vectors (N, C); each a Tensor,
                a list or an array.

        Raises:
            ValueError: If there are not 2 inputs.
        """
        y_pred, y = self._two_arrays(inputs)
        if y_pred.ndim == y.ndim and self._check_onehot_data(y):
            y = y.argmax(axis=1)
        say_what_is_no_class(self, y_pred, y)
        best = np.argsort(-y_pred, axis=1)[:, : self.k]
        self._correct_num += int((best == y.reshape(-1, 1)).sum())
        self._samples_num += y.size

    def eval(self):
        """
        The share over all that was seen since `clear`.

        Returns:
            float.

        Raises:
            RuntimeError: If nothing was seen.
        """
        if self._samples_num == 0:
            raise RuntimeError(f"{type(self).__name__} can not be calculated, because the number of samples is 0.")
        return self._correct_num / self._samples_num


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """
    TopKCategoricalAccuracy of k 1.

    Examples:
        >>> topk = nn.Top1CategoricalAccuracy()
    """

    def __init__(self):
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """
    TopKCategoricalAccuracy of k 5.

    Examples:
        >>> topk = nn.Top5CategoricalAccuracy()
    """

    def __init__(self):
        super().__init__(5)
