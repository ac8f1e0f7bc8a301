"""Layers on sparse Tensors."""

from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = ["SparseToDense"]


class SparseToDense(Cell):
    """
    Make a dense Tensor of a sparse one.

    Inputs:
        - **sparse_tensor** (SparseTensor) - the values, their places and the shape.

    Outputs:
        Tensor, of shape `dense_shape`: the values at their places, 0 elsewhere.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> from mindspore import SparseTensor
        >>> indices = Tensor([[0, 1], [1, 2]])
        >>> values = Tensor([1, 2], dtype=mindspore.int32)
        >>> result = nn.SparseToDense()(SparseTensor(indices, values, (3, 4)))
    """

    def __init__(self):
        super().__init__()
        self.sparse_to_dense = P.SparseToDense()

    def construct(self, sparse_tensor):
        return self.sparse_to_dense(sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape)
