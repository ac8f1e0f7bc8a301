"""The Poisson distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import (
    Numbers,
    NumberType,
    Seed,
    alike,
    as_type,
    check_greater_zero,
    check_no_scalar,
    check_parameters,
)
from msnb.nn.probability.distribution._formula import at_value, of_parameters, sampling_method
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.ops import functional as F
from msnb.ops.math.exponential import _TimesLog
from msnb.ops.math.gamma import Igammac
from msnb.ops.random.gamma import Poisson as RandomPoisson

__all__ = ["Poisson"]


class Poisson(Distribution):
    r"""
    The Poisson distribution: :math:`\lambda^k \exp(-\lambda) / k!` for k = 0, 1, 2, ...

    Args:
        rate (Union[list, numpy.ndarray, Tensor]): The rate :math:`\lambda`. Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Poisson".

    Raises:
        TypeError: If an argument has the wrong type, `rate` is a single number, or `dtype` is no type of real numbers.
        ValueError: If `rate` is not positive.

    Note:
        Each method takes `rate` after its own arguments, as a Tensor; see `Distribution`.
        `entropy`, `kl_loss` and `cross_entropy` are not implemented.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> poisson = msd.Poisson([0.5])
        >>> print(poisson.prob(Tensor([0.0, 1.0], mindspore.float32)))
        [0.60653067 0.30326533]
    """

    _words = {"rate": "rate"}

    @checked
    def __init__(
        self,
        rate: Numbers = None,
        seed: Seed = None,
        dtype: NumberType = mstype.float32,
        name: Str = "Poisson",
    ) -> None:
        check_no_scalar("Poisson", (int, float), rate=rate)
        super().__init__(seed, dtype, name, check_parameters({"rate": rate}, seed, dtype, name))
        self._rate = self._add_parameter(rate, "rate")
        check_greater_zero(self._rate, "rate")

    @property
    def rate(self) -> Tensor | None:
        """The rate parameter lambda, the mean number of events."""
        return self._rate

    @of_parameters
    def _mean(self, rate):
        return rate

    @of_parameters
    def _mode(self, rate):
        return F.floor(rate)

    @of_parameters
    def _var(self, rate):
        return rate

    @at_value
    def _log_prob(self, value, rate):
        is_inside = value >= 0.0
        value = F.maximum(value, 0.0)
        return F.where(is_inside, _TimesLog.functional(value, rate) - rate - F.lgamma(value + 1.0), -math.inf)

    @at_value
    def _cdf(self, value, rate):
        above = F.floor(F.maximum(value, -1.0)) + 1.0
        return F.where(above > 0.0, Igammac.functional(*alike(F.maximum(above, 1.0), rate)), 0.0)

    @at_value
    def _survival_function(self, value, rate):
        above = F.floor(F.maximum(value, -1.0)) + 1.0
        return F.where(above > 0.0, F.igamma(*alike(F.maximum(above, 1.0), rate)), 1.0)

    @sampling_method
    def _sample(self, shape, rate):
        return RandomPoisson.functional(shape, as_type(rate, mstype.float32), seed=self._seed)
