"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.sgd`."""

from msnb.experimental.optim.plain import SGD

__all__ = ["SGD"]
