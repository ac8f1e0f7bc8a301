"""Functions of mint that split, select, join, sort and move elements. They take the dimension before the indices, and
return int64 indices."""

from typing import Any

from msnb import log
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.operator.array_like import common_type
from msnb.core.tensor.tensor import Tensor, is_traced
from msnb.mint._rows import cast_to_int64
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops._check import axis_in
from msnb.ops.array.index_along import _IndexAdded
from msnb.ops.array.triangle import _DiagAt
from msnb.ops.array.unique_consecutive import sorted_unique
from msnb.ops.math.decompositions_grad import _SolveTriangular

__all__ = [
    "argmin",
    "argsort",
    "bincount",
    "cat",
    "cdist",
    "diag",
    "flatten",
    "gather",
    "index_add",
    "meshgrid",
    "repeat_interleave",
    "scatter",
    "scatter_add",
    "select",
    "sort",
    "topk",
    "transpose",
    "triangular_solve",
    "unique",
    "where",
]

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def cat(tensors: tuple[Tensor, ...] | list[Tensor], dim: int = 0) -> Tensor:
    """Concatenate Tensors along a dimension.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): The Tensors; different element types are promoted.
        dim (int): The dimension of the concatenation. Default: 0.

    Returns:
        Tensor.
    """
    return F.cat(common_type(*tensors), dim)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count the occurrences of each of the numbers 0, 1, 2, ... in a vector. Compiled graphs do not support it, because
    the length of the result depends on values.

    Args:
        input (Tensor): A vector of non-negative integers.
        weights (Tensor): Weight of each element. Default: None, a weight of 1.
        minlength (int): Minimum length of the result. Default: 0.

    Returns:
        Tensor of int64, or of float32 if there are weights.
    """
    counts = F.bincount(input, weights, minlength)
    return cast_to_int64(counts) if weights is None else counts


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge neighbouring dimensions into one.

    Args:
        input (Tensor): The Tensor to flatten.
        start_dim (int): The first dimension to merge. Default: 0.
        end_dim (int): The last dimension to merge. Default: -1.

    Returns:
        Tensor.
    """
    return P.FlattenExt()(input, start_dim, end_dim)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return elements selected by indices along a dimension: output[i, j] = input[index[i, j], j] for dim 0.

    Args:
        input (Tensor): The source of the elements.
        dim (int): The dimension.
        index (Tensor): Indices of int32 or int64, with as many dimensions as `input`.

    Returns:
        Tensor of the shape of `index`.
    """
    return F.gather_d(input, dim, index)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return the slice at one index of a dimension, without that dimension.

    Args:
        input (Tensor): The source of the slice.
        dim (int): The dimension.
        index (int): The index; a negative one counts from the end.

    Returns:
        Tensor.
    """
    length = input.shape[axis_in("select", dim, input.ndim, "dim")]
    if not -length <= index < length:
        raise ValueError(f"For 'select', 'index' should be in [{-length}, {length}), but got {index}.")
    return F.squeeze(F.narrow(input, dim, index % length, 1), dim)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Return a copy of `input` with alpha * source added to the slices at `index` of a dimension.

    Args:
        input (Tensor): The Tensor to add to.
        dim (int): The dimension.
        index (Tensor): A vector of int32 or int64.
        source (Tensor): The values to add, of the shape of `input` except in the dimension.
        alpha (Number): Factor of `source`. Default: 1.

    Returns:
        Tensor.
    """
    return _IndexAdded(dim)(input, index, source if alpha == 1 else source * alpha)


def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | float) -> Tensor:
    """Return a copy of `input` in which elements at indices along a dimension are replaced: output[index[i, j], j] =
    src[i, j] for dim 0.

    Args:
        input (Tensor): The Tensor to copy.
        dim (int): The dimension.
        index (Tensor): Indices of int32 or int64.
        src (Union[Tensor, Number]): The new elements, at least as long as `index` in each dimension.

    Returns:
        Tensor.
    """
    return F.scatter(input, dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy of `input` with values added at indices along a dimension: output[index[i, j], j] += src[i, j] for
    dim 0.

    Args:
        input (Tensor): The Tensor to add to.
        dim (int): The dimension.
        index (Tensor): Indices of int32 or int64.
        src (Tensor): The values to add, at least as long as `index` in each dimension.

    Returns:
        Tensor.
    """
    return input.scatter_add(dim, index, src)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the smallest element along a dimension, or of all elements.

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension. Default: None, the index in the flattened Tensor.
        keepdim (bool): Whether to keep the dimension with length 1. Default: False.

    Returns:
        Tensor of int64.
    """
    return cast_to_int64(F.argmin(input, dim, keepdim))


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the indices that sort the elements along a dimension.

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension. Default: -1.
        descending (bool): Whether the largest element comes first. Default: False.
        stable (bool): No effect: equal elements always keep their order. Default: False.

    Returns:
        Tensor of int64.
    """
    return cast_to_int64(F.sort(input, dim, descending)[1])


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """Sort the elements along a dimension. Returns (sorted elements, their original indices).

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension. Default: -1.
        descending (bool): Whether the largest element comes first. Default: False.
        stable (bool): No effect: equal elements always keep their order. Default: False.

    Returns:
        A tuple of the sorted Tensor and the indices, int64.
    """
    values, indices = F.sort(input, dim, descending)
    return values, cast_to_int64(indices)


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Return (the k largest or smallest elements along a dimension, their indices).

    Args:
        input (Tensor): Numbers.
        k (int): The number of elements.
        dim (int): The dimension. Default: -1.
        largest (bool): Whether to return the largest elements instead of the smallest. Default: True.
        sorted (bool): Whether the result is sorted. Default: True.

    Returns:
        A tuple (elements, int64 indices of the elements).
    """
    values, indices = F.topk(input, k, dim, largest, sorted)
    return values, cast_to_int64(indices)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Swap two dimensions.

    Args:
        input (Tensor): The Tensor to transpose.
        dim0 (int): The first dimension.
        dim1 (int): The second dimension.

    Returns:
        Tensor.
    """
    return P.TransposeExtView()(input, dim0, dim1)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return a matrix with a given vector as diagonal, or the diagonal of a given matrix.

    Args:
        input (Tensor): A vector or a matrix.
        diagonal (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Returns:
        Tensor.
    """
    return _DiagAt(diagonal)(input)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return coordinate matrices of the grid that is formed by vectors of coordinates.

    Args:
        tensors (Tensor): Vectors of coordinates, or one tuple or list of vectors.
        indexing (str): "ij", or "xy" with the first two dimensions swapped. Default: None, "ij".

    Returns:
        Tuple with a Tensor for each vector.
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    return F.meshgrid(*tensors, indexing=indexing or "ij")


def repeat_interleave(
    input: Tensor,
    repeats: int | tuple[int, ...] | list[int] | Tensor,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Repeat each element of a Tensor, or each slice of a dimension.

    Args:
        input (Tensor): The Tensor to repeat.
        repeats (Union[int, tuple[int], Tensor]): Number of repetitions, one for all elements or one for each. A Tensor
            is not supported in a compiled graph.
        dim (int): The dimension. Default: None, the Tensor is flattened.
        output_size (int): Length of the dimension in the result. It has no effect. Default: None.

    Returns:
        Tensor.
    """
    if isinstance(repeats, Tensor):
        if is_traced(repeats):
            raise DataDependentShape("repeat_interleave", "the length of the result", "give 'repeats' as ints")
        counts = repeats.reshape(-1).asnumpy().tolist()
        repeats = counts[0] if len(counts) == 1 else tuple(counts)
    if dim is None:
        input, dim = input.reshape(-1), 0
    return F.repeat_interleave(input, repeats, dim)


def where(condition: Tensor, input: Any = None, other: Any = None) -> Tensor | tuple[Tensor, ...]:
    """Return elements of `input` where `condition` is True, and of `other` elsewhere.

    Without `input` and `other`, return the indices where the condition holds.

    Args:
        condition (Tensor): A Tensor of bool.
        input (Union[Tensor, Number]): Values where `condition` is True. Default: None.
        other (Union[Tensor, Number]): Values elsewhere. Default: None.

    Returns:
        Tensor; with only `condition`, a tuple with a vector of indices for each dimension.
    """
    if input is None and other is None:
        return F.nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise TypeError("For 'where', 'input' and 'other' should both be given, or none of them.")
    return F.where(condition, input, other)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return the distinct elements, or the distinct slices along `dim`, in ascending order.

    Args:
        input (Tensor): Numbers.
        sorted (bool): No effect: the result is always sorted. Default: True.
        return_inverse (bool): Whether to also return, for each element or slice of `input`, its index in the result.
            Default: False.
        return_counts (bool): Whether to also return the count of each result. Default: False.
        dim (int): Dimension whose slices are compared; None compares elements. Default: None.

    Returns:
        Tensor; a tuple if further results are requested.

    Raises:
        ValueError: If `dim` is out of range.
    """
    return sorted_unique(input, return_inverse, return_counts, dim)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = _MODES[0]) -> Tensor:
    """Return the p-norm distance between each row of `x1` and each row of `x2`.

    Args:
        x1 (Tensor): (..., P, M).
        x2 (Tensor): (..., R, M).
        p (float): The order of the norm. Default: 2.0.
        compute_mode (str): No effect. In MindSpore it chooses between a matrix product and differences; here distances
            are computed from differences. Default: "use_mm_for_euclid_dist_if_necessary".

    Returns:
        Tensor (..., P, R).

    Raises:
        ValueError: If `compute_mode` is unknown.
    """
    if compute_mode not in _MODES:
        raise ValueError(f"For 'cdist', 'compute_mode' should be one of {_MODES}, but got {compute_mode!r}.")
    log.unused("cdist", "distances are summed here in any case", compute_mode=compute_mode == _MODES[1])
    return F.cdist(x1, x2, p)


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """Solve A x = b for a triangular matrix A.

    Args:
        b (Tensor): Right-hand sides, (M, N).
        A (Tensor): The matrix, (M, M).
        upper (bool): Whether `A` is upper instead of lower triangular. Default: True.
        transpose (bool): Whether to solve A^T x = b instead. Default: False.
        unitriangular (bool): Whether to treat the diagonal of `A` as ones. Default: False.

    Returns:
        A tuple of the solution and a copy of `A`.
    """
    return _SolveTriangular(trans=int(transpose), lower=not upper, unit_diagonal=unitriangular)(A, b), P.Identity()(A)
