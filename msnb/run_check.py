"""`run_check`: checks that msnb computes correctly on this machine."""

import sys
import types

import jax
import numpy as np

from msnb import context
from msnb._version import __version__
from msnb.core.tensor.tensor import Tensor

__all__ = ["run_check"]


def run_check() -> None:
    """
    Multiply two Tensors on the device, and print the device.

    Raises:
        RuntimeError: If the product is wrong.

    Examples:
        >>> mindspore.run_check()
        msnb ... on JAX ...: a product computed on ... is right.
    """
    x, y = np.array([1.0, 2.0, 3.0], np.float32), np.array([4.0, 5.0, 6.0], np.float32)
    product = (Tensor(x) * Tensor(y)).asnumpy()
    device = context.get_context("device_target")
    if not np.array_equal(product, x * y):
        raise RuntimeError(f"On {device}, [1, 2, 3] * [4, 5, 6] gave {product}: JAX does not compute rightly there.")
    print(f"msnb {__version__} on JAX {jax.__version__}: a product computed on {device} is right.")


class _Callable(types.ModuleType):
    """A callable module: `mindspore.run_check` may be the module or the function, depending on the import order."""

    def __call__(self) -> None:
        run_check()


sys.modules[__name__].__class__ = _Callable
