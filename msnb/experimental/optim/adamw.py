"""Re-export module of an optimizer at MindSpore 2's path `mindspore.experimental.optim.adamw`."""

from msnb.experimental.optim.moments import AdamW

SpeedAdamW = AdamW  # XLA fuses the update of both

__all__ = ["AdamW"]
