"""The base of metrics."""

from abc import ABCMeta, abstractmethod

import numpy as np

from msnb.core.tensor import Tensor

__all__ = ["Metric"]


class Metric(metaclass=ABCMeta):
    """
    Base of metrics: `clear` starts over, `update` takes a batch, `eval` gives the value so far.

    Examples:
        >>> class Count(nn.Metric):
        ...     def clear(self):
        ...         self.count = 0
        ...     def update(self, *inputs):
        ...         self.count += len(inputs[0])
        ...     def eval(self):
        ...         return self.count
    """

    def _convert_data(self, data):
        """`data` (a Tensor, a list or an array) as an array."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, (list, np.ndarray)):
            return np.asarray(data)
        raise TypeError(f"Input data type must be tensor, list or numpy.ndarray, but got {type(data).__name__}.")

    def _check_onehot_data(self, data):
        """Whether `data` holds one-hot vectors along axis 1."""
        if data.ndim < 2 or not np.isin(data, (0, 1)).all():
            return False
        return bool((data.sum(axis=1) == 1).all())

    def _two_arrays(self, inputs):
        """Predictions and labels as arrays."""
        if len(inputs) != 2:
            raise ValueError(f"{type(self).__name__} needs 2 inputs (y_pred, y), but got {len(inputs)}.")
        return tuple(self._convert_data(data) for data in inputs)

    def __call__(self, *inputs):
        """The value of one batch alone."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self):
        """Forget what was seen."""
        raise NotImplementedError("A metric must define clear.")

    @abstractmethod
    def eval(self):
        """The value over all that was seen since `clear`."""
        raise NotImplementedError("A metric must define eval.")

    @abstractmethod
    def update(self, *inputs):
        """
        Take a batch.

        Args:
            inputs: What the metric compares, as a rule predictions and labels.
        """
        raise NotImplementedError("A metric must define update.")
