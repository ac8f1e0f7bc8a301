"""LSTM and LSTMCell of MindSpore 2, with separate Parameters for each layer and direction."""

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, PositiveInt, checked
from msnb.core.operator.api_generations import replaces_in_api2
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn._kinds import Share
from msnb.nn.layer import lstm
from msnb.nn.layer.recurrent import _RecurrentCell, _RecurrentLayers
from msnb.ops import operations as P
from msnb.ops.nn.recurrent.lstm import _LSTMOfLengths

_GATES = 4


def _pack_weights(layers, dtype):
    """Pack the weights of layers and directions, each a list of two matrices and optional biases, for P.LSTM.

    Missing biases become zeros of `dtype`, because the packing of P.LSTM without biases depends on the device.
    `dtype` is that of the input: with `to_float` Parameters are cast when an operator reads them, so their own dtype
    may differ.
    """
    matrices = [P.Reshape()(matrix, (-1,)) for weights in layers for matrix in weights[:2]]
    none = [P.Zeros()((2 * weights[0].shape[0],), dtype) for weights in layers if len(weights) == 2]
    biases = none or [bias for weights in layers for bias in weights[2:]]
    return P.Concat()((*matrices, *biases))


@replaces_in_api2(
    lstm.LSTM,
    "each layer and direction has Parameters of its own, `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, "
    "..., in the place of one `weight`",
)
class LSTM(_RecurrentLayers):
    r"""
    Layers of long short-term memory over a sequence (Hochreiter and Schmidhuber, 1997), see r1.1's `LSTM`. The rows of
    weights and biases come in the order i, f, g, o.

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
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

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
        ways = ("", "_reverse")[: 1 + bidirectional]
        self._create_parameters(
            _GATES, input_size, hidden_size, num_layers, has_bias, batch_first, dropout, ways, dtype
        )
        # P.LSTM applies dropout in evaluation, too. With dropout each layer is therefore a separate call, and the layer
        # `dropout_op` runs between the calls.
        together = 1 if dropout else num_layers
        input_sizes = [input_size, *[hidden_size * self._ways] * (num_layers - 1)][::together]
        settings = [(features, hidden_size, together, True, bidirectional, 0.0) for features in input_sizes]
        self._calls = [(P.LSTM(*some), _LSTMOfLengths(*some)) for some in settings]

    def construct(
        self, x: Tensor, hx: tuple[Tensor, Tensor] | None = None, seq_length: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return (outputs of all times, (h, c) after the last time)."""
        check_dims(self.cls_name, x, 3, name="'x'")
        if self.batch_first:
            x = self._transpose(x, (1, 0, 2))
        if hx is None:
            nothing = P.Zeros()((self.num_layers * self._ways, x.shape[1], self.hidden_size), x.dtype)
            hx = (nothing, nothing)
        count, last = len(self._names) // len(self._calls), []
        for number, (all_times, times_of_lengths) in enumerate(self._calls):
            rows = slice(number * count, (number + 1) * count)
            spots = range(number * count, (number + 1) * count)
            weights = _pack_weights([self._get_layer_weights(spot, x.dtype) for spot in spots], x.dtype)
            states = hx if len(self._calls) == 1 else tuple(state[rows] for state in hx)
            if number > 0:
                x = self.dropout_op(x)
            if seq_length is None:
                x, h, c, _, _ = all_times(x, *states, weights)
            else:
                x, h, c, _, _ = times_of_lengths(x, *states, weights, seq_length)
            last.append((h, c))
        h, c = last[0] if len(last) == 1 else (P.Concat(0)(each) for each in zip(*last, strict=True))
        return (self._transpose(x, (1, 0, 2)) if self.batch_first else x), (h, c)


@replaces_in_api2(
    lstm.LSTMCell, "it is one step with weights of its own, `LSTMCell(input_size, hidden_size)(x, (h, c))`"
)
class LSTMCell(_RecurrentCell):
    """
    One step of long short-term memory, see `LSTM`.

    Args:
        input_size (int): Number of input features.
        hidden_size (int): Number of features of h and of c.
        has_bias (bool): Whether there are biases. Default: True.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (batch_size, input_size).
        - **hx** (tuple) - h and c, each of shape (batch_size, hidden_size).

    Outputs:
        Tuple, the next h and c.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1.
    """

    @checked
    def __init__(
        self,
        input_size: PositiveInt,
        hidden_size: PositiveInt,
        has_bias: Bool = True,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self._create_parameters(_GATES, input_size, hidden_size, has_bias, dtype)
        self._step = P.LSTM(input_size, hidden_size, 1, True, False, 0.0)
        self._expand, self._squeeze = P.ExpandDims(), P.Squeeze(0)

    def construct(self, x: Tensor, hx: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the next (h, c)."""
        check_dims(self.cls_name, x, 2, name="'x'")
        for state in hx:
            check_dims(self.cls_name, state, 2, name="'hx'")
        own = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        weights = _pack_weights([[weight for weight in own if weight is not None]], x.dtype)
        x, h, c = (self._expand(array, 0) for array in (x, *hx))
        _, h, c, _, _ = self._step(x, h, c, weights)
        return self._squeeze(h), self._squeeze(c)
