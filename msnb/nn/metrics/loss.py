"""`Loss`: the mean loss."""

from typing import Any

from msnb.nn.metrics._mean import Mean

__all__ = ["Loss"]


class Loss(Mean):
    """
    The mean of the losses of the batches.

    Examples:
        >>> loss = nn.Loss()
        >>> loss.update(Tensor(np.array(0.2), mindspore.float32))
        >>> print(round(loss.eval(), 4))
        0.2
    """

    _over = "batches"

    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: The loss, a scalar or 1-D; a Tensor, a list or an array.

        Raises:
            ValueError: If there is not 1 input, or it has more than 1 axis.
        """
        (loss,) = self._to_arrays(inputs, "loss")
        if loss.ndim > 1:
            raise ValueError(f"For 'Loss', the loss should have 0 axes or 1, but got {loss.ndim}.")
        self._add_to_mean(loss.mean(), 1)
