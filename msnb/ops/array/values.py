"""Operators on Python numbers and tuples: conversion to and from Tensors, casts, and inverse permutations."""

import numbers
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.operator.cases import refused
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops.array.cast import Cast


def _check_number(op, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"For '{op}', 'input_x' should be an int or a float, but got {describe(value)}.")
    return value


@host_operator("tuple_to_array")
class TupleToArray(HostPrimitive):
    """Convert a tuple of numbers to a Tensor: int32 for ints, float32 for floats.

    Inputs:
        - **input_x** (tuple) - Numbers of one type, at least one.

    Outputs:
        Tensor of shape (len(input_x),).

    Raises:
        TypeError: If `input_x` is not a tuple of numbers of one type.
        ValueError: If `input_x` is empty.

    Examples:
        >>> print(ops.TupleToArray()((1, 2, 3)))
        [1 2 3]
    """

    def __call__(self, input_x: Any) -> Any:
        if isinstance(input_x, range):
            input_x = tuple(input_x)
        if not isinstance(input_x, (tuple, list)):
            raise TypeError(f"For 'TupleToArray', 'input_x' should be a tuple of numbers, but got {describe(input_x)}.")
        if not input_x:
            raise ValueError("For 'TupleToArray', 'input_x' should hold at least one number, but it is empty.")
        for value in input_x:
            if not isinstance(value, numbers.Number):
                raise TypeError(f"For 'TupleToArray', 'input_x' should hold numbers, but got {describe(value)}.")
            if type(value) is not type(input_x[0]):
                raise TypeError(
                    f"For 'TupleToArray', all numbers should be of one type, but got "
                    f"{describe(input_x[0])} and {describe(value)}."
                )
        return Tensor(np.array(input_x, np.int32 if isinstance(input_x[0], int) else np.float32))


@host_operator("scalar_to_array")
class ScalarToArray(HostPrimitive):
    """Convert a number to a scalar Tensor: int32 for an int, float32 for a float.

    Inputs:
        - **input_x** (Union[int, float]) - The number.

    Outputs:
        Tensor of shape ().

    Raises:
        TypeError: If `input_x` is not an int or a float.

    Examples:
        >>> print(ops.ScalarToArray()(1.0))
        1.0
    """

    def __call__(self, input_x: Any) -> Any:
        value = _check_number("ScalarToArray", input_x)
        return Tensor(np.array(value, np.int32 if isinstance(value, int) else np.float32))


@host_operator("scalar_to_tensor")
class ScalarToTensor(HostPrimitive):
    """Convert a number to a scalar Tensor of a given element type.

    Inputs:
        - **input_x** (Union[int, float]) - The number.
        - **dtype** (mindspore.dtype) - Element type. Default: mindspore.float32.

    Outputs:
        Tensor of shape ().

    Raises:
        TypeError: If `input_x` is not an int or a float.

    Examples:
        >>> print(ops.ScalarToTensor()(1, mindspore.float32))
        1.0
    """

    def __call__(self, input_x: Any, dtype: Any = mstype.float32) -> Any:
        return Tensor(np.array(_check_number("ScalarToTensor", input_x), mstype.np_dtype(dtype)))


@host_operator()
class TensorToScalar(HostPrimitive):
    """Convert a Tensor with one element to a Python number. A Tensor that is being traced has no value yet; it is
    returned with shape ().

    Inputs:
        - **input_x** (Tensor) - A Tensor with one element.

    Outputs:
        Union[int, float, bool].

    Raises:
        TypeError: If `input_x` is not a Tensor.
        ValueError: If it has more elements, or none.

    Examples:
        >>> print(ops.TensorToScalar()(Tensor([3])))
        3
    """

    def __call__(self, input_x: Any) -> Any:
        tensor_argument("TensorToScalar", "input_x", input_x)
        if input_x.size != 1:
            raise ValueError(f"For 'TensorToScalar', 'input_x' should have one element, but got {describe(input_x)}.")
        return input_x.reshape(()) if is_tracer(input_x._array) else input_x.asnumpy().item()


@host_operator("scalar_cast")
class ScalarCast(HostPrimitive):
    """Convert a Python number to the Python type that corresponds to a mindspore type.

    Inputs:
        - **input_x** (Union[int, float, bool, Tensor]) - The number.
        - **input_y** (mindspore.dtype) - The type.

    Outputs:
        Union[int, float, bool]. If `input_x` is a Tensor that is being traced, the result is a Tensor of type
        `input_y`.

    Raises:
        TypeError: If `input_x` is not a number.

    Examples:
        >>> print(ops.ScalarCast()(255.0, mindspore.int32))
        255
    """

    def __call__(self, input_x: Any, input_y: Any) -> Any:
        if isinstance(input_y, mstype.TensorType) and input_y.element is not None:
            input_y = input_y.element
        if isinstance(input_x, Tensor):
            if is_tracer(input_x._array):
                return Cast.functional(input_x, input_y)
            input_x = input_x.asnumpy().item()
        if not isinstance(input_x, (bool, int, float)):
            raise TypeError(f"For 'ScalarCast', 'input_x' should be a number, but got {describe(input_x)}.")
        return mstype.dtype_to_pytype(input_y)(input_x)


@host_operator("array_to_scalar")
class _ArrayToScalar(HostPrimitive):
    """Return the only element of a Tensor as a Python number.

    Inputs:
        - **x** (Tensor) - Of one element.

    Outputs:
        Union[int, float, bool].

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If `x` has more than one element.
        RuntimeError: If `x` is being traced, because its value is only known when the graph runs.
    """

    def __call__(self, x: Any) -> Any:
        return tensor_argument("ArrayToScalar", "x", x)._get_python_scalar("array_to_scalar")


@host_operator()
class InvertPermutation(HostPrimitive):
    """Invert a permutation of the numbers 0, 1, ...: result[x[i]] = i.

    Inputs:
        - **input_x** (Union[tuple[int], list[int]]) - The permutation.

    Outputs:
        tuple[int]: entry `input_x[i]` is i.

    Raises:
        TypeError: If `input_x` does not consist of int.
        ValueError: If `input_x` is a Tensor, or no permutation of 0 .. n-1.

    Examples:
        >>> print(ops.InvertPermutation()((3, 4, 0, 2, 1)))
        (2, 4, 3, 0, 1)
    """

    def __call__(self, input_x: Any) -> Any:
        if isinstance(input_x, Tensor):
            raise ValueError("For 'InvertPermutation', 'input_x' should be a tuple of int, but got a Tensor.")
        if not isinstance(input_x, (tuple, list)):
            raise TypeError(
                f"For 'InvertPermutation', 'input_x' should be a tuple of int, but got {describe(input_x)}."
            )
        for value in input_x:
            if isinstance(value, (tuple, list)):
                raise ValueError("For 'InvertPermutation', 'input_x' should be a flat tuple of int, but it is nested.")
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'InvertPermutation', 'input_x' should hold int, but got {describe(value)}.")
        if sorted(input_x) != list(range(len(input_x))):
            raise ValueError(
                f"For 'InvertPermutation', 'input_x' should be a permutation of 0 to {len(input_x) - 1}, "
                f"but got {tuple(input_x)}."
            )
        inverse = [0] * len(input_x)
        for index, value in enumerate(input_x):
            inverse[value] = index
        return tuple(inverse)


CASES = [
    refused(TypeError, TupleToArray, (1, 2.0)),
]
