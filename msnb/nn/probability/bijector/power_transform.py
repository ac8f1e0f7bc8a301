"""`PowerTransform`: the power function (1 + c x)^(1/c) as a bijector."""

from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import Numbers, check_greater_equal_zero
from msnb.nn.probability.bijector.bijector import Bijector
from msnb.ops import functional as F

__all__ = ["PowerTransform"]


class PowerTransform(Bijector):
    r"""
    :math:`g(x) = (1 + c x)^{1/c}`, and its limit :math:`e^x` for c = 0; the inverse is the transform of Box and Cox
    (1964).

    Args:
        power (Union[float, list, numpy.ndarray, Tensor]): The number c, not negative. Default: 0.0.
        name (str): A name. Default: "PowerTransform".

    Raises:
        TypeError: If an argument has the wrong type, or numbers are not floating point.
        ValueError: If `power` is negative.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> print(msb.PowerTransform(0.5).forward(Tensor([2.0, 4.0], mindspore.float32)))
        [4. 9.]
    """

    _words = {"power": "power"}

    @checked
    def __init__(self, power: Numbers = 0.0, name: Str = "PowerTransform") -> None:
        numbers = {"power": power}
        super().__init__(name=name, param={**numbers, "name": name, "param_dict": numbers})
        self._power = self._add_parameter(power, "power")
        check_greater_equal_zero(self._power, "Power")

    @property
    def power(self) -> Tensor:
        """The power c of the formula."""
        return self._power

    def _forward(self, x):
        x, power, is_exp = self._separate_zero_power(x)
        return F.exp(F.where(is_exp, x, F.log1p(power * x) / power))

    def _inverse(self, y):
        y, power, is_exp = self._separate_zero_power(y)
        return F.where(is_exp, F.log(y), F.expm1(power * F.log(y)) / power)

    def _forward_log_jacobian(self, x):
        x, power, is_exp = self._separate_zero_power(x)
        return F.where(is_exp, x, (1.0 / power - 1.0) * F.log1p(power * x))

    def _inverse_log_jacobian(self, y):
        y, power = self._check_value_and_cast_params(y)
        return (power - 1.0) * F.log(y)

    def _separate_zero_power(self, value):
        """Return the value, the power with 0 replaced by 1, and a mask of the zeros."""
        value, power = self._check_value_and_cast_params(value)
        is_exp = power == 0.0
        return value, F.where(is_exp, 1.0, power), is_exp
