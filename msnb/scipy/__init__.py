"""`mindspore.scipy`: linear algebra after scipy's signatures, over Tensors."""

from msnb.scipy import linalg

__all__ = ["linalg"]
