"""An objective function of Tensors, as SciPy calls it: with numpy arrays of float64."""

from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.grad import value_and_grad


class Objective:
    """A function of a 1-D Tensor whose values and gradients are numpy arrays.

    Args:
        name (str): Function of `mindspore.scipy.optimize` that calls it, for messages.
        function (Callable): Takes `x` and `args`, returns a scalar Tensor.
        x (Tensor): A first position, for the element type.
        args (tuple): Further arguments of `function`.
        gradient (Callable): Takes `x` and `args`, returns a Tensor. None for the gradient of `function`.

    Raises:
        TypeError: If `x` is not a Tensor of floats.
        ValueError: If `x` does not have one axis.
        RuntimeError: If `x` has no values, because a graph is compiled.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], x: Tensor, args: tuple[Any, ...], gradient: Any
    ) -> None:
        if not isinstance(x, Tensor) or np.dtype(x._array.dtype).kind != "f":
            raise TypeError(f"For '{name}', the position should be a Tensor of floats, but got {describe(x)}.")
        if x.ndim != 1:
            raise ValueError(f"For '{name}', the position should have one axis, but got shape {x.shape}.")
        if is_tracer(x._array):
            raise RuntimeError(f"For '{name}', SciPy needs the values; call it outside a graph.")
        self.dtype = x.dtype
        self._function, self._args, self._gradient = function, args, gradient
        self._both = value_and_grad(function) if gradient is None else None

    def compute_value(self, x: np.ndarray) -> float:
        """Return the value at `x`."""
        return float(self._call(self._function, x))

    def compute_gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient at `x`."""
        gradient = self._call(self._gradient, x) if self._both is None else self._call(self._both, x)[1]
        return gradient.asnumpy().astype(np.float64)

    def compute_value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient at `x`."""
        if self._both is None:
            return self.compute_value(x), self.compute_gradient(x)
        value, gradient = self._call(self._both, x)
        return float(value), gradient.asnumpy().astype(np.float64)

    def as_tensor(self, array: np.ndarray) -> Tensor:
        """Return an array as a Tensor of the type of the position."""
        return Tensor(np.asarray(array), self.dtype)

    def _call(self, function, x):
        return function(self.as_tensor(x), *self._args)
