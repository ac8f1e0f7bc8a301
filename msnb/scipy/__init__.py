"""`mindspore.scipy`: linear algebra and minima for Tensors, with scipy's signatures."""

from msnb.scipy import linalg, optimize

__all__ = ["linalg", "optimize"]
