"""The beta distribution."""

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
from msnb.ops.math.exponential import _TimesLog, _TimesLog1p
from msnb.ops.math.gamma import _Lbeta
from msnb.ops.math.incomplete_beta import Betainc
from msnb.ops.random.gamma import _Beta as RandomBeta

__all__ = ["Beta"]


class Beta(Distribution):
    r"""
    The beta distribution: density :math:`x^{\alpha - 1} (1 - x)^{\beta - 1} / B(\alpha, \beta)` between 0 and 1.

    Args:
        concentration1 (Union[int, list, numpy.ndarray, Tensor]): The parameter :math:`\alpha`. Default: None, each call
            passes it.
        concentration0 (Union[int, list, numpy.ndarray, Tensor]): The parameter :math:`\beta`. Default: None, each call
            passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Beta".

    Raises:
        TypeError: If an argument has the wrong type, a parameter is a single float, or `dtype` is no type of floating
            point numbers.
        ValueError: If a parameter is not positive, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `concentration1` and `concentration0` after its own arguments, as Tensors; see
        `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> beta = msd.Beta([2.0], [2.0])
        >>> print(beta.mean(), beta.cdf(Tensor([0.5], mindspore.float32)))
        [0.5] [0.5]
    """

    _words = {"concentration1": "concentration1", "concentration0": "concentration0"}

    @checked
    def __init__(
        self,
        concentration1: Numbers = None,
        concentration0: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "Beta",
    ) -> None:
        parameters = {"concentration1": concentration1, "concentration0": concentration0}
        check_no_scalar("Beta", float, **parameters)
        super().__init__(seed, dtype, name, check_parameters(parameters, seed, dtype, name))
        self._concentration1 = self._add_parameter(concentration1, "concentration1")
        self._concentration0 = self._add_parameter(concentration0, "concentration0")
        check_greater_zero(self._concentration1, "concentration1")
        check_greater_zero(self._concentration0, "concentration0")

    @property
    def concentration1(self) -> Tensor | None:
        """The parameter alpha; x has the exponent alpha - 1 in the density."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor | None:
        """The parameter beta; 1 - x has the exponent beta - 1 in the density."""
        return self._concentration0

    @of_parameters
    def _mean(self, concentration1, concentration0):
        return concentration1 / (concentration1 + concentration0)

    @of_parameters
    def _mode(self, concentration1, concentration0):
        has_top = F.logical_and(concentration1 > 1.0, concentration0 > 1.0)
        return F.where(has_top, (concentration1 - 1.0) / (concentration1 + concentration0 - 2.0), math.nan)

    @of_parameters
    def _var(self, concentration1, concentration0):
        total = concentration1 + concentration0
        return (concentration1 / total) * (concentration0 / total) / (total + 1.0)

    @of_parameters
    def _entropy(self, concentration1, concentration0):
        total = concentration1 + concentration0
        ends = (concentration1 - 1.0) * F.digamma(concentration1) + (concentration0 - 1.0) * F.digamma(concentration0)
        return _Lbeta.functional(concentration1, concentration0) - ends + (total - 2.0) * F.digamma(total)

    @at_value
    def _log_prob(self, value, concentration1, concentration0):
        is_inside = F.logical_and(value >= 0.0, value <= 1.0)
        value = F.where(is_inside, value, 0.5)  # avoids NaN in the gradient
        ends = _TimesLog.functional(concentration1 - 1.0, value) + _TimesLog1p.functional(concentration0 - 1.0, -value)
        return F.where(is_inside, ends - _Lbeta.functional(concentration1, concentration0), -math.inf)

    @at_value
    def _cdf(self, value, concentration1, concentration0):
        value = F.clamp(value, 0.0, 1.0)
        return Betainc.functional(*alike(concentration1, concentration0, value))

    @at_value
    def _survival_function(self, value, concentration1, concentration0):
        value = F.clamp(value, 0.0, 1.0)
        return Betainc.functional(*alike(concentration0, concentration1, 1.0 - value))

    @two_distributions("Beta", 2)
    def _kl_loss(self, concentration1_b, concentration0_b, concentration1_a, concentration0_a):
        norms = _Lbeta.functional(concentration1_b, concentration0_b)
        norms -= _Lbeta.functional(concentration1_a, concentration0_a)
        more1, more0 = concentration1_a - concentration1_b, concentration0_a - concentration0_b
        total = F.digamma(concentration1_a + concentration0_a)
        return norms + more1 * (F.digamma(concentration1_a) - total) + more0 * (F.digamma(concentration0_a) - total)

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, concentration1, concentration0):
        return RandomBeta.functional(shape, concentration1, concentration0, seed=self._seed)
