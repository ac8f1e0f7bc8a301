"""Distributions that one of their parameters moves and another one stretches."""

from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import Numbers, check_greater_zero
from msnb.nn.probability.distribution.distribution import Distribution


class Placed(Distribution):
    """Base of location-scale distributions of (x - mean) / sd."""

    def _add_place(self, mean: Numbers, sd: Numbers) -> None:
        """Take over both parameters.

        Raises:
            ValueError: If `sd` is not positive.
        """
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        check_greater_zero(self._sd_value, "Standard deviation")

    @property
    def mean(self) -> Tensor | None:
        """The location."""
        return self._mean_value

    @property
    def sd(self) -> Tensor | None:
        """How wide it is."""
        return self._sd_value
