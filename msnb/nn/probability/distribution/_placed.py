"""Base class of location-scale distributions."""

from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import Numbers, check_greater_zero
from msnb.nn.probability.distribution.distribution import Distribution


class LocationScaleDistribution(Distribution):
    """Base class of distributions whose formulas depend on (x - mean) / sd (location-scale families)."""

    def _add_location_and_scale(self, mean: Numbers, sd: Numbers) -> None:
        """Register the parameters `mean` and `sd`.

        Raises:
            ValueError: If `sd` is not positive.
        """
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        check_greater_zero(self._sd_value, "Standard deviation")

    @property
    def mean(self) -> Tensor | None:
        """The location parameter."""
        return self._mean_value

    @property
    def sd(self) -> Tensor | None:
        """The scale parameter."""
        return self._sd_value
