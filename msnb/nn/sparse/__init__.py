"""Sparse layers; this module re-exports those of its submodule."""

from msnb.nn.sparse.sparse import SparseToDense

__all__ = ["SparseToDense"]
