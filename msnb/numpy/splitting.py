"""Tensors cut into rows, columns and layers."""

from msnb.common.kinds import IntOrTuple
from msnb.core.declare import spelling
from msnb.core.tensor import Tensor
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops.array.split import numpy_split


def _split(function, x, indices_or_sections, axis, least):
    x = as_tensor(x, function, "x")
    if x.ndim < least:
        raise ValueError(f"For '{function}', 'x' should have at least {least} dimensions, but got shape {x.shape}.")
    return numpy_split(x, indices_or_sections, axis)


@spelling(numpy="hsplit")
def hsplit(x: ArrayLike, indices_or_sections: IntOrTuple) -> tuple[Tensor, ...]:
    """A Tensor cut along the second axis, as by `split`; a vector is cut along its only one.

    Args:
        x (Union[Tensor, list, tuple]): Of at least 1 dimension.
        indices_or_sections (Union[int, tuple[int], list[int]]): How many pieces, or the indices at which one begins.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` is not made of int.
        ValueError: If `x` is a number, or cannot be cut into that many pieces.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    x = as_tensor(x, "hsplit", "x")
    return _split("hsplit", x, indices_or_sections, 0 if x.ndim == 1 else 1, 1)


@spelling(numpy="dsplit")
def dsplit(x: ArrayLike, indices_or_sections: IntOrTuple) -> tuple[Tensor, ...]:
    """A Tensor cut along the third axis, as by `split`.

    Args:
        x (Union[Tensor, list, tuple]): Of at least 3 dimensions.
        indices_or_sections (Union[int, tuple[int], list[int]]): How many pieces, or the indices at which one begins.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` is not made of int.
        ValueError: If `x` has too few dimensions, or cannot be cut into that many pieces.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _split("dsplit", x, indices_or_sections, 2, 3)
