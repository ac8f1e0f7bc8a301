"""Taking apart, choosing and putting together, as mint writes it: the dimension before the indices, places in int64."""

from typing import Any

from msnb import log
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.operator.array_like import common_type
from msnb.core.tensor.tensor import Tensor, is_traced
from msnb.mint._rows import in_int64
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops.array.index_along import _IndexAdded
from msnb.ops.array.triangle import _DiagAt
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
    """Tensors one behind the other.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): The Tensors; element types that differ meet.
        dim (int): The dimension in which they follow each other. Default: 0.

    Returns:
        Tensor.
    """
    return F.cat(common_type(*tensors), dim)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of the numbers from 0 occurs in a vector. Never in a compiled graph: the length depends on values.

    Args:
        input (Tensor): Integers, not negative, a vector.
        weights (Tensor): What each element counts. Default: None, 1.
        minlength (int): The result has at least this length. Default: 0.

    Returns:
        Tensor of int64; with weights of float32.
    """
    counts = F.bincount(input, weights, minlength)
    return in_int64(counts) if weights is None else counts


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Several dimensions as one.

    Args:
        input (Tensor): What is flattened.
        start_dim (int): The first of the dimensions. Default: 0.
        end_dim (int): The last of them. Default: -1.

    Returns:
        Tensor.
    """
    return P.FlattenExt()(input, start_dim, end_dim)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Elements at indices along a dimension.

    Args:
        input (Tensor): Where they are taken from.
        dim (int): The dimension.
        index (Tensor): Indices of int32 or int64, of as many dimensions as `input`.

    Returns:
        Tensor of the shape of `index`.
    """
    return F.gather_d(input, dim, index)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """What stands at one index of a dimension, without that dimension.

    Args:
        input (Tensor): Where it is taken from.
        dim (int): The dimension.
        index (int): The index; a negative one counts from the end.

    Returns:
        Tensor.
    """
    length = input.shape[dim]
    if not -length <= index < length:
        raise ValueError(f"For 'select', 'index' should be in [{-length}, {length}), but got {index}.")
    return F.squeeze(F.narrow(input, dim, index % length, 1), dim)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """A copy of `input`, increased by `alpha` times `source` at indices of a dimension.

    Args:
        input (Tensor): What is increased.
        dim (int): The dimension.
        index (Tensor): A vector of int32 or int64.
        source (Tensor): What is added, of the shape of `input` but in the dimension.
        alpha (Number): What it is multiplied with. Default: 1.

    Returns:
        Tensor.
    """
    return _IndexAdded(dim)(input, index, source if alpha == 1 else source * alpha)


def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | float) -> Tensor:
    """A copy of `input` with other elements at indices along a dimension.

    Args:
        input (Tensor): What is copied.
        dim (int): The dimension.
        index (Tensor): Indices of int32 or int64.
        src (Union[Tensor, Number]): The elements, at least as long as `index` in each dimension.

    Returns:
        Tensor.
    """
    return F.scatter(input, dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of `input`, increased at indices along a dimension.

    Args:
        input (Tensor): What is increased.
        dim (int): The dimension.
        index (Tensor): Indices of int32 or int64.
        src (Tensor): What is added, at least as long as `index` in each dimension.

    Returns:
        Tensor.
    """
    return input.scatter_add(dim, index, src)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the smallest elements stand.

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension. Default: None, counts through all elements.
        keepdim (bool): Whether the dimension stays, with length 1. Default: False.

    Returns:
        Tensor of int64.
    """
    return in_int64(F.argmin(input, dim, keepdim))


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort a dimension.

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension. Default: -1.
        descending (bool): Whether the largest comes first. Default: False.
        stable (bool): Whether equal elements keep their order, which they do here in any case. Default: False.

    Returns:
        Tensor of int64.
    """
    return in_int64(F.sort(input, dim, descending)[1])


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """A dimension sorted, and where its elements come from.

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension. Default: -1.
        descending (bool): Whether the largest comes first. Default: False.
        stable (bool): Whether equal elements keep their order, which they do here in any case. Default: False.

    Returns:
        A tuple of the sorted Tensor and the indices, int64.
    """
    values, places = F.sort(input, dim, descending)
    return values, in_int64(places)


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements along a dimension, and their places.

    Args:
        input (Tensor): Numbers.
        k (int): How many.
        dim (int): The dimension. Default: -1.
        largest (bool): Whether the largest ones; else the smallest. Default: True.
        sorted (bool): Whether they are sorted. Default: True.

    Returns:
        A tuple of the elements and of their places, int64.
    """
    values, places = F.topk(input, k, dim, largest, sorted)
    return values, in_int64(places)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions, one in the place of the other.

    Args:
        input (Tensor): What is transposed.
        dim0 (int): The first dimension.
        dim1 (int): The second one.

    Returns:
        Tensor.
    """
    return P.TransposeExtView()(input, dim0, dim1)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with a vector on a diagonal, or the diagonal of a matrix.

    Args:
        input (Tensor): A vector or a matrix.
        diagonal (int): Which diagonal; positive ones are above. Default: 0.

    Returns:
        Tensor.
    """
    return _DiagAt(diagonal)(input)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid.

    Args:
        tensors (Tensor): Vectors, or one tuple or list of them.
        indexing (str): "ij", or "xy" with the first two dimensions the other way round. Default: None, "ij".

    Returns:
        Tuple of Tensors, one for each vector.
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
    """Each element several times.

    Args:
        input (Tensor): What is repeated.
        repeats (Union[int, tuple[int], Tensor]): How often, all or each. With a Tensor a graph is not compiled.
        dim (int): The dimension; for None the Tensor is flattened. Default: None.
        output_size (int): How long the dimension becomes, which is known here in any case. Default: None.

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
    """Elements of `input` where a condition holds, else those of `other`; without these the places where it holds.

    Args:
        condition (Tensor): Of bool.
        input (Union[Tensor, Number]): What is taken where it holds. Default: None.
        other (Union[Tensor, Number]): What is taken elsewhere. Default: None.

    Returns:
        Tensor; of `condition` alone a tuple of vectors, one for each of its dimensions.
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
    """The different elements, in their order.

    Args:
        input (Tensor): Numbers.
        sorted (bool): Whether they are sorted, which they are here in any case. Default: True.
        return_inverse (bool): Whether the place of each element among them comes as well. Default: False.
        return_counts (bool): Whether it comes as well how often each is there. Default: False.
        dim (int): Slices of this dimension are compared; for None elements are. Default: None.

    Returns:
        Tensor; with what comes as well a tuple.

    Raises:
        NotImplementedError: If `dim` is given.
    """
    if dim is not None:
        raise NotImplementedError("For 'unique', 'dim' should be None: different slices are found by numpy.unique.")
    ordered, places = sort(input.reshape(-1))
    found, *rest = F.unique_consecutive(ordered, True, True)
    further = []
    if return_inverse:
        run = in_int64(rest[0])
        further.append(F.tensor_scatter_elements(run, places, run, 0).reshape(input.shape))
    if return_counts:
        further.append(in_int64(rest[1]))
    return (found, *further) if further else found


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = _MODES[0]) -> Tensor:
    """The distance of each row of one Tensor from each of another.

    Args:
        x1 (Tensor): (..., P, M).
        x2 (Tensor): (..., R, M).
        p (float): The order of the norm. Default: 2.0.
        compute_mode (str): Whether a product of matrices may be used; distances are summed here in any case.
            Default: "use_mm_for_euclid_dist_if_necessary".

    Returns:
        Tensor (..., P, R).

    Raises:
        ValueError: If `compute_mode` is none of MindSpore's.
    """
    if compute_mode not in _MODES:
        raise ValueError(f"For 'cdist', 'compute_mode' should be one of {_MODES}, but got {compute_mode!r}.")
    log.unused("cdist", "distances are summed here in any case", compute_mode=compute_mode == _MODES[1])
    return F.cdist(x1, x2, p)


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """What a triangular matrix has to be multiplied with to give `b`.

    Args:
        b (Tensor): (M, N).
        A (Tensor): (M, M).
        upper (bool): Whether it has its numbers above the diagonal. Default: True.
        transpose (bool): Whether it is transposed first. Default: False.
        unitriangular (bool): Whether its diagonal counts as ones. Default: False.

    Returns:
        A tuple of the solution and a copy of `A`.
    """
    return _SolveTriangular(trans=int(transpose), lower=not upper, unit_diagonal=unitriangular)(A, b), P.Identity()(A)
