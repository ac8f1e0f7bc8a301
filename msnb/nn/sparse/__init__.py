"""Re-export module of `mindspore.nn.sparse`: layers on sparse Tensors."""

from msnb.nn.sparse.sparse import SparseTensorDenseMatmul, SparseToDense

__all__ = ["SparseTensorDenseMatmul", "SparseToDense"]
