"""Re-export module: recurrent layers, at MindSpore 2's module path."""

from msnb.nn.layer.lstm import LSTM
from msnb.nn.layer.recurrent import GRU, RNN

__all__ = ["LSTM", "GRU", "RNN"]
