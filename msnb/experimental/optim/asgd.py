"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.asgd`."""

from msnb.experimental.optim.plain import ASGD

__all__ = ["ASGD"]
