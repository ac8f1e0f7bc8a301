"""Layers on sparse Tensors."""

from msnb.common.arguments import answered
from msnb.common.kinds import Bool, checked
from msnb.core.errors.messages import describe
from msnb.core.tensor.sparse import SparseTensor
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import operations as P
from msnb.ops._sparse_formats import COOTensor

__all__ = ["SparseTensorDenseMatmul", "SparseToDense"]


class SparseToDense(Cell):
    """
    Convert a sparse Tensor to a dense Tensor, with 0 where it has no value.

    Inputs:
        - **sparse_tensor** (Union[SparseTensor, COOTensor]) - values, indices and shape.

    Outputs:
        Tensor of the shape `dense_shape`.

    Raises:
        TypeError: If the input is neither a SparseTensor nor a COOTensor.

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

    def construct(self, sparse_tensor: SparseTensor | COOTensor) -> Tensor:
        """Return the dense Tensor."""
        if not isinstance(sparse_tensor, (SparseTensor, COOTensor)):
            description = describe(sparse_tensor)
            raise TypeError(
                f"For '{self.cls_name}', the input should be a SparseTensor or a COOTensor, but got {description}."
            )
        shape = tuple(sparse_tensor.shape) if isinstance(sparse_tensor, COOTensor) else sparse_tensor.dense_shape
        return self.sparse_to_dense(sparse_tensor.indices, sparse_tensor.values, shape)


class SparseTensorDenseMatmul(Cell):
    """
    Multiply a sparse matrix, given as indices, values and shape, by a dense matrix.

    Args:
        adjoint_st (bool): If True, the sparse matrix is transposed. Default: False.
        adjoint_dt (bool): If True, the dense matrix is transposed. Default: False.

    Inputs:
        - **indices** (Tensor) - Coordinates, int32 or int64 of shape (N, 2).
        - **values** (Tensor) - The values at these coordinates, of shape (N,).
        - **sparse_shape** (tuple[int]) - Shape of the sparse matrix.
        - **dense** (Tensor) - The dense matrix, of the element type of `values`.

    Outputs:
        Tensor, a matrix of that element type.

    Raises:
        TypeError: If `indices` are not integers, or the element types differ.
        ValueError: If the shapes do not fit.

    Examples:
        >>> indices, values = Tensor([[0, 1], [1, 0]], mindspore.int32), Tensor([2.0, 3.0], mindspore.float32)
        >>> print(nn.SparseTensorDenseMatmul()(indices, values, (2, 2), Tensor([[1.0], [10.0]], mindspore.float32)))
        [[20.]
         [ 3.]]
    """

    @checked
    def __init__(self, adjoint_st: Bool = False, adjoint_dt: Bool = False) -> None:
        super().__init__()
        self.adjoint_st, self.adjoint_dt = adjoint_st, adjoint_dt
        self.sparse_dense_matmul: P.SparseTensorDenseMatmul = P.SparseTensorDenseMatmul(adjoint_st, adjoint_dt)

    def construct(self, indices: Tensor, values: Tensor, sparse_shape: tuple[int, ...], dense: Tensor) -> Tensor:
        """Return the product."""
        return self.sparse_dense_matmul(indices, values, sparse_shape, dense)
