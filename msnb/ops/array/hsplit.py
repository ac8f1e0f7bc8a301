"""Functions that split a Tensor along its second or third axis."""

from msnb.common.kinds import IntOrTuple
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops.array.split import array_split, numpy_split


def _check_and_split(function, x, indices_or_sections, axis, least):
    x = as_tensor(x, function, "x")
    if x.ndim < least:
        raise ValueError(f"For '{function}', 'x' should have at least {least} dimensions, but got shape {x.shape}.")
    return numpy_split(x, indices_or_sections, axis)


def _check_and_split_tensor(function, x, indices_or_sections, dims):
    if tensor_argument(function, "input", x).ndim < dims:
        raise ValueError(f"For '{function}', 'input' should have at least {dims} dimensions, but got shape {x.shape}.")
    return array_split(x, indices_or_sections, dims - 1)


@spelling(numpy="hsplit")
def _numpy_hsplit(x: ArrayLike, indices_or_sections: IntOrTuple) -> tuple[Tensor, ...]:
    """Split a Tensor along the second axis. A vector is split along its only axis. See `split`.

    Args:
        x (Union[Tensor, list, tuple]): Of at least 1 dimension.
        indices_or_sections (Union[int, tuple[int], list[int]]): Number of pieces, or the indices at which a new piece
            begins.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` does not consist of int.
        ValueError: If `x` is a number, or cannot be split into that many pieces.
    """
    x = as_tensor(x, "hsplit", "x")
    return _check_and_split("hsplit", x, indices_or_sections, 0 if x.ndim == 1 else 1, 1)


@spelling(numpy="dsplit")
def _numpy_dsplit(x: ArrayLike, indices_or_sections: IntOrTuple) -> tuple[Tensor, ...]:
    """Split a Tensor along the third axis; see `split`.

    Args:
        x (Union[Tensor, list, tuple]): Of at least 3 dimensions.
        indices_or_sections (Union[int, tuple[int], list[int]]): Number of pieces, or the indices at which a new piece
            begins.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` does not consist of int.
        ValueError: If `x` has too few dimensions, or cannot be split into that many pieces.
    """
    return _check_and_split("dsplit", x, indices_or_sections, 2, 3)


@spelling(function="hsplit", method="hsplit")
def hsplit(input: Tensor, indices_or_sections: int | tuple[int, ...] | list[int]) -> tuple[Tensor, ...]:
    """Split a Tensor along the second axis, into a number of pieces or at indices. The first pieces may be longer by 1.

    Args:
        input (Tensor): Of at least 2 dimensions.
        indices_or_sections (Union[int, tuple[int], list[int]]): Number of pieces, or the indices at which a new piece
            begins.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` does not consist of int.
        ValueError: If `input` has too few dimensions, or the number of pieces is not positive.
    """
    return _check_and_split_tensor("hsplit", input, indices_or_sections, 2)


@spelling(function="dsplit", method="dsplit")
def dsplit(input: Tensor, indices_or_sections: int | tuple[int, ...] | list[int]) -> tuple[Tensor, ...]:
    """Split a Tensor along the third axis, into a number of pieces or at indices. The first pieces may be longer by 1.

    Args:
        input (Tensor): Of at least 3 dimensions.
        indices_or_sections (Union[int, tuple[int], list[int]]): Number of pieces, or the indices at which a new piece
            begins.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` does not consist of int.
        ValueError: If `input` has too few dimensions, or the number of pieces is not positive.
    """
    return _check_and_split_tensor("dsplit", input, indices_or_sections, 3)


CASES = [
    case(hsplit, F(2, 5), 3),
    case(hsplit, F(2, 5), (1, 3)),
    case(dsplit, F(2, 2, 4), 2),
    refused(ValueError, hsplit, F(3), 1),
    refused(ValueError, dsplit, F(2, 3), 1),
]
