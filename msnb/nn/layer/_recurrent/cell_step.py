"""One step of a recurrent network as a function of its weights. User-defined cells call these functions."""

from msnb.core.tensor.tensor import Tensor
from msnb.ops import functional as F


def _compute_input_and_state_gates(x, state, w_ih, w_hh, b_ih, b_hh):
    """Return the input and the state, each multiplied by its weights of shape (out, in), plus biases."""
    of_input, of_state = F.matmul(x, w_ih.T), F.matmul(state, w_hh.T)
    return (of_input, of_state) if b_ih is None else (of_input + b_ih, of_state + b_hh)


def _rnn_tanh_cell(
    inputs: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Tensor:
    """Return the next state of `nn.RNNCell`."""
    of_input, of_state = _compute_input_and_state_gates(inputs, hidden, w_ih, w_hh, b_ih, b_hh)
    return F.tanh(of_input + of_state)


def _rnn_relu_cell(
    inputs: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Tensor:
    """Return the next state of `nn.RNNCell` with `nonlinearity` "relu"."""
    of_input, of_state = _compute_input_and_state_gates(inputs, hidden, w_ih, w_hh, b_ih, b_hh)
    return F.relu(of_input + of_state)


def _lstm_cell(
    inputs: Tensor,
    hidden: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Return the next state and memory of `nn.LSTMCell`; the order of the gates is input, forget, cell, output."""
    state, memory = hidden
    of_input, of_state = _compute_input_and_state_gates(inputs, state, w_ih, w_hh, b_ih, b_hh)
    enters, stays, new, leaves = F.split(of_input + of_state, w_hh.shape[-1], -1)
    memory = F.sigmoid(stays) * memory + F.sigmoid(enters) * F.tanh(new)
    return F.sigmoid(leaves) * F.tanh(memory), memory


def _gru_cell(
    inputs: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Tensor:
    """Return the next state of `nn.GRUCell`; the order of the gates is reset, update, new."""
    of_input, of_state = _compute_input_and_state_gates(inputs, hidden, w_ih, w_hh, b_ih, b_hh)
    (i_reset, i_update, i_new), (h_reset, h_update, h_new) = (
        F.split(part, w_hh.shape[-1], -1) for part in (of_input, of_state)
    )
    reset, update = F.sigmoid(i_reset + h_reset), F.sigmoid(i_update + h_update)
    new = F.tanh(i_new + reset * h_new)
    return new + update * (hidden - new)
