"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.adagrad`."""

from msnb.experimental.optim.adaptive import Adagrad

__all__ = ["Adagrad"]
