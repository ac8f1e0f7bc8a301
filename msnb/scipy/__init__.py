"""`mindspore.scipy`: linear algebra for Tensors, with scipy's signatures."""

from msnb.scipy import linalg

__all__ = ["linalg"]
