"""The log-normal distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import FloatType, Numbers, Seed
from msnb.nn.probability.bijector.exp import Exp
from msnb.nn.probability.distribution._formula import (
    at_value,
    cross_entropy_from_kl,
    of_parameters,
    sampling_method,
    two_distributions,
)
from msnb.nn.probability.distribution.normal import Normal, normal_kl
from msnb.nn.probability.distribution.transformed_distribution import TransformedDistribution
from msnb.ops import functional as F

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    r"""
    The log-normal distribution: the distribution of :math:`e^X` for a normal X.

    Args:
        loc (Union[float, list, numpy.ndarray, Tensor]): The mean of X. Default: None, each call passes it.
        scale (Union[float, list, numpy.ndarray, Tensor]): The standard deviation of X. Default: None, each call passes
            it.
        seed (int): Seed of the random numbers, not negative. Default: 0.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "LogNormal".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of floating point numbers.
        ValueError: If `scale` is not positive, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `loc` and `scale` after its own arguments, as Tensors; see `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> log_normal = msd.LogNormal(0.0, 1.0)
        >>> print(log_normal.cdf(Tensor([0.0, 1.0], mindspore.float32)))
        [0.  0.5]
    """

    _words = {"loc": "loc", "scale": "scale"}

    @checked
    def __init__(
        self,
        loc: Numbers = None,
        scale: Numbers = None,
        seed: Seed = 0,
        dtype: FloatType = mstype.float32,
        name: Str = "LogNormal",
    ) -> None:
        super().__init__(Exp(), Normal(loc, scale, seed, dtype), seed, name)
        self._reset_parameters()
        self._loc = self._add_parameter(loc, "loc")
        self._scale = self._add_parameter(scale, "scale")

    @property
    def loc(self) -> Tensor | None:
        """The mean of the logarithm."""
        return self._loc

    @property
    def scale(self) -> Tensor | None:
        """The standard deviation of the logarithm."""
        return self._scale

    @of_parameters
    def _mean(self, loc, scale):
        return F.exp(loc + 0.5 * F.square(scale))

    @of_parameters
    def _mode(self, loc, scale):
        return F.exp(loc - F.square(scale))

    @of_parameters
    def _var(self, loc, scale):
        variance = F.square(scale)
        return F.expm1(variance) * F.exp(2.0 * loc + variance)

    @of_parameters
    def _sd(self, loc, scale):
        variance = F.square(scale)
        return F.sqrt(F.expm1(variance)) * F.exp(loc + 0.5 * variance)

    @of_parameters
    def _entropy(self, loc, scale):
        return loc + F.log(scale) + 0.5 * (1.0 + math.log(2 * math.pi))

    def _call_normal_at_log(self, method, value, loc, scale, below):
        """Call a method of the normal distribution at log(value). The result for values up to 0 is `below`."""
        is_inside = value > 0.0
        log_value = F.log(F.where(is_inside, value, 1.0))  # avoids NaN in the gradient
        return F.where(is_inside, getattr(self._distribution, method)(log_value, loc, scale), below), log_value

    @at_value
    def _log_prob(self, value, loc, scale):
        of_log, log_value = self._call_normal_at_log("log_prob", value, loc, scale, -math.inf)
        return of_log - log_value

    @at_value
    def _cdf(self, value, loc, scale):
        return self._call_normal_at_log("cdf", value, loc, scale, 0.0)[0]

    @at_value
    def _survival_function(self, value, loc, scale):
        return self._call_normal_at_log("survival_function", value, loc, scale, 1.0)[0]

    @at_value
    def _log_cdf(self, value, loc, scale):
        return self._call_normal_at_log("log_cdf", value, loc, scale, -math.inf)[0]

    @at_value
    def _log_survival(self, value, loc, scale):
        return self._call_normal_at_log("log_survival", value, loc, scale, 0.0)[0]

    @two_distributions("LogNormal", 2)
    def _kl_loss(self, loc_b, scale_b, loc_a, scale_a):
        return normal_kl(loc_b, scale_b, loc_a, scale_a)  # the divergence is invariant under bijections

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, loc, scale):
        batch = len(loc.shape)
        return F.exp(self._distribution.sample(shape[: len(shape) - batch], loc, scale))
