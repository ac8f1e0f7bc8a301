"""Simulated quantisation against its formulas, and properties of every grid of integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import msnb as ms
from msnb import Parameter, Tensor, context, ops
from msnb.ops.operations import _inner_ops as inner
from msnb.ops.operations import _quant_ops as Q

_random = np.random.default_rng(7)


@pytest.fixture(params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    return request.param


@pytest.fixture
def run(mode):
    """Calls a function of Tensors in one of the modes."""
    context.set_context(mode=mode)
    yield (lambda f: f) if mode == context.PYNATIVE_MODE else ms.jit
    context.set_context(mode=context.PYNATIVE_MODE)


def _f(*shape):
    return _random.normal(size=shape).astype(np.float32)


def _t(x, dtype=None):
    return Tensor(np.asarray(x, dtype))


def _gradients(function, *inputs):
    """Return those of the sum of the result, weighted with 1, 2, 3, ..., so that no two elements have the same; and
    these."""
    weights = np.arange(1, function(*inputs).size + 1, dtype=np.float32).reshape(function(*inputs).shape)
    result = ops.GradOperation(get_all=True, sens_param=True)(function)(*inputs, Tensor(weights))
    return [g.asnumpy() for g in result], weights


# ---------------------------------------------------------------------- the grid, in double precision
def nudged(low, high, bits=8, symmetric=False, narrow=False):
    """Return (smallest, largest, step) of the range that has 0 on its grid."""
    first, last = (1 if narrow else 0), 2**bits - 1
    low, high = np.float64(low), np.float64(high)
    if symmetric:
        high = max(-low, high)
        low = -high
    step = (high - low) / (last - first)
    zero = min(max(np.floor(first - low / (high - low) * (last - first) + 0.5), first), last)
    return (first - zero) * step, (last - zero) * step, step


def rounded(x, low, high, **how):
    """Return (the nearest numbers of the grid, where `x` is within it)."""
    bottom, top, step = nudged(low, high, **how)
    inside = (bottom <= x) & (x <= top)
    return np.round((np.clip(x, bottom, top) - bottom) / step) * step + bottom, inside


HOW = [{}, {"bits": 4}, {"symmetric": True}, {"bits": 7, "narrow": True}, {"symmetric": True, "narrow": True}]


def _named(how):
    return {"num_bits": how.get("bits", 8), "symmetric": how.get("symmetric", False)} | {
        "narrow_range": how.get("narrow", False)
    }


@pytest.mark.parametrize("how", HOW)
def test_one_range_rounds_to_its_nudged_grid_and_gradients_go_straight_through_within(run, how):
    x, ends = 3 * _f(5, 4), (_t([-2.7], "f4"), _t([1.9], "f4"))
    call = run(Q.FakeQuantPerLayer(**_named(how)))
    want, inside = rounded(x, -2.7, 1.9, **how)
    np.testing.assert_allclose(call(_t(x), *ends).asnumpy(), want, atol=3e-6)
    (dx, dlow, dhigh), weights = _gradients(call, _t(x), *ends)
    assert 0 < inside.sum() < inside.size
    np.testing.assert_array_equal(dx, np.where(inside, weights, 0))
    assert not dlow.any() and not dhigh.any()
    grad = run(Q.FakeQuantPerLayerGrad(**_named(how)))(_t(weights), _t(x), *ends)
    np.testing.assert_array_equal(grad.asnumpy(), dx)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("how", HOW)
def test_channels_are_rounded_each_by_its_own_range(run, how, axis):
    x, low, high = 2 * _f(3, 3, 2), np.float32([-2.7, -0.2, 0]), np.float32([1.9, 1.3, 0.7])
    call = run(Q.FakeQuantPerChannel(channel_axis=axis, **_named(how)))
    channels = [rounded(np.take(x, c, axis), low[c], high[c], **how) for c in range(3)]
    want, inside = (np.stack(part, axis) for part in zip(*channels))
    np.testing.assert_allclose(call(_t(x), _t(low), _t(high)).asnumpy(), want, atol=3e-6)
    (dx, dlow, dhigh), weights = _gradients(call, _t(x), _t(low), _t(high))
    np.testing.assert_array_equal(dx, np.where(inside, weights, 0))
    assert not dlow.any() and not dhigh.any()
    grad = run(Q.FakeQuantPerChannelGrad(channel_axis=axis, **_named(how)))(_t(weights), _t(x), _t(low), _t(high))
    np.testing.assert_array_equal(grad.asnumpy(), dx)


def test_nothing_is_rounded_before_the_delay_is_over_and_all_gradients_pass(run):
    x, ends = 9 * _f(4), (_t([-2.0], "f4"), _t([2.0], "f4"))
    call = run(Q.FakeQuantPerLayer(quant_delay=3))
    for step in range(5):
        at = _t([step], "i4")
        y, (dx, *_) = call(_t(x), *ends, at).asnumpy(), _gradients(lambda v, at=at: call(v, *ends, at), _t(x))[0]
        assert (y == x).all() == (step < 3) and dx.all() == (step < 3)
    assert (Q.FakeQuantPerLayer(quant_delay=3, training=False)(_t(x), *ends).asnumpy() != x).any()


def test_a_range_of_no_width_gives_zeros():
    x = _t(_f(3), "f4")
    assert not Q.FakeQuantPerLayer()(x, _t([0.0], "f4"), _t([0.0], "f4")).asnumpy().any()


_ends = st.floats(1 / 64, 100, width=32)
_grids = {"num_bits": st.sampled_from((2, 5, 8)), "symmetric": st.booleans(), "narrow_range": st.booleans()}


@settings(max_examples=60, deadline=None)
@given(
    x=arrays(np.float32, 40, elements=st.floats(-300, 300, width=32)),
    low=_ends,
    high=_ends,
    how=st.fixed_dictionaries(_grids),
)
def test_a_grid_has_zero_and_at_most_two_to_the_bits_values_and_rounding_twice_is_rounding_once(x, low, high, how):
    ends = _t([-low], "f4"), _t([high], "f4")
    fake = Q.FakeQuantPerLayer(**how)
    x = np.concatenate([x, np.float32([0, -0.0])])
    y = fake(_t(x), *ends).asnumpy()
    assert (y[x == 0] == 0).all()
    every = fake(_t(np.linspace(-low - high, low + high, 3000, dtype=np.float32)), *ends).asnumpy()
    assert len(np.unique(every)) <= 2 ** how["num_bits"] - how["narrow_range"]
    np.testing.assert_array_equal(fake(_t(y), *ends).asnumpy(), y)
    order = np.argsort(x, kind="stable")
    assert (np.diff(y[order]) >= 0).all()


# ---------------------------------------------------------------------- learned ranges
@pytest.mark.parametrize("channels", [False, True])
def test_the_ends_of_a_learned_range_get_the_gradient_of_what_lies_beyond_them(run, channels):
    x, low, high = 3 * _f(6, 3), np.float32([-2.7, -0.2, -1]), np.float32([1.9, 1.3, 0.7])
    name = "FakeQuantWithMinMaxVars" + ("PerChannel" if channels else "")
    low, high = (low, high) if channels else (low[:1], high[:1])
    call = run(getattr(Q, name)(num_bits=4))
    both = [np.broadcast_to(end, 3) for end in (low, high)]
    want = np.stack([rounded(x[:, c], both[0][c], both[1][c], bits=4)[0] for c in range(3)], 1)
    np.testing.assert_allclose(call(_t(x), _t(low), _t(high)).asnumpy(), want, atol=3e-6)
    bounds = np.array([nudged(*ends, bits=4)[:2] for ends in zip(*both)])
    (dx, dlow, dhigh), weights = _gradients(call, _t(x), _t(low), _t(high))
    below, above = x < bounds[:, 0], x > bounds[:, 1]
    np.testing.assert_array_equal(dx, np.where(below | above, 0, weights))
    for got, beyond in ((dlow, below), (dhigh, above)):
        total = (weights * beyond).sum(0)
        np.testing.assert_allclose(got, total if channels else total.sum(keepdims=True), rtol=1e-6)
    explicit = run(getattr(Q, name + "Gradient")(num_bits=4))(_t(weights), _t(x), _t(low), _t(high))
    for got, expected in zip(explicit, (dx, dlow, dhigh), strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("channels", [False, True])
def test_a_learned_scale_gets_the_error_of_rounding_inside_and_the_sign_outside(run, channels, truncated):
    x, alpha, largest = 2 * _f(6, 3), np.float32([1.3, 0.7, 1.9]), _t([7.0], "f4")
    alpha = alpha if channels else alpha[:1]
    kind = "PerChannel" if channels else "PerLayer"
    call = run(getattr(Q, f"FakeLearnedScaleQuant{kind}")(neg_trunc=truncated))
    share = x.astype(np.float64) / alpha
    inside = (share >= (0 if truncated else -1)) & (share <= 1)
    grid = np.floor(np.clip(share, 0 if truncated else -1, 1) * 7 + 0.5) / 7
    np.testing.assert_allclose(call(_t(x), _t(alpha), largest).asnumpy(), grid * alpha, atol=1e-6)
    (dx, dalpha, _), weights = _gradients(call, _t(x), _t(alpha), largest)
    np.testing.assert_array_equal(dx, np.where(inside, weights, 0))
    each = weights * np.where(inside, grid - share, np.sign(share))
    want = each.sum(0) if channels else each.sum(keepdims=True).reshape(1)
    np.testing.assert_allclose(dalpha, want, rtol=1e-4, atol=1e-4)
    args = _t(weights), _t(x), _t(alpha), largest
    grad = run(getattr(Q, f"FakeLearnedScaleQuant{kind}Grad")(neg_trunc=truncated))(*args)
    np.testing.assert_allclose(grad[1].asnumpy(), want, rtol=1e-4, atol=1e-4)
    apart = run(getattr(Q, f"FakeLearnedScaleQuant{kind}GradD")(neg_trunc=truncated))(*args)[1]
    summed = getattr(Q, f"FakeLearnedScaleQuant{kind}GradDReduce")()(apart)
    np.testing.assert_allclose(summed.asnumpy(), want, rtol=1e-4, atol=1e-4)


def test_universal_linear_quantisation_is_its_formula_and_its_terms_add_up_to_its_gradient(run):
    x, low, high = 2 * _f(5, 3), np.float32([[-1.1]]), np.float32([[1.3]])
    step = (1.3 + 1.1) / 255
    first = np.round(-1.1 / step)
    bottom, top = first * step, (first + 255) * step
    call = run(Q.ActsULQ())
    y, above_low, below_high, loss = (r.asnumpy() for r in call(_t(x), _t(low), _t(high)))
    np.testing.assert_allclose(y, np.round(np.clip(x, bottom, top) / step) * step, atol=1e-5)
    np.testing.assert_array_equal(above_low, x >= bottom)
    np.testing.assert_array_equal(below_high, x <= top)
    inside = above_low & below_high
    error = np.where(inside, np.round(x / step) - x / step, first + 1.1 / step) / 255
    np.testing.assert_allclose(loss, error, atol=1e-5)
    (dx, dlow, dhigh), weights = _gradients(lambda *v: call(*v)[0], _t(x), _t(low), _t(high))
    np.testing.assert_array_equal(dx, np.where(inside, weights, 0))
    np.testing.assert_allclose(dlow, [[(weights * (~above_low - error)).sum()]], rtol=1e-3)
    np.testing.assert_allclose(dhigh, [[(weights * (~below_high + error)).sum()]], rtol=1e-3)
    parts = _t(weights), _t(above_low), _t(below_high), _t(loss)
    np.testing.assert_array_equal(run(Q.ActsULQInputGrad())(*parts[:3]).asnumpy(), dx)
    np.testing.assert_allclose(run(Q.ActULQClampMinGrad())(parts[0], parts[1], parts[3]).asnumpy(), dlow, rtol=1e-5)
    np.testing.assert_allclose(run(Q.ActULQClampMaxGrad())(parts[0], parts[2], parts[3]).asnumpy(), dhigh, rtol=1e-5)
    assert Q.ActsULQ(fixed_min=True)(_t(x), _t(low), _t(high))[0].asnumpy().min() == 0


@pytest.mark.parametrize("shifted", [False, True])
def test_weights_are_rounded_by_their_own_range(run, shifted):
    w = _f(3, 8) + np.float32(0.7)
    low, high = np.minimum(w.min(1, keepdims=True), 0), np.maximum(w.max(1, keepdims=True), 0)
    call = run(Q.WtsARQ(num_bits=8, offset_flag=shifted))
    step = (high - low) / 255 if shifted else np.maximum(-low / 128, high / 127)
    offset = -128 - np.round(low / step) if shifted else 0
    want = (np.clip(np.round(w / step) + offset, -128, 127) - offset) * step
    np.testing.assert_allclose(call(_t(w), _t(low), _t(high)).asnumpy(), want, atol=1e-6)
    (dw, dlow, dhigh), weights = _gradients(call, _t(w), _t(low), _t(high))
    np.testing.assert_array_equal(dw, weights)
    assert not dlow.any() and not dhigh.any()


# ---------------------------------------------------------------------- ranges of batches
def test_a_range_follows_the_batch_and_always_has_zero_in_it(run):
    x, low, high = _f(4, 3) + np.float32([0, 9, -9]), np.float32([-1, -2, -3]), np.float32([1, 2, 3])
    last = run(Q.MinMaxUpdatePerChannel())(_t(x), _t(low), _t(high))
    np.testing.assert_array_equal(last[0].asnumpy(), np.minimum(x.min(0), 0))
    np.testing.assert_array_equal(last[1].asnumpy(), np.maximum(x.max(0), 0))
    mean = run(Q.MinMaxUpdatePerLayer(ema=True, ema_decay=0.8))(_t(x), _t(low[:1]), _t(high[:1]))
    np.testing.assert_allclose(mean[0].asnumpy(), [-0.8 + 0.2 * x.min()], rtol=1e-6)
    np.testing.assert_allclose(mean[1].asnumpy(), [0.8 + 0.2 * x.max()], rtol=1e-6)


def test_an_overflow_does_not_stay_in_a_range(run):
    x = _t([1.0, np.inf], "f4")
    low, high = run(Q.MinMaxUpdatePerLayer(ema=True))(x, _t([-1.0], "f4"), _t([2.0], "f4"))
    assert high.asnumpy() == [2.0] and low.asnumpy() == pytest.approx([-0.998])


# ---------------------------------------------------------------------- folded normalisation
X = _f(4, 3, 5, 2) * 2 + 1
GAMMA, BETA = _f(3), _f(3)
MEAN, VARIANCE = _f(3), np.abs(_f(3)) + np.float32(0.5)
EPSILON = 1e-5


def _fold(run, step, **how):
    """Return (results, running mean, running variance) after a call."""
    mean, variance = Parameter(_t(MEAN), name="mean"), Parameter(_t(VARIANCE), name="variance")
    result = run(Q.BatchNormFold(momentum=0.9, freeze_bn=10, **how))(_t(X), mean, variance, _t([step], "i4"))
    return [r.asnumpy() for r in result], mean.asnumpy(), variance.asnumpy()


def test_folding_takes_the_statistics_of_the_batch_and_moves_the_running_ones(run):
    (mean, std, running_mean, running_std), moved_mean, moved_variance = _fold(run, 9)
    np.testing.assert_allclose(mean, X.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(std, np.sqrt(X.var((0, 2, 3)) + EPSILON), rtol=1e-5)
    np.testing.assert_allclose(running_mean, MEAN)
    np.testing.assert_allclose(running_std, np.sqrt(VARIANCE + EPSILON), rtol=1e-6)
    np.testing.assert_allclose(moved_mean, 0.9 * MEAN + 0.1 * X.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(moved_variance, 0.9 * VARIANCE + 0.1 * X.var((0, 2, 3), ddof=1), rtol=1e-5)


@pytest.mark.parametrize(("step", "how"), [(10, {}), (0, {"is_training": False})])
def test_frozen_or_not_in_training_it_takes_none_and_moves_none(run, step, how):
    (mean, std, running_mean, _), moved_mean, moved_variance = _fold(run, step, **how)
    assert not mean.any() and (std == 1).all()
    np.testing.assert_array_equal(running_mean, MEAN)
    np.testing.assert_array_equal(moved_mean, MEAN)
    np.testing.assert_array_equal(moved_variance, VARIANCE)


@pytest.mark.parametrize("step", [9, 10])
def test_the_gradient_of_folding_is_that_of_mean_and_deviation(run, step):
    dmean, dstd = _f(3), _f(3)

    def total(x):
        fold = Q.BatchNormFold(freeze_bn=10)(x, _t(MEAN), _t(VARIANCE), _t([step], "i4"))
        return (fold[0] * _t(dmean) + fold[1] * _t(dstd)).sum()

    mean, std = X.mean((0, 2, 3)), np.sqrt(X.var((0, 2, 3)) + EPSILON)
    row = lambda v: v[:, None, None]
    want = (row(dmean) + row(dstd) * (X - row(mean)) / row(std)) / (X.size // 3) if step < 10 else np.zeros_like(X)
    explicit = run(Q.BatchNormFoldGrad(freeze_bn=10))(*map(_t, (dmean, dstd, X, mean, std)), _t([step], "i4"))
    np.testing.assert_allclose(explicit.asnumpy(), want, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(run(ops.GradOperation()(total))(_t(X)).asnumpy(), want, rtol=1e-4, atol=1e-6)


def test_the_two_forms_of_folding_agree(run):
    sums = ops.BNTrainingReduce()(_t(X))
    _, mean, std, _, running_std, moved_mean, moved_variance = run(Q.BatchNormFoldD(momentum=0.9))(
        _t(X), *sums, _t(MEAN), _t(VARIANCE)
    )
    want = _fold(run, 0)
    for got, expected in zip((mean, std, running_std), (want[0][0], want[0][1], want[0][3]), strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(moved_mean.asnumpy(), want[1], rtol=1e-5)
    np.testing.assert_allclose(moved_variance.asnumpy(), want[2], rtol=1e-5)


@pytest.mark.parametrize("step", [0, 1])
def test_what_folded_weights_give_is_corrected_to_the_batch_until_it_is_frozen(run, step):
    batch_std, running_std = np.abs(_f(3)) + np.float32(0.5), np.abs(_f(3)) + np.float32(0.5)
    vectors = [BETA, GAMMA, batch_std, _f(3), running_std, MEAN]
    call = run(Q.BatchNormFold2(freeze_bn=1))
    rows = [v.astype(np.float64)[:, None, None] for v in vectors]
    beta, gamma, std, mean, running, running_mean = rows
    want = X * running / std + beta - gamma * mean / std if step < 1 else X + beta - gamma * running_mean / running
    at = _t([step], "i4")
    np.testing.assert_allclose(call(_t(X), *map(_t, vectors), at).asnumpy(), want, rtol=1e-4, atol=1e-5)
    (dx, dbeta, dgamma, dstd, dmean, *constant), weights = _gradients(lambda *v: call(*v, at), _t(X), *map(_t, vectors))
    assert not any(c.any() for c in constant)
    args = weights, X, GAMMA, batch_std, vectors[3], running_std, MEAN
    explicit = run(Q.BatchNormFold2Grad(freeze_bn=1))(*map(_t, args), at)
    for got, expected in zip(explicit, (dstd, dmean, dbeta, dgamma, dx), strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-3, atol=1e-3)
    total = lambda v: v.sum((0, 2, 3))
    np.testing.assert_allclose(dbeta, total(weights), rtol=1e-5)
    if step < 1:
        np.testing.assert_allclose(dx, weights * (running / std), rtol=1e-4)
        slope = total(weights * (gamma * mean - X * running)) / batch_std.astype(np.float64) ** 2
        np.testing.assert_allclose(dstd, slope, rtol=1e-3, atol=1e-2)
        same = run(Q.BatchNormFold2D())(_t(X), *map(_t, vectors[:5]))
        np.testing.assert_allclose(same.asnumpy(), want, rtol=1e-4, atol=1e-5)
        sums = run(Q.BatchNormFold2GradReduce())(_t(weights), _t(X))
        apart = run(Q.BatchNormFold2GradD())(_t(weights), *sums, *map(_t, (GAMMA, batch_std, vectors[3], running_std)))
        for got, expected in zip(apart, (dstd, dmean, dgamma, dx), strict=True):
            np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-3, atol=1e-3)
    else:
        assert not dstd.any() and not dmean.any()
        np.testing.assert_array_equal(dx, weights)


@pytest.mark.parametrize("axis", [0, 1])
def test_weights_are_scaled_into_folded_ones(run, axis):
    w, std = _f(3, 3, 2), np.abs(_f(3)) + np.float32(0.5)
    call = run(Q.CorrectionMul(axis))
    shape = [-1 if i == axis else 1 for i in range(3)]
    np.testing.assert_allclose(call(_t(w), _t(GAMMA), _t(std)).asnumpy(), w * (GAMMA / std).reshape(shape), rtol=1e-6)
    (dw, dgamma, dstd), weights = _gradients(call, _t(w), _t(GAMMA), _t(std))
    assert not dstd.any()
    explicit = run(Q.CorrectionMulGrad(axis))(_t(weights), _t(w), _t(GAMMA), _t(std))
    for got, expected in zip(explicit, (dw, dgamma), strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-4, atol=1e-5)
    apart = run(Q.CorrectionMulGradReduce(axis))(_t(weights * w / std.reshape(shape)))
    np.testing.assert_allclose(apart.asnumpy(), dgamma, rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------------- integers
def test_integers_are_numbers_rounded_to_even_and_clipped_to_eight_bits(run):
    x = np.float32([-9, -0.25, 0.25, 0.75, 9])
    got = run(inner.Quant(2.0, 1.0))(_t(x))
    assert got.dtype == ms.int8
    np.testing.assert_array_equal(got.asnumpy(), [-17, 0, 2, 2, 19])
    np.testing.assert_array_equal(inner.Quant(20.0, 0.0)(_t(x)).asnumpy(), [-128, -5, 5, 15, 127])
    np.testing.assert_array_equal(inner.Quant(4.0, 0.0, True)(_t(x)).asnumpy(), [-128, -4, 4, 12, 127])
    np.testing.assert_array_equal(inner.Quant(2.0, 0.0, False, "Floor")(_t(x)).asnumpy(), [-18, -1, 0, 1, 18])


def test_sums_of_integers_become_numbers_again_by_the_bits_of_their_scale(run):
    x, scale = np.int32([[100, -4], [7, 3]]), np.float32([0.5, 0.125])
    bits = scale.view(np.uint32).astype(np.uint64)
    for given_scale in (_t(scale), _t(bits)):
        got = run(inner.Dequant())(_t(x), given_scale)
        assert got.dtype == ms.float16
        np.testing.assert_array_equal(got.asnumpy(), x * scale)
    np.testing.assert_array_equal(inner.Dequant(True, True)(_t(x), _t(scale)).asnumpy(), np.maximum(x * scale**2, 0))


# ---------------------------------------------------------------------- the scale that loses least
@pytest.mark.parametrize("shape", [(5, 5), (20, 30)])
@pytest.mark.parametrize("with_offset", [True, False])
def test_ifmr_finds_the_scale_that_loses_least(run, shape, with_offset):
    x = np.random.default_rng(len(shape) + with_offset).uniform(-1, 1.5, shape).astype(np.float32)
    low, high = x.min(), x.max()
    bins = np.cumsum(np.histogram(x, 64)[0]).astype(np.int32)
    scale, offset = run(Q.IFMR(0.98, 0.98, with_offset=with_offset))(_t(x), _t([low]), _t([high]), _t(bins))

    ends = [(bins < share * x.size).sum() / 64 * (high - low) + low for share in (0.02, 0.98)]
    results = []
    for factor in 0.7 + 0.01 * np.arange(61):
        if with_offset:
            step = (ends[1] * factor - ends[0]) / 255
            zero = -(np.round(ends[0] / step) + 128)
        else:
            step, zero = max(map(abs, ends)) * factor / 127, 0
        back = (np.clip(np.round(x / step) + zero, -128, 127) - zero) * step
        results.append((((back - x) ** 2).sum(), step, zero))
    best = min(results)
    np.testing.assert_allclose(scale.asnumpy(), [best[1]], rtol=1e-5)
    np.testing.assert_array_equal(offset.asnumpy(), [best[2]])
