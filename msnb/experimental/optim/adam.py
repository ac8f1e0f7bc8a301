"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.adam`."""

from msnb.experimental.optim.moments import Adam

__all__ = ["Adam"]
