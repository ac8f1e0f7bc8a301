"""Re-export module of MindSpore 2's `mindspore.common._grad_function`."""

from msnb.nn._autograd_function import _Function

__all__ = ["_Function"]
