"""Operators that MindSpore cannot be asked about, beside their definitions written in numpy."""

import itertools

import numpy as np
import pytest
from scipy import stats

import msnb as ms
from msnb import Parameter, Tensor, context, nn
from msnb.ops import operations as P

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])


def numbers(seed=0):
    return np.random.RandomState(seed)


def run(mode, operator, *inputs):
    """Return `operator` on arrays, as a graph or alone; arrays come back."""

    class Net(nn.Cell):
        def construct(self, *given):
            return operator(*given)

    context.set_context(mode=mode)
    inputs = [Tensor(v) if isinstance(v, np.ndarray) else v for v in inputs]
    out = Net()(*inputs)
    return [o.asnumpy() for o in out] if isinstance(out, tuple) else out.asnumpy()


# ---------------------------------------------------------------------- transducer
def transducer_loss(acts, labels, time, length, blank):
    """-log of the sum over all ways to place the labels between the blanks, each way on its own."""
    scores = acts - np.log(np.exp(acts).sum(-1, keepdims=True))
    total = 0.0
    for steps in itertools.product(range(time), repeat=length):
        if list(steps) != sorted(steps):  # at which time each label is said
            continue
        path, said = 0.0, 0
        for t in range(time):
            while said < length and steps[said] == t:
                path += scores[t, said, labels[said]]
                said += 1
            path += scores[t, said, blank]
        total += np.exp(path)
    return -np.log(total)


@BOTH_MODES
@pytest.mark.parametrize("blank", [0, 3])
def test_the_transducer_loss_is_the_sum_over_all_paths(mode, blank):
    r = numbers(blank)
    acts = r.standard_normal((3, 4, 3, 5)).astype(np.float32)
    labels = r.choice([c for c in range(5) if c != blank], (3, 2)).astype(np.int32)
    times, lengths = np.array([4, 3, 2], np.int32), np.array([2, 1, 2], np.int32)
    loss, grad = run(mode, P.RNNTLoss(blank), acts, labels, times, lengths)

    def each(acts):
        return [transducer_loss(*case, blank) for case in zip(acts.astype(float), labels, times, lengths, strict=True)]

    np.testing.assert_allclose(loss, each(acts), rtol=2e-5)
    for place in itertools.islice(np.ndindex(acts.shape), 0, None, 7):
        step = np.zeros(acts.shape)
        step[place] = 1e-5
        slope = (np.sum(each(acts + step)) - np.sum(each(acts - step))) / 2e-5
        np.testing.assert_allclose(grad[place], slope, rtol=1e-3, atol=1e-5)


# ---------------------------------------------------------------------- recurrent units
def gru(x, w_x, w_h, b_x, b_h, h, order, after):
    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    size, results = h.shape[1], []
    positions = {letter: slice(i * size, (i + 1) * size) for i, letter in enumerate(order)}
    for x_t in x:
        into, own = x_t @ w_x + b_x, h @ w_h + b_h
        reset, update = (sigmoid(into[:, positions[k]] + own[:, positions[k]]) for k in "rz")
        new = positions["h"]
        hidden = own[:, new] if after else (reset * h) @ w_h[:, new] + b_h[new]
        candidate = np.tanh(into[:, new] + (reset * hidden if after else hidden))
        h = (1 - update) * candidate + update * h
        results.append((h, update, reset, candidate, hidden))
    return [np.stack(part) for part in zip(*results, strict=True)]


@BOTH_MODES
@pytest.mark.parametrize("order", ["rzh", "zrh"])
@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("biased", [True, False])
def test_a_gated_unit_is_its_recurrence(mode, order, after, biased):
    r = numbers(1)
    x, w_x, w_h, h = (r.standard_normal(s) for s in ((4, 2, 3), (3, 15), (5, 15), (2, 5)))
    b_x, b_h = r.standard_normal((2, 15)) if biased else np.zeros((2, 15))
    inputs = [v.astype(np.float32) for v in (x, w_x, w_h)]
    biases = [v.astype(np.float32) for v in (b_x, b_h)] if biased else [None, None]
    unit = P.DynamicGRUV2(gate_order=order, reset_after=after)
    y, *parts = run(mode, unit, *inputs, *biases, None, h.astype(np.float32))
    expected = gru(x, w_x, w_h, b_x, b_h, h, order, after)
    np.testing.assert_allclose(y, expected[0], rtol=2e-4, atol=1e-5)
    for got, want in zip(parts, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-5)


def lstm(x, w, b, h, c, forget_bias, clip):
    """One step after the other; gates input, candidate, forget, output."""

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    results = []
    for x_t in x:
        i, j, f, o = np.split(np.concatenate([x_t, h], -1) @ w + b, 4, -1)
        i, j, f, o = sigmoid(i), np.tanh(j), sigmoid(f + forget_bias), sigmoid(o)
        c = np.clip(c * f + i * j, -clip, clip)
        h = o * np.tanh(c)
        results.append((h, h, c, i, j, f, o, np.tanh(c)))
    return [np.stack(part) for part in zip(*results, strict=True)]


@BOTH_MODES
@pytest.mark.parametrize(("forget_bias", "clip"), [(0.0, -1.0), (1.0, -1.0), (0.5, 0.3)])
def test_a_fused_lstm_is_its_recurrence_and_so_is_its_gradient(mode, forget_bias, clip):
    r = numbers(3)
    x, w, b, h, c = (r.standard_normal(s) for s in ((4, 2, 3), (8, 20), (20,), (1, 2, 5), (1, 2, 5)))
    unit = P.DynamicRNN(forget_bias=forget_bias, cell_clip=clip)
    inputs = [v.astype(np.float32) for v in (x, w, b, h, c)]

    def by_formula(b):
        return lstm(x, w, b, h[0], c[0], forget_bias, clip if clip > 0 else np.inf)

    result = run(mode, lambda x, w, b, h, c: unit(x, w, b, None, h, c), *inputs)
    for got, want in zip(result, by_formula(b), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-5)

    def total(x, w, b, h, c):
        return unit(x, w, b, None, h, c)[0].sum()

    slopes = run(mode, lambda *inputs: ms.grad(total, 2)(*inputs), *inputs)
    for place in range(0, 20, 3):
        step = np.eye(20)[place] * 1e-6
        slope = (by_formula(b + step)[0].sum() - by_formula(b - step)[0].sum()) / 2e-6
        np.testing.assert_allclose(slopes[place], slope, rtol=2e-3, atol=1e-4)


# ---------------------------------------------------------------------- updates of named rows
def ftrl(var, accum, linear, grad, lr, l1, l2, power, shrinkage=0.0):
    more = accum + grad**2
    linear = linear + grad + 2 * shrinkage * var - (more**-power - accum**-power) / lr * var
    slope = more**-power / lr + 2 * l2
    return np.where(np.abs(linear) > l1, (np.sign(linear) * l1 - linear) / slope, 0), more, linear


def proximal_adagrad(var, accum, grad, lr, l1, l2):
    accum = accum + grad**2
    rate = lr / np.sqrt(accum)
    moved = var - rate * grad
    return np.sign(moved) * np.maximum(np.abs(moved) - rate * l1, 0) / (1 + rate * l2), accum


UPDATES = {
    "SparseApplyFtrl": (
        lambda lr, l1, l2, p: P.SparseApplyFtrl(lr, l1, l2, p),
        lambda state, g, lr, l1, l2, p: ftrl(*state, g, lr, l1, l2, p),
        3,
    ),
    "SparseApplyFtrlV2": (
        lambda lr, l1, l2, p: P.SparseApplyFtrlV2(lr, l1, l2, 0.3, p),
        lambda state, g, lr, l1, l2, p: ftrl(*state, g, lr, l1, l2, p, 0.3),
        3,
    ),
    "SparseApplyProximalAdagrad": (
        lambda lr, l1, l2, p: lambda v, a, g, i: P.SparseApplyProximalAdagrad()(v, a, lr, l1, l2, g, i),
        lambda state, g, lr, l1, l2, p: proximal_adagrad(*state, g, lr, l1, l2),
        2,
    ),
}


@BOTH_MODES
@pytest.mark.parametrize("name", sorted(UPDATES))
@pytest.mark.parametrize("settings", [(0.1, 0.05, 0.2, -0.5), (0.5, 0.0, 0.0, -0.5), (0.2, 1.5, 0.1, -0.7)])
def test_named_rows_are_updated_by_the_formula_and_others_stay(mode, name, settings):
    make, formula, count = UPDATES[name]
    r = numbers(2)
    state = [r.standard_normal((6, 3)), r.uniform(0.1, 1, (6, 3)), r.standard_normal((6, 3))][:count]
    boxes = [Parameter(Tensor(v.astype(np.float32)), name=f"p{i}") for i, v in enumerate(state)]

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.update = make(*settings)
            self.p0, self.p1 = boxes[:2]
            self.p2 = boxes[-1] if count == 3 else None

        def construct(self, grad, rows):
            return self.update(*boxes, grad, rows)

    context.set_context(mode=mode)
    net = Net()
    for step in range(3):
        rows, grad = np.array([4, 1, step % 2 * 5], np.int32)[: 2 + step % 2], r.standard_normal((3, 3))
        grad = grad[: len(rows)]
        net(Tensor(grad.astype(np.float32)), Tensor(rows))
        for i, value in enumerate(formula([s[rows] for s in state], grad, *settings)):
            state[i][rows] = value
        for box, value in zip(boxes, state, strict=True):
            np.testing.assert_allclose(box.asnumpy(), value, rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------------- the rest
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("true", [1, 3])
def test_accidental_hits_are_the_candidates_that_are_true(kind, true):
    r = numbers(true)
    classes, sampled = r.randint(0, 9, (5, true)).astype(kind), r.choice(9, 4, replace=False).astype(kind)
    example, place, weight = P.ComputeAccidentalHits(true)(Tensor(classes), Tensor(sampled))
    expected = [(i, j) for i in range(5) for t in classes[i] for j in range(4) if sampled[j] == t]
    assert expected and sorted(zip(example.asnumpy().tolist(), place.asnumpy().tolist())) == sorted(expected)
    assert example.dtype == place.dtype == ms.Tensor(classes).dtype
    assert (weight.asnumpy() == -np.finfo(np.float32).max).all()


@BOTH_MODES
def test_the_sums_of_a_normalisation_are_those_over_all_but_the_channels(mode):
    x = numbers(3).standard_normal((4, 3, 2, 5)).astype(np.float32)
    total, squares = run(mode, P.BNTrainingReduce(), x)
    np.testing.assert_allclose(total.ravel(), x.sum((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(squares.ravel(), (x.astype(float) ** 2).sum((0, 2, 3)), rtol=1e-5)


# ---------------------------------------------------------------------- distributions
@pytest.mark.parametrize("alpha, beta", [(0.3, 1.0), (1.0, 2.0), (4.5, 0.5), (30.0, 3.0)])
def test_gamma_numbers_have_their_distribution(alpha, beta):
    ms.set_seed(5)
    drawn = P.Gamma(seed=3)((4000,), Tensor(alpha, ms.float32), Tensor(beta, ms.float32)).asnumpy()
    assert stats.kstest(drawn, stats.gamma(alpha, scale=1 / beta).cdf).pvalue > 1e-3


@pytest.mark.parametrize("mean", [0.2, 1.0, 7.5, 60.0])
def test_poisson_numbers_have_their_distribution(mean):
    ms.set_seed(5)
    drawn = P.Poisson(seed=3)((4000,), Tensor(mean, ms.float32)).asnumpy()
    low, high = int(stats.poisson.ppf(0.01, mean)), int(stats.poisson.ppf(0.99, mean))
    seen = np.array([np.mean(drawn <= k) for k in range(low, high + 1)])
    # three and a half deviations of a share of 4000 draws, at every place
    np.testing.assert_allclose(seen, stats.poisson.cdf(np.arange(low, high + 1), mean), atol=3.5 * 0.5 / np.sqrt(4000))
