"""Functions of MindSpore 2 on the memory of Tensors, `frombuffer` and `swap_tensors`."""

from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor

__all__ = ["frombuffer", "swap_tensors"]


def frombuffer(buffer: Any, dtype: mstype.Type, count: int = -1, offset: int = 0) -> Tensor:
    """
    Return a one-dimensional Tensor with the elements of a buffer. They are copied; later changes of the buffer do not
    affect the Tensor.

    Args:
        buffer (buffer): An object with a buffer, such as bytes, a bytearray or a numpy array.
        dtype (mindspore.dtype): The element type.
        count (int): Number of elements. Default: -1, all.
        offset (int): Number of bytes before the first element. Default: 0.

    Returns:
        Tensor.

    Raises:
        RuntimeError: If `count` and `offset` do not fit the buffer.

    Examples:
        >>> print(mindspore.frombuffer(bytearray([1, 2, 3, 4]), mindspore.uint8))
        [1 2 3 4]
    """
    data, kind = memoryview(buffer).cast("B"), np.dtype(mstype.np_dtype(dtype))
    n_bytes = data.nbytes
    if not n_bytes or not count or count < -1:
        raise RuntimeError(
            f"For 'frombuffer', the buffer should have bytes and 'count' should be -1 or positive, but got {n_bytes} "
            f"bytes and {count}."
        )
    if not 0 <= offset < n_bytes:
        raise RuntimeError(f"For 'frombuffer', 'offset' should be from 0 to {n_bytes - 1}, but got {offset}.")
    if count < 0 and (n_bytes - offset) % kind.itemsize:
        raise RuntimeError(
            f"For 'frombuffer', the {n_bytes - offset} bytes after 'offset' should be a multiple of {kind.itemsize}."
        )
    if count * kind.itemsize > n_bytes - offset:
        raise RuntimeError(
            f"For 'frombuffer', {count} elements need {count * kind.itemsize} bytes, but there are {n_bytes - offset}."
        )
    return Tensor(np.frombuffer(data, kind, count, offset))


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """
    Swap the values of two Tensors, with shape and element type. Two Parameters swap names and `requires_grad`, too.

    Args:
        t1 (Tensor): The first Tensor.
        t2 (Tensor): The second Tensor, of the same class.

    Raises:
        TypeError: If they are not Tensors of the same class.

    Examples:
        >>> x, y = Tensor([1.0]), Tensor([2, 3])
        >>> mindspore.swap_tensors(x, y)
        >>> print(x, y)
        [2 3] [1.]
    """
    if not isinstance(t1, Tensor) or type(t1) is not type(t2):
        raise TypeError(
            f"For 'swap_tensors', both should be Tensors of the same class, but got {type(t1).__name__} and "
            f"{type(t2).__name__}."
        )
    first, second = (t1._array, t1._node), (t2._array, t2._node)
    for tensor, (array, node) in ((t1, second), (t2, first)):
        tensor._rebind_array(array)
        tensor._node = node
    if isinstance(t1, Parameter) and isinstance(t2, Parameter):
        t1.name, t2.name = t2.name, t1.name
        t1.requires_grad, t2.requires_grad = t2.requires_grad, t1.requires_grad
