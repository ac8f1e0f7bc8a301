"""`COOTensor` and `CSRTensor`, the sparse matrices of MindSpore 2. Gradients flow to their values."""

from typing import Any, Self

import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.operator.array_like import common_type
from msnb.core.tensor.sparse import SparseBase
from msnb.core.tensor.tensor import Tensor
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.gather import Gather, GatherNd
from msnb.ops.array.join import Concat, Stack
from msnb.ops.array.reshape import ExpandDims
from msnb.ops.array.scatter_copy import ScatterNd
from msnb.ops.array.segment import UnsortedSegmentSum
from msnb.ops.array.sort import SearchSorted
from msnb.ops.math.rounding import Abs

__all__ = ["COOTensor", "CSRTensor"]


def rows_of(indptr: Tensor, number: int) -> Tensor:
    """Return the row index of each of `number` values, from the row pointer `indptr`."""
    numbers = Tensor(np.arange(number), indptr.dtype)
    return SearchSorted(right=True)(indptr, numbers).astype(indptr.dtype) - 1


def starts_of(rows: Tensor, height: int) -> Tensor:
    """Return the row pointer of a matrix of `height` rows, from the ascending row indices of its values."""
    return SearchSorted.functional(rows, Tensor(np.arange(height + 1), rows.dtype)).astype(rows.dtype)


class _Matrix(SparseBase):
    """Base class of COOTensor and CSRTensor: operators that change the values and keep their coordinates."""

    values: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the dense Tensor."""
        return self.dense_shape

    @property
    def dtype(self) -> Any:
        """Element type of the values."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """Number of values."""
        return self.values.size

    @property
    def itemsize(self) -> int:
        """Bytes of one value."""
        return self.values.itemsize

    @property
    def ndim(self) -> int:
        """Number of axes of the dense Tensor."""
        return len(self.dense_shape)

    def _with_values(self, values) -> Self:
        """Return a matrix with the same coordinates and other values."""
        return self._from_components(*(getattr(self, name) for name in self._columns[:-1]), values, self.dense_shape)

    def astype(self, dtype: Any) -> Self:
        """
        Return a copy with values of the element type `dtype`.

        Args:
            dtype (mindspore.dtype): The new element type.

        Returns:
            COOTensor or CSRTensor.
        """
        return self._with_values(self.values.astype(dtype))

    def abs(self) -> Self:
        """
        Return a copy with the absolute values.

        Returns:
            COOTensor or CSRTensor.
        """
        return self._with_values(Abs.functional(self.values))

    def to_tuple(self) -> tuple[Any, ...]:
        """
        Return a tuple of the components and the shape.

        Returns:
            tuple.
        """
        return (*(getattr(self, name) for name in self._columns), self.dense_shape)

    def _get_coordinates(self) -> Tensor:
        """Return the coordinates of the values, of shape (n, rank)."""
        raise NotImplementedError

    def to_dense(self) -> Tensor:
        """
        Convert to a dense Tensor. Values with the same coordinates are summed.

        Returns:
            Tensor.
        """
        return ScatterNd.functional(self._get_coordinates(), self.values, self.dense_shape)

    def _gather_elements(self, dense, what):
        """Gather the elements of `dense` at the coordinates of this matrix. A number is returned unchanged."""
        if not isinstance(dense, Tensor):
            return dense
        try:
            expanded = BroadcastTo.functional(dense, self.dense_shape)
        except ValueError:
            raise ValueError(
                f"A {type(self).__name__} of shape {self.dense_shape} is {what} by a number, or by a Tensor that "
                f"broadcasts to its shape, but got {describe(dense)}."
            ) from None
        return GatherNd.functional(expanded, self._get_coordinates())

    def __neg__(self) -> Self:
        return self._with_values(-self.values)

    def __mul__(self, other: Any) -> Self:
        return self._with_values(self.values * self._gather_elements(other, "multiplied"))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Self:
        return self._with_values(self.values / self._gather_elements(other, "divided"))

    def __add__(self, other: Any) -> Any:
        return self._add_or_subtract(other, 1)

    def __sub__(self, other: Any) -> Any:
        return self._add_or_subtract(other, -1)

    def _add_or_subtract(self, other, sign):
        if isinstance(other, Tensor):
            return self.to_dense() + other * sign
        if type(other) is not type(self) or other.dense_shape != self.dense_shape:
            raise TypeError(
                f"To a {type(self).__name__} of shape {self.dense_shape} another one of that shape, or a Tensor, is "
                f"added, but got {other!r}."
            )
        return self._add_matrix(other, sign)

    def _add_matrix(self, other, sign):
        raise NotImplementedError

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_format_component(getattr(self, name))}" for name in self._columns)
        return f"{type(self).__name__}(shape={list(self.dense_shape)}, dtype={self.dtype}, {fields})"


def _format_component(tensor):
    """Format a component as MindSpore does: its values have no commas, unlike those in a Tensor's repr."""
    head, sign, values = repr(tensor).partition("value=")
    return head + sign + values.replace(",", "").removeprefix(" ")


def _choose_components(owner, other, components):
    """Return the components of the sparse Tensor `other`, or `components` if `other` is None. Raise ValueError if both
    are given."""
    if other is None:
        return components
    if any(part is not None for part in components):
        raise ValueError(f"For '{owner}', either another one or its parts should be given, not both.")
    return other.to_tuple()


def _check_shape(owner, shape, rank=None):
    if not isinstance(shape, tuple) or not shape or any(type(n) is not int or n < 1 for n in shape):
        raise TypeError(f"For '{owner}', 'shape' should be a tuple of positive int, but got {shape!r}.")
    if rank is not None and len(shape) != rank:
        raise ValueError(f"For '{owner}', 'shape' should have {rank} axes, but got {shape}.")
    return shape


class COOTensor(_Matrix):
    """
    A sparse Tensor in coordinate form: values and their coordinates.

    Args:
        indices (Tensor): Coordinates, int16, int32 or int64 of shape (n, rank). Default: None.
        values (Tensor): The values, of shape (n,). Default: None.
        shape (tuple[int]): Shape of the dense Tensor. Default: None.
        coo_tensor (COOTensor): A sparse Tensor to copy, instead of the other arguments. Default: None.

    Raises:
        TypeError: If a part is of another type.
        ValueError: If the shapes do not fit each other.

    Examples:
        >>> coo = mindspore.COOTensor(Tensor([[0, 1], [1, 2]], mindspore.int32), Tensor([1.0, 2.0]), (2, 3))
        >>> print((coo * 3).to_dense())
        [[0. 3. 0.]
         [0. 0. 6.]]
    """

    _columns = ("indices", "values")

    def __init__(
        self,
        indices: Tensor | None = None,
        values: Tensor | None = None,
        shape: tuple[int, ...] | None = None,
        coo_tensor: "COOTensor | None" = None,
    ) -> None:
        components: Any = _choose_components("COOTensor", coo_tensor, (indices, values, shape))
        super().__init__(*components[:2], _check_shape("COOTensor", components[2]))
        if self.indices.ndim != 2 or self.indices.shape[1] != len(self.dense_shape) or self.values.ndim != 1:
            raise ValueError(
                f"For 'COOTensor' of shape {self.dense_shape}, 'indices' should be of shape (n, "
                f"{len(self.dense_shape)}) and 'values' of (n,), but got {self.indices.shape} and {self.values.shape}."
            )

    def _get_coordinates(self):
        return self.indices

    def coalesce(self) -> "COOTensor":
        """
        Sort the coordinates and sum the values with the same coordinates. This does not run in a compiled graph,
        because the number of distinct coordinates depends on data.

        Returns:
            COOTensor.
        """
        flat = np.ravel_multi_index(tuple(self.indices.asnumpy().T), self.dense_shape)
        positions, number = np.unique(flat, return_inverse=True)
        coordinates = np.stack(np.unravel_index(positions, self.dense_shape), 1).astype(self.indices.asnumpy().dtype)
        values = UnsortedSegmentSum.functional(self.values, Tensor(number.reshape(-1).astype(np.int32)), len(positions))
        return self._from_components(Tensor(coordinates), values, self.dense_shape)

    def to_csr(self) -> "CSRTensor":
        """
        Convert to a CSRTensor.

        Returns:
            CSRTensor.

        Raises:
            ValueError: If the Tensor does not have two axes.
        """
        _check_shape("COOTensor.to_csr", self.dense_shape, 2)
        rows, columns = self.indices[:, 0], self.indices[:, 1]
        order = np.lexsort((columns.asnumpy(), rows.asnumpy())) if len(rows) else np.zeros(0, np.int64)
        order = Tensor(order.astype(np.int32))
        rows, columns, values = (Gather.functional(x, order, 0) for x in (rows, columns, self.values))
        return CSRTensor._from_components(starts_of(rows, self.dense_shape[0]), columns, values, self.dense_shape)

    def add(self, other: "COOTensor", thresh: Any = 0) -> "COOTensor":
        """
        Return the sum of two sparse Tensors. This does not run in a compiled graph, because the number of values in the
        result depends on data.

        Args:
            other (COOTensor): The second summand, of the same shape.
            thresh (Union[int, float, Tensor]): Sums of smaller magnitude are dropped. Default: 0.

        Returns:
            COOTensor.

        Raises:
            TypeError: If `other` is no COOTensor of this shape.
        """
        total, least = self + other, float(thresh)
        if least <= 0:
            return total
        indices = Tensor(np.flatnonzero(np.abs(total.values.asnumpy()) >= least).astype(np.int32))
        return self._from_components(
            Gather.functional(total.indices, indices, 0), Gather.functional(total.values, indices, 0), self.dense_shape
        )

    def _add_matrix(self, other, sign):
        indices = Concat(0)(common_type(self.indices, other.indices))
        return self._from_components(
            indices, Concat(0)((self.values, other.values * sign)), self.dense_shape
        ).coalesce()


class CSRTensor(_Matrix):
    """
    A sparse matrix in CSR form: the row pointer, and the column index and value of each stored element.

    Args:
        indptr (Tensor): The row pointer: the index of the first value of each row, then the number of values; int16,
            int32 or int64 of shape (rows + 1,). Default: None.
        indices (Tensor): The column of each value, of shape (n,). Default: None.
        values (Tensor): The values, of shape (n,). Default: None.
        shape (tuple[int]): Rows and columns. Default: None.
        csr_tensor (CSRTensor): A sparse Tensor to copy, instead of the other arguments. Default: None.

    Raises:
        TypeError: If a part is of another type.
        ValueError: If the shapes do not fit each other.

    Examples:
        >>> starts, columns = Tensor([0, 1, 2], mindspore.int32), Tensor([1, 2], mindspore.int32)
        >>> csr = mindspore.CSRTensor(starts, columns, Tensor([1.0, 2.0]), (2, 3))
        >>> print(csr.mv(Tensor([[1.0], [10.0], [100.0]])))
        [[ 10.]
         [200.]]
    """

    _columns = ("indptr", "indices", "values")
    indptr: Tensor

    def __init__(
        self,
        indptr: Tensor | None = None,
        indices: Tensor | None = None,
        values: Tensor | None = None,
        shape: tuple[int, ...] | None = None,
        csr_tensor: "CSRTensor | None" = None,
    ) -> None:
        components: Any = _choose_components("CSRTensor", csr_tensor, (indptr, indices, values, shape))
        super().__init__(*components[1:3], _check_shape("CSRTensor", components[3], 2))
        self.indptr = components[0]
        if not isinstance(self.indptr, Tensor) or self.indptr._array.dtype.kind != "i":
            self._raise_component_error(f"'indptr' should be a Tensor of integers, but got {describe(self.indptr)}")
        if self.indptr.shape != (self.dense_shape[0] + 1,) or self.indices.ndim != 1 or self.values.ndim != 1:
            raise ValueError(
                f"For 'CSRTensor' of shape {self.dense_shape}, 'indptr' should be of shape "
                f"({self.dense_shape[0] + 1},), 'indices' and 'values' of (n,), but got {self.indptr.shape}, "
                f"{self.indices.shape} and {self.values.shape}."
            )

    def _compute_row_indices(self):
        """Return the row index of each value."""
        return rows_of(self.indptr, self.values.shape[0])

    def _get_coordinates(self):
        return Stack(1)((self._compute_row_indices(), self.indices.astype(self.indptr.dtype)))

    def to_coo(self) -> COOTensor:
        """
        Convert to a COOTensor.

        Returns:
            COOTensor.
        """
        return COOTensor._from_components(self._get_coordinates(), self.values, self.dense_shape)

    def _sum_by_rows(self, products):
        return UnsortedSegmentSum.functional(products, self._compute_row_indices(), self.dense_shape[0])

    def mv(self, dense_vector: Tensor) -> Tensor:
        """
        Multiply by a column vector.

        Args:
            dense_vector (Tensor): Of shape (columns, 1).

        Returns:
            Tensor of shape (rows, 1).

        Raises:
            ValueError: If `dense_vector` has another shape.
        """
        if dense_vector.shape != (self.dense_shape[1], 1):
            raise ValueError(
                f"For 'mv' of a CSRTensor of shape {self.dense_shape}, 'dense_vector' should be of shape "
                f"({self.dense_shape[1]}, 1), but got {dense_vector.shape}."
            )
        return self.mm(dense_vector)

    def mm(self, matrix: Any) -> Any:
        """
        Multiply by a matrix.

        Args:
            matrix (Union[Tensor, CSRTensor]): Of shape (columns, n).

        Returns:
            Tensor of shape (rows, n), a CSRTensor if `matrix` is one.

        Raises:
            ValueError: If the number of rows of `matrix` is not the number of columns of this matrix.
        """
        if tuple(matrix.shape[:1]) != self.dense_shape[1:] or len(matrix.shape) != 2:
            raise ValueError(
                f"For 'mm' of a CSRTensor of shape {self.dense_shape}, 'matrix' should be of shape "
                f"({self.dense_shape[1]}, n), but got {matrix.shape}."
            )
        dense = matrix.to_dense() if isinstance(matrix, CSRTensor) else matrix
        product = self._sum_by_rows(ExpandDims.functional(self.values, 1) * Gather.functional(dense, self.indices, 0))
        return dense_to_csr(product) if isinstance(matrix, CSRTensor) else product

    def sum(self, axis: int) -> Tensor:
        """
        Sum the rows or the columns.

        Args:
            axis (int): 1 or -1 for rows, 0 or -2 for columns.

        Returns:
            Tensor of shape (rows, 1) or (1, columns).

        Raises:
            ValueError: If `axis` is out of range.
        """
        if axis not in (0, 1, -1, -2):
            raise ValueError(f"For 'sum' of a CSRTensor, 'axis' should be 0 or 1, but got {axis!r}.")
        if axis in (1, -1):
            return ExpandDims.functional(self._sum_by_rows(self.values), 1)
        return ExpandDims.functional(UnsortedSegmentSum.functional(self.values, self.indices, self.dense_shape[1]), 0)

    def add(self, b: "CSRTensor", alpha: Any, beta: Any) -> "CSRTensor":
        """
        Return ``alpha * self + beta * b``. This does not run in a compiled graph, because the number of stored elements
        depends on data.

        Args:
            b (CSRTensor): The second summand, of the same shape.
            alpha (Union[int, float, Tensor]): Factor of this matrix.
            beta (Union[int, float, Tensor]): Factor of `b`.

        Returns:
            CSRTensor.

        Raises:
            TypeError: If `b` is no CSRTensor of this shape.
        """
        return self._with_values(self.values * alpha) + b._with_values(b.values * beta)

    def _add_matrix(self, other, sign):
        return (self.to_coo()._add_matrix(other.to_coo(), sign)).to_csr()


def dense_to_coo(tensor: Tensor) -> COOTensor:
    """Convert the nonzero elements of a Tensor to a COOTensor.

    This does not run in a compiled graph, because the number of nonzero elements depends on data.
    """
    coordinates = np.argwhere(tensor.asnumpy()).astype(np.int32)
    return COOTensor._from_components(
        Tensor(coordinates), GatherNd.functional(tensor, Tensor(coordinates)), tuple(tensor.shape)
    )


def dense_to_csr(tensor: Tensor) -> CSRTensor:
    """Convert the nonzero elements of a matrix to a CSRTensor.

    This does not run in a compiled graph, because the number of nonzero elements depends on data.
    """
    return dense_to_coo(tensor).to_csr()
