"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.adamax`."""

from msnb.experimental.optim.moments import Adamax

__all__ = ["Adamax"]
