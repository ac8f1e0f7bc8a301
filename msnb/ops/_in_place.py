"""Shared code of the in-place methods of Tensor: `x.mul_(y)` writes `x * y` to `x`."""

from msnb.core.tensor.tensor import Tensor


def take_over(method: str, self: Tensor, result: Tensor) -> Tensor:
    """Write `result` to `self`, cast to the element type of `self`, and return `self`.

    Raises:
        ValueError: If the shapes differ.
    """
    if result.shape != self.shape:
        raise ValueError(
            f"For '{method}', the result should have the shape of the Tensor, {self.shape}, but it has {result.shape}."
        )
    return self.assign_value(result if result.dtype == self.dtype else result.astype(self.dtype))
