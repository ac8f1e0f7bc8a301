"""Functions that create Tensors from lists, numbers and numpy arrays; `array_str`."""

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, NonNegInt, check
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._numpy import ArrayLike, as_tensor, element_type, in_type

# The argument type of functions that create Tensors. In addition to `ArrayLike` they accept numpy arrays, as r1.1 does.
Convertible = ArrayLike | np.ndarray | np.generic


@spelling(numpy="array")
def array(obj: Convertible, dtype: DType | str | None = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Create a Tensor from a list, a number, a numpy array or a Tensor.

    Args:
        obj (Union[Tensor, list, tuple, int, float, bool, numpy.ndarray]): The values. A list may hold Tensors.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None, the type of `obj`: int32 for ints and float32
            for floats, also for numpy arrays of 64 bits.
        copy (bool): True to copy a Tensor. False returns a Tensor itself if it already has the requested element type
            and enough dimensions. Default: True.
        ndmin (int): Minimum number of dimensions of the result; additional dimensions have length 1 and come first.
            Default: 0.

    Returns:
        Tensor.

    Raises:
        TypeError: If `obj` has another type, or `dtype` is no element type.
        ValueError: If lists are nested unevenly.

    Examples:
        >>> print(mindspore.numpy.array([1, 2, 3], ndmin=2))
        [[1 2 3]]
    """
    copy, ndmin = check(Bool, copy, "copy", "array"), check(NonNegInt, ndmin, "ndmin", "array")
    result = asarray(obj, dtype)
    if ndmin > result.ndim:
        result = result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result.copy() if copy and result is obj else result


@spelling(numpy="asarray")
def asarray(a: Convertible, dtype: DType | str | None = None) -> Tensor:
    """Create a Tensor from a list, a number or a numpy array. A Tensor of type `dtype` is returned unchanged.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool, numpy.ndarray]): The values. A list may hold Tensors.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None, the type of `a`: int32 for ints and float32
            for floats, also for numpy arrays of 64 bits.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, or `dtype` is no element type.
        ValueError: If lists are nested unevenly.
    """
    return in_type(as_tensor(_convert_arrays_to_tensors(a), "asarray", "a"), dtype, "asarray")


@spelling(numpy="asfarray")
def asfarray(a: Convertible, dtype: DType | str | None = mstype.float32) -> Tensor:
    """Create a Tensor of floating point numbers.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool, numpy.ndarray]): The values. A list may hold Tensors.
        dtype (Union[mindspore.dtype, str]): Element type. If it is not floating point, the result is float32. None
            keeps the type of `a`. Default: mindspore.float32.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, or `dtype` is no element type.
        ValueError: If lists are nested unevenly.
    """
    if dtype is not None:
        dtype = element_type(dtype, "asfarray")
        dtype = dtype if dtype in mstype.float_type else mstype.float32
    return asarray(a, dtype)


_NARROW = {np.dtype(np.float64): np.float32, np.dtype(np.int64): np.int32}


def _convert_arrays_to_tensors(value):
    """Replace numpy arrays, also in lists, by Tensors. Numbers of 64 bits are converted to 32 bits if they fit."""
    if isinstance(value, np.ndarray):
        narrow = value.astype(_NARROW.get(value.dtype, value.dtype))
        return Tensor(narrow if narrow.dtype.kind != "i" or (narrow == value).all() else value)
    if isinstance(value, (list, tuple)):
        return [_convert_arrays_to_tensors(v) for v in value]
    return value


@spelling(numpy="array_str")
def array_str(a: Tensor) -> str:
    """Return the values of a Tensor as text.

    Args:
        a (Tensor): Any Tensor.

    Returns:
        str.

    Raises:
        TypeError: If `a` is no Tensor.

    Examples:
        >>> mindspore.numpy.array_str(mindspore.numpy.arange(5))
        '[0 1 2 3 4]'
    """
    if not isinstance(a, Tensor):
        raise TypeError(f"For 'array_str', 'a' should be a Tensor, but got {type(a).__name__}.")
    return str(a)
