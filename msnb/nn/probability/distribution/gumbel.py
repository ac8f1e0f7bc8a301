"""The Gumbel distribution."""

import math
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import FloatType, Numbers, Seed
from msnb.nn.probability.bijector.gumbel_cdf import GumbelCDF
from msnb.nn.probability.bijector.invert import Invert
from msnb.nn.probability.distribution._formula import (
    at_value,
    cross_entropy_from_kl,
    of_parameters,
    sampling_method,
    two_distributions,
)
from msnb.nn.probability.distribution.transformed_distribution import TransformedDistribution
from msnb.nn.probability.distribution.uniform import Uniform
from msnb.ops import functional as F
from msnb.ops.math.exponential import _LogOneMinusExp

__all__ = ["Gumbel"]

_EULER = float(np.euler_gamma)


class Gumbel(TransformedDistribution):
    r"""
    The Gumbel distribution, a limit distribution of the maximum of many numbers: distribution function
    :math:`\exp(-\exp(-z))` with :math:`z = (x - loc) / scale`.

    Args:
        loc (Union[float, list, numpy.ndarray, Tensor]): The location, at which the density has its maximum.
        scale (Union[float, list, numpy.ndarray, Tensor]): The scale.
        seed (int): Seed of the random numbers, not negative. Default: 0.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Gumbel".

    Raises:
        TypeError: If an argument has the wrong type, parameters are no floating point numbers or differ in type, or
            `dtype` is no type of floating point numbers.
        ValueError: If `scale` is not positive, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `loc` and `scale` after its own arguments, as Tensors; see `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> gumbel = msd.Gumbel(1.0, 2.0)
        >>> print(gumbel.log_cdf(Tensor([1.0], mindspore.float32)))
        [-1.]
    """

    _words = {"loc": "loc", "scale": "scale"}

    @checked
    def __init__(
        self,
        loc: Numbers,
        scale: Numbers,
        seed: Seed = 0,
        dtype: FloatType = mstype.float32,
        name: Str = "Gumbel",
    ) -> None:
        super().__init__(Invert(GumbelCDF(loc, scale)), Uniform(0.0, 1.0, seed, dtype), seed, name)
        self._reset_parameters()
        self._loc: Any = self._add_parameter(loc, "loc")
        self._scale: Any = self._add_parameter(scale, "scale")

    @property
    def loc(self) -> Tensor:
        """The location parameter."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale parameter."""
        return self._scale

    @of_parameters
    def _mean(self, loc, scale):
        return loc + _EULER * scale

    @of_parameters
    def _mode(self, loc, scale):
        return loc

    @of_parameters
    def _sd(self, loc, scale):
        return scale * (math.pi / math.sqrt(6))

    @of_parameters
    def _entropy(self, loc, scale):
        return F.log(scale) + (1.0 + _EULER)

    @at_value
    def _log_prob(self, value, loc, scale):
        z = (value - loc) / scale
        return -z - F.exp(-z) - F.log(scale)

    @at_value
    def _log_cdf(self, value, loc, scale):
        return -F.exp((loc - value) / scale)

    @at_value
    def _cdf(self, value, loc, scale):
        return F.exp(-F.exp((loc - value) / scale))

    @at_value
    def _survival_function(self, value, loc, scale):
        return -F.expm1(-F.exp((loc - value) / scale))

    @at_value
    def _log_survival(self, value, loc, scale):
        return _LogOneMinusExp.functional(-F.exp((loc - value) / scale))

    @two_distributions("Gumbel", 2)
    def _kl_loss(self, loc_b, scale_b, loc, scale):
        ratio, way = scale / scale_b, (loc - loc_b) / scale_b
        return _EULER * (ratio - 1.0) - F.log(ratio) + way + F.expm1(F.lgamma(ratio + 1.0) - way)

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, loc, scale):
        return loc - scale * F.log(-F.log(self._draw_uniform(shape)))
