"""Tensors repeated along dimensions of length 1, tiled, or spread over a grid."""

from typing import Any

import jax.numpy as jnp

from msnb.common.kinds import (
    Ints,
    OneOf,
    Shape,
    Tensors,
)
from msnb.core.cases import F, case, refused
from msnb.core.declare import operator, spelling
from msnb.core.tensor import Tensor
from msnb.ops._check import rank, same_dtype, tensor_only


@operator(functional="broadcast_to", methods=("broadcast_to",))
def BroadcastTo(x, *, shape: Shape):
    """A Tensor repeated along its dimensions of length 1 until it has a given shape.

    Args:
        shape (tuple[int]): The shape to reach; -1 keeps the length that `x` has there.

    Inputs:
        - **x** (Tensor) - Of a shape that broadcasts to `shape`.

    Outputs:
        Tensor of shape `shape` and the element type of `x`.

    Raises:
        TypeError: If `shape` is not a tuple of int.
        ValueError: If `x` does not broadcast to `shape`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.BroadcastTo((2, 3))(Tensor([1, 2, 3], mindspore.int32)))
        [[1 2 3]
         [1 2 3]]
    """
    tensor_only("BroadcastTo", "x", x)
    extra = len(shape) - x.ndim
    target = tuple(x.shape[i - extra] if n == -1 and i >= extra else n for i, n in enumerate(shape))
    if (
        extra < 0
        or any(n < 0 for n in target)
        or any(a not in (b, 1) for a, b in zip(x.shape, target[extra:], strict=True))
    ):
        raise ValueError(f"For 'BroadcastTo', a Tensor of shape {x.shape} does not broadcast to {shape}.")
    return jnp.broadcast_to(x, target)


@operator
def _BroadcastTensors(inputs: Tensors):
    """Tensors broadcast against each other.

    Inputs:
        - **inputs** (tuple[Tensor]) - Tensors whose shapes broadcast.

    Outputs:
        A tuple of Tensors of one shape.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return tuple(jnp.broadcast_arrays(*inputs))


@spelling(BroadcastTo, method="expand_as")
def _expand_as_of(self: Tensor, x: Tensor) -> Tensor:
    """The Tensor broadcast to the shape of another."""
    return BroadcastTo.functional(self, x.shape)


@spelling(BroadcastTo, method="expand")
def _expand_of(self: Tensor, *size: Any) -> Tensor:
    """The Tensor broadcast to a shape, in which -1 keeps a length."""
    return BroadcastTo.functional(self, tuple(size[0] if isinstance(size[0], (tuple, list, Tensor)) else size))


@operator(functional="tile", methods=("tile",))
def Tile(x, multiples: Ints):
    """A Tensor repeated along its dimensions.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **multiples** (tuple[int]) - How often each dimension is repeated; more entries than `x` has dimensions
          add dimensions in front.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `multiples` is not a tuple of int.
        ValueError: If an entry is not positive or there are fewer entries than dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Tile()(Tensor([[1, 2]], mindspore.int32), (2, 2)))
        [[1 2 1 2]
         [1 2 1 2]]
    """
    tensor_only("Tile", "x", x)
    if len(multiples) < x.ndim:
        raise ValueError(
            f"For 'Tile', 'multiples' should have at least {x.ndim} entries, one for each dimension of "
            f"'x', but got {multiples}."
        )
    if any(m <= 0 for m in multiples):
        raise ValueError(f"For 'Tile', 'multiples' should be positive, but got {multiples}.")
    return jnp.tile(x, multiples)


@operator
def Meshgrid(inputs: Tensors, *, indexing: OneOf("xy", "ij") = "xy"):
    """Coordinate grids of vectors.

    Args:
        indexing (str): "xy" if the first vector runs along the columns, "ij" along the rows. Default: "xy".

    Inputs:
        - **inputs** (tuple[Tensor]) - At least 2 vectors of one element type.

    Outputs:
        A tuple of as many Tensors, each of the grid's shape.

    Raises:
        TypeError: If `inputs` is not a tuple of Tensors of one element type.
        ValueError: If there are fewer than 2 vectors, or one is not a vector.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.int32), Tensor([5, 6], mindspore.int32)
        >>> print(ops.Meshgrid()((x, y))[1])
        [[5 5 5]
         [6 6 6]]
    """
    if len(inputs) < 2:
        raise ValueError(f"For 'Meshgrid', there should be at least 2 vectors, but got {len(inputs)}.")
    for i, x in enumerate(inputs):
        rank("Meshgrid", f"inputs[{i}]", x, 1)
    same_dtype("Meshgrid", **{f"inputs[{i}]": x for i, x in enumerate(inputs)})
    return tuple(jnp.meshgrid(*inputs, indexing=indexing))


@spelling(Meshgrid)
def meshgrid(*inputs: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinate grids of vectors.

    Args:
        inputs (Tensor): At least 2 vectors of one element type.
        indexing (str): "xy" if the first vector runs along the columns, "ij" along the rows. Default: "xy".

    Returns:
        A tuple of Tensors.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return Meshgrid.functional(inputs, indexing=indexing)


CASES = [
    case(BroadcastTo, F(3, 1), shape=(2, 3, 4)),
    case(_BroadcastTensors, (F(2, 1), F(3))),
    case(Tile, F(2, 3), (2, 2)),
    case(Tile, F(3), (2, 1, 2)),
    case(Meshgrid, (F(2), F(3)), indexing="xy"),
    case(Meshgrid, (F(2), F(3)), indexing="ij"),
    refused(ValueError, BroadcastTo, F(2, 3), shape=(2, 2)),
    refused(ValueError, Tile, F(2, 3), (2,)),
]
