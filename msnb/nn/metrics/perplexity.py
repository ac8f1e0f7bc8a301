"""`Perplexity`: the effective number of words that a model chooses from."""

import math
from typing import Any

import numpy as np

from msnb.common.kinds import Int, checked
from msnb.nn.metrics._mean import Mean
from msnb.nn.metrics.metric import rearrange_inputs

__all__ = ["Perplexity"]


class Perplexity(Mean):
    """
    Perplexity: exp(-mean(log p)), where p is the probability of the true word. It is the effective number of words that
    a model chooses from.

    Args:
        ignore_label (int): Label to ignore. Default: None, no label is ignored.

    Raises:
        TypeError: If `ignore_label` is no int.

    Examples:
        >>> x = np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]])
        >>> print(round(nn.Perplexity()(x, np.array([1, 0, 1])), 4))
        2.2314
    """

    @checked
    def __init__(self, ignore_label: Int | None = None) -> None:
        super().__init__()
        self.ignore_label = ignore_label

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: `preds`, probabilities (N, C), and `labels`, class numbers (N,); each a Tensor, a list or an array.

        Raises:
            ValueError: If there are not 2 inputs.
            RuntimeError: If there is not one label for each row.
        """
        probabilities, labels = self._to_arrays(inputs, "preds", "labels")
        probabilities, labels = probabilities.reshape(-1, probabilities.shape[-1]), labels.reshape(-1).astype(int)
        if len(labels) != len(probabilities):
            raise RuntimeError(
                f"For 'Perplexity', there should be a label for each of the {len(probabilities)} rows of 'preds', but "
                f"got {len(labels)}."
            )
        if self.ignore_label is not None:
            is_counted = labels != self.ignore_label
            probabilities, labels = probabilities[is_counted], labels[is_counted]
        true = probabilities[np.arange(len(labels)), labels]
        self._add_to_mean(-np.log(np.maximum(true, 1e-10)).sum(), len(labels))

    def eval(self) -> float:
        """
        Return the perplexity over all batches since `clear`.

        Returns:
            float.

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        return math.exp(super().eval())
