"""RNN and GRU follow their formulas, at each layer, direction and length, in both modes."""

import numpy as np
import pytest

from msnb import Tensor, context, nn, ops
from msnb.nn.layer._recurrent.lstm_v2 import LSTM

X = np.random.default_rng(0).standard_normal((5, 2, 4)).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(cell, x, h, w_ih, w_hh, b_ih, b_hh):
    """One step as the literature has it."""
    of_x, of_h = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    if cell == "gru":
        (r_x, z_x, n_x), (r_h, z_h, n_h) = np.split(of_x, 3, -1), np.split(of_h, 3, -1)
        z = sigmoid(z_x + z_h)
        return (1 - z) * np.tanh(n_x + sigmoid(r_x + r_h) * n_h) + z * h
    return np.tanh(of_x + of_h) if cell == "tanh" else np.maximum(of_x + of_h, 0)


def by_hand(net, cell, x, lengths=None):
    """Return (results, states) of a layer for x (T, N, features), sample by sample and time by time."""
    values = {p.name: p.asnumpy() for p in net.get_parameters()}
    lengths = lengths or [len(x)] * x.shape[1]
    states = []
    for layer in range(net.num_layers):
        outs = []
        for way in ("", "_reverse")[: 1 + net.bidirectional]:
            end = f"l{layer}{way}"
            weights = [values.get(f"{kind}_{end}", 0.0) for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            out = np.zeros((*x.shape[:2], net.hidden_size), np.float32)
            state = np.zeros((x.shape[1], net.hidden_size), np.float32)
            for sample, length in enumerate(lengths):
                for t in range(length)[:: -1 if way else 1]:
                    state[sample] = out[t, sample] = step(cell, x[t, sample], state[sample], *weights)
            outs.append(out)
            states.append(state)
        x = np.concatenate(outs, -1)
    return x, np.stack(states)


NETS = [
    ("gru", lambda: nn.GRU(4, 3, 2, bidirectional=True)),
    ("gru", lambda: nn.GRU(4, 3, has_bias=False)),
    ("tanh", lambda: nn.RNN(4, 3, 2)),
    ("relu", lambda: nn.RNN(4, 3, bidirectional=True, nonlinearity="relu")),
]


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize("lengths", [None, [3, 5]])
@pytest.mark.parametrize(("cell", "make"), NETS)
def test_a_sequence(cell, make, lengths, mode):
    context.set_context(mode=mode)
    net = make()
    given = () if lengths is None else (None, Tensor(np.array(lengths, np.int32)))
    results, states = net(Tensor(X), *given)
    expected, last = by_hand(net, cell, X, lengths)
    np.testing.assert_allclose(results.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(states.asnumpy(), last, rtol=1e-5, atol=1e-6)


def test_the_batch_may_come_first():
    net = nn.GRU(4, 3, batch_first=True)
    results, _ = net(Tensor(X.swapaxes(0, 1)))
    np.testing.assert_allclose(results.asnumpy(), by_hand(net, "gru", X)[0].swapaxes(0, 1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("cell", "net"),
    [("gru", nn.GRUCell(4, 3)), ("tanh", nn.RNNCell(4, 3)), ("relu", nn.RNNCell(4, 3, False, nonlinearity="relu"))],
)
def test_a_cell_is_one_step(cell, net):
    state = X[1][:, :3]
    values = {p.name: p.asnumpy() for p in net.get_parameters()}
    weights = [values.get(name, 0.0) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    result = net(Tensor(X[0]), Tensor(state)).asnumpy()
    np.testing.assert_allclose(result, step(cell, X[0], state, *weights), rtol=1e-5, atol=1e-6)


def test_parameters_have_the_names_of_mindspore_2():
    names = [p.name for p in nn.GRU(4, 3, 2, bidirectional=True).get_parameters()]
    ends = ["l0", "l0_reverse", "l1", "l1_reverse"]
    assert set(names) == {f"{k}_{e}" for k in ("weight_ih", "weight_hh", "bias_ih", "bias_hh") for e in ends}
    assert [p.shape for p in nn.GRU(4, 3).get_parameters()] == [(9, 4), (9, 3), (9,), (9,)]


def test_it_learns_with_dropout_between_layers():
    context.set_context(mode=context.GRAPH_MODE)
    net = nn.SequentialCell(Last(nn.GRU(4, 8, 2, dropout=0.2)), nn.Dense(8, 1))
    target = Tensor(X[-1][:, :1] - X[0][:, 1:2])
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.02)).set_train()
    losses = [float(train(Tensor(X), target).asnumpy()) for _ in range(60)]
    assert losses[-1] < 0.3 * losses[0]
    net.set_train(False)
    assert (net(Tensor(X)).asnumpy() == net(Tensor(X)).asnumpy()).all()


class Last(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return self.net(x)[0][-1]


@pytest.mark.parametrize(
    ("error", "call", "said"),
    [
        (ValueError, lambda: nn.RNN(4, 3, nonlinearity="sigmoid"), "nonlinearity"),
        (ValueError, lambda: nn.GRU(0, 3), "input_size"),
        (ValueError, lambda: nn.GRU(5, 3)(Tensor(X)), "w_ih"),
        (ValueError, lambda: nn.GRU(4, 3)(Tensor(X[0])), "x"),
        (ValueError, lambda: nn.GRU(4, 3)(Tensor(X), ops.zeros((1, 7, 3))), "7"),
    ],
)
def test_what_does_not_fit_is_named(error, call, said):
    with pytest.raises(error, match=said):
        call()


@pytest.mark.parametrize("layer", [nn.RNN, nn.GRU, LSTM], ids=lambda layer: layer.__name__)
def test_the_weights_have_the_element_type_of_the_input(layer):
    net = layer(3, 4, 2, bidirectional=True)
    x = np.random.RandomState(0).randn(5, 2, 3)
    half, single = (net(Tensor(x.astype(dtype)))[0] for dtype in (np.float16, np.float32))
    assert half.asnumpy().dtype == np.float16
    assert np.allclose(half.asnumpy(), single.asnumpy(), atol=5e-3)
