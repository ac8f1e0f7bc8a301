"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.nadam`."""

from msnb.experimental.optim.moments import NAdam

__all__ = ["NAdam"]
