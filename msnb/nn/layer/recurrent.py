"""RNN and GRU with separate Parameters for each layer and direction, and their single-step cells."""

import math
from typing import Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, OneOf, PositiveInt, checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn._kinds import Share
from msnb.nn.cell import Cell
from msnb.nn.layer.basic import Dropout
from msnb.ops import operations as P
from msnb.ops.nn.recurrent.rnn import GATES, _Recurrent

__all__ = ["RNN", "GRU", "RNNCell", "GRUCell"]

Nonlinearity = Annotated[str, OneOf("tanh", "relu")]


def _create_uniform_parameter(name, shape, hidden_size, dtype):
    """Return a Parameter with uniform random values in (-1/sqrt(hidden_size), 1/sqrt(hidden_size))."""
    reach = 1 / math.sqrt(hidden_size)
    return Parameter(Tensor(np.random.uniform(-reach, reach, shape), dtype), name)


class _RecurrentLayers(Cell):
    """Base class of recurrent layers. Each layer and direction has Parameters ``weight_ih_l0``, ``weight_hh_l0``,
    ``bias_ih_l0``, ``bias_hh_l0``, with the suffix ``_reverse`` for the backward direction."""

    def _create_operators_and_weights(
        self, cell, input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype
    ):
        ways = ("", "_reverse")[: 1 + bidirectional]
        self._runs = [_Recurrent(cell=cell, reverse=bool(way)) for way in ways]
        self._create_parameters(
            GATES[cell], input_size, hidden_size, num_layers, has_bias, batch_first, dropout, ways, dtype
        )

    def _create_parameters(
        self, gates, input_size, hidden_size, num_layers, has_bias, batch_first, dropout, ways, dtype
    ):
        self.batch_first: bool = batch_first
        self.num_layers: int = num_layers
        self.hidden_size: int = hidden_size
        self.bidirectional: bool = len(ways) == 2
        self.has_bias: bool = has_bias
        self.dropout: float = dropout
        self.dropout_op: Dropout = Dropout(p=float(dropout))
        self._ways = len(ways)
        self._transpose, self._concat, self._stack = P.Transpose(), P.Concat(2), P.Stack()
        rows = gates * hidden_size
        self._names, all_shapes = [], {}
        for layer in range(num_layers):
            layer_input_size = input_size if layer == 0 else hidden_size * self._ways
            for way in ways:
                end = f"l{layer}{way}"
                shapes = {f"weight_ih_{end}": (rows, layer_input_size), f"weight_hh_{end}": (rows, hidden_size)}
                if has_bias:
                    shapes |= {f"bias_ih_{end}": (rows,), f"bias_hh_{end}": (rows,)}
                all_shapes |= shapes
                self._names.append(tuple(shapes))
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):  # MindSpore lists the Parameters in this order
            for name in (name for name in all_shapes if name.startswith(kind)):
                setattr(self, name, _create_uniform_parameter(name, all_shapes[name], hidden_size, dtype))

    def _get_layer_weights(self, spot, dtype):
        """Return the weights of one layer and direction in the element type of the input."""
        weights = [getattr(self, name) for name in self._names[spot]]
        return [weight if weight.dtype == dtype else P.Cast()(weight, dtype) for weight in weights]

    def construct(self, x: Tensor, hx: Tensor | None = None, seq_length: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return (outputs of all times, states after the last time)."""
        check_dims(type(self).__name__, x, 3, name="'x'")
        if hx is not None:
            check_dims(type(self).__name__, hx, 3, name="'hx'")
        if self.batch_first:
            x = self._transpose(x, (1, 0, 2))
        if hx is None:
            hx = P.Zeros()((self.num_layers * self._ways, x.shape[1], self.hidden_size), x.dtype)
        last = []
        for layer in range(self.num_layers):
            if layer > 0 and self.dropout:
                x = self.dropout_op(x)
            layer_results = []
            for way in range(self._ways):
                spot = layer * self._ways + way
                weights = self._get_layer_weights(spot, x.dtype) + [None] * (0 if self.has_bias else 2)
                results, state = self._runs[way](x, hx[spot], *weights, seq_length)
                layer_results.append(results)
                last.append(state)
            x = self._concat(tuple(layer_results)) if self._ways == 2 else layer_results[0]
        return (self._transpose(x, (1, 0, 2)) if self.batch_first else x), self._stack(tuple(last))


class RNN(_RecurrentLayers):
    r"""
    Layers of the plain recurrent network (Elman, 1990) over a sequence:
    :math:`h_t = \tanh(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh})`, or ReLU instead of tanh.

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
        nonlinearity (str): "tanh" or "relu". Default: "tanh".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - (seq_len, batch_size, input_size), or (batch_size, seq_len, input_size) with `batch_first`.
        - **hx** (Tensor, optional) - the first states, of shape (layers * directions, batch_size, hidden_size).
          Default: None, zeros.
        - **seq_length** (Tensor, optional) - int, of shape (batch_size,): the length of each sequence. Outputs after
          its end are 0. Default: None, all lengths are seq_len.

    Outputs:
        Tuple (output, hx_n): the outputs of the last layer at all times, in the axis order of `x`, with directions *
        hidden_size features; the last state of each layer and direction.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, `dropout` is not in [0, 1], or `nonlinearity` is unknown.

    Examples:
        >>> net = nn.RNN(10, 16, 2, batch_first=True, bidirectional=True)
        >>> output, hx = net(Tensor(np.ones((3, 5, 10)), mindspore.float32))
        >>> print(output.shape, hx.shape)
        (3, 5, 32) (4, 3, 16)
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
        nonlinearity: Nonlinearity = "tanh",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self.nonlinearity: str = nonlinearity
        self._create_operators_and_weights(
            nonlinearity, input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype
        )


class GRU(_RecurrentLayers):
    r"""
    Layers of gated recurrent units (Cho et al., 2014) over a sequence:

    .. math::
        r, z = \sigma(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh}), \quad
        n = \tanh(W_{in} x_t + b_{in} + r \cdot (W_{hn} h_{t-1} + b_{hn}))

        h_t = (1 - z) \cdot n + z \cdot h_{t-1}

    The rows of weights and biases come in the order r, z, n.

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
        - **hx** (Tensor, optional) - the first states, of shape (layers * directions, batch_size, hidden_size).
          Default: None, zeros.
        - **seq_length** (Tensor, optional) - int, of shape (batch_size,): the length of each sequence. Outputs after
          its end are 0. Default: None, all lengths are seq_len.

    Outputs:
        Tuple (output, hx_n): the outputs of the last layer at all times, in the axis order of `x`, with directions *
        hidden_size features; the last state of each layer and direction.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or `dropout` is not in [0, 1].

    Examples:
        >>> net = nn.GRU(10, 16)
        >>> output, hx = net(Tensor(np.ones((5, 3, 10)), mindspore.float32))
        >>> print(output.shape, hx.shape)
        (5, 3, 16) (1, 3, 16)
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
        self._create_operators_and_weights(
            "gru", input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype
        )


class _RecurrentCell(Cell):
    """Base class of single-step recurrent cells."""

    def _create_operators_and_weights(self, cell, input_size, hidden_size, has_bias, dtype):
        self._run_once, self._expand = _Recurrent(cell=cell), P.ExpandDims()
        self._create_parameters(GATES[cell], input_size, hidden_size, has_bias, dtype)

    def _create_parameters(self, gates, input_size, hidden_size, has_bias, dtype):
        self.input_size: int = input_size
        self.hidden_size: int = hidden_size
        self.has_bias: bool = has_bias
        rows = gates * hidden_size
        self.weight_ih: Parameter = _create_uniform_parameter("weight_ih", (rows, input_size), hidden_size, dtype)
        self.weight_hh: Parameter = _create_uniform_parameter("weight_hh", (rows, hidden_size), hidden_size, dtype)
        self.bias_ih: Parameter | None = (
            _create_uniform_parameter("bias_ih", (rows,), hidden_size, dtype) if has_bias else None
        )
        self.bias_hh: Parameter | None = (
            _create_uniform_parameter("bias_hh", (rows,), hidden_size, dtype) if has_bias else None
        )

    def construct(self, x: Tensor, hx: Tensor) -> Tensor:
        """Return the next state."""
        check_dims(type(self).__name__, x, 2, name="'x'")
        check_dims(type(self).__name__, hx, 2, name="'hx'")
        weights = self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        return self._run_once(self._expand(x, 0), hx, *weights)[1]


class RNNCellBase(_RecurrentCell):
    """
    Base class with the weights of one step, for user-defined recurrent cells.

    Args:
        input_size (int): Number of input features.
        hidden_size (int): Number of features of the hidden state.
        has_bias (bool): Whether there are biases.
        num_chunks (int): Number of gates whose weights are stacked along axis 0.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.
    """

    @checked
    def __init__(
        self,
        input_size: PositiveInt,
        hidden_size: PositiveInt,
        has_bias: Bool,
        num_chunks: PositiveInt,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self._create_parameters(num_chunks, input_size, hidden_size, has_bias, dtype)

    def construct(self, *inputs: Any) -> Any:
        """Compute one step. A derived class defines this method.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"'{type(self).__name__}' has no construct of its own.")


class RNNCell(_RecurrentCell):
    """
    One step of the plain recurrent network, see `RNN`.

    Args:
        input_size (int): Number of input features.
        hidden_size (int): Number of features of the hidden state.
        has_bias (bool): Whether there are biases. Default: True.
        nonlinearity (str): "tanh" or "relu". Default: "tanh".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (batch_size, input_size).
        - **hx** (Tensor) - the state, of shape (batch_size, hidden_size).

    Outputs:
        Tensor, the next state, of the shape of `hx`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or `nonlinearity` is unknown.

    Examples:
        >>> net = nn.RNNCell(10, 16)
        >>> print(net(Tensor(np.ones((5, 10)), mindspore.float32), Tensor(np.ones((5, 16)), mindspore.float32)).shape)
        (5, 16)
    """

    @checked
    def __init__(
        self,
        input_size: PositiveInt,
        hidden_size: PositiveInt,
        has_bias: Bool = True,
        nonlinearity: Nonlinearity = "tanh",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self.nonlinearity: str = nonlinearity
        self._create_operators_and_weights(nonlinearity, input_size, hidden_size, has_bias, dtype)


class GRUCell(_RecurrentCell):
    """
    One step of a gated recurrent unit, see `GRU`.

    Args:
        input_size (int): Number of input features.
        hidden_size (int): Number of features of the hidden state.
        has_bias (bool): Whether there are biases. Default: True.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (batch_size, input_size).
        - **hx** (Tensor) - the state, of shape (batch_size, hidden_size).

    Outputs:
        Tensor, the next state, of the shape of `hx`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1.

    Examples:
        >>> net = nn.GRUCell(10, 16)
        >>> print(net(Tensor(np.ones((5, 10)), mindspore.float32), Tensor(np.ones((5, 16)), mindspore.float32)).shape)
        (5, 16)
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
        self._create_operators_and_weights("gru", input_size, hidden_size, has_bias, dtype)
