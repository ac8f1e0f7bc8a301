"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.radam`."""

from msnb.experimental.optim.moments import RAdam

__all__ = ["RAdam"]
