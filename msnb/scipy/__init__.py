"""`mindspore.scipy`: linear algebra with scipy's signatures for Tensors."""

from msnb.scipy import linalg

__all__ = ["linalg"]
