"""Mean absolute and mean squared error."""

from abc import abstractmethod
from typing import Any

import numpy as np

from msnb.nn.metrics._mean import Mean

__all__ = ["MAE", "MSE"]


class _MeanError(Mean):
    """Base class of metrics that are a mean over samples of a function of the difference."""

    @abstractmethod
    def _compute_elementwise_error(self, difference):
        """Return the elementwise error."""

    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: `y_pred` and `y`, of one size; each a Tensor, a list or an array.

        Raises:
            ValueError: If there are not 2 inputs, or their sizes differ.
        """
        predicted, true = self._to_arrays(inputs, "y_pred", "y")
        self._add_to_mean(self._compute_elementwise_error(true.reshape(predicted.shape) - predicted).sum(), len(true))


class MAE(_MeanError):
    """
    Mean absolute error: the sum of abs(y - y_pred) over the number of samples.

    Examples:
        >>> error = nn.MAE()
        >>> error.update(Tensor(np.array([0.1, 0.2, 0.6, 0.9])), Tensor(np.array([0.1, 0.25, 0.7, 0.9])))
        >>> result = error.eval()
    """

    def _compute_elementwise_error(self, difference):
        return np.abs(difference)


class MSE(_MeanError):
    """
    Mean squared error: the sum of (y - y_pred)^2 over the number of samples.

    Examples:
        >>> error = nn.MSE()
        >>> error.update(Tensor(np.array([0.1, 0.2, 0.6, 0.9])), Tensor(np.array([0.1, 0.25, 0.5, 0.9])))
        >>> result = error.eval()
    """

    def _compute_elementwise_error(self, difference):
        return difference**2
