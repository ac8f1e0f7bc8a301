"""`Invert`: the inverse of a bijector."""

from typing import Annotated, Any

from msnb.common.kinds import Instance, Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability.bijector.bijector import Bijector

__all__ = ["Invert"]


class Invert(Bijector):
    """
    The inverse of a bijector, which is a bijector itself.

    Args:
        bijector (Bijector): The bijector.
        name (str): Name of the result. Default: "", which gives "Invert" + the name of the bijector.

    Raises:
        TypeError: If an argument has the wrong type.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> print(msb.Invert(msb.Exp()).forward(Tensor([1.0], mindspore.float32)))
        [0.]
    """

    @checked
    def __init__(self, bijector: Annotated[Bijector, Instance(Bijector)], name: Str = "") -> None:
        name = name or f"Invert{bijector.name}"
        super().__init__(
            bijector.is_constant_jacobian,
            bijector.is_injective,
            name,
            bijector.dtype,
            {"bijector": bijector, "name": name},
        )
        self._bijector = bijector
        self._batch_shape = bijector.batch_shape
        self._is_scalar_batch = bijector.is_scalar_batch

    @property
    def bijector(self) -> Bijector:
        """The inverted bijector."""
        return self._bijector

    @property
    def _is_decreasing(self):
        return self._bijector._is_decreasing

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the `inverse` of the inverted bijector at `x`. It gets all further arguments."""
        return self._bijector.inverse(x, *args, **kwargs)

    def inverse(self, y: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return `forward` of the inverted bijector at `y`. It gets all further arguments."""
        return self._bijector.forward(y, *args, **kwargs)

    def forward_log_jacobian(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the `inverse_log_jacobian` of the inverted bijector at `x`. It gets all further arguments."""
        return self._bijector.inverse_log_jacobian(x, *args, **kwargs)

    def inverse_log_jacobian(self, y: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Return the `forward_log_jacobian` of the inverted bijector at `y`. It gets all further arguments."""
        return self._bijector.forward_log_jacobian(y, *args, **kwargs)
