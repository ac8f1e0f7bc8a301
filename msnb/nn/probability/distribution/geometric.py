"""The geometric distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import Numbers, NumberType, Seed, as_type, check_parameters, check_prob
from msnb.nn.probability.distribution._formula import (
    at_value,
    cross_entropy_from_kl,
    of_parameters,
    sampling_method,
    two_distributions,
)
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.ops import functional as F
from msnb.ops.math.exponential import _TimesLog, _TimesLog1p

__all__ = ["Geometric"]


class Geometric(Distribution):
    """
    The geometric distribution, the number of failures before the first success: :math:`p (1 - p)^k` for
    k = 0, 1, 2, ...

    Args:
        probs (Union[float, list, numpy.ndarray, Tensor]): The probability p of success. Default: None, each call passes
            it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.int32.
        name (str): A name. Default: "Geometric".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of real numbers.
        ValueError: If a probability is not between 0 and 1.

    Note:
        Each method takes `probs`, by name `probs1`, after its own arguments, as a Tensor; see `Distribution`.
        A value is rounded down.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> geometric = msd.Geometric(0.5)
        >>> print(geometric.prob(Tensor([0, 1, 2], mindspore.int32)), geometric.mean())
        [0.5   0.25  0.125] 1.0
    """

    _words = {"probs": "probs"}

    @checked
    def __init__(
        self,
        probs: Numbers = None,
        seed: Seed = None,
        dtype: NumberType = mstype.int32,
        name: Str = "Geometric",
    ) -> None:
        super().__init__(seed, dtype, name, check_parameters({"probs": probs}, seed, dtype, name))
        self._probs = self._add_parameter(probs, "probs")
        check_prob(self._probs)

    @property
    def probs(self) -> Tensor | None:
        """The probability of success."""
        return self._probs

    @of_parameters
    def _mean(self, probs1):
        return (1.0 - probs1) / probs1

    @of_parameters
    def _mode(self, probs1):
        return F.zeros_like(as_type(probs1, self.dtype))

    @of_parameters
    def _var(self, probs1):
        return (1.0 - probs1) / F.square(probs1)

    @of_parameters
    def _entropy(self, probs1):
        return (_TimesLog1p.functional(probs1 - 1.0, -probs1) - _TimesLog.functional(probs1, probs1)) / probs1

    @at_value
    def _log_prob(self, value, probs1):
        failures = F.floor(value)
        return F.where(failures >= 0.0, failures * F.log1p(-probs1) + F.log(probs1), -math.inf)

    @at_value
    def _log_survival(self, value, probs1):
        return F.maximum(F.floor(value) + 1.0, 0.0) * F.log1p(-probs1)

    @two_distributions("Geometric", 1)
    def _kl_loss(self, probs1_b, probs1):
        of_failures = (1.0 - probs1) / probs1 * (F.log1p(-probs1) - F.log1p(-probs1_b))
        return F.log(probs1) - F.log(probs1_b) + of_failures

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, probs1):
        return F.floor(F.log(self._draw_uniform(shape)) / F.log1p(-probs1))
