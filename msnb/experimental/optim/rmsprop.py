"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.rmsprop`."""

from msnb.experimental.optim.adaptive import RMSprop

__all__ = ["RMSprop"]
