"""The mean loss."""

from msnb.nn.metrics.metric import Metric

__all__ = ["Loss"]


class Loss(Metric):
    """
    The mean of the losses of the batches.

    Examples:
        >>> loss = nn.Loss()
        >>> loss.update(Tensor(np.array(0.2), mindspore.float32))
        >>> print(round(loss.eval(), 4))
        0.2
    """

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        """Forget what was seen."""
        self._sum_loss = 0.0
        self._total_num = 0

    def update(self, *inputs):
        """
        Take a batch.

        Args:
            inputs: The loss, a scalar or 1-D; a Tensor, a list or an array.

        Raises:
            ValueError: If there is not 1 input, or it has more than 1 axis.
        """
        if len(inputs) != 1:
            raise ValueError(f"Length of inputs must be 1, but got {len(inputs)}.")
        loss = self._convert_data(inputs[0])
        if loss.ndim > 1:
            raise ValueError(f"Dimensions of loss must be 0 or 1, but got {loss.ndim}.")
        self._sum_loss += float(loss.mean())
        self._total_num += 1

    def eval(self):
        """
        The mean over all that was seen since `clear`.

        Returns:
            float.

        Raises:
            RuntimeError: If nothing was seen.
        """
        if self._total_num == 0:
            raise RuntimeError("Loss can not be calculated, because the number of batches is 0.")
        return self._sum_loss / self._total_num
