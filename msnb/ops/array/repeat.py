"""Elements repeated, rolled, reversed or turned."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import (
    Axis,
    Int,
    IntOrTuple,
    Ints,
    PositiveInt,
    check,
)
from msnb.core.cases import F, Values, case
from msnb.core.checks import Check, Range
from msnb.core.declare import operator, spelling
from msnb.core.tensor import Tensor
from msnb.ops._check import (
    ANY,
    INDEX,
    axis_in,
    dtype_in,
    tensor_only,
)


@operator(functional="repeat_interleave", generation=2, methods=("repeat_interleave",))
def _RepeatInterleave(input, repeats: IntOrTuple, axis: Axis = ()):
    """Each element of a Tensor several times, one after another.

    Args:
        input (Tensor): Any Tensor.
        repeats (Union[int, tuple[int]]): How often, for all elements or for each one along `axis`.
        axis (int): The axis; the flattened Tensor for None. Default: ().

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.repeat_interleave(Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    tensor_only("repeat_interleave", "input", input)
    total = None if isinstance(repeats, int) else sum(repeats)
    return jnp.repeat(
        input,
        repeats if isinstance(repeats, int) else jnp.asarray(repeats),
        None if axis == () else axis_in("repeat_interleave", axis, input.ndim),
        total_repeat_length=total,
    )


@spelling(_RepeatInterleave)
def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Each slice along an axis several times, one after another.

    Args:
        x (Tensor): Numbers.
        rep (int): How often, positive.
        axis (int): The axis. Default: 0.

    Returns:
        Tensor.

    Raises:
        TypeError: If `rep` or `axis` is not an int.
        ValueError: If `rep` is not positive or `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.repeat_elements(Tensor([[0, 1], [2, 3]], mindspore.int32), 2, 0))
        [[0 1]
         [0 1]
         [2 3]
         [2 3]]
    """
    rep = check(PositiveInt, rep, "rep", "repeat_elements")
    axis = axis_in("repeat_elements", check(Int, axis, "axis", "repeat_elements"), x.ndim)
    return _RepeatInterleave.functional(x, rep, axis)


@spelling(_RepeatInterleave, method="repeat", generation=1)
def _repeat_of(self: Tensor, repeats: int | tuple[int, ...] | list[int], axis: int | None = None) -> Tensor:
    """Each element several times, one after another, as numpy's repeat.

    Args:
        repeats (Union[int, tuple[int], list[int]]): How often, for all elements or for each one along `axis`.
        axis (int): The axis; the flattened Tensor for None. Default: None.

    Returns:
        Tensor.
    """
    return _RepeatInterleave.functional(self, repeats, axis)


@operator(functional="roll", methods=("roll",))
def Roll(input, shifts: IntOrTuple, dims: Axis = ()):
    """A Tensor whose elements move along dimensions; what leaves at the end comes in at the beginning.

    Args:
        input (Tensor): Any Tensor.
        shifts (Union[int, tuple[int]]): How far.
        dims (Union[None, int, tuple[int]]): Along which dimensions; the flattened Tensor for (). Default: ().

    Returns:
        Tensor of the shape of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.roll(Tensor([1, 2, 3]), 1))
        [3 1 2]
    """
    tensor_only("roll", "input", input)
    return jnp.roll(input, shifts, None if dims == () else dims)


@operator(functional="rot90", generation=2, methods=("rot90",))
def _Rot90(input, k: Int, dims: Ints):
    """A Tensor turned by quarter turns in the plane of two dimensions.

    Args:
        input (Tensor): Of at least 2 dimensions.
        k (int): How many quarter turns.
        dims (tuple[int]): The two dimensions.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("rot90", "input", input)
    return jnp.rot90(input, k, dims)


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


@spelling(ReverseV2, method="flip")
def _flip_of(self: Tensor, *dims: Any) -> Tensor:
    """The order of the elements reversed along axes."""
    return ReverseV2.functional(self, dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims)


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


CASES = [
    case(_RepeatInterleave, F(2, 2), 2, 1),
    case(Roll, F(2, 3), 1, 1),
    case(_Rot90, F(2, 3), 1, (0, 1)),
    case(ReverseV2, F(2, 3), axis=(1,)),
    case(ReverseSequence, F(2, 4), Values([3, 1]), seq_dim=1, batch_dim=0),
]
