"""The dimensions of a Tensor in another order."""

from typing import Any

import jax.numpy as jnp

from msnb.common.kinds import (
    IntOrTuple,
    Ints,
)
from msnb.core.cases import F, case, refused
from msnb.core.declare import operator, spelling
from msnb.core.tensor import Tensor
from msnb.ops._check import (
    axis_in,
    tensor_only,
)


@operator(functional="transpose")
def Transpose(x, perm: Ints):
    """A Tensor with its dimensions in another order.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **perm** (tuple[int]) - For each dimension of the result, which dimension of `x` it is.

    Outputs:
        Tensor of shape (x.shape[perm[0]], x.shape[perm[1]], ...).

    Raises:
        TypeError: If `perm` is not a tuple of int.
        ValueError: If `perm` is not a permutation of the dimensions of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Transpose()(Tensor([[1, 2], [3, 4]], mindspore.int32), (1, 0)))
        [[1 3]
         [2 4]]
    """
    tensor_only("Transpose", "x", x)
    axes = tuple(axis_in("Transpose", a, x.ndim, "perm") for a in perm)
    if len(axes) != x.ndim or len(set(axes)) < len(axes):
        raise ValueError(
            f"For 'Transpose', 'perm' should be a permutation of the {x.ndim} dimensions of 'x', but got {perm}."
        )
    return jnp.transpose(x, axes)


@spelling(Transpose, method="transpose", generation=1)
def _transpose_of(self: Tensor, *axes: Any) -> Tensor:
    """The dimensions in another order: reversed, or as a tuple or several ints say."""
    axes = _listed(axes)
    if not axes or axes == (None,):
        axes = tuple(reversed(range(self.ndim)))
    return Transpose.functional(self, axes)


def _listed(axes):
    """Axes given as one tuple or as several ints."""
    return axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes


@spelling(Transpose)
def permute(input: Tensor, axis: tuple[int, ...]) -> Tensor:
    """A Tensor with its dimensions in another order.

    Args:
        input (Tensor): Any Tensor.
        axis (tuple[int]): For each dimension of the result, which dimension of `input` it is.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return Transpose.functional(input, axis)


@spelling(Transpose, method="permute")
def _permute_of(self: Tensor, *axis: Any) -> Tensor:
    """The dimensions in another order, given as a tuple or several ints."""
    return Transpose.functional(self, _listed(axis))


@spelling(Transpose, method="t")
def _t_of(self: Tensor) -> Tensor:
    """A matrix with rows and columns exchanged."""
    if self.ndim > 2:
        raise ValueError(f"For 't', the Tensor should have at most 2 dimensions, but got shape {self.shape}.")
    return _transpose_of(self)


@spelling(Transpose, function=("swapaxes", "swapdims"), method=("swapaxes", "swapdims"))
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """A Tensor with two dimensions exchanged.

    Args:
        input (Tensor): Any Tensor.
        axis0 (int): The first dimension.
        axis1 (int): The second dimension.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    a, b = axis_in("swapaxes", axis0, input.ndim, "axis0"), axis_in("swapaxes", axis1, input.ndim, "axis1")
    perm = list(range(input.ndim))
    perm[a], perm[b] = b, a
    return Transpose.functional(input, tuple(perm))


spelling(Transpose, method="T", generation=1)(
    property(_transpose_of, doc="The Tensor with its dimensions in reverse order.")
)
spelling(Transpose, method="H")(
    property(lambda self: swapaxes(self, -1, -2), doc="A matrix with rows and columns exchanged.")
)
spelling(Transpose, method="mT")(
    property(lambda self: swapaxes(self, -1, -2), doc="The last two dimensions exchanged.")
)


@operator(functional="movedim", generation=2, methods=("movedim", "moveaxis"))
def _MoveAxis(x, source: IntOrTuple, destination: IntOrTuple):
    """A Tensor with dimensions moved to other places, the others in their order.

    Inputs:
        - **x** (Tensor) - Any Tensor.
        - **source** (Union[int, tuple[int]]) - Which dimensions.
        - **destination** (Union[int, tuple[int]]) - Where they go.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("movedim", "x", x)
    return jnp.moveaxis(x, source, destination)


spelling(_MoveAxis, function="moveaxis")(_MoveAxis.functional)


CASES = [
    case(Transpose, F(2, 3, 4), (2, 0, 1)),
    case(_MoveAxis, F(2, 3), 0, 1),
    refused(ValueError, Transpose, F(2, 3), (0,)),
]
