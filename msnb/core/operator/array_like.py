"""What `mindspore.numpy` makes of its arguments: Tensors out of lists and numbers, element types out of their names.

Numbers are narrow there: a Python int is int32, a float float32, and so are the lists of them.
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

ArrayLike = Tensor | list[Any] | tuple[Any, ...] | float  # what stands for a Tensor in mindspore.numpy

_NARROW = {np.dtype(np.int64): np.dtype(np.int32), np.dtype(np.float64): np.dtype(np.float32)}
_LARGEST, _LEAST = np.iinfo(np.int32).max, np.iinfo(np.int32).min
_NAMED = {"int": mstype.int32, "uint": mstype.uint32, "float": mstype.float32, "bool": mstype.bool_}
_PYTHON = {int: mstype.int32, float: mstype.float32, bool: mstype.bool_}
_kept = LruCache(1024)  # number -> its array


def _stack(arrays: Tensors):  # pyright: ignore[reportInvalidTypeForm] - a Kind, as in any operator
    return jnp.stack(arrays)


_STACK = Operator(_stack, "Stack", (), "results", False)


def as_tensor(value: Any, function: str, argument: str) -> Tensor:
    """The Tensor that an argument of `mindspore.numpy` stands for.

    Args:
        value (Union[Tensor, list, tuple, int, float, bool]): A Tensor stays what it is. Floats become float32; ints
            become int32, or int64 if one of them does not fit. A list may hold Tensors of one shape, whose gradient
            it hands on.
        function (str): Who asks, for the message.
        argument (str): The name of the argument, for the message.

    Returns:
        Tensor.

    Raises:
        TypeError: If `value` is something else; numpy arrays have to be wrapped.
        ValueError: If the lists are nested unevenly.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, float)):
        return Tensor(_narrow(np.array(value)))
    if isinstance(value, (list, tuple)):
        return _of_list(value, function, argument)
    wrap = f"; wrap it: Tensor({argument})" if isinstance(value, np.ndarray) else ""
    raise TypeError(
        f"For '{function}', '{argument}' should be a Tensor, a list, a tuple or a number, but got "
        f"{describe(value)}{wrap}."
    )


def as_operand(value: Any, function: str, argument: str) -> Tensor:
    """`as_tensor` for what an operator alone gets to see: the array of a number is kept for later calls."""
    if type(value) not in _PYTHON:
        return as_tensor(value, function, argument)
    key = type(value), hashable(value)
    array = _kept.get(key)
    if array is None:
        array = _kept.recall(key)
    if array is None:
        array = as_tensor(value, function, argument)._array
        if not is_tracer(array):
            _kept.keep(key, array)
    return box(array)


def _of_list(value, function, argument):
    if _holds_tensor(value):
        parts = common_type(*[as_tensor(v, function, argument) for v in value])
        if len({p.shape for p in parts}) > 1:
            raise ValueError(
                f"For '{function}', the Tensors in '{argument}' should have one shape, but got "
                f"{', '.join(str(p.shape) for p in parts)}."
            )
        return _STACK({}, (parts,))
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError(
            f"For '{function}', the lists of '{argument}' are nested unevenly; all rows need the same length."
        ) from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"For '{function}', '{argument}' should hold numbers, but got a {describe(value)}.")
    return Tensor(_narrow(array))


def _holds_tensor(value):
    return isinstance(value, Tensor) or isinstance(value, (list, tuple)) and any(map(_holds_tensor, value))


def _narrow(array):
    """A numpy array of 64 bits in 32; integers only if all of them fit."""
    narrow = _NARROW.get(array.dtype, array.dtype)
    if narrow != np.int32 or not array.size or _LEAST <= array.min() and array.max() <= _LARGEST:
        return array.astype(narrow)
    return array


def element_type(dtype: Any, function: str) -> mstype.Type:
    """The element type that `dtype` stands for in `mindspore.numpy`: int is int32, and float is float32.

    Args:
        dtype (Union[mindspore.dtype, numpy.dtype, type, str]): An element type, or its name.
        function (str): Who asks, for the message.

    Raises:
        TypeError: If it is no element type.
    """
    found: Any = dtype
    if isinstance(dtype, str):
        found = _NAMED.get(dtype.lower()) or getattr(mstype, dtype.lower(), None)
    elif dtype in _PYTHON:
        found = _PYTHON[dtype]
    elif isinstance(dtype, (type, np.dtype)):
        found = mstype.from_numpy_dtype(np.dtype(dtype)) if np.dtype(dtype).kind in "biufc" else None
    if not mstype.is_array_type(found):
        raise TypeError(
            f"For '{function}', 'dtype' should be the type of Tensor elements, mindspore.float32 or 'float32', "
            f"but got {dtype!r}."
        )
    return found


def promoted(first: mstype.Type, second: mstype.Type) -> mstype.Type:
    """The element type in which two meet in `mindspore.numpy`: unlike in an operator, any two do.

    Integers give way to float16 and float32, which stay what they are; uint64 meets signed integers in float64.
    """
    if first == second:
        return first
    return mstype.from_numpy_dtype(jnp.promote_types(mstype.np_dtype(first), mstype.np_dtype(second)))


def common_type(*tensors: Tensor) -> list[Tensor]:
    """The Tensors in the element type in which all of them meet."""
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = promoted(dtype, tensor.dtype)
    return [t if t.dtype == dtype else t.astype(dtype) for t in tensors]


def array_type(x: Tensor, y: Tensor) -> list[Tensor]:
    """Two Tensors in one element type: a scalar takes that of the array that it meets, all others meet as usual."""
    if not x.ndim and y.ndim:
        return [x.astype(y.dtype), y]
    if x.ndim and not y.ndim:
        return [x, y.astype(x.dtype)]
    return common_type(x, y)
