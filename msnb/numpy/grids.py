"""Grids, and indices of the diagonal, a triangle or a block of a Tensor. numpy computes them, so in a compiled program
they are constants."""

import math
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, NonNegInt, Number, Shape, check
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._numpy import ArrayLike, as_tensor, element_type


class _Grid:
    """Class of `mgrid` and `ogrid`: ``mgrid[0:3, 0:1:5j]`` is a grid with an axis for each slice. An imaginary step 5j
    stands for 5 points including the end. `mgrid` is one Tensor, and `ogrid` of several slices a list of Tensors."""

    def __init__(self, name: str, by_numpy: Any) -> None:
        self._name = name
        self._by_numpy = by_numpy

    def __getitem__(self, keys: slice | tuple[slice, ...]) -> Tensor | list[Tensor]:
        slices = keys if isinstance(keys, tuple) else (keys,)
        for key in slices:
            numbers = (key.start, key.stop, key.step) if isinstance(key, slice) else ("",)
            if not all(v is None or isinstance(v, (int, float, complex)) for v in numbers) or key.stop is None:
                raise TypeError(f"For '{self._name}', each index should be a slice of numbers, but got {key!r}.")
        grid = self._by_numpy[keys]
        if isinstance(grid, np.ndarray):
            return _to_tensor(grid)
        axes = [self._by_numpy[key] for key in slices]  # numpy would give all axes the element type of their sum
        return [_to_tensor(axis.reshape(each.shape)) for axis, each in zip(axes, grid, strict=True)]

    def __repr__(self) -> str:
        return f"mindspore.numpy.{self._name}"


mgrid: Any = spelling(numpy="mgrid")(_Grid("mgrid", np.mgrid))
ogrid: Any = spelling(numpy="ogrid")(_Grid("ogrid", np.ogrid))


def _to_tensor(array):
    return Tensor(array.astype(np.int32 if array.dtype.kind in "biu" else np.float32))


@spelling(numpy="indices")
def indices(dimensions: Shape, dtype: DType | str = mstype.int32, sparse: bool = False) -> list[Tensor]:
    """Return index grids, as `numpy.indices`: element [p] of the i-th Tensor is the i-th coordinate of position p.

    Args:
        dimensions (Union[tuple[int], list[int]]): The shape.
        dtype (Union[mindspore.dtype, str]): Element type. Default: mindspore.int32.
        sparse (bool): True to return the i-th Tensor with length 1 in all dimensions but the i-th. Default: False.

    Returns:
        list[Tensor], one for each dimension. Without `sparse` each has the shape `dimensions`.

    Raises:
        TypeError: If `dimensions` is no tuple or list of int.

    Examples:
        >>> print(mindspore.numpy.indices((2, 3))[0])
        [[0 0 0]
         [1 1 1]]
    """
    if not isinstance(dimensions, (tuple, list)):
        raise TypeError(f"For 'indices', 'dimensions' should be a tuple or list of int, but got {dimensions!r}.")
    shape, dtype = check(Shape, dimensions, "dimensions", "indices"), mstype.np_dtype(element_type(dtype, "indices"))
    grids = np.indices(shape, dtype, check(Bool, sparse, "sparse", "indices"))
    return list(map(Tensor, grids))


@spelling(numpy="ix_")
def ix_(*args: ArrayLike) -> tuple[Tensor, ...]:
    """Return index Tensors of all combinations of indices, such as rows 0, 2 and columns 1, 3:
    ``x[mindspore.numpy.ix_([0, 2], [1, 3])]``.

    Args:
        args (Union[Tensor, list, tuple]): A vector of indices for each dimension.

    Returns:
        A tuple of Tensors. Each has the length of its vector in one dimension, and length 1 in the others.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is no vector.
    """
    vectors = [as_tensor(x, "ix_", f"args[{i}]") for i, x in enumerate(args)]
    for i, x in enumerate(vectors):
        if x.ndim != 1:
            raise ValueError(f"For 'ix_', 'args[{i}]' should be a vector, but got shape {x.shape}.")
    return tuple(x.reshape(tuple(x.size if d == i else 1 for d in range(len(vectors)))) for i, x in enumerate(vectors))


@spelling(numpy="diag_indices")
def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Return the indices of the main diagonal of a Tensor whose dimensions have equal length.

    Args:
        n (int): Length of each dimension.
        ndim (int): Number of dimensions. Default: 2.

    Returns:
        A tuple of `ndim` Tensors of int32, of shape (n,).

    Raises:
        TypeError: If an argument is not an int.
    """
    index = Tensor(np.arange(check(NonNegInt, n, "n", "diag_indices"), dtype=np.int32))
    return (index,) * check(NonNegInt, ndim, "ndim", "diag_indices")


def _compute_triangle_indices(function, by_numpy, n, k, m):
    """Return the indices of a triangle, computed by the numpy function `by_numpy`. Fractional arguments are rounded
    up."""
    sizes = {"n": n, "k": k} if m is None else {"n": n, "k": k, "m": m}
    n, k, *m = (math.ceil(check(Number, int(v) if isinstance(v, bool) else v, a, function)) for a, v in sizes.items())
    return tuple(Tensor(x.astype(np.int32)) for x in by_numpy(n, k, *m))


@spelling(numpy="tril_indices")
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the indices of the lower triangle of a matrix.

    Args:
        n (int): Number of rows.
        k (int): The uppermost diagonal of the triangle: 0 is the main diagonal, positive numbers are above it. Default:
            0.
        m (int): Number of columns. Default: None, `n`.

    Returns:
        A tuple of two vectors of int32: rows and columns.

    Raises:
        TypeError: If an argument is not a number.
    """
    return _compute_triangle_indices("tril_indices", np.tril_indices, n, k, m)


@spelling(numpy="triu_indices")
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the indices of the upper triangle of a matrix.

    Args:
        n (int): Number of rows.
        k (int): The lowest diagonal of the triangle: 0 is the main diagonal, positive numbers are above it. Default: 0.
        m (int): Number of columns. Default: None, `n`.

    Returns:
        A tuple of two vectors of int32: rows and columns.

    Raises:
        TypeError: If an argument is not a number.
    """
    return _compute_triangle_indices("triu_indices", np.triu_indices, n, k, m)


def _check_and_get_matrix_shape(function, arr):
    arr = as_tensor(arr, function, "arr")
    if arr.ndim != 2:
        raise ValueError(f"For '{function}', 'arr' should have 2 dimensions, but got shape {arr.shape}.")
    return arr.shape


@spelling(numpy="tril_indices_from")
def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Tensor, Tensor]:
    """Return the indices of the lower triangle of the matrix `arr`.

    Args:
        arr (Union[Tensor, list, tuple]): The matrix.
        k (int): The uppermost diagonal of the triangle: 0 is the main diagonal, positive numbers are above it. Default:
            0.

    Returns:
        A tuple of two vectors of int32: rows and columns.

    Raises:
        TypeError: If `k` is not a number.
        ValueError: If `arr` is no matrix.
    """
    rows, columns = _check_and_get_matrix_shape("tril_indices_from", arr)
    return _compute_triangle_indices("tril_indices_from", np.tril_indices, rows, k, columns)


@spelling(numpy="triu_indices_from")
def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Tensor, Tensor]:
    """Return the indices of the upper triangle of the matrix `arr`.

    Args:
        arr (Union[Tensor, list, tuple]): The matrix.
        k (int): The lowest diagonal of the triangle: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Returns:
        A tuple of two vectors of int32: rows and columns.

    Raises:
        TypeError: If `k` is not a number.
        ValueError: If `arr` is no matrix.
    """
    rows, columns = _check_and_get_matrix_shape("triu_indices_from", arr)
    return _compute_triangle_indices("triu_indices_from", np.triu_indices, rows, k, columns)
