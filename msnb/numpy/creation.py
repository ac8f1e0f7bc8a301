"""Tensors of lists, numbers and numpy's arrays, and the text of a Tensor."""

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, NonNegInt, check
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._numpy import ArrayLike, as_tensor, element_type, in_type

# What is taken here alone, beside what every function takes: numpy's arrays, which r1.1 takes.
Convertible = ArrayLike | np.ndarray | np.generic


@spelling(numpy="array")
def array(obj: Convertible, dtype: DType | str | None = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A Tensor of a list, a number, a numpy array or a Tensor.

    Args:
        obj (Union[Tensor, list, tuple, int, float, bool, numpy.ndarray]): The values. A list may hold Tensors.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None, that of `obj`: int32 for ints and float32 for
            floats, also for those of a numpy array of 64 bits.
        copy (bool): Whether a Tensor is copied. False returns it as it is, where its type and shape are right.
            Default: True.
        ndmin (int): Number of dimensions that the result has at least; those that are added have length 1 and come
            first. Default: 0.

    Returns:
        Tensor.

    Raises:
        TypeError: If `obj` is none of these, or `dtype` is no element type.
        ValueError: If lists are nested unevenly.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(mindspore.numpy.array([1, 2, 3], ndmin=2))
        [[1 2 3]]
    """
    copy, ndmin = check(Bool, copy, "copy", "array"), check(NonNegInt, ndmin, "ndmin", "array")
    made = asarray(obj, dtype)
    if ndmin > made.ndim:
        made = made.reshape((1,) * (ndmin - made.ndim) + made.shape)
    return made.copy() if copy and made is obj else made


@spelling(numpy="asarray")
def asarray(a: Convertible, dtype: DType | str | None = None) -> Tensor:
    """A Tensor of a list, a number or a numpy array; a Tensor stays what it is, where its type is right.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool, numpy.ndarray]): The values. A list may hold Tensors.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None, that of `a`: int32 for ints and float32 for
            floats, also for those of a numpy array of 64 bits.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` is none of these, or `dtype` is no element type.
        ValueError: If lists are nested unevenly.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return in_type(as_tensor(_wrapped(a), "asarray", "a"), dtype, "asarray")


@spelling(numpy="asfarray")
def asfarray(a: Convertible, dtype: DType | str | None = mstype.float32) -> Tensor:
    """A Tensor of floating point numbers.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool, numpy.ndarray]): The values. A list may hold Tensors.
        dtype (Union[mindspore.dtype, str]): Element type; mindspore.float32 stands in for one that is not floating
            point, and None keeps the type of `a`. Default: mindspore.float32.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` is none of these, or `dtype` is no element type.
        ValueError: If lists are nested unevenly.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if dtype is not None:
        dtype = element_type(dtype, "asfarray")
        dtype = dtype if dtype in mstype.float_type else mstype.float32
    return asarray(a, dtype)


_NARROW = {np.dtype(np.float64): np.float32, np.dtype(np.int64): np.int32}


def _wrapped(value):
    """`value` with Tensors for numpy's arrays, also for those in lists; of 32 bits where their numbers fit in."""
    if isinstance(value, np.ndarray):
        narrow = value.astype(_NARROW.get(value.dtype, value.dtype))
        return Tensor(narrow if narrow.dtype.kind != "i" or (narrow == value).all() else value)
    if isinstance(value, (list, tuple)):
        return [_wrapped(v) for v in value]
    return value


@spelling(numpy="array_str")
def array_str(a: Tensor) -> str:
    """The values of a Tensor as text.

    Args:
        a (Tensor): Any Tensor.

    Returns:
        str.

    Raises:
        TypeError: If `a` is no Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> mindspore.numpy.array_str(mindspore.numpy.arange(5))
        '[0 1 2 3 4]'
    """
    if not isinstance(a, Tensor):
        raise TypeError(f"For 'array_str', 'a' should be a Tensor, but got {type(a).__name__}.")
    return str(a)
