"""`Mean`: the base class of metrics that are a mean over all samples or batches."""

from msnb.nn.metrics.metric import Metric


class Mean(Metric):
    """Base class of metrics that are a mean: `update` calls `_add_to_mean` with a sum and a count."""

    _over = "samples"

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        self._sum, self._number = 0.0, 0

    def _add_to_mean(self, total, number):
        self._sum += float(total)
        self._number += number

    def eval(self) -> float:
        """
        Return the mean over all batches since `clear`.

        Returns:
            float.

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        self._check_has_updates(self._number, self._over)
        return self._sum / self._number
