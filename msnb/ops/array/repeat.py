"""Operators that repeat, roll, reverse or rotate the elements of a Tensor."""

from collections.abc import Sequence
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
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.operator.value_checks import Check, Range
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import (
    ANY,
    INDEX,
    axes_in,
    axis_in,
    dtype_in,
    tensor_argument,
    tensor_only,
)
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops._shapes import shapes


@operator(functional="repeat_interleave", generation=2)
def _RepeatInterleave(input, repeats: IntOrTuple, axis: Axis = ()):
    """Repeat each element of a Tensor: [a, b] becomes [a, a, b, b].

    Args:
        input (Tensor): Any Tensor.
        repeats (Union[int, tuple[int]]): Number of repetitions: one for all elements, or one for each element along
            `axis`.
        axis (int): The axis; None flattens the Tensor. Default: ().

    Returns:
        Tensor.

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


@spelling(_RepeatInterleave, method="repeat_interleave")
@keyword_aliases(dim="axis")
def _tensor_repeat_interleave(
    self: Tensor, repeats: int | Sequence[int] | Tensor, axis: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element. `output_size`, if set, is the length along the axis."""
    repeated = _RepeatInterleave.functional(self, repeats, () if axis is None else axis)
    length = repeated.shape[0 if axis is None else axis]
    if output_size is not None and output_size != length:
        raise ValueError(f"For 'repeat_interleave', 'output_size' should be {length}, but got {output_size}.")
    return repeated


@spelling(_RepeatInterleave)
def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Repeat each slice along an axis: [a, b] becomes [a, a, b, b].

    Args:
        x (Tensor): Numbers.
        rep (int): Number of repetitions, positive.
        axis (int): The axis. Default: 0.

    Returns:
        Tensor.

    Raises:
        TypeError: If `rep` or `axis` is not an int.
        ValueError: If `rep` is not positive or `axis` is out of range.

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
def _tensor_repeat(self: Tensor, repeats: int | tuple[int, ...] | list[int], axis: int | None = None) -> Tensor:
    """Repeat each element: [a, b] becomes [a, a, b, b], as numpy's repeat does.

    Args:
        repeats (Union[int, tuple[int], list[int]]): Number of repetitions: one for all elements, or one for each
            element along `axis`.
        axis (int): The axis; None flattens the Tensor. Default: None.

    Returns:
        Tensor.
    """
    return _RepeatInterleave.functional(self, repeats, axis)


@spelling(_RepeatInterleave, numpy="repeat")
def repeat(a: ArrayLike, repeats: int | tuple[int, ...] | list[int], axis: int | None = None) -> Tensor:
    """Repeat each element of a Tensor: [a, b] becomes [a, a, b, b].

    Args:
        a (Union[Tensor, list, tuple, Number]): Any Tensor.
        repeats (Union[int, tuple[int], list[int]]): Number of repetitions: one for all elements, or one for each
            element along `axis`.
        axis (int): The axis; None flattens the Tensor. Default: None.

    Returns:
        Tensor.

    Raises:
        TypeError: If `repeats` does not consist of int, or `axis` is not an int.
        ValueError: If `axis` is out of range, or `repeats` is negative or not as long as the axis.

    Examples:
        >>> print(mindspore.numpy.repeat([[1, 2], [3, 4]], [1, 2], axis=0))
        [[1 2]
         [3 4]
         [3 4]]
    """
    a, repeats = as_tensor(a, "repeat", "a"), check(IntOrTuple, repeats, "repeats", "repeat")
    if axis is None:
        a, axis = a.ravel(), 0
    axis = axis_in("repeat", check(Int, axis, "axis", "repeat"), a.ndim)
    each = (repeats,) if isinstance(repeats, int) else repeats
    if len(each) not in (1, a.shape[axis]) or any(n < 0 for n in each):
        raise ValueError(
            f"For 'repeat', 'repeats' should be one number or {a.shape[axis]}, one for each place along axis {axis}, "
            f"and none negative, but got {repeats}."
        )
    return _RepeatInterleave.functional(a, each[0] if len(each) == 1 else each, axis)


@operator(functional="roll", methods=("roll",))
def Roll(input, *, shifts: IntOrTuple, dims: Axis = ()):
    """Roll a Tensor along dimensions: elements moved past the end return at the beginning.

    Args:
        input (Tensor): Any Tensor.
        shifts (Union[int, tuple[int]]): Distance of the move along each dimension, in elements.
        dims (Union[None, int, tuple[int]]): The dimensions; () rolls the flattened Tensor. Default: ().

    Returns:
        Tensor of the shape of `input`.

    Examples:
        >>> print(ops.roll(Tensor([1, 2, 3]), 1))
        [3 1 2]
    """
    tensor_only("roll", "input", input)
    for axis in (dims,) if isinstance(dims, int) else dims:
        axis_in("roll", axis, input.ndim, "dims")
    return jnp.roll(input, shifts, None if dims == () else dims)


@spelling(Roll, numpy="roll")
def _numpy_roll(
    a: ArrayLike, shift: int | tuple[int, ...] | list[int], axis: int | tuple[int, ...] | list[int] | None = None
) -> Tensor:
    """Roll a Tensor along axes: elements moved past the end return at the beginning.

    Args:
        a (Union[Tensor, list, tuple]): Any Tensor.
        shift (Union[int, tuple[int], list[int]]): Distance of the move in elements: one number for all axes, or one for
            each axis.
        axis (Union[int, tuple[int], list[int]]): The axes. Default: None, the Tensor is flattened.

    Returns:
        Tensor of the shape of `a`.

    Raises:
        TypeError: If an argument does not consist of int.
        ValueError: If an axis is out of range, or there are more shifts than axes.
    """
    a, shifts = as_tensor(a, "roll", "a"), check(IntOrTuple, shift, "shift", "roll")
    if axis is None:
        return Roll.functional(a, shifts if isinstance(shifts, int) else sum(shifts))
    axes = check(IntOrTuple, axis, "axis", "roll")
    axes = (axes,) if isinstance(axes, int) else axes
    shifts = (shifts,) if isinstance(shifts, int) else shifts
    count = max(len(axes), len(shifts))
    if {len(axes), len(shifts)} - {1, count}:
        raise ValueError(
            f"For 'roll', there should be a shift for each axis, but got {len(shifts)} for {len(axes)} axes."
        )
    moves = dict.fromkeys(axis_in("roll", d, a.ndim) for d in axes)
    for d, n in zip(axes * (count // len(axes)), shifts * (count // len(shifts)), strict=True):
        moves[d % a.ndim] = (moves[d % a.ndim] or 0) + n
    return Roll.functional(a, tuple(moves.values()), tuple(moves))


@operator(functional="rot90", generation=2, methods=("rot90",))
@shapes("input: ... _ _")
def _Rot90(input, k: Int, dims: Ints):
    """Rotate a Tensor by multiples of 90 degrees in the plane of two dimensions.

    Args:
        input (Tensor): Of at least 2 dimensions.
        k (int): Number of rotations by 90 degrees.
        dims (tuple[int]): The two dimensions.

    Returns:
        Tensor.
    """
    tensor_only("rot90", "input", input)
    return jnp.rot90(input, k, dims)


@spelling(_Rot90, numpy="rot90")
def _numpy_rot90(a: ArrayLike, k: int = 1, axes: tuple[int, int] | list[int] = (0, 1)) -> Tensor:
    """Rotate a Tensor by multiples of 90 degrees in the plane of two axes, from the first towards the second.

    Args:
        a (Union[Tensor, list, tuple]): Of at least 2 dimensions.
        k (int): Number of rotations by 90 degrees. Default: 1.
        axes (Union[tuple[int], list[int]]): The two axes. Default: (0, 1).

    Returns:
        Tensor.

    Raises:
        TypeError: If `k` is not an int, or `axes` does not consist of int.
        ValueError: If `axes` are not two different axes of `a`.
    """
    a, axes = as_tensor(a, "rot90", "a"), check(Ints, axes, "axes", "rot90")
    plane = {axis_in("rot90", d, a.ndim, "axes") for d in axes}
    if len(axes) != 2 or len(plane) != 2:
        raise ValueError(f"For 'rot90', 'axes' should be two different axes, but got {axes}.")
    return _Rot90.functional(a, k, axes)


@operator(functional="flip", called=("input", "dims"))
def ReverseV2(x, *, axis: Axis):
    """Reverse the order of the elements along axes.

    Args:
        axis (Union[tuple[int], list[int]]): The axes to reverse.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `axis` does not consist of int.
        ValueError: If an axis is out of range.

    Examples:
        >>> print(ops.ReverseV2(axis=[1])(Tensor([[1, 2], [3, 4]], mindspore.int32)))
        [[2 1]
         [4 3]]
    """
    dtype_in("ReverseV2", "x", x, ANY)
    axes = tuple(axis_in("ReverseV2", a, x.ndim) for a in ((axis,) if isinstance(axis, int) else axis))
    return jnp.flip(x, axes)


@spelling(ReverseV2, method="flip")
def _tensor_flip(self: Tensor, *axes: Any, dims: Any = None) -> Tensor:
    """Reverse the elements along axes, which come as a tuple or as several ints."""
    axes = axes if dims is None else (dims,)
    return ReverseV2.functional(self, axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes)


@spelling(ReverseV2, numpy="flip")
def _numpy_flip(m: ArrayLike, axis: int | tuple[int, ...] | list[int] | None = None) -> Tensor:
    """Reverse the order of the elements along axes.

    Args:
        m (Union[Tensor, list, tuple]): Any Tensor.
        axis (Union[int, tuple[int], list[int]]): The axes to reverse. Default: None, all of them.

    Returns:
        Tensor of the shape and element type of `m`.

    Raises:
        TypeError: If `axis` does not consist of int.
        ValueError: If an axis is out of range.
    """
    m = as_tensor(m, "flip", "m")
    axes = tuple(range(m.ndim)) if axis is None else check(IntOrTuple, axis, "axis", "flip")
    return ReverseV2.functional(m, axes_in("flip", axes, m.ndim) if axes != () else ())


@spelling(ReverseV2, numpy="flipud")
def _numpy_flipud(m: ArrayLike) -> Tensor:
    """Reverse the order of the rows.

    Args:
        m (Union[Tensor, list, tuple]): Of at least 1 dimension.

    Returns:
        Tensor of the shape and element type of `m`.

    Raises:
        ValueError: If `m` is a number.
    """
    m = as_tensor(m, "flipud", "m")
    return ReverseV2.functional(m, (axis_in("flipud", 0, m.ndim),))


@spelling(ReverseV2, numpy="fliplr")
def _numpy_fliplr(m: ArrayLike) -> Tensor:
    """Reverse the order of the columns.

    Args:
        m (Union[Tensor, list, tuple]): Of at least 2 dimensions.

    Returns:
        Tensor of the shape and element type of `m`.

    Raises:
        ValueError: If `m` has fewer than 2 dimensions.
    """
    m = as_tensor(m, "fliplr", "m")
    return ReverseV2.functional(m, (axis_in("fliplr", 1, m.ndim),))


def _list_length_ranges(inputs):
    x, seq = inputs["x"], inputs["seq_dim"]
    return [Range(inputs["seq_lengths"], x.shape[seq] + 1)] if -np.ndim(x) <= seq < np.ndim(x) else ()


@operator(functional="reverse_sequence", checks=[Check("seq_lengths", _list_length_ranges)])
def ReverseSequence(x, seq_lengths, *, seq_dim: Int, batch_dim: Int = 0):
    """Reverse the first `seq_lengths[b]` elements of each sequence b. Its other elements do not move.

    Args:
        seq_dim (int): Dimension along which the sequences run.
        batch_dim (int): Batch dimension: each of its indices is a sequence. Default: 0.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.
        - **seq_lengths** (Tensor) - int32 or int64, of shape (x.shape[batch_dim],).

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If a dimension is not an int or `seq_lengths` is not of integers.
        ValueError: If a dimension is out of range or the shapes do not fit.
        RuntimeError: If a length is negative or too large. Compiled graphs check this only with ``check_indices``.

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
    position = jnp.arange(x.shape[seq]).reshape([-1 if i == seq else 1 for i in range(x.ndim)])
    length = seq_lengths.reshape([-1 if i == batch else 1 for i in range(x.ndim)])
    return jnp.take_along_axis(x, jnp.where(position < length, length - 1 - position, position), seq)


@spelling(ReverseV2, function="reverse", method="reverse")
def reverse(x: Tensor, axis: tuple[int, ...] | list[int]) -> Tensor:
    """Reverse the order of the elements along some axes.

    Args:
        x (Tensor): Any Tensor.
        axis (Union[tuple[int], list[int]]): The axes.

    Returns:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `axis` does not consist of int.
        ValueError: If an axis is out of range.
    """
    return ReverseV2.functional(x, axis)


@spelling(ReverseV2, function="flipud", method="flipud")
def flipud(input: Tensor) -> Tensor:
    """Reverse the order of the elements along the first axis.

    Args:
        input (Tensor): Of at least 1 dimension.

    Returns:
        Tensor.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If it is a number.
    """
    return ReverseV2.functional(input, (axis_in("flipud", 0, tensor_argument("flipud", "input", input).ndim),))


@spelling(ReverseV2, function="fliplr", method="fliplr")
def fliplr(input: Tensor) -> Tensor:
    """Reverse the order of the elements along the second axis.

    Args:
        input (Tensor): Of at least 2 dimensions.

    Returns:
        Tensor.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `input` has fewer dimensions.
    """
    return ReverseV2.functional(input, (axis_in("fliplr", 1, tensor_argument("fliplr", "input", input).ndim),))


@spelling(ReverseSequence, method="reverse_sequence")
def _tensor_reverse_sequence(self: Tensor, seq_lengths: Tensor, seq_dim: int = 0, batch_dim: int = 0) -> Tensor:
    """Reverse the first `seq_lengths` elements along `seq_dim`, for each index along `batch_dim`."""
    return ReverseSequence(seq_dim, batch_dim)(self, seq_lengths)


CASES = [
    case(flipud, F(2, 3)),
    case(fliplr, F(2, 3)),
    refused(ValueError, fliplr, F(2)),
    case(_RepeatInterleave, F(2, 2), 2, 1),
    case(Roll, F(2, 3), shifts=1, dims=1),
    case(_Rot90, F(2, 3), 1, (0, 1)),
    case(ReverseV2, F(2, 3), axis=(1,)),
    case(ReverseSequence, F(2, 4), Values([3, 1]), seq_dim=1, batch_dim=0),
    case(reverse, F(2, 3), (0, 1)),
]
