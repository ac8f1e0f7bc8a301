"""The Bernoulli distribution."""

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import Numbers, NumberType, Seed, check_parameters, check_prob
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
from msnb.ops.random.uniform import UniformReal

__all__ = ["Bernoulli"]


class Bernoulli(Distribution):
    """
    The Bernoulli distribution: 1 with probability `probs`, and 0 otherwise.

    Args:
        probs (Union[float, list, numpy.ndarray, Tensor]): The probability of 1. Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.int32.
        name (str): A name. Default: "Bernoulli".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of real numbers.
        ValueError: If a probability is not between 0 and 1.

    Note:
        Each method takes `probs`, by name `probs1`, after its own arguments, as a Tensor; see `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> bernoulli = msd.Bernoulli([0.25, 0.75])
        >>> print(bernoulli.prob(Tensor([1, 1], mindspore.int32)), bernoulli.mode())
        [0.25 0.75] [0 1]
    """

    _words = {"probs": "probs"}

    @checked
    def __init__(
        self,
        probs: Numbers = None,
        seed: Seed = None,
        dtype: NumberType = mstype.int32,
        name: Str = "Bernoulli",
    ) -> None:
        super().__init__(seed, dtype, name, check_parameters({"probs": probs}, seed, dtype, name))
        self._probs = self._add_parameter(probs, "probs")
        check_prob(self._probs)

    @property
    def probs(self) -> Tensor | None:
        """The probability of 1."""
        return self._probs

    @of_parameters
    def _mean(self, probs1):
        return probs1

    @of_parameters
    def _mode(self, probs1):
        return F.cast(probs1 > 0.5, self.dtype)

    @of_parameters
    def _var(self, probs1):
        return probs1 * (1.0 - probs1)

    @of_parameters
    def _entropy(self, probs1):
        return -_TimesLog.functional(probs1, probs1) - _TimesLog1p.functional(1.0 - probs1, -probs1)

    @at_value
    def _log_prob(self, value, probs1):
        return _compute_log_likelihood(value, probs1)

    @at_value
    def _cdf(self, value, probs1):
        return F.where(value < 0.0, 0.0, F.where(value < 1.0, 1.0 - probs1, 1.0))

    @at_value
    def _survival_function(self, value, probs1):
        return F.where(value < 0.0, 1.0, F.where(value < 1.0, probs1, 0.0))

    @two_distributions("Bernoulli", 1)
    def _kl_loss(self, probs1_b, probs1):
        return _compute_log_likelihood(probs1, probs1) - _compute_log_likelihood(probs1, probs1_b)

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, probs1):
        return UniformReal.functional(shape, seed=self._seed) < probs1


def _compute_log_likelihood(value, probs1):
    """Return value * log(p) + (1 - value) * log(1 - p). A term with factor 0 is 0 with gradient 0, even if its
    logarithm is infinite."""
    of_one = F.where(value == 0.0, 0.0, value * F.log(F.where(value == 0.0, 1.0, probs1)))
    of_zero = F.where(value == 1.0, 0.0, (1.0 - value) * F.log1p(-F.where(value == 1.0, 0.0, probs1)))
    return of_one + of_zero
