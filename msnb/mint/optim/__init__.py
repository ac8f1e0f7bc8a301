"""A face: the optimizers of mint, which are those of `mindspore.experimental.optim`."""

from msnb.experimental.optim import SGD, Adam, AdamW

__all__ = ["Adam", "AdamW", "SGD"]
