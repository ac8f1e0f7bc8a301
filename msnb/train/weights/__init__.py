"""Weights of other frameworks: `load_weights` and `save_weights`."""

from msnb.train.weights.load import LoadedWeights, load_weights
from msnb.train.weights.save import save_weights

__all__ = ["LoadedWeights", "load_weights", "save_weights"]
