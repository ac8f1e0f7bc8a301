"""What a Tensor can be made of, as one `jax.Array`: numpy arrays, Python numbers, nested lists, other Tensors.

Python's floats are float32 and its ints int64; a numpy array keeps its type.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.core.compat.jax_private import drop_weak_type, from_numpy, known

_MS_DTYPE = mstype._BY_NUMPY


class Boxed:
    """What is a Tensor, to those who stand below `Tensor`."""

    __slots__ = ()

    def _detached(self):
        """An array that stays valid whatever happens to this box."""
        raise NotImplementedError


def to_array(data: Any, dtype: Any = None) -> jax.Array:
    """A jax.Array of `data` by the rules of `Tensor`; never shares memory with a numpy array or a Parameter."""
    if isinstance(data, Boxed):
        array = data._detached()
    elif isinstance(data, jax.Array):
        array = data
    elif isinstance(data, (np.ndarray, np.generic)):
        array = of_numpy(data)
    elif isinstance(data, (bool, int, float, complex)):
        array = of_numpy(_small(np.array(data)))
    elif isinstance(data, (list, tuple)):
        array = _from_list(data)
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
        array = known(lambda: jnp.asarray(array, available(mstype.np_dtype(dtype))), array)
    return drop_weak_type(array)


_NARROWER = {
    np.dtype(a): np.dtype(b)
    for a, b in (("int64", "int32"), ("uint64", "uint32"), ("float64", "float32"), ("complex128", "complex64"))
}


def available(dtype: Any) -> Any:
    """`dtype` (numpy), or its 32-bit counterpart where MSNB_X64=0 keeps 64 bits switched off."""
    if jax.config.jax_enable_x64 or dtype not in _NARROWER:
        return dtype
    log.once("64-bit Tensors become 32-bit, because MSNB_X64=0 keeps jax_enable_x64 off.")
    return _NARROWER[dtype]


def _small(array):
    """Python's floats count as float32."""
    return array.astype(np.float32) if array.dtype == np.float64 else array


def of_numpy(array: np.ndarray | np.generic) -> jax.Array:
    """A jax.Array of a numpy array, a copy.

    Raises:
        TypeError: If no MindSpore dtype describes its elements.
    """
    if array.dtype not in _MS_DTYPE:
        raise TypeError(
            f"For 'Tensor', numpy arrays of dtype {array.dtype} are not supported; "
            f"use bool, int8-64, uint8-64, float16-64 or complex."
        )
    dtype = available(array.dtype)
    return from_numpy(array) if dtype == array.dtype else jnp.array(array, dtype)


def _from_list(data):
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
    if not _holds_numpy(data):
        array = _small(array)
    return of_numpy(array)


def _holds_numpy(data):
    while isinstance(data, (list, tuple)):
        if not data:
            return False
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))
