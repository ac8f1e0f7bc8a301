"""Re-export module: the optimizers of mint; AdamW, FusedAdamW and SGD are those of `mindspore.experimental.optim`."""

from msnb.experimental.optim import SGD, AdamW
from msnb.experimental.optim import AdamW as FusedAdamW
from msnb.mint.optim.adam import Adam

__all__ = ["Adam", "AdamW", "FusedAdamW", "SGD"]
