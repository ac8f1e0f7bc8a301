"""Sparse layers; this module re-exports those of its submodule."""

from msnb.nn.sparse.sparse import SparseTensorDenseMatmul, SparseToDense

__all__ = ["SparseTensorDenseMatmul", "SparseToDense"]
