"""The logistic distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import FloatType, Numbers, Seed, check_greater_zero, check_parameters
from msnb.nn.probability.distribution._formula import at_value, of_parameters, sampling_method
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.ops import functional as F

__all__ = ["Logistic"]


class Logistic(Distribution):
    r"""
    The logistic distribution, whose distribution function is the sigmoid: density
    :math:`\mathrm{sigmoid}(z) \, \mathrm{sigmoid}(-z) / s` with :math:`z = (x - loc) / s`.

    Args:
        loc (Union[float, list, numpy.ndarray, Tensor]): The mean. Default: None, each call passes it.
        scale (Union[float, list, numpy.ndarray, Tensor]): The scale s. Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Logistic".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of floating point numbers.
        ValueError: If `scale` is not positive, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `loc` and `scale` after its own arguments, as Tensors; see `Distribution`.
        `kl_loss` and `cross_entropy` are not implemented: there is no closed form.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> logistic = msd.Logistic(0.0, 1.0)
        >>> print(logistic.cdf(Tensor([0.0], mindspore.float32)), logistic.entropy())
        [0.5] 2.0
    """

    _words = {"loc": "location", "scale": "scale"}

    @checked
    def __init__(
        self,
        loc: Numbers = None,
        scale: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "Logistic",
    ) -> None:
        parameters = {"loc": loc, "scale": scale}
        super().__init__(seed, dtype, name, check_parameters(parameters, seed, dtype, name))
        self._loc = self._add_parameter(loc, "loc")
        self._scale = self._add_parameter(scale, "scale")
        check_greater_zero(self._scale, "scale")

    @property
    def loc(self) -> Tensor | None:
        """The mean."""
        return self._loc

    @property
    def scale(self) -> Tensor | None:
        """The scale."""
        return self._scale

    @of_parameters
    def _mean(self, loc, scale):
        return loc

    @of_parameters
    def _mode(self, loc, scale):
        return loc

    @of_parameters
    def _sd(self, loc, scale):
        return scale * (math.pi / math.sqrt(3))

    @of_parameters
    def _entropy(self, loc, scale):
        return F.log(scale) + 2.0

    @at_value
    def _log_prob(self, value, loc, scale):
        z = (value - loc) / scale
        return F.logsigmoid(z) + F.logsigmoid(-z) - F.log(scale)

    @at_value
    def _cdf(self, value, loc, scale):
        return F.sigmoid((value - loc) / scale)

    @at_value
    def _survival_function(self, value, loc, scale):
        return F.sigmoid((loc - value) / scale)

    @at_value
    def _log_cdf(self, value, loc, scale):
        return F.logsigmoid((value - loc) / scale)

    @at_value
    def _log_survival(self, value, loc, scale):
        return F.logsigmoid((loc - value) / scale)

    @sampling_method
    def _sample(self, shape, loc, scale):
        u = self._draw_uniform(shape)
        return loc + scale * (F.log(u) - F.log1p(-u))
