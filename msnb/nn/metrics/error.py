"""Errors of numbers."""

import numpy as np

from msnb.nn.metrics.metric import Metric

__all__ = ["MAE", "MSE"]


class _MeanError(Metric):
    """The mean over samples of a function of the difference."""

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        """Forget what was seen."""
        self._error_sum = 0
        self._samples_num = 0

    def _error(self, difference):
        raise NotImplementedError

    def update(self, *inputs):
        """
        Take a batch.

        Args:
            inputs: `y_pred` and `y`, of one size; each a Tensor, a list or an array.

        Raises:
            ValueError: If there are not 2 inputs.
        """
        y_pred, y = self._two_arrays(inputs)
        self._error_sum += self._error(y.reshape(y_pred.shape) - y_pred).sum()
        self._samples_num += y.shape[0]

    def eval(self):
        """
        The mean over all that was seen since `clear`.

        Returns:
            float.

        Raises:
            RuntimeError: If nothing was seen.
        """
        if self._samples_num == 0:
            raise RuntimeError(f"{type(self).__name__} can not be calculated, because the number of samples is 0.")
        return float(self._error_sum / self._samples_num)


class MAE(_MeanError):
    """
    Mean absolute error: the sum of abs(y - y_pred) over the number of samples.

    Examples:
        >>> error = nn.MAE()
        >>> error.update(Tensor(np.array([0.1, 0.2, 0.6, 0.9])), Tensor(np.array([0.1, 0.25, 0.7, 0.9])))
        >>> result = error.eval()
    """

    def _error(self, difference):
        return np.abs(difference)


class MSE(_MeanError):
    """
    Mean squared error: the sum of (y - y_pred)^2 over the number of samples.

    Examples:
        >>> error = nn.MSE()
        >>> error.update(Tensor(np.array([0.1, 0.2, 0.6, 0.9])), Tensor(np.array([0.1, 0.25, 0.5, 0.9])))
        >>> result = error.eval()
    """

    def _error(self, difference):
        return np.square(difference)
