"""Long short-term memory."""

import math

import numpy as np

from msnb._checkparam import Validator
from msnb.common.initializer import initializer
from msnb.core.tensor import Parameter, Tensor
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = ["LSTM", "LSTMCell"]


class LSTM(Cell):
    r"""
    Long short-term memory (Hochreiter and Schmidhuber, 1997), a stack of layers over a sequence:

    .. math::
        i, f, o = \sigma(W x_t + V h_{t-1} + b), \quad g = \tanh(W x_t + V h_{t-1} + b)

        c_t = f \cdot c_{t-1} + i \cdot g, \quad h_t = o \cdot \tanh(c_t)

    All weights are one Parameter `weight`: for each layer and direction the input matrix and the hidden matrix (rows
    in the order i, f, g, o), then, for each layer and direction, the input bias and the hidden bias.

    Args:
        input_size (int): The number of features of the input.
        hidden_size (int): The number of features of the state.
        num_layers (int): The number of stacked layers. Default: 1.
        has_bias (bool): Whether there are biases. Default: True.
        batch_first (bool): Whether the batch, not the time, is axis 0. Default: False.
        dropout (Union[float, int]): The probability of dropping between layers while training. Default: 0.
        bidirectional (bool): Whether a second direction runs backwards. Default: False.

    Inputs:
        - **x** (Tensor) - of shape (seq_len, batch_size, input_size), or (batch_size, seq_len, input_size).
        - **hx** (tuple) - (h_0, c_0), each of shape (num_directions * num_layers, batch_size, hidden_size).

    Outputs:
        Tuple (output, (h_n, c_n)): output of shape (seq_len, batch_size, num_directions * hidden_size), or with the
        batch first; the states of the shape they came in.

    Raises:
        TypeError: If a size is not an int, or `batch_first` not a bool.
        ValueError: If a size is less than 1, or `dropout` not in [0, 1].

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.LSTM(10, 16, 2, has_bias=True, batch_first=True, bidirectional=False)
        >>> x = Tensor(np.ones([3, 5, 10]).astype(np.float32))
        >>> h0 = Tensor(np.ones([1 * 2, 3, 16]).astype(np.float32))
        >>> c0 = Tensor(np.ones([1 * 2, 3, 16]).astype(np.float32))
        >>> output, (hn, cn) = net(x, (h0, c0))
        >>> print(output.shape)
        (3, 5, 16)
    """

    def __init__(
        self, input_size, hidden_size, num_layers=1, has_bias=True, batch_first=False, dropout=0, bidirectional=False
    ):
        super().__init__()
        self.batch_first = Validator.check_value_type("batch_first", batch_first, [bool], self.cls_name)
        Validator.check_positive_int(input_size, "input_size", self.cls_name)
        Validator.check_positive_int(hidden_size, "hidden_size", self.cls_name)
        self.num_layers = Validator.check_positive_int(num_layers, "num_layers", self.cls_name)
        Validator.check_value_type("has_bias", has_bias, [bool], self.cls_name)
        self.bidirectional = Validator.check_value_type("bidirectional", bidirectional, [bool], self.cls_name)
        Validator.check_value_type("dropout", dropout, [int, float], self.cls_name)
        if not 0 <= dropout <= 1:
            raise ValueError(f"For 'LSTM', 'dropout' must be a number in range [0, 1], but got {dropout}.")
        self.dropout = dropout
        self.lstm = _lstm(input_size, hidden_size, num_layers, has_bias, bidirectional, dropout)
        self.transpose = P.Transpose()

        directions = 2 if bidirectional else 1
        gates = 4 * hidden_size
        weight_size = 0
        for layer in range(num_layers):
            layer_input = input_size if layer == 0 else hidden_size * directions
            weight_size += directions * gates * (layer_input + hidden_size + (2 if has_bias else 0))
        bound = 1 / math.sqrt(hidden_size)
        values = np.random.uniform(-bound, bound, (weight_size, 1, 1)).astype(np.float32)
        self.weight = Parameter(initializer(Tensor(values), [weight_size, 1, 1]), name="weight")

    def construct(self, x, hx):
        if self.batch_first:
            x = self.transpose(x, (1, 0, 2))
        h, c = hx
        x, h, c, _, _ = self.lstm(x, h, c, self.weight)
        if self.batch_first:
            x = self.transpose(x, (1, 0, 2))
        return x, (h, c)


class LSTMCell(Cell):
    """
    One layer of LSTM over a sequence, whose weights are an input.

    Args:
        input_size (int): The number of features of the input.
        hidden_size (int): The number of features of the state.
        has_bias (bool): Whether there are biases. Default: True.
        batch_first (bool): Whether the batch, not the time, is axis 0. Default: False.
        dropout (Union[float, int]): As in LSTM; one layer has nothing to drop. Default: 0.
        bidirectional (bool): Whether a second direction runs backwards. Default: False.

    Inputs:
        - **x** (Tensor) - of shape (seq_len, batch_size, input_size), or (batch_size, seq_len, input_size).
        - **h** (Tensor) - of shape (num_directions, batch_size, hidden_size).
        - **c** (Tensor) - of the shape of `h`.
        - **w** (Tensor) - the weights, of shape (weight_size, 1, 1), with one bias per gate or two, as P.LSTM has it.

    Outputs:
        Tuple (output, h_n, c_n, reserve, state), as P.LSTM returns it.

    Raises:
        TypeError: If `batch_first` is not a bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, input_size, hidden_size, has_bias=True, batch_first=False, dropout=0, bidirectional=False):
        super().__init__()
        self.batch_first = Validator.check_value_type("batch_first", batch_first, [bool], self.cls_name)
        self.transpose = P.Transpose()
        self.lstm = _lstm(input_size, hidden_size, 1, has_bias, bidirectional, dropout)

    def construct(self, x, h, c, w):
        if self.batch_first:
            x = self.transpose(x, (1, 0, 2))
        x, h, c, reserve, state = self.lstm(x, h, c, w)
        if self.batch_first:
            x = self.transpose(x, (1, 0, 2))
        return x, h, c, reserve, state


def _lstm(input_size, hidden_size, num_layers, has_bias, bidirectional, dropout):
    return P.LSTM(
        input_size=input_size,
        hidden_size=hidden_size,
        num_layers=num_layers,
        has_bias=has_bias,
        bidirectional=bidirectional,
        dropout=float(dropout),
    )
