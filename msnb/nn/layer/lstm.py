"""Long short-term memory."""

import math

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, PositiveInt, checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn._kinds import Share
from msnb.nn.cell import Cell
from msnb.ops import operations as P
from msnb.ops.nn.recurrent.lstm import _LSTMOfLengths

__all__ = ["LSTM", "LSTMCell"]


class _LstmBase(Cell):
    """Base class of LSTM and LSTMCell: creates the operator, and swaps time and batch axis for `batch_first`."""

    def _create_operator(self, batch_first, *settings):
        self.batch_first = batch_first
        self.transpose = P.Transpose()
        self.lstm = P.LSTM(*settings)
        self._lstm_of_lengths = _LSTMOfLengths(*settings)

    def _swap_time_and_batch(self, x):
        """Return `x` with time and batch swapped if `batch_first`."""
        return self.transpose(x, (1, 0, 2)) if self.batch_first else x


class LSTM(_LstmBase):
    r"""
    Layers of long short-term memory over a sequence (Hochreiter and Schmidhuber, 1997). At each time, gates computed
    from the input x and the previous output h update the memory c:

    .. math::
        i, f, o = \sigma(W x_t + V h_{t-1} + b), \quad g = \tanh(W x_t + V h_{t-1} + b)

        c_t = f \cdot c_{t-1} + i \cdot g, \quad h_t = o \cdot \tanh(c_t)

    One Parameter `weight` holds all weights. For each layer and direction it has W and V, with rows in the order i, f,
    g, o. The pairs of biases of all layers and directions follow. There is one exception, as in MindSpore: on a CPU,
    without biases, and with several layers or directions, every W comes before every V. A checkpoint of such a network
    fits only the kind of device on which it was trained.

    Args:
        input_size (int): Number of input features.
        hidden_size (int): Number of features of the hidden state h.
        num_layers (int): Number of layers. Default: 1.
        has_bias (bool): Whether there are biases. Default: True.
        batch_first (bool): Whether axis 0 of `x` and of the output is the batch axis instead of the time axis. Default:
            False.
        dropout (Union[float, int]): Dropout probability between layers in training.
            Default: 0.
        bidirectional (bool): Whether each layer processes the sequence in both directions. Default: False.
        dtype (mindspore.dtype): Element type of the Parameter. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - (seq_len, batch_size, input_size), or (batch_size, seq_len, input_size) with `batch_first`.
        - **hx** (tuple, optional) - the first h and c, each of shape (layers * directions, batch_size, hidden_size).
          Default: None, zeros.
        - **seq_length** (Tensor, optional) - int, of shape (batch_size,): the length of each sequence. Outputs after
          its end are 0. Default: None, all lengths are seq_len.

    Outputs:
        Tuple (output, (h, c)): the outputs of the last layer at all times, in the axis order of `x`, with directions *
        hidden_size features; the last h and c of each layer and direction.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or `dropout` is not in [0, 1].

    Examples:
        >>> net = nn.LSTM(10, 16, 2, batch_first=True)
        >>> state = Tensor(np.zeros((2, 3, 16)), mindspore.float32)
        >>> output, (h, c) = net(Tensor(np.ones((3, 5, 10)), mindspore.float32), (state, state))
        >>> print(output.shape, h.shape)
        (3, 5, 16) (2, 3, 16)
    """

    @checked
    def __init__(
        self,
        input_size: PositiveInt,
        hidden_size: PositiveInt,
        num_layers: PositiveInt = 1,
        has_bias: Bool = True,
        batch_first: Bool = False,
        dropout: Share = 0,
        bidirectional: Bool = False,
        *,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self._create_operator(batch_first, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout)
        directions = 1 + bidirectional
        self._states, self._length = num_layers * directions, hidden_size
        input_sizes = [input_size, *[directions * hidden_size] * (num_layers - 1)]
        # A row of a gate has a weight for each input and each hidden feature, and two biases.
        rows = 4 * hidden_size * directions
        count = rows * sum(features + hidden_size + 2 * has_bias for features in input_sizes)
        reach = 1 / math.sqrt(hidden_size)
        start = np.random.uniform(-reach, reach, count).reshape(-1, 1, 1)
        self.weight: Parameter = Parameter(Tensor(start, dtype), "weight")

    def construct(
        self, x: Tensor, hx: tuple[Tensor, Tensor] | None = None, seq_length: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return (outputs of all times, (h, c) after the last time)."""
        check_dims(self.cls_name, x, 3, name="'x'")
        x = self._swap_time_and_batch(x)
        if hx is None:
            nothing = P.Zeros()((self._states, x.shape[1], self._length), x.dtype)
            hx = (nothing, nothing)
        if seq_length is None:
            results, h, c, _, _ = self.lstm(x, *hx, self.weight)
        else:
            results, h, c, _, _ = self._lstm_of_lengths(x, *hx, self.weight, seq_length)
        return self._swap_time_and_batch(results), (h, c)


class LSTMCell(_LstmBase):
    """
    One LSTM layer over a sequence, whose weights are an input.

    Args:
        input_size (int): Number of input features.
        hidden_size (int): Number of features of the hidden state h.
        has_bias (bool): Whether there are biases. Default: True.
        batch_first (bool): Whether axis 0 of `x` and of the output is the batch axis instead of the time axis. Default:
            False.
        dropout (Union[float, int]): As in LSTM; no effect, as there is one layer. Default: 0.
        bidirectional (bool): Whether the layer processes the sequence in both directions. Default: False.

    Inputs:
        - **x** (Tensor) - (seq_len, batch_size, input_size), or (batch_size, seq_len, input_size) with `batch_first`.
        - **h** (Tensor) - of shape (directions, batch_size, hidden_size).
        - **c** (Tensor) - of the shape of `h`.
        - **w** (Tensor) - the weights in the layout of P.LSTM, of shape (number of weights, 1, 1), with one or two
            biases for each gate.

    Outputs:
        Tuple (output, h, c, reserve, state), as in P.LSTM.

    Raises:
        TypeError: If `batch_first` is no bool.

    Examples:
        >>> net = nn.LSTMCell(10, 16)
    """

    @checked
    def __init__(
        self,
        input_size: PositiveInt,
        hidden_size: PositiveInt,
        has_bias: Bool = True,
        batch_first: Bool = False,
        dropout: Share = 0,
        bidirectional: Bool = False,
    ) -> None:
        super().__init__()
        self._create_operator(batch_first, input_size, hidden_size, 1, has_bias, bidirectional, dropout)

    def construct(self, x: Tensor, h: Tensor, c: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        """Return (outputs of all times, h, c, reserve, state)."""
        results, *rest = self.lstm(self._swap_time_and_batch(x), h, c, w)
        return (self._swap_time_and_batch(results), *rest)
