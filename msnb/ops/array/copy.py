"""Copies of Tensors, and `stop_gradient`."""

from typing import Any

import jax
import jax.numpy as jnp

from msnb import log
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, dtype_in, tensor_argument
from msnb.ops._in_place import take_over
from msnb.ops._numpy import ArrayLike, as_tensor, in_type
from msnb.ops.array.broadcast import BroadcastTo


@operator(functional="deepcopy", called=("input_x",))
def Identity(x):
    """A copy of a Tensor.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.

    Outputs:
        Tensor equal to `x`.

    Raises:
        TypeError: If `x` is not a Tensor.

    Examples:
        >>> print(ops.Identity()(Tensor([1, 2], mindspore.int64)))
        [1 2]
    """
    dtype_in("Identity", "x", x, ANY)
    return jnp.array(x, copy=True)


@spelling(Identity, method=("copy", "clone"), generation=1)
def _tensor_copy(self: Tensor) -> Tensor:
    """Return a copy of the Tensor; gradients flow through it."""
    return Identity.functional(self)


@spelling(Identity, method="value")
def _tensor_value(self: Tensor) -> Tensor:
    """Return a new Tensor with the current value of this one."""
    return Identity.functional(self)


@spelling(Identity, numpy="copy")
def copy(a: ArrayLike) -> Tensor:
    """Copy a Tensor, or convert a list or a number to a Tensor. Gradients flow through the copy.

    Args:
        a (Union[Tensor, list, tuple, Number]): Any Tensor.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type.
    """
    return Identity.functional(as_tensor(a, "copy", "a"))


@operator
def StopGradient(x):
    """Return the Tensor unchanged, but as a constant: no gradient flows through it.

    Inputs:
        - **x** (Tensor) - Of any shape and type.

    Outputs:
        Tensor equal to `x`.
    """
    return jax.lax.stop_gradient(x)


@spelling(Identity, numpy="positive")
def _numpy_positive(a: ArrayLike, dtype: Any = None) -> Tensor:
    """Return the elements unchanged.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Of any shape.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `a`.

    Returns:
        Tensor of the shape of `a`.

    Raises:
        TypeError: If `a` has another type.
    """
    return in_type(Identity.functional(as_tensor(a, "positive", "a")), dtype, "positive")


@spelling(Identity, function="positive", method="positive")
def positive(input: Tensor) -> Tensor:
    """Return the Tensor itself.

    Args:
        input (Tensor): Any Tensor.

    Returns:
        Tensor, `input`.

    Raises:
        TypeError: If `input` is not a Tensor.
    """
    return tensor_argument("positive", "input", input)


@spelling(Identity, method="copy_")
def _copy_into(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Broadcast `src` to the shape of this Tensor, cast it, and write it to this Tensor. Return this Tensor."""
    log.unused("Tensor.copy_", "JAX copies when somebody needs the values", non_blocking=non_blocking)
    return take_over("copy_", self, BroadcastTo(self.shape)(tensor_argument("copy_", "src", src)))


CASES = [
    case(StopGradient, F(2, 3)).without("differences", "it gives none on purpose"),
]
