"""`ScalarAffine`: the affine function a x + b as a bijector."""

from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import Numbers
from msnb.nn.probability.bijector.bijector import Bijector
from msnb.ops import functional as F

__all__ = ["ScalarAffine"]


class ScalarAffine(Bijector):
    """
    :math:`g(x) = a x + b`.

    Args:
        scale (Union[float, list, numpy.ndarray, Tensor]): The slope a. Default: 1.0.
        shift (Union[float, list, numpy.ndarray, Tensor]): The shift b. Default: 0.0.
        name (str): A name. Default: "ScalarAffine".

    Raises:
        TypeError: If an argument has the wrong type, or numbers are not floating point or differ in dtype.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> print(msb.ScalarAffine(2.0, 1.0).forward(Tensor([2.0, 3.0], mindspore.float32)))
        [5. 7.]
    """

    _words = {"scale": "scale", "shift": "shift"}

    @checked
    def __init__(self, scale: Numbers = 1.0, shift: Numbers = 0.0, name: Str = "ScalarAffine") -> None:
        numbers = {"scale": scale, "shift": shift}
        super().__init__(is_constant_jacobian=True, name=name, param={**numbers, "name": name, "param_dict": numbers})
        self._scale = self._add_parameter(scale, "scale")
        self._shift = self._add_parameter(shift, "shift")

    @property
    def scale(self) -> Tensor:
        """The slope."""
        return self._scale

    @property
    def shift(self) -> Tensor:
        """The shift."""
        return self._shift

    @property
    def _is_decreasing(self):
        return self._scale < 0.0

    def _forward(self, x):
        x, scale, shift = self._check_value_and_cast_params(x)
        return scale * x + shift

    def _inverse(self, y):
        y, scale, shift = self._check_value_and_cast_params(y)
        return (y - shift) / scale

    def _forward_log_jacobian(self, x):
        _, scale, _ = self._check_value_and_cast_params(x)
        return F.log(F.abs(scale))

    def _inverse_log_jacobian(self, y):
        _, scale, _ = self._check_value_and_cast_params(y)
        return -F.log(F.abs(scale))
