"""The gamma distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import (
    FloatType,
    Numbers,
    Seed,
    alike,
    check_greater_zero,
    check_no_scalar,
    check_parameters,
)
from msnb.nn.probability.distribution._formula import (
    at_value,
    cross_entropy_from_kl,
    of_parameters,
    sampling_method,
    two_distributions,
)
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.ops import functional as F
from msnb.ops.math.exponential import _TimesLog
from msnb.ops.math.gamma import Igammac
from msnb.ops.random.gamma import Gamma as RandomGamma

__all__ = ["Gamma"]


class Gamma(Distribution):
    r"""
    The gamma distribution: density :math:`\beta^\alpha x^{\alpha - 1} \exp(-\beta x) / \Gamma(\alpha)` for x >= 0.

    Args:
        concentration (Union[list, numpy.ndarray, Tensor]): The shape parameter :math:`\alpha`. Default: None, each call
            passes it.
        rate (Union[list, numpy.ndarray, Tensor]): The rate :math:`\beta`. Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Gamma".

    Raises:
        TypeError: If an argument has the wrong type, a parameter is a single number, or `dtype` is no type of floating
            point numbers.
        ValueError: If a parameter is not positive, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `concentration` and `rate` after its own arguments, as Tensors; see `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> gamma = msd.Gamma([2.0], [4.0])
        >>> print(gamma.mean(), gamma.mode())
        [0.5] [0.25]
    """

    _words = {"concentration": "concentration", "rate": "rate"}

    @checked
    def __init__(
        self,
        concentration: Numbers = None,
        rate: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "Gamma",
    ) -> None:
        parameters = {"concentration": concentration, "rate": rate}
        check_no_scalar("Gamma", (int, float), **parameters)
        super().__init__(seed, dtype, name, check_parameters(parameters, seed, dtype, name))
        self._concentration = self._add_parameter(concentration, "concentration")
        self._rate = self._add_parameter(rate, "rate")
        check_greater_zero(self._concentration, "concentration")
        check_greater_zero(self._rate, "rate")

    @property
    def concentration(self) -> Tensor | None:
        """The shape parameter alpha."""
        return self._concentration

    @property
    def rate(self) -> Tensor | None:
        """The rate parameter beta."""
        return self._rate

    @of_parameters
    def _mean(self, concentration, rate):
        return concentration / rate

    @of_parameters
    def _mode(self, concentration, rate):
        return F.where(concentration > 1.0, (concentration - 1.0) / rate, math.nan)

    @of_parameters
    def _sd(self, concentration, rate):
        return F.sqrt(concentration) / rate

    @of_parameters
    def _var(self, concentration, rate):
        return concentration / F.square(rate)

    @of_parameters
    def _entropy(self, concentration, rate):
        bend = (1.0 - concentration) * F.digamma(concentration)
        return concentration - F.log(rate) + F.lgamma(concentration) + bend

    @at_value
    def _log_prob(self, value, concentration, rate):
        is_inside = value >= 0.0
        value = F.where(is_inside, value, 1.0)  # avoids NaN in the gradient
        height = concentration * F.log(rate) - F.lgamma(concentration)
        log_prob = _TimesLog.functional(concentration - 1.0, value) - rate * value + height
        return F.where(is_inside, log_prob, -math.inf)

    @at_value
    def _cdf(self, value, concentration, rate):
        return F.igamma(*alike(concentration, rate * F.maximum(value, 0.0)))

    @at_value
    def _survival_function(self, value, concentration, rate):
        return Igammac.functional(*alike(concentration, rate * F.maximum(value, 0.0)))

    @two_distributions("Gamma", 2)
    def _kl_loss(self, concentration_b, rate_b, concentration_a, rate_a):
        ratio = rate_b / rate_a
        of_shapes = F.lgamma(concentration_b) - F.lgamma(concentration_a)
        of_shapes += (concentration_a - concentration_b) * F.digamma(concentration_a)
        return of_shapes - concentration_b * F.log(ratio) + concentration_a * (ratio - 1.0)

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, concentration, rate):
        return RandomGamma.functional(shape, concentration, rate, seed=self._seed)
