"""The exponential distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import FloatType, Numbers, Seed, as_type, check_greater_zero, check_parameters
from msnb.nn.probability.distribution._formula import (
    at_value,
    cross_entropy_from_kl,
    of_parameters,
    sampling_method,
    two_distributions,
)
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.ops import functional as F

__all__ = ["Exponential"]


class Exponential(Distribution):
    r"""
    The exponential distribution: density :math:`\lambda \exp(-\lambda x)` for x >= 0.

    Args:
        rate (Union[float, list, numpy.ndarray, Tensor]): The rate :math:`\lambda`. Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Exponential".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of floating point numbers.
        ValueError: If `rate` is not positive.

    Note:
        Each method takes `rate` after its own arguments, as a Tensor; see `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> exponential = msd.Exponential([0.5, 1.0])
        >>> print(exponential.log_survival(Tensor([4.0, 4.0], mindspore.float32)))
        [-2. -4.]
    """

    _words = {"rate": "rate"}

    @checked
    def __init__(
        self,
        rate: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "Exponential",
    ) -> None:
        super().__init__(seed, dtype, name, check_parameters({"rate": rate}, seed, dtype, name))
        self._rate = self._add_parameter(rate, "rate")
        check_greater_zero(self._rate, "rate")

    @property
    def rate(self) -> Tensor | None:
        """The rate parameter lambda."""
        return self._rate

    @of_parameters
    def _mean(self, rate):
        return 1.0 / rate

    @of_parameters
    def _mode(self, rate):
        return F.zeros_like(as_type(rate, self.dtype))

    @of_parameters
    def _sd(self, rate):
        return 1.0 / rate

    @of_parameters
    def _entropy(self, rate):
        return 1.0 - F.log(rate)

    @at_value
    def _log_prob(self, value, rate):
        return F.where(value >= 0.0, F.log(rate) - rate * value, -math.inf)

    @at_value
    def _log_survival(self, value, rate):
        return -rate * F.maximum(value, 0.0)

    @two_distributions("Exponential", 1)
    def _kl_loss(self, rate_b, rate):
        ratio = rate_b / rate
        return ratio - 1.0 - F.log(ratio)

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, rate):
        return -F.log(self._draw_uniform(shape)) / rate
