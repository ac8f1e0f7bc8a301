"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.rprop`."""

from msnb.experimental.optim.plain import Rprop

__all__ = ["Rprop"]
