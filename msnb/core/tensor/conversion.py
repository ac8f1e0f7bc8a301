"""Conversion of Python values to one `jax.Array`: numpy arrays, Python numbers, nested lists, other Tensors.

Python floats become float32 and ints int64; numpy arrays keep their dtype.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.core.compat.jax_private import compute_outside_trace, drop_weak_type, from_numpy

_MS_DTYPE = mstype._BY_NUMPY


class _TensorMeta(type):
    """Class of the class `Tensor`. Libraries derive from it to make classes of Tensors."""


class Boxed(metaclass=_TensorMeta):
    """Base class of `Tensor`, for modules that `Tensor` imports."""

    __slots__ = ()

    def _snapshot_array(self):
        """Return an array that stays valid when this Tensor changes."""
        raise NotImplementedError


def to_array(data: Any, dtype: Any = None) -> jax.Array:
    """Convert `data` to a jax.Array by the rules of `Tensor`. The result shares no memory with numpy arrays or
    Parameters.
    """
    array: Any
    if isinstance(data, Boxed):
        array = data._snapshot_array()
    elif isinstance(data, (jax.Array, np.ndarray, np.generic)):
        array = data
    elif isinstance(data, (bool, int, float, complex)):
        array = np.array(data) if dtype is not None else _convert_float64_to_float32(np.array(data))
    elif isinstance(data, (list, tuple)):
        array = _convert_nested_list(data, keeps_float64=dtype is not None)
    else:
        raise TypeError(
            f"For 'Tensor', 'input_data' should be a Tensor, numpy.ndarray, list, tuple, float, int or "
            f"bool, but got {data!r} of type {type(data).__name__}."
        )
    if dtype is not None:
        if isinstance(dtype, mstype.TensorType) and dtype.element is not None:
            dtype = dtype.element
        if not mstype.is_array_type(dtype):
            try:
                dtype = mstype.pytype_to_dtype(dtype)
            except NotImplementedError:
                raise TypeError(f"For 'Tensor', 'dtype' should be a mindspore dtype, but got {dtype!r}.") from None
        target = available(mstype.np_dtype(dtype))
        if isinstance(array, jax.Array):
            array = compute_outside_trace(lambda: jnp.asarray(array, target), array)
        else:
            array = _convert_numpy_array(array, target)
    elif not isinstance(array, jax.Array):
        array = of_numpy(array)
    return drop_weak_type(array)


_NARROWER = {
    np.dtype(a): np.dtype(b)
    for a, b in (("int64", "int32"), ("uint64", "uint32"), ("float64", "float32"), ("complex128", "complex64"))
}


def available(dtype: Any) -> Any:
    """Return `dtype` (numpy), or its 32-bit counterpart if MSNB_X64=0 disables 64-bit types."""
    if jax.config.jax_enable_x64 or dtype not in _NARROWER:
        return dtype
    log.once("64-bit Tensors become 32-bit, because MSNB_X64=0 keeps jax_enable_x64 off.")
    return _NARROWER[dtype]


def _convert_float64_to_float32(array):
    return array.astype(np.float32) if array.dtype == np.float64 else array


def of_numpy(array: np.ndarray | np.generic) -> jax.Array:
    """Return a copy of a numpy array as a jax.Array.

    Raises:
        TypeError: If no MindSpore dtype describes its elements.
    """
    _check_element_type(array)
    dtype = available(array.dtype)
    return from_numpy(array) if dtype == array.dtype else jnp.array(array, dtype)


def _check_element_type(array):
    if array.dtype not in _MS_DTYPE:
        raise TypeError(
            f"For 'Tensor', numpy arrays of dtype {array.dtype} are not supported; "
            f"use bool, int8-64, uint8-64, float16-64 or complex."
        )


def _convert_numpy_array(array, dtype):
    """Return a numpy array as a jax.Array of another element type.

    numpy does the conversion: a number that does not fit an integer type wraps around, as in MindSpore. XLA would clip
    it.
    """
    _check_element_type(array)
    if array.dtype == dtype or (array.dtype.kind == "c" and np.dtype(dtype).kind != "c"):
        return jnp.asarray(of_numpy(array), dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        return from_numpy(np.asarray(array).astype(dtype))


def _convert_nested_list(data, keeps_float64=False):
    """Return a numpy array of the numbers in nested lists, or a jax.Array of the Tensors."""
    if any(isinstance(v, Boxed) for v in data):
        return jnp.stack([to_array(v) for v in data])
    try:
        array = np.array(data)
    except ValueError:
        raise TypeError(
            "For 'Tensor', the lists of 'input_data' are nested unevenly; all rows need the same length."
        ) from None
    if array.dtype == object:
        raise TypeError("For 'Tensor', 'input_data' holds something other than numbers.")
    return array if keeps_float64 or _contains_numpy(data) else _convert_float64_to_float32(array)


def _contains_numpy(data):
    while isinstance(data, (list, tuple)):
        if not data:
            return False
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))
