"""`RowTensor` and `SparseTensor`: a few values of a large Tensor, and where they stand."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.tensor import Tensor


class RowTensor:
    """A sparse representation of slices: `values` stand at the rows `indices` of a Tensor of shape `dense_shape`.

    Args:
        indices (Tensor): 1-D int32 or int64.
        values (Tensor): One slice per index.
        dense_shape (tuple): Shape of the dense Tensor.
    """

    def __init__(self, indices: "Tensor", values: "Tensor", dense_shape: tuple[int, ...]) -> None:
        self.indices: Tensor = indices
        self.values: Tensor = values
        self.dense_shape: tuple[int, ...] = tuple(dense_shape)

    def __repr__(self) -> str:
        return f"RowTensor(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape})"


class SparseTensor:
    """A sparse Tensor in coordinate form.

    Args:
        indices (Tensor): [n, rank] int64, one coordinate per row.
        values (Tensor): [n], the values there.
        dense_shape (tuple): Shape of the dense Tensor.
    """

    def __init__(self, indices: "Tensor", values: "Tensor", dense_shape: tuple[int, ...]) -> None:
        self.indices: Tensor = indices
        self.values: Tensor = values
        self.dense_shape: tuple[int, ...] = tuple(dense_shape)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape})"
