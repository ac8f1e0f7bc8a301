"""Layers on sparse Tensors."""

from msnb.common.arguments import answered
from msnb.core.errors import describe
from msnb.core.sparse_tensor import SparseTensor
from msnb.core.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = ["SparseToDense"]


class SparseToDense(Cell):
    """
    A Tensor with the values of a sparse one at their places, and 0 elsewhere.

    Inputs:
        - **sparse_tensor** (SparseTensor) - values, places and shape.

    Outputs:
        Tensor of the shape `dense_shape`.

    Raises:
        TypeError: If the input is no SparseTensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> from mindspore import SparseTensor
        >>> sparse = SparseTensor(Tensor([[0, 1], [1, 2]]), Tensor([1, 2], mindspore.int32), (2, 3))
        >>> print(nn.SparseToDense()(sparse))
        [[0 1 0]
         [0 0 2]]
    """

    @answered
    def __init__(self) -> None:
        super().__init__()
        self.sparse_to_dense: P.SparseToDense = P.SparseToDense()

    def construct(self, sparse_tensor: SparseTensor) -> Tensor:
        """The dense Tensor."""
        if not isinstance(sparse_tensor, SparseTensor):
            given = describe(sparse_tensor)
            raise TypeError(f"For '{self.cls_name}', the input should be a SparseTensor, but got {given}.")
        return self.sparse_to_dense(sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape)
