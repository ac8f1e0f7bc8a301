"""`Exp`: the exponential function as a bijector."""

from msnb.nn.probability.bijector.power_transform import PowerTransform
from msnb.ops import functional as F

__all__ = ["Exp"]


class Exp(PowerTransform):
    """
    :math:`g(x) = e^x`: the PowerTransform with power 0.

    Args:
        name (str): A name. Default: "Exp".

    Raises:
        TypeError: If `name` is no string.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> print(msb.Exp().inverse(Tensor([1.0], mindspore.float32)))
        [0.]
    """

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(0.0, name)

    def _forward(self, x):
        return F.exp(self._check_value_dtype(x))

    def _inverse(self, y):
        return F.log(self._check_value_dtype(y))

    def _forward_log_jacobian(self, x):
        return self._check_value_dtype(x)

    def _inverse_log_jacobian(self, y):
        return -F.log(self._check_value_dtype(y))
