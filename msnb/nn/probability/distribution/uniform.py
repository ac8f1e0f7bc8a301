"""The uniform distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import FloatType, Numbers, Seed, check_greater, check_parameters
from msnb.nn.probability.distribution._formula import (
    at_value,
    cross_entropy_from_kl,
    of_parameters,
    sampling_method,
    two_distributions,
)
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.ops import functional as F
from msnb.ops.random.uniform import UniformReal

__all__ = ["Uniform"]


class Uniform(Distribution):
    r"""
    The uniform distribution: density :math:`1 / (high - low)` from low to high.

    Args:
        low (Union[float, list, numpy.ndarray, Tensor]): The lower end. Default: None, each call passes it.
        high (Union[float, list, numpy.ndarray, Tensor]): The upper end. Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Uniform".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of floating point numbers.
        ValueError: If `low` is not less than `high`, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `low` and `high` after its own arguments, as Tensors; see `Distribution`.
        There is no single most probable value, so `mode` is not implemented.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> uniform = msd.Uniform(0.0, [1.0, 2.0])
        >>> print(uniform.cdf(Tensor([0.5, 0.5], mindspore.float32)))
        [0.5  0.25]
    """

    _words = {"low": "low", "high": "high"}

    @checked
    def __init__(
        self,
        low: Numbers = None,
        high: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "Uniform",
    ) -> None:
        parameters = {"low": low, "high": high}
        super().__init__(seed, dtype, name, check_parameters(parameters, seed, dtype, name))
        self._low = self._add_parameter(low, "low")
        self._high = self._add_parameter(high, "high")
        check_greater(self._low, self._high, "low", "high")

    @property
    def low(self) -> Tensor | None:
        """The lower end."""
        return self._low

    @property
    def high(self) -> Tensor | None:
        """The upper end."""
        return self._high

    @of_parameters
    def _mean(self, low, high):
        return 0.5 * (low + high)

    @of_parameters
    def _var(self, low, high):
        return F.square(high - low) / 12.0

    @of_parameters
    def _entropy(self, low, high):
        return F.log(high - low)

    @at_value
    def _log_prob(self, value, low, high):
        return F.where(F.logical_and(value >= low, value <= high), -F.log(high - low), -math.inf)

    @at_value
    def _cdf(self, value, low, high):
        return F.clamp((value - low) / (high - low), 0.0, 1.0)

    @at_value
    def _survival_function(self, value, low, high):
        return F.clamp((high - value) / (high - low), 0.0, 1.0)

    @two_distributions("Uniform", 2)
    def _kl_loss(self, low_b, high_b, low, high):
        is_within = F.logical_and(low_b <= low, high <= high_b)
        return F.where(is_within, F.log(high_b - low_b) - F.log(high - low), math.inf)

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, low, high):
        return low + (high - low) * UniformReal.functional(shape, seed=self._seed)
