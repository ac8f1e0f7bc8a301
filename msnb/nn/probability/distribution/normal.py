"""The normal distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import FloatType, Numbers, Seed, check_greater_zero, check_parameters
from msnb.nn.probability.distribution._formula import (
    at_value,
    cross_entropy_from_kl,
    of_parameters,
    sampling_method,
    two_distributions,
)
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.ops import functional as F
from msnb.ops.math.error_function import _LogNdtr
from msnb.ops.random.normal import StandardNormal

__all__ = ["Normal"]


_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def normal_kl(mean_b: Tensor, sd_b: Tensor, mean_a: Tensor, sd_a: Tensor) -> Tensor:
    """Return KL(a||b) of two normal distributions, accurate also where they are nearly equal."""
    log_ratio = F.log(sd_a) - F.log(sd_b)
    return 0.5 * (F.square((mean_a - mean_b) / sd_b) + F.expm1(2.0 * log_ratio)) - log_ratio


class Normal(Distribution):
    r"""
    The normal distribution: density :math:`\exp(-(x - \mu)^2 / 2\sigma^2) / \sqrt{2\pi\sigma^2}`.

    Args:
        mean (Union[float, list, numpy.ndarray, Tensor]): The mean. Default: None, each call passes it.
        sd (Union[float, list, numpy.ndarray, Tensor]): The standard deviation. Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Normal".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of floating point numbers.
        ValueError: If `sd` is not positive, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `mean` and `sd` after its own arguments, as Tensors; see `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> normal = msd.Normal(0.0, 2.0)
        >>> print(normal.log_prob(Tensor([0.0, 2.0], mindspore.float32)))
        [-1.6120857 -2.1120858]
        >>> print(normal.kl_loss("Normal", Tensor(0.0, mindspore.float32), Tensor(2.0, mindspore.float32)))
        0.0
    """

    _words = {"mean": "mean", "sd": "standard deviation"}

    @checked
    def __init__(
        self,
        mean: Numbers = None,
        sd: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "Normal",
    ) -> None:
        parameters = {"mean": mean, "sd": sd}
        super().__init__(seed, dtype, name, check_parameters(parameters, seed, dtype, name))
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        check_greater_zero(self._sd_value, "Standard deviation")

    @of_parameters
    def _mean(self, mean, sd):
        return mean

    @of_parameters
    def _mode(self, mean, sd):
        return mean

    @of_parameters
    def _sd(self, mean, sd):
        return sd

    @of_parameters
    def _entropy(self, mean, sd):
        return F.log(sd) + (_HALF_LOG_2PI + 0.5)

    @at_value
    def _log_prob(self, value, mean, sd):
        z = (value - mean) / sd
        return (-0.5 * z) * z - F.log(sd) - _HALF_LOG_2PI  # z * z would overflow earlier in half precision

    @at_value
    def _cdf(self, value, mean, sd):
        return 0.5 * F.erfc((mean - value) / sd * math.sqrt(0.5))

    @at_value
    def _survival_function(self, value, mean, sd):
        return 0.5 * F.erfc((value - mean) / sd * math.sqrt(0.5))

    @at_value
    def _log_cdf(self, value, mean, sd):
        return _LogNdtr.functional((value - mean) / sd)

    @at_value
    def _log_survival(self, value, mean, sd):
        return _LogNdtr.functional((mean - value) / sd)

    @two_distributions("Normal", 2)
    def _kl_loss(self, mean_b, sd_b, mean, sd):
        return normal_kl(mean_b, sd_b, mean, sd)

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, mean, sd):
        return StandardNormal.functional(shape, seed=self._seed) * sd + mean
