"""`Softplus`: the softplus function as a bijector."""

from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import Numbers
from msnb.nn.probability.bijector.bijector import Bijector
from msnb.ops import functional as F
from msnb.ops.math.exponential import _LogOneMinusExp

__all__ = ["Softplus"]


class Softplus(Bijector):
    r"""
    :math:`g(x) = \log(1 + e^{k x}) / k`.

    Args:
        sharpness (Union[float, list, numpy.ndarray, Tensor]): The number k. Default: 1.0.
        name (str): A name. Default: "Softplus".

    Raises:
        TypeError: If an argument has the wrong type, or numbers are not floating point.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> print(msb.Softplus(2.0).forward(Tensor([0.0, 50.0], mindspore.float32)))
        [ 0.3465736 50.       ]
    """

    _words = {"sharpness": "sharpness"}

    @checked
    def __init__(self, sharpness: Numbers = 1.0, name: Str = "Softplus") -> None:
        numbers = {"sharpness": sharpness}
        super().__init__(name=name, param={**numbers, "name": name, "param_dict": numbers})
        self._sharpness = self._add_parameter(sharpness, "sharpness")

    @property
    def sharpness(self) -> Tensor:
        """The sharpness k of the formula."""
        return self._sharpness

    def _forward(self, x):
        x, sharpness = self._check_value_and_cast_params(x)
        return -F.logsigmoid(-sharpness * x) / sharpness

    def _inverse(self, y):
        y, sharpness = self._check_value_and_cast_params(y)
        return y + _LogOneMinusExp.functional(-sharpness * y) / sharpness

    def _forward_log_jacobian(self, x):
        x, sharpness = self._check_value_and_cast_params(x)
        return F.logsigmoid(sharpness * x)

    def _inverse_log_jacobian(self, y):
        y, sharpness = self._check_value_and_cast_params(y)
        return -_LogOneMinusExp.functional(-sharpness * y)
