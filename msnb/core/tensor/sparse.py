"""`RowTensor` and `SparseTensor`: indices and values of a large Tensor, and their base class."""

from collections.abc import Callable
from typing import Any, Self

from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor

KINDS: set[type] = set()  # sparse classes, which a graph flattens into Tensors


class SparseBase:
    """Base class of sparse Tensors: indices, values and the shape of the dense Tensor.

    Attributes:
        _columns (tuple): Names of the components that are Tensors, in the order of `_from_components`.
    """

    _columns: tuple[str, ...] = ("indices", "values")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        KINDS.add(cls)

    def __init__(self, indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> None:
        self.indices: Tensor = indices
        self.values: Tensor = values
        self.dense_shape: tuple[int, ...] = tuple(dense_shape)
        self._check()

    def _check(self):
        if not isinstance(self.indices, Tensor) or self.indices._array.dtype.kind != "i":
            self._raise_component_error(f"'indices' should be a Tensor of integers, but got {describe(self.indices)}")
        if not isinstance(self.values, Tensor):
            self._raise_component_error(f"'values' should be a Tensor, but got {describe(self.values)}")
        if any(type(n) is not int or n < 0 for n in self.dense_shape):
            self._raise_component_error(f"'dense_shape' should hold int of at least 0, but got {self.dense_shape}")
        if self.indices.shape[:1] != self.values.shape[:1]:
            self._raise_component_error(
                f"'indices' and 'values' should be of one length, but their shapes are {self.indices.shape} and "
                f"{self.values.shape}"
            )

    def _raise_component_error(self, why):
        raise TypeError(f"For '{type(self).__name__}', {why}.")

    @classmethod
    def _from_components(cls, *components: Any) -> Self:
        """Return an object of components and dense shape without checks; components may be placeholders."""
        sparse = object.__new__(cls)
        sparse.__dict__.update(zip((*cls._columns, "dense_shape"), components, strict=True))
        return sparse

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape})"


class RowTensor(SparseBase):
    """A sparse representation of slices: `values` are the rows `indices` of a Tensor of shape `dense_shape`.

    The gradient of a Parameter that only `ops.SparseGatherV2` or `ops.EmbeddingLookup` read is a RowTensor. Repeated
    indices add up in the dense gradient.

    Args:
        indices (Tensor): 1-D int32 or int64.
        values (Tensor): One slice per index.
        dense_shape (tuple): Shape of the dense Tensor.

    Raises:
        TypeError: If `indices` are not integers or not 1-D, or the shapes do not fit.
    """

    def _check(self):
        super()._check()
        if self.indices.ndim != 1:
            self._raise_component_error(f"'indices' should be 1-D, but got {describe(self.indices)}")
        if self.values.ndim != len(self.dense_shape) or self.values.shape[1:] != self.dense_shape[1:]:
            self._raise_component_error(
                f"'values' should be slices of a Tensor {self.dense_shape}, but got {describe(self.values)}"
            )


class SparseTensor(SparseBase):
    """A sparse Tensor in coordinate form.

    Args:
        indices (Tensor): [n, rank] int64, one coordinate per row.
        values (Tensor): [n], the value at each coordinate.
        dense_shape (tuple): Shape of the dense Tensor, known as `shape`, too.

    Raises:
        TypeError: If `indices` are not integers, or the shapes do not fit.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the dense Tensor."""
        return self.dense_shape

    def _check(self):
        super()._check()
        if self.indices.ndim != 2 or self.indices.shape[1] != len(self.dense_shape):
            self._raise_component_error(
                f"'indices' should be coordinates in a Tensor {self.dense_shape}, one per row, but got "
                f"{describe(self.indices)}"
            )
        if self.values.ndim != 1:
            self._raise_component_error(f"'values' should be 1-D, but got {describe(self.values)}")


def map_values(change: Callable[[Tensor], Tensor], gradient: Tensor | RowTensor) -> Tensor | RowTensor:
    """Return a gradient with changed values; a RowTensor keeps its indices."""
    if isinstance(gradient, RowTensor):
        return RowTensor(gradient.indices, change(gradient.values), gradient.dense_shape)
    return change(gradient)


def add_rows(table: Any, indices: Any, values: Any) -> Any:
    """Return `table` with `values` added to the rows `indices`. Indices out of range or negative are dropped."""
    return table.at[indices].add(values, mode="drop", wrap_negative_indices=False)
