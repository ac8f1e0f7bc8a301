"""The Cauchy distribution."""

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

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    r"""
    The Cauchy distribution: density :math:`1 / \pi s (1 + z^2)` with :math:`z = (x - loc) / s`.

    Args:
        loc (Union[float, list, numpy.ndarray, Tensor]): The location. Default: None, each call passes it.
        scale (Union[float, list, numpy.ndarray, Tensor]): The scale s, half the width at half maximum. Default: None,
            each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Cauchy".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of floating point numbers.
        ValueError: If `scale` is not positive, or the shapes of the parameters do not broadcast. `mean`, `sd` and `var`
            always raise it, because they do not exist.

    Note:
        Each method takes `loc` and `scale` after its own arguments, as Tensors; see `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> cauchy = msd.Cauchy(0.0, 2.0)
        >>> print(cauchy.cdf(Tensor([-2.0, 2.0], mindspore.float32)))
        [0.25 0.75]
    """

    _words = {"loc": "location", "scale": "scale"}

    @checked
    def __init__(
        self,
        loc: Numbers = None,
        scale: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "Cauchy",
    ) -> None:
        parameters = {"loc": loc, "scale": scale}
        super().__init__(seed, dtype, name, check_parameters(parameters, seed, dtype, name))
        self._loc = self._add_parameter(loc, "loc")
        self._scale = self._add_parameter(scale, "scale")
        check_greater_zero(self._scale, "scale")

    @property
    def loc(self) -> Tensor | None:
        """The location parameter."""
        return self._loc

    @property
    def scale(self) -> Tensor | None:
        """The scale parameter: half the width of the density at half its maximum."""
        return self._scale

    @of_parameters
    def _mode(self, loc, scale):
        return loc

    def _mean(self, *args, **kwargs):
        raise _make_undefined_error("mean")

    def _sd(self, *args, **kwargs):
        raise _make_undefined_error("standard deviation")

    def _var(self, *args, **kwargs):
        raise _make_undefined_error("variance")

    @of_parameters
    def _entropy(self, loc, scale):
        return F.log(scale) + math.log(4 * math.pi)

    @at_value
    def _log_prob(self, value, loc, scale):
        return -F.log1p(F.square((value - loc) / scale)) - F.log(scale) - math.log(math.pi)

    @at_value
    def _cdf(self, value, loc, scale):
        return F.atan2(scale, loc - value) / math.pi

    @at_value
    def _survival_function(self, value, loc, scale):
        return F.atan2(scale, value - loc) / math.pi

    @two_distributions("Cauchy", 2)
    def _kl_loss(self, loc_b, scale_b, loc_a, scale_a):
        # Chyzak and Nielsen, 2019: log of 1 + (the distance of the two points loc + i scale, squared) / 4 s_a s_b.
        distance = F.square(scale_a - scale_b) + F.square(loc_a - loc_b)
        return F.log1p(distance / (4.0 * scale_a * scale_b))

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, loc, scale):
        return loc + scale * F.tan(math.pi * (self._draw_uniform(shape) - 0.5))


def _make_undefined_error(what):
    return ValueError(f"The {what} of a Cauchy distribution is not defined: its integral does not exist.")
