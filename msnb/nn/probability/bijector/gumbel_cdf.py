"""`GumbelCDF`: the cumulative distribution function of the Gumbel distribution as a bijector."""

from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import Numbers, check_greater_zero
from msnb.nn.probability.bijector.bijector import Bijector
from msnb.ops import functional as F

__all__ = ["GumbelCDF"]


class GumbelCDF(Bijector):
    r"""
    :math:`g(x) = \exp(-\exp(-z))` with :math:`z = (x - loc) / scale`: the cumulative distribution function of the
    Gumbel distribution.

    Args:
        loc (Union[float, list, numpy.ndarray, Tensor]): The location. Default: 0.0.
        scale (Union[float, list, numpy.ndarray, Tensor]): The scale, positive. Default: 1.0.
        name (str): A name. Default: "GumbelCDF".

    Raises:
        TypeError: If an argument has the wrong type, or numbers are not floating point or differ in dtype.
        ValueError: If `scale` is not positive.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> print(msb.GumbelCDF(1.0, 2.0).forward(Tensor([1.0], mindspore.float32)))
        [0.36787945]
    """

    _words = {"loc": "loc", "scale": "scale"}

    @checked
    def __init__(self, loc: Numbers = 0.0, scale: Numbers = 1.0, name: Str = "GumbelCDF") -> None:
        numbers = {"loc": loc, "scale": scale}
        super().__init__(name=name, param={**numbers, "name": name, "param_dict": numbers})
        self._loc = self._add_parameter(loc, "loc")
        self._scale = self._add_parameter(scale, "scale")
        check_greater_zero(self._scale, "scale")

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    def _forward(self, x):
        x, loc, scale = self._check_value_and_cast_params(x)
        return F.exp(-F.exp((loc - x) / scale))

    def _inverse(self, y):
        y, loc, scale = self._check_value_and_cast_params(y)
        return loc - scale * F.log(-F.log(y))

    def _forward_log_jacobian(self, x):
        x, loc, scale = self._check_value_and_cast_params(x)
        z = (x - loc) / scale
        return -z - F.exp(-z) - F.log(scale)

    def _inverse_log_jacobian(self, y):
        y, _, scale = self._check_value_and_cast_params(y)
        log_y = F.log(y)
        return F.log(scale) - log_y - F.log(-log_y)
