"""`TopKCategoricalAccuracy` and its cases for k = 1 and k = 5."""

from typing import Any

import numpy as np

from msnb.common.arguments import answered
from msnb.common.kinds import PositiveInt, checked
from msnb.nn.metrics._evaluation import ClassMetric
from msnb.nn.metrics._mean import Mean

__all__ = ["TopKCategoricalAccuracy", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy"]


class TopKCategoricalAccuracy(Mean, ClassMetric):
    """
    Fraction of samples whose true class is among the k classes with the highest scores.

    Args:
        k (int): Number of classes to compare with the true class, at least 1.

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

    @checked
    def __init__(self, k: PositiveInt) -> None:
        super().__init__()
        self.k: int = k

    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: `y_pred`, of shape (N, C), and `y`, of class numbers (N,) or one-hot vectors (N, C); each a Tensor,
                a list or an array.

        Raises:
            ValueError: If there are not 2 inputs.
        """
        scores, true = self._get_scores_and_class_indices(inputs)
        self._warn_invalid_classes(scores, true)
        best = np.argsort(-scores, axis=1)[:, : self.k]
        self._add_to_mean((best == true.reshape(-1, 1)).sum(), true.size)


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """
    TopKCategoricalAccuracy with k = 1.

    Examples:
        >>> topk = nn.Top1CategoricalAccuracy()
    """

    @answered
    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """
    TopKCategoricalAccuracy with k = 5.

    Examples:
        >>> topk = nn.Top5CategoricalAccuracy()
    """

    @answered
    def __init__(self) -> None:
        super().__init__(5)
