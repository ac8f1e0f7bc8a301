"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.adadelta`."""

from msnb.experimental.optim.adaptive import Adadelta

__all__ = ["Adadelta"]
