"""`Dice`: the Dice coefficient of two masks."""

from typing import Any

import numpy as np

from msnb.common.kinds import checked
from msnb.nn._hyperparameter_kinds import PositiveFloat
from msnb.nn.metrics._mean import Mean
from msnb.nn.metrics.metric import rearrange_inputs

__all__ = ["Dice"]


class Dice(Mean):
    """
    The Dice coefficient of two masks: twice their intersection over the sum of their sizes, averaged over samples.

    Args:
        smooth (float): Added to the denominator, positive. Default: 1e-5.

    Raises:
        TypeError: If `smooth` is no float.
        ValueError: If it is not positive.

    Examples:
        >>> x = np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]])
        >>> print(round(nn.Dice()(x, np.array([[0, 1], [1, 0], [0, 1]])), 4))
        0.2047
    """

    @checked
    def __init__(self, smooth: PositiveFloat = 1e-5) -> None:
        super().__init__()
        self.smooth: float = smooth

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: `y_pred` and `y`, of one shape; each a Tensor, a list or an array.

        Raises:
            ValueError: If there are not 2 inputs, or their shapes differ.
        """
        predicted, true = self._to_arrays(inputs, "y_pred", "y")
        if predicted.shape != true.shape:
            raise ValueError(
                f"For 'Dice', 'y_pred' and 'y' should have one shape, but got {predicted.shape} and {true.shape}."
            )
        shared, both = np.vdot(predicted, true), np.vdot(predicted, predicted) + np.vdot(true, true)
        self._add_to_mean(2 * float(shared) / float(both + self.smooth), len(true))
