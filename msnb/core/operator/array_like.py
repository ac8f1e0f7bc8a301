"""Conversion of arguments of `mindspore.numpy`: lists and numbers to Tensors, names to element types.

Python numbers and lists of them have 32 bits there: an int becomes int32, a float becomes float32.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Tensors, hashable
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.operator.operator_types import Operator
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.tensor import Tensor, box

ArrayLike = Tensor | list[Any] | tuple[Any, ...] | float  # accepted in place of a Tensor by mindspore.numpy

_NARROW = {np.dtype(np.int64): np.dtype(np.int32), np.dtype(np.float64): np.dtype(np.float32)}
_LARGEST, _LEAST = np.iinfo(np.int32).max, np.iinfo(np.int32).min
_NAMED = {"int": mstype.int32, "uint": mstype.uint32, "float": mstype.float32, "bool": mstype.bool_}
_PYTHON = {int: mstype.int32, float: mstype.float32, bool: mstype.bool_}
_scalars = LruCache(1024)  # number -> its array


def _stack_arrays(arrays: Tensors):  # pyright: ignore[reportInvalidTypeForm] - a Kind, as in any operator
    return jnp.stack(arrays)


_STACK = Operator(_stack_arrays, "Stack", (), "results", False)


def as_tensor(value: Any, function: str, argument: str) -> Tensor:
    """Convert an argument of `mindspore.numpy` to a Tensor.

    Args:
        value (Union[Tensor, list, tuple, int, float, bool]): A Tensor is returned unchanged. Floats become float32;
            ints become int32, or int64 if one of them does not fit. A list may hold Tensors of one shape; gradients
            flow to them.
        function (str): Name of the function, for the message.
        argument (str): Name of the argument, for the message.

    Returns:
        Tensor.

    Raises:
        TypeError: If `value` is of another type. A numpy array has to be wrapped in a Tensor.
        ValueError: If the lists are nested unevenly.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, float)):
        return Tensor(_narrow_to_32_bits(np.array(value)))
    if isinstance(value, (list, tuple)):
        return _convert_list_to_tensor(value, function, argument)
    wrap = f"; wrap it: Tensor({argument})" if isinstance(value, np.ndarray) else ""
    raise TypeError(
        f"For '{function}', '{argument}' should be a Tensor, a list, a tuple or a number, but got "
        f"{describe(value)}{wrap}."
    )


def as_operand(value: Any, function: str, argument: str) -> Tensor:
    """Convert like `as_tensor` for an operator. The array of a number is cached, because no user sees it."""
    if type(value) not in _PYTHON:
        return as_tensor(value, function, argument)
    key = type(value), hashable(value)
    array = _scalars.get(key)
    if array is None:
        array = _scalars.recall(key)
    if array is None:
        array = as_tensor(value, function, argument)._array
        if not is_tracer(array):
            _scalars.keep(key, array)
    return box(array)


def _convert_list_to_tensor(value, function, argument):
    if _contains_tensor(value):
        tensors = common_type(*[as_tensor(v, function, argument) for v in value])
        if len({p.shape for p in tensors}) > 1:
            raise ValueError(
                f"For '{function}', the Tensors in '{argument}' should have one shape, but got "
                f"{', '.join(str(p.shape) for p in tensors)}."
            )
        return _STACK({}, (tensors,))
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError(
            f"For '{function}', the lists of '{argument}' are nested unevenly; all rows need the same length."
        ) from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"For '{function}', '{argument}' should hold numbers, but got a {describe(value)}.")
    return Tensor(_narrow_to_32_bits(array))


def _contains_tensor(value):
    return isinstance(value, Tensor) or isinstance(value, (list, tuple)) and any(map(_contains_tensor, value))


def _narrow_to_32_bits(array):
    """Convert a numpy array from 64 to 32 bits; integers only if all of them fit."""
    narrow = _NARROW.get(array.dtype, array.dtype)
    if narrow != np.int32 or not array.size or _LEAST <= array.min() and array.max() <= _LARGEST:
        return array.astype(narrow)
    return array


def element_type(dtype: Any, function: str) -> mstype.Type:
    """Return the element type that `dtype` means in `mindspore.numpy`: int is int32, and float is float32.

    Args:
        dtype (Union[mindspore.dtype, numpy.dtype, type, str]): An element type, or its name.
        function (str): Name of the function, for the message.

    Raises:
        TypeError: If `dtype` is not an element type.
    """
    result: Any = dtype
    if isinstance(dtype, str):
        result = _NAMED.get(dtype.lower()) or getattr(mstype, dtype.lower(), None)
    elif dtype in _PYTHON:
        result = _PYTHON[dtype]
    elif isinstance(dtype, (type, np.dtype)):
        result = mstype.from_numpy_dtype(np.dtype(dtype)) if np.dtype(dtype).kind in "biufc" else None
    if not mstype.is_array_type(result):
        raise TypeError(
            f"For '{function}', 'dtype' should be the type of Tensor elements, mindspore.float32 or 'float32', "
            f"but got {dtype!r}."
        )
    return result


def promote_types(first: mstype.Type, second: mstype.Type) -> mstype.Type:
    """Return the common element type of two types in `mindspore.numpy`. Unlike in operators, any two types have one.

    Integers with float16 or float32 give the float type. uint64 with signed integers gives float64.
    """
    if first == second:
        return first
    return mstype.from_numpy_dtype(jnp.promote_types(mstype.np_dtype(first), mstype.np_dtype(second)))


def common_type(*tensors: Tensor) -> list[Tensor]:
    """Return the Tensors in their common element type."""
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = promote_types(dtype, tensor.dtype)
    return [t if t.dtype == dtype else t.astype(dtype) for t in tensors]


def array_type(x: Tensor, y: Tensor) -> list[Tensor]:
    """Return two Tensors in one element type: that of the array if one is a scalar, else the promoted type."""
    if not x.ndim and y.ndim:
        return [x.astype(y.dtype), y]
    if x.ndim and not y.ndim:
        return [x, y.astype(x.dtype)]
    return common_type(x, y)
