"""Operators that join Tensors along an existing axis or a new one."""

from functools import partial, reduce

import jax.numpy as jnp

from msnb.common.kinds import Int, Tensors, check
from msnb.core.errors.messages import describe
from msnb.core.operator import api_generations
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import result_type
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import (
    axis_in,
    same_dtype,
    same_shape,
    tensor_argument,
    tensor_only,
)
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor, common_type


def _check_not_empty(op, xs):
    if not xs:
        raise ValueError(f"For '{op}', there should be at least 1 Tensor, but got 0.")
    for i, x in enumerate(xs):
        tensor_only(op, f"input_x[{i}]", x)


def _check_tensors(op, xs):
    _check_not_empty(op, xs)
    same_dtype(op, **{f"input_x[{i}]": x for i, x in enumerate(xs)})


def _convert_to_one_type(op, xs):
    """Return `xs` in their common element type. r1.1 refuses Tensors whose types differ."""
    _check_not_empty(op, xs)
    types = dict.fromkeys(x.dtype for x in xs)
    if len(types) == 1:
        return xs
    if not api_generations.takes_api2():
        _check_tensors(op, xs)
    common = reduce(partial(result_type, op=op), types)
    return [x.astype(common) for x in xs]


@operator
def Concat(input_x: Tensors, *, axis: Int = 0):
    """Concatenate Tensors along an axis.

    Args:
        axis (int): The axis. Default: 0.

    Inputs:
        - **input_x** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one element type and of shapes that differ
          along `axis` only. MindSpore 2 converts other element types to their common type.

    Outputs:
        Tensor whose length along `axis` is the sum of the inputs' lengths.

    Raises:
        TypeError: If `axis` is not an int, or the element types differ in r1.1 or have no common type.
        ValueError: If `axis` is out of range or the shapes do not fit.

    Examples:
        >>> x = Tensor([[0, 1], [2, 1]], mindspore.float32)
        >>> print(ops.Concat(1)((x, x)))
        [[0. 1. 0. 1.]
         [2. 1. 2. 1.]]
    """
    input_x = _convert_to_one_type("Concat", input_x)
    first = input_x[0]
    axis = axis_in("Concat", axis, first.ndim)
    for i, x in enumerate(input_x):
        if x.ndim != first.ndim or any(
            a != b for d, (a, b) in enumerate(zip(x.shape, first.shape, strict=True)) if d != axis
        ):
            raise ValueError(
                f"For 'Concat', the shapes should agree except along axis {axis}, but got {first.shape} "
                f"for input_x[0] and {x.shape} for input_x[{i}]."
            )
    return jnp.concatenate(input_x, axis)


@spelling(Concat)
def concat(tensors: tuple[Tensor, ...] | list[Tensor], axis: int = 0) -> Tensor:
    """Concatenate Tensors along an axis.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): Tensors of one element type whose shapes differ along `axis` only.
            MindSpore 2 converts other element types to their common type.
        axis (int): The axis. Default: 0.

    Returns:
        Tensor.

    Examples:
        >>> x = Tensor([[0, 1]], mindspore.float32)
        >>> print(ops.concat((x, x), 1))
        [[0. 1. 0. 1.]]
    """
    return Concat.functional(tensors, axis)


@spelling(Concat)
def cat(tensors: tuple[Tensor, ...] | list[Tensor], axis: int = 0) -> Tensor:
    """Concatenate Tensors along an axis; the same as `concat`.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): Tensors of one element type whose shapes differ along `axis` only.
            MindSpore 2 converts other element types to their common type.
        axis (int): The axis. Default: 0.

    Returns:
        Tensor.
    """
    return Concat.functional(tensors, axis)


@operator
def ParallelConcat(values: Tensors):
    """Concatenate Tensors along their first dimension, which has length 1 in each.

    Inputs:
        - **values** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one shape (1, ...) and element type.

    Outputs:
        Tensor of shape (number of inputs, ...).

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes differ or the first dimension is not 1.

    Examples:
        >>> x = Tensor([[0, 1]], mindspore.int32)
        >>> print(ops.ParallelConcat()((x, x)))
        [[0 1]
         [0 1]]
    """
    _check_tensors("ParallelConcat", values)
    same_shape("ParallelConcat", **{f"values[{i}]": x for i, x in enumerate(values)})
    if not values[0].ndim or values[0].shape[0] != 1:
        raise ValueError(
            f"For 'ParallelConcat', the first dimension of the inputs should be 1, but the shape is {values[0].shape}."
        )
    return jnp.concatenate(values)


@operator(aliases=("Pack",))
def Stack(input_x: Tensors, *, axis: Int = 0):
    """Stack Tensors of one shape along a new axis.

    Args:
        axis (int): Position of the new axis in the result. Default: 0.

    Inputs:
        - **input_x** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one shape and element type.

    Outputs:
        Tensor with one dimension more than the inputs.

    Raises:
        TypeError: If `axis` is not an int or the element types differ.
        ValueError: If `axis` is out of range or the shapes differ.

    Examples:
        >>> print(ops.Stack()((Tensor([0, 1], mindspore.int32), Tensor([2, 3], mindspore.int32))))
        [[0 1]
         [2 3]]
    """
    _check_tensors("Stack", input_x)
    same_shape("Stack", **{f"input_x[{i}]": x for i, x in enumerate(input_x)})
    return jnp.stack(input_x, axis_in("Stack", axis, input_x[0].ndim + 1))


@spelling(Stack, function=("stack", "pack"))
def stack(tensors: tuple[Tensor, ...] | list[Tensor], axis: int = 0) -> Tensor:
    """Stack Tensors of one shape along a new axis.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): Tensors of one shape and element type.
        axis (int): Position of the new axis in the result. Default: 0.

    Returns:
        Tensor with one dimension more.

    Examples:
        >>> x = Tensor([0, 1], mindspore.float32)
        >>> print(ops.stack((x, x)))
        [[0. 1.]
         [0. 1.]]
    """
    return Stack.functional(tensors, axis)


def in_one_type(function: str, arrays: ArrayLike, argument: str) -> list[Tensor]:
    """Convert a sequence of arrays to Tensors of their common element type."""
    if not isinstance(arrays, (Tensor, tuple, list)):
        raise TypeError(
            f"For '{function}', '{argument}' should be a Tensor, or a tuple or list of Tensors, but got "
            f"{describe(arrays)}."
        )
    if not len(arrays):
        raise ValueError(f"For '{function}', '{argument}' should hold at least one Tensor, but it is empty.")
    return common_type(*(as_tensor(x, function, f"{argument}[{i}]") for i, x in enumerate(arrays)))


@operator
def _JoinSlices(x, *, axis: Int):
    """Concatenate x[0], x[1], ... along one of their axes.

    Args:
        axis (int): The axis of the slices.

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions.

    Outputs:
        Tensor with one dimension less.
    """
    if x.ndim < 2:
        raise ValueError(f"For 'concatenate', numbers cannot be joined along an axis, but got a Tensor of {x.shape}.")
    count, *shape = x.shape
    axis = axis_in("concatenate", axis, x.ndim - 1)
    shape[axis] *= count
    return jnp.moveaxis(x, 0, axis).reshape(shape)


@spelling(Concat, _JoinSlices, numpy="concatenate")
def concatenate(arrays: ArrayLike, axis: int | None = 0) -> Tensor:
    """Concatenate Tensors along an axis, in their common element type.

    Args:
        arrays (Union[tuple[Tensor], list[Tensor], Tensor]): Tensors whose shapes differ along `axis` only. A single
            Tensor stands for its slices along the first dimension.
        axis (int): The axis; None, or a number from 32 on, concatenates the flattened Tensors. Default: 0.

    Returns:
        Tensor.

    Raises:
        TypeError: If `arrays` has another type, or `axis` is not an int.
        ValueError: If `arrays` is empty, `axis` is out of range, or the shapes do not fit.

    Examples:
        >>> print(mindspore.numpy.concatenate(([[1, 2]], [[3.5]]), axis=1))
        [[1.  2.  3.5]]
    """
    flat = axis is None or check(Int, axis, "axis", "concatenate") >= 32  # an axis from 32 on means None
    if isinstance(arrays, Tensor):
        return arrays.ravel() if flat else _JoinSlices.functional(arrays, axis)
    tensors = in_one_type("concatenate", arrays, "arrays")
    if flat:
        tensors, axis = [x.ravel() for x in tensors], 0
    axis = axis_in("concatenate", axis, tensors[0].ndim)
    return Concat.functional(tensors, axis) if len(tensors) > 1 else tensors[0]


@spelling(Stack, numpy="stack")
def _numpy_stack(arrays: ArrayLike, axis: int = 0) -> Tensor:
    """Stack Tensors of one shape along a new axis, in their common element type.

    Args:
        arrays (Union[tuple[Tensor], list[Tensor], Tensor]): Tensors of one shape. A single Tensor stands for its slices
            along the first dimension.
        axis (int): Position of the new axis in the result. Default: 0.

    Returns:
        Tensor with one dimension more than the inputs.

    Raises:
        TypeError: If `arrays` has another type, or `axis` is not an int.
        ValueError: If `arrays` is empty, `axis` is out of range, or the shapes differ.
    """
    if isinstance(arrays, Tensor) and arrays.ndim:
        return arrays.moveaxis(0, axis_in("stack", check(Int, axis, "axis", "stack"), arrays.ndim))
    return Stack.functional(in_one_type("stack", arrays, "arrays"), axis)


def _at_least_2d(x):
    """Return `x` with at least 2 dimensions. A vector becomes a row."""
    return x if x.ndim > 1 else x.reshape((1, -1))


@spelling(Concat, numpy="vstack")
def _numpy_vstack(tup: ArrayLike) -> Tensor:
    """Concatenate Tensors along the first axis; vectors are rows.

    Args:
        tup (Union[tuple[Tensor], list[Tensor], Tensor]): Tensors whose shapes differ along that axis only. A single
            Tensor stands for its slices along the first dimension.

    Returns:
        Tensor, in the common element type.

    Raises:
        TypeError: If `tup` has another type.
        ValueError: If there is no Tensor, or the shapes do not match.

    Examples:
        >>> print(mindspore.numpy.vstack(([1, 2, 3], [4, 5, 6])))
        [[1 2 3]
         [4 5 6]]
    """
    return concatenate([_at_least_2d(x) for x in in_one_type("vstack", tup, "tup")], 0)


@spelling(Concat, function="vstack")
def vstack(inputs: tuple[Tensor, ...] | list[Tensor]) -> Tensor:
    """Concatenate Tensors along the first axis; numbers and vectors are rows.

    Args:
        inputs (Union[tuple[Tensor], list[Tensor]]): Tensors whose shapes differ along that axis only.

    Returns:
        Tensor.

    Raises:
        TypeError: If `inputs` is no tuple or list of Tensors.
        ValueError: If there is no Tensor, or the shapes do not match.
    """
    if not isinstance(inputs, (tuple, list)):
        raise TypeError(f"For 'vstack', 'inputs' should be a tuple or list of Tensors, but got {describe(inputs)}.")
    return Concat(0)([_at_least_2d(tensor_argument("vstack", "inputs", x)) for x in inputs])


@spelling(Concat, function="row_stack")
def row_stack(tensors: tuple[Tensor, ...] | list[Tensor]) -> Tensor:
    """Concatenate Tensors along the first axis; see `vstack`."""
    return vstack(tensors)


CASES = [
    case(_JoinSlices, F(2, 3, 2), axis=-1).without("mindspore", NUMPYS),
    case(Concat, (F(2, 3), F(2, 3)), axis=1),
    case(Concat, (F(2, 3), F(1, 3)), axis=0),
    case(ParallelConcat, (F(1, 2), F(1, 2))),
    case(Stack, (F(2, 3), F(2, 3)), axis=-1),
    refused(TypeError, Concat, (F(2, 3), I(2, 3))),
    refused(ValueError, Concat, (F(2, 3), F(1, 3)), axis=1),
    refused(ValueError, Stack, (F(2, 3), F(1, 3))),
    case(vstack, (F(3), F(3))),
    case(vstack, (F(2, 3), F(1, 3))),
    refused(TypeError, vstack, F(2, 3)),
]
