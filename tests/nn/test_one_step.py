"""Steps of recurrent layers as functions, and the base of their classes, by which programs make cells of their own."""

import numpy as np
import pytest

from msnb import Tensor, nn
from msnb.nn.layer import rnn_cells

X = Tensor(np.random.RandomState(0).standard_normal((5, 3)).astype(np.float32))
STATE = Tensor(np.random.RandomState(1).standard_normal((5, 4)).astype(np.float32))
STEPS = [
    (lambda bias: nn.RNNCell(3, 4, bias), rnn_cells._rnn_tanh_cell),
    (lambda bias: nn.RNNCell(3, 4, bias, "relu"), rnn_cells._rnn_relu_cell),
    (lambda bias: nn.GRUCell(3, 4, bias), rnn_cells._gru_cell),
]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("made", "step"), STEPS)
def test_a_step_as_a_function_is_that_of_the_cell(made, step, bias):
    cell = made(bias)
    given = step(X, STATE, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
    np.testing.assert_allclose(given.asnumpy(), cell(X, STATE).asnumpy(), rtol=1e-5, atol=1e-6)


def test_a_step_of_an_lstm_gives_state_and_memory():
    gates = np.random.RandomState(2)
    weights = [Tensor(gates.standard_normal(s).astype(np.float32)) for s in ((16, 3), (16, 4), (16,), (16,))]
    state, memory = rnn_cells._lstm_cell(X, (STATE, STATE), *weights)
    x, h, (w, u, b, c) = X.asnumpy(), STATE.asnumpy(), (each.asnumpy() for each in weights)
    enters, stays, new, leaves = np.split(x @ w.T + h @ u.T + b + c, 4, -1)
    want = h / (1 + np.exp(-stays)) + np.tanh(new) / (1 + np.exp(-enters))
    np.testing.assert_allclose(memory.asnumpy(), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state.asnumpy(), np.tanh(want) / (1 + np.exp(-leaves)), rtol=1e-5, atol=1e-6)


def test_a_cell_that_is_derived_computes_with_the_base_s_weights():
    class Mine(rnn_cells.RNNCellBase):
        def __init__(self):
            super().__init__(3, 4, True, num_chunks=3)

        def construct(self, x, hx):
            return rnn_cells._gru_cell(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    assert Mine()(X, STATE).shape == (5, 4)
    assert [p.name for p in Mine().get_parameters()] == ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    with pytest.raises(NotImplementedError):
        rnn_cells.RNNCellBase(3, 4, True, 1)(X)
