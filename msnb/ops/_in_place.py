"""What Tensor's methods share that write into the Tensor: `x.mul_(y)` gives `x` the values of `x * y`."""

from msnb.core.tensor.tensor import Tensor


def take_over(method: str, self: Tensor, result: Tensor) -> Tensor:
    """`self`, which holds from here on what `result` holds, in its own element type.

    Raises:
        ValueError: If the shapes differ.
    """
    if result.shape != self.shape:
        raise ValueError(
            f"For '{method}', the result should have the shape of the Tensor, {self.shape}, but it has {result.shape}."
        )
    return self.assign_value(result if result.dtype == self.dtype else result.astype(self.dtype))
