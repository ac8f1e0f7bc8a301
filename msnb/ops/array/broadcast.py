"""Operators that broadcast, tile or expand Tensors, and coordinate grids."""

from typing import Any

import jax.numpy as jnp

from msnb.common.kinds import Bool, Ints, OneOf, Shape, Tensors, check
from msnb.core.errors.messages import describe
from msnb.core.operator.api_generations import called_as, differs_in_api2
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import rank, same_dtype, tensor_argument, tensor_only
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor
from msnb.ops._shapes import shapes


@operator(functional="broadcast_to", called=(("input", "input_x"),), methods=("broadcast_to",), casts_inputs=False)
def BroadcastTo(x, *, shape: Shape):
    """Broadcast a Tensor to a given shape.

    Args:
        shape (tuple[int]): The shape to reach; -1 keeps the length that `x` has there.

    Inputs:
        - **x** (Tensor) - Of a shape that broadcasts to `shape`.

    Outputs:
        Tensor of shape `shape` and the element type of `x`.

    Raises:
        TypeError: If `shape` is not a tuple of int.
        ValueError: If `x` does not broadcast to `shape`.

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


@spelling(BroadcastTo, numpy="broadcast_to")
def _numpy_broadcast_to(array: ArrayLike, shape: Shape) -> Tensor:
    """Broadcast a Tensor to a given shape.

    Args:
        array (Union[Tensor, list, tuple, Number]): Of a shape that broadcasts to `shape`.
        shape (Union[int, tuple[int], list[int]]): The shape to reach.

    Returns:
        Tensor of shape `shape` and the element type of `array`.

    Raises:
        TypeError: If `shape` does not consist of int.
        ValueError: If `array` does not broadcast to `shape`.
    """
    shape = check(Shape, shape, "shape", "broadcast_to")
    if any(n < 0 for n in shape):
        raise ValueError(f"For 'broadcast_to', 'shape' should not have negative entries, but got {shape}.")
    return BroadcastTo.functional(as_tensor(array, "broadcast_to", "array"), shape)


@operator
@shapes("inputs: ~s")
def _BroadcastTensors(inputs: Tensors):
    """Broadcast Tensors to their common shape.

    Inputs:
        - **inputs** (tuple[Tensor]) - Tensors whose shapes broadcast.

    Outputs:
        A tuple of Tensors of one shape.
    """
    return tuple(jnp.broadcast_arrays(*inputs))


@spelling(_BroadcastTensors, numpy="broadcast_arrays")
def broadcast_arrays(*args: ArrayLike) -> list[Tensor]:
    """Broadcast Tensors to their common shape; each keeps its element type.

    Args:
        args (Union[Tensor, list, tuple, Number]): Of shapes that broadcast.

    Returns:
        list of Tensors.

    Raises:
        ValueError: If the shapes do not broadcast.
    """
    tensors = tuple(as_tensor(v, "broadcast_arrays", f"args[{i}]") for i, v in enumerate(args))
    return list(_BroadcastTensors.functional(tensors)) if len(tensors) > 1 else list(tensors)


@spelling(BroadcastTo, method="expand_as")
@keyword_aliases(other="x")
def _tensor_expand_as(self: Tensor, x: Tensor) -> Tensor:
    """Broadcast the Tensor to the shape of another."""
    return BroadcastTo.functional(self, x.shape)


@spelling(BroadcastTo, method="expand")
def _tensor_expand(self: Tensor, *size: Any) -> Tensor:
    """Broadcast the Tensor to a shape; -1 keeps the length of a dimension."""
    return BroadcastTo.functional(self, tuple(size[0] if isinstance(size[0], (tuple, list, Tensor)) else size))


@operator(functional="tile", generation=1, called=(("input", "input_x"), ("dims", "repeats", "reps")))
def Tile(x, multiples: Ints):
    """Tile a Tensor: repeat it a number of times along each dimension.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **multiples** (tuple[int]) - Number of repetitions along each dimension. If there are more entries than
          dimensions of `x`, dimensions of length 1 are prepended to `x`.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `multiples` is not a tuple of int.
        ValueError: If an entry is not positive or there are fewer entries than dimensions.

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


_SHORT_TILE = "fewer multiples than dimensions are those of the last ones, and 0 gives an empty result"


@differs_in_api2(_SHORT_TILE)
@spelling(Tile, function="tile")
@keyword_aliases(input_x="input", x="input", repeats="dims", reps="dims", multiples="dims")
def _tile_api2(input: Tensor, dims: Ints) -> Tensor:
    """Tile a Tensor: repeat it a number of times along each dimension.

    Args:
        input (Tensor): Of any shape and type.
        dims (tuple[int]): Number of repetitions along each dimension. Fewer entries than dimensions of `input` apply to
            the last dimensions. For more entries, dimensions of length 1 are prepended to `input`.

    Returns:
        Tensor of the element type of `input`, empty if an entry is 0.

    Raises:
        TypeError: If `dims` does not consist of int.
        ValueError: If an entry is negative.

    Examples:
        >>> print(ops.tile(Tensor([[1, 2]], mindspore.int32), (2, 2)))
        [[1 2 1 2]
         [1 2 1 2]]
    """
    dims = check(Ints, dims, "dims", "tile")
    return _tile(tensor_argument("tile", "input", input), dims, "dims")


def _tile(x, dims, argument):
    """Tile `x`; missing entries of `dims` in front are 1, and an entry of 0 gives an empty Tensor."""
    dims = (1,) * (x.ndim - len(dims)) + dims
    if any(n < 0 for n in dims):
        raise ValueError(f"For 'tile', '{argument}' should not have negative entries, but got {dims}.")
    if 0 in dims:
        shape = (1,) * (len(dims) - x.ndim) + x.shape
        return x.new_zeros(tuple(n * r for n, r in zip(shape, dims, strict=True)))
    return Tile.functional(x, dims) if dims else x


called_as(Tile, _tile_api2, _SHORT_TILE)


@spelling(Tile, method="tile")
@keyword_aliases(reps="dims", repeats="dims")
def _tensor_tile(self: Tensor, *several: Any, dims: Any = None) -> Tensor:
    """Tile the Tensor; the number of repetitions along each dimension comes as a tuple or as several ints."""
    first = several[0] if several else dims
    return _tile_api2(self, first if len(several) < 2 and not isinstance(first, int) else several or (dims,))


@spelling(Tile, numpy="tile")
def _numpy_tile(a: ArrayLike, reps: Shape) -> Tensor:
    """Tile a Tensor: repeat it a number of times along each dimension.

    Args:
        a (Union[Tensor, list, tuple, Number]): Any Tensor.
        reps (Union[int, tuple[int], list[int]]): Number of repetitions along each dimension. Fewer entries than
            dimensions of `a` apply to the last dimensions. For more entries, dimensions of length 1 are prepended to
            `a`.

    Returns:
        Tensor of the element type of `a`.

    Raises:
        TypeError: If `reps` does not consist of int.
        ValueError: If an entry is negative.

    Examples:
        >>> print(mindspore.numpy.tile([[1, 2]], 2))
        [[1 2 1 2]]
    """
    a, reps = as_tensor(a, "tile", "a"), check(Shape, reps, "reps", "tile")
    return _tile(a, reps, "reps")


@operator
def Meshgrid(inputs: Tensors, *, indexing: OneOf("xy", "ij") = "xy"):
    """Make coordinate grids from vectors.

    Args:
        indexing (str): "xy": the first vector varies along axis 1 of the grids; "ij": along axis 0. Default: "xy".

    Inputs:
        - **inputs** (tuple[Tensor]) - At least 2 vectors of one element type.

    Outputs:
        A tuple with a Tensor of the grid's shape for each vector.

    Raises:
        TypeError: If `inputs` is not a tuple of Tensors of one element type.
        ValueError: If there are fewer than 2 inputs, or an input is not a vector.

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.int32), Tensor([5, 6], mindspore.int32)
        >>> print(ops.Meshgrid()((x, y))[1])
        [[5 5 5]
         [6 6 6]]
    """
    if len(inputs) < 2:
        raise ValueError(f"For 'Meshgrid', there should be at least 2 vectors, but got {len(inputs)}.")
    for i, x in enumerate(inputs):
        rank("Meshgrid", f"inputs[{i}]", x, 0, 1)
    same_dtype("Meshgrid", **{f"inputs[{i}]": x for i, x in enumerate(inputs)})
    return tuple(jnp.meshgrid(*(x.reshape(-1) for x in inputs), indexing=indexing))


@spelling(Meshgrid)
def meshgrid(*inputs: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Make coordinate grids from vectors.

    Args:
        inputs (Tensor): At least 2 vectors of one element type.
        indexing (str): "xy": the first vector varies along axis 1 of the grids; "ij": along axis 0. Default: "xy".

    Returns:
        A tuple of Tensors.
    """
    return Meshgrid.functional(inputs, indexing=indexing)


@operator
@shapes("inputs: _")
def _Grid(inputs: Tensors, *, indexing: OneOf("xy", "ij") = "xy", sparse: Bool = False):
    """Make coordinate grids from any number of vectors, which may differ in their element types.

    Args:
        indexing (str): "xy": the first vector varies along axis 1 of the grids; "ij": along axis 0. Default: "xy".
        sparse (bool): Give each grid length 1 in the dimensions along which it is constant. Default: False.

    Inputs:
        - **inputs** (tuple[Tensor]) - Vectors.

    Outputs:
        A tuple with a Tensor for each vector.
    """
    return tuple(jnp.meshgrid(*inputs, indexing=indexing, sparse=sparse))


@spelling(_Grid, numpy="meshgrid")
def _numpy_meshgrid(*xi: ArrayLike, sparse: bool = False, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Make coordinate grids from vectors.

    Args:
        xi (Union[Tensor, list, tuple, Number]): The coordinates along each axis; Tensors of other ranks are flattened.
        sparse (bool): Give each grid length 1 in the dimensions along which it is constant. Default: False.
        indexing (str): "xy": the first vector varies along axis 1 of the grids; "ij": along axis 0. Default: "xy".

    Returns:
        A tuple of Tensors, one for each of `xi`.

    Raises:
        TypeError: If `sparse` is not a bool, or `indexing` is neither "xy" nor "ij".

    Examples:
        >>> x, y = mindspore.numpy.meshgrid(mindspore.numpy.arange(3), mindspore.numpy.arange(2))
        >>> print(y)
        [[0 0 0]
         [1 1 1]]
    """
    if indexing not in ("xy", "ij"):
        raise TypeError(f"For 'meshgrid', 'indexing' should be 'xy' or 'ij', but got {describe(indexing)}.")
    vectors = tuple(as_tensor(x, "meshgrid", f"xi[{i}]").ravel() for i, x in enumerate(xi))
    grids = _Grid.functional(vectors, indexing, sparse) if vectors else ()
    return grids if isinstance(grids, tuple) else (grids,)


@spelling(BroadcastTo, function="expand")
def _expand(input_x: Tensor, size: Tensor | tuple[int, ...]) -> Tensor:
    """Broadcast a Tensor to a given shape.

    Args:
        input_x (Tensor): Any Tensor.
        size (Union[Tensor, tuple[int]]): The shape; -1 keeps the length of a dimension.

    Returns:
        Tensor of shape `size`.

    Raises:
        TypeError: If `size` does not consist of int.
        ValueError: If `input_x` does not broadcast to `size`.
    """
    return BroadcastTo(tuple(size.tolist()) if isinstance(size, Tensor) else size)(input_x)


@spelling(BroadcastTo, function="expand_as")
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Broadcast a Tensor to the shape of another.

    Args:
        input (Tensor): Any Tensor.
        other (Tensor): The Tensor whose shape is used.

    Returns:
        Tensor.

    Raises:
        TypeError: If `other` is not a Tensor.
        ValueError: If `input` does not broadcast to the shape of `other`.
    """
    return BroadcastTo(tensor_argument("expand_as", "other", other).shape)(input)


@operator(generation=2)
def Expand(x, shape: Shape):
    """Broadcast a Tensor to a shape. `BroadcastTo` is the newer operator.

    Inputs:
        - **x** (Tensor) - Any Tensor.
        - **shape** (Union[Tensor, tuple[int]]) - The shape; -1 keeps the length of a dimension.

    Outputs:
        Tensor of that shape.

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If `x` does not broadcast to the shape.
    """
    tensor_only("Expand", "x", x)
    behind = (1,) * (len(shape) - x.ndim) + x.shape
    target = tuple(old if new == -1 else new for new, old in zip(shape, behind))
    if len(shape) < x.ndim or any(old not in (1, new) for new, old in zip(target, behind)):
        raise ValueError(f"For 'Expand', 'x' should broadcast to {shape}, but its shape is {x.shape}.")
    return jnp.broadcast_to(x, target)


CASES = [
    case(Expand, F(2, 1), Values([2, 3])),
    case(Expand, F(2, 1), (2, -1, 3)),
    case(_expand, F(3), (2, -1)).without("mindspore", "2.7.1 takes the shape as a Tensor"),
    case(expand_as, F(3), F(2, 3)).wrt(0),
    case(_Grid, (F(2), F(3)), indexing="ij", sparse=True).without("mindspore", NUMPYS),
    case(BroadcastTo, F(3, 1), shape=(2, 3, 4)),
    case(_BroadcastTensors, (F(2, 1), F(3))),
    case(Tile, F(2, 3), (2, 2)),
    case(Tile, F(3), (2, 1, 2)),
    case(Meshgrid, (F(2), F(3)), indexing="xy"),
    case(Meshgrid, (F(2), F(3)), indexing="ij"),
    refused(ValueError, BroadcastTo, F(2, 3), shape=(2, 2)),
    refused(ValueError, Tile, F(2, 3), (2,)),
]
