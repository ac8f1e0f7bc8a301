"""Operators that change the shape of a Tensor, or its order of elements, and no value."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Axis, DType, Int, Ints, OneOf, PositiveInt, Shape, Tensors
from msnb.core.checks import Check, Range
from msnb.core.declare import operator
from msnb.core.dtype import np_dtype
from msnb.ops._check import ANY, INDEX, axes_in, axis_in, dtype_in, rank, same_dtype, tensor_only
from msnb.ops._half import widened


def resolve_shape(op, size, shape):
    """`shape` with its -1 replaced by what is left of `size` elements."""
    if any(n < -1 for n in shape) or shape.count(-1) > 1:
        raise ValueError(
            f"For '{op}', 'shape' should have at most one -1 and no other negative number, but got {shape}."
        )
    known = math.prod(n for n in shape if n != -1)
    if -1 not in shape:
        fits = known == size
    else:
        fits = known != 0 and size % known == 0
        shape = tuple(size // known if n == -1 else n for n in shape) if fits else shape
    if not fits:
        raise ValueError(f"For '{op}', a Tensor of {size} elements cannot take the shape {shape}.")
    return shape


@operator(functional="reshape")
def Reshape(x, shape: Shape):
    """The elements of a Tensor, in order, in another shape.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **shape** (tuple[int]) - The new shape; one entry may be -1, it is worked out from the others.

    Outputs:
        Tensor of shape `shape` and the element type of `x`.

    Raises:
        TypeError: If `shape` is not a tuple of int.
        ValueError: If there is more than one -1, or the number of elements does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Reshape()(Tensor([[1, 2, 3], [4, 5, 6]], mindspore.int32), (3, -1)))
        [[1 2]
         [3 4]
         [5 6]]
    """
    tensor_only("Reshape", "x", x)
    return jnp.reshape(x, resolve_shape("Reshape", x.size, shape))


@operator(functional="expand_dims", methods=("expand_dims",))
def ExpandDims(x, axis: Int):
    """A Tensor with a dimension of length 1 inserted.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **axis** (int) - Where the new dimension goes, in [-x.ndim - 1, x.ndim].

    Outputs:
        Tensor with one dimension more.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.ExpandDims()(Tensor([1, 2], mindspore.int32), 0))
        [[1 2]]
    """
    tensor_only("ExpandDims", "x", x)
    return jnp.expand_dims(x, axis_in("ExpandDims", axis, x.ndim + 1))


@operator(functional="squeeze", methods=("squeeze",))
def Squeeze(x, *, axis: Axis = ()):
    """A Tensor without its dimensions of length 1.

    Args:
        axis (Union[int, tuple]): Dimensions to drop, each of length 1; all of them for (). Default: ().

    Inputs:
        - **x** (Tensor) - Of any shape and type.

    Outputs:
        Tensor with the remaining dimensions.

    Raises:
        TypeError: If `axis` is not an int or tuple.
        ValueError: If a named dimension is out of range or not of length 1.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Squeeze(2)(Tensor(np.ones((3, 2, 1)), mindspore.float32)).shape)
        (3, 2)
    """
    tensor_only("Squeeze", "x", x)
    if isinstance(axis, tuple) and not axis:
        return jnp.squeeze(x)
    axes = axes_in("Squeeze", axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"For 'Squeeze', dimension {a} should have length 1, but the shape is {x.shape}.")
    return jnp.squeeze(x, axes)


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


def _cut(x, kind):
    """Floats as int32 or int64 without their fractions; the smallest integer for what is none of that type."""
    least = jnp.iinfo(kind).min
    return jnp.where((x >= float(least)) & (x < -float(least)), x.astype(kind), least)


def _integers(x, target):
    """Floats as integers, as MindSpore converts them on a CPU: by way of 32 bits, or of 64 for the wide types."""
    x = widened(x)
    if target == jnp.uint64:
        above = x >= 2.0**63
        below = _cut(jnp.where(above, x - 2.0**63, x), jnp.int64).astype(target)
        return jnp.where(above, below + jnp.asarray(2**63, target), below)
    return _cut(x, jnp.int64 if target in (jnp.int64, jnp.uint32) else jnp.int32).astype(target)


def cast_array(x, target):
    """`x` as numpy dtype `target`: fractions are cut, and what is out of range wraps around as in C."""
    if jnp.issubdtype(x.dtype, jnp.floating) and jnp.issubdtype(target, jnp.integer):
        return _integers(x, target)
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(target, jnp.complexfloating):
        x = x.real
    return x.astype(target)


@operator(functional="cast")
def Cast(x, type: DType):
    """A Tensor with another element type.

    Inputs:
        - **x** (Union[Tensor, Number]) - Of any shape and type.
        - **type** (mindspore.dtype) - The new element type. Fractions are cut off on the way to integers.

    Outputs:
        Tensor of the shape of `x` and element type `type`.

    Raises:
        TypeError: If `type` is not the type of Tensor elements.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Cast()(Tensor([1.5, -2.5], mindspore.float32), mindspore.int32))
        [ 1 -2]
    """
    return cast_array(x, np_dtype(type))


@operator(functional="deepcopy")
def Identity(x):
    """A copy of a Tensor.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.

    Outputs:
        Tensor equal to `x`.

    Raises:
        TypeError: If `x` is not a Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Identity()(Tensor([1, 2], mindspore.int64)))
        [1 2]
    """
    dtype_in("Identity", "x", x, ANY)
    return jnp.array(x, copy=True)


@operator(functional="flip")
def ReverseV2(x, *, axis: Axis):
    """A Tensor with the order of its elements reversed along axes.

    Args:
        axis (Union[tuple[int], list[int]]): The axes to reverse.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `axis` is not made of int.
        ValueError: If an axis is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.ReverseV2(axis=[1])(Tensor([[1, 2], [3, 4]], mindspore.int32)))
        [[2 1]
         [4 3]]
    """
    dtype_in("ReverseV2", "x", x, ANY)
    axes = tuple(axis_in("ReverseV2", a, x.ndim) for a in ((axis,) if isinstance(axis, int) else axis))
    return jnp.flip(x, axes)


def _sequence_lengths(given):
    x, seq = given["x"], given["seq_dim"]
    return [Range(given["seq_lengths"], x.shape[seq] + 1)] if -np.ndim(x) <= seq < np.ndim(x) else ()


@operator(functional="reverse_sequence", checks=[Check("seq_lengths", _sequence_lengths)])
def ReverseSequence(x, seq_lengths, *, seq_dim: Int, batch_dim: Int = 0):
    """The first `seq_lengths[b]` elements of each sequence b in reverse order, the rest as it is.

    Args:
        seq_dim (int): Dimension along which the sequences run.
        batch_dim (int): Dimension that counts the sequences. Default: 0.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.
        - **seq_lengths** (Tensor) - int32 or int64, of shape (x.shape[batch_dim],).

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If a dimension is not an int or `seq_lengths` is not of integers.
        ValueError: If a dimension is out of range or the shapes do not fit.
        RuntimeError: If a length is negative or too large; in a compiled graph only with ``check_indices``.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[1, 2, 3], [4, 5, 6]], mindspore.float32)
        >>> print(ops.ReverseSequence(seq_dim=1)(x, Tensor([1, 3], mindspore.int32)))
        [[1. 2. 3.]
         [6. 5. 4.]]
    """
    op = "ReverseSequence"
    dtype_in(op, "x", x, ANY)
    dtype_in(op, "seq_lengths", seq_lengths, INDEX)
    seq, batch = axis_in(op, seq_dim, x.ndim, "seq_dim"), axis_in(op, batch_dim, x.ndim, "batch_dim")
    if seq == batch:
        raise ValueError(f"For '{op}', 'seq_dim' and 'batch_dim' should differ, but both are {seq}.")
    if seq_lengths.shape != (x.shape[batch],):
        raise ValueError(
            f"For '{op}', 'seq_lengths' should have shape {(x.shape[batch],)}, but got {seq_lengths.shape}."
        )
    place = jnp.arange(x.shape[seq]).reshape([-1 if i == seq else 1 for i in range(x.ndim)])
    length = seq_lengths.reshape([-1 if i == batch else 1 for i in range(x.ndim)])
    return jnp.take_along_axis(x, jnp.where(place < length, length - 1 - place, place), seq)


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


@operator(functional="padding")
def Padding(x, *, pad_dim_size: PositiveInt = 8):
    """A Tensor whose last dimension, of length 1, is filled up with zeros.

    Args:
        pad_dim_size (int): New length of the last dimension. Default: 8.

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions, the last of length 1.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `pad_dim_size` is not an int.
        ValueError: If `pad_dim_size` is not positive or the last dimension is not 1.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Padding(4)(Tensor([[8], [10]], mindspore.float32)))
        [[ 8.  0.  0.  0.]
         [10.  0.  0.  0.]]
    """
    tensor_only("Padding", "x", x)
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ValueError(
            f"For 'Padding', 'x' should have at least 2 dimensions and the last of length 1, but got shape {x.shape}."
        )
    return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, pad_dim_size - 1)])


@operator(functional="diag")
def Diag(x):
    """A Tensor with `x` on its diagonal and zeros elsewhere.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Tensor of shape (*x.shape, *x.shape).

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Diag()(Tensor([1, 2], mindspore.int32)))
        [[1 0]
         [0 2]]
    """
    tensor_only("Diag", "x", x)
    if not x.ndim:
        raise ValueError("For 'Diag', 'x' should have at least 1 dimension, but got a scalar.")
    return jnp.diag(x.reshape(-1)).reshape(x.shape * 2)


@operator(functional="diag_part")
def DiagPart(x):
    """The diagonal of a Tensor whose shape is twice the same: the inverse of Diag.

    Inputs:
        - **x** (Tensor) - Of shape (*D, *D).

    Outputs:
        Tensor of shape D.

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If the two halves of the shape differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.DiagPart()(Tensor([[1, 0], [0, 2]], mindspore.int32)))
        [1 2]
    """
    tensor_only("DiagPart", "x", x)
    half = x.shape[: x.ndim // 2]
    if not x.ndim or x.shape != half * 2:
        raise ValueError(f"For 'DiagPart', the two halves of the shape of 'x' should agree, but got {x.shape}.")
    count = math.prod(half)
    return jnp.diagonal(x.reshape(count, count)).reshape(half)


@operator
def TransShape(x, shape: Shape):
    """The elements of a Tensor, in order, in another shape.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **shape** (tuple[int]) - The new shape.

    Outputs:
        Tensor of shape `shape`.

    Raises:
        ValueError: If the number of elements does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return jnp.reshape(x, resolve_shape("TransShape", x.size, shape))


@operator
def StopGradient(x):
    """A Tensor that counts as a constant in derivatives.

    Inputs:
        - **x** (Tensor) - Of any shape and type.

    Outputs:
        Tensor equal to `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return jax.lax.stop_gradient(x)
