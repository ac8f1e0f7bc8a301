"""Re-export module: single-step recurrent cells, at MindSpore 2's module path."""

from msnb.nn.layer._recurrent.cell_step import _gru_cell as _gru_cell
from msnb.nn.layer._recurrent.cell_step import _lstm_cell as _lstm_cell
from msnb.nn.layer._recurrent.cell_step import _rnn_relu_cell as _rnn_relu_cell
from msnb.nn.layer._recurrent.cell_step import _rnn_tanh_cell as _rnn_tanh_cell
from msnb.nn.layer.lstm import LSTMCell
from msnb.nn.layer.recurrent import GRUCell, RNNCell, RNNCellBase

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]
