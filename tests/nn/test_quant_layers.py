"""Quantised layers: what they compute, which Parameters they have, and what training does to them."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.common.quant_dtype import QuantDtype
from msnb.compression.quant import create_quant_config
from msnb.nn.layer import quant

_random = np.random.default_rng(3)
FOLDED = [nn.Conv2dBnFoldQuant, nn.Conv2dBnFoldQuantOneConv]


@pytest.fixture(params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    context.set_context(mode=request.param)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


def _f(*shape):
    return _random.normal(size=shape).astype(np.float32)


def _t(x):
    return Tensor(np.asarray(x, np.float32))


def _set(net, **values):
    for name, value in values.items():
        getattr(net, name).set_data(_t(value))


def _rounded(x, low, high, bits=8):
    """Return the nearest numbers of the nudged grid."""
    step = (high - low) / (2**bits - 1)
    zero = np.floor(-low / (high - low) * (2**bits - 1) + 0.5)
    return (np.clip(np.floor(x / (high - low) * (2**bits - 1) + zero + 0.5), 0, 2**bits - 1) - zero) * step


# ---------------------------------------------------------------------- observers
def test_an_observer_in_training_follows_the_batch_and_rounds_to_its_range(mode):
    net, x = nn.FakeQuantWithMinMaxObserver().set_train(), _f(4, 5)
    want = _rounded(x, min(x.min(), 0), max(x.max(), 0))
    np.testing.assert_allclose(net(_t(x)).asnumpy(), want, atol=1e-5)
    assert net.minq.asnumpy() == [x.min()] and net.maxq.asnumpy() == [x.max()]


def test_an_observer_that_averages_moves_a_little_with_each_batch(mode):
    net, x = nn.FakeQuantWithMinMaxObserver(ema=True, ema_decay=0.75).set_train(), _f(4, 5)
    for _ in range(2):
        net(_t(x))
    assert net.minq.asnumpy() == pytest.approx([-6 * 0.75**2 + x.min() * (1 - 0.75**2)], rel=1e-5)


def test_an_observer_out_of_training_keeps_its_range(mode):
    net, x = nn.FakeQuantWithMinMaxObserver(-2, 2, quant_dtype=QuantDtype.UINT4), 3 * _f(4, 5)
    np.testing.assert_allclose(net(_t(x)).asnumpy(), _rounded(x, -2, 2, 4), atol=1e-5)
    assert net.minq.asnumpy() == [-2] and net.num_bits == 4


def test_an_observer_of_channels_has_a_range_for_each():
    net = nn.FakeQuantWithMinMaxObserver(per_channel=True, channel_axis=0, num_channels=3).set_train()
    x = _f(3, 4) * np.float32([[1], [5], [9]])
    got = net(_t(x)).asnumpy()
    for row, values in zip(got, x, strict=True):
        np.testing.assert_allclose(row, _rounded(values, min(values.min(), 0), max(values.max(), 0)), atol=1e-4)
    assert net.minq.shape == (3,)


def test_a_delay_lets_the_range_move_and_rounds_nothing(mode):
    net, x = nn.FakeQuantWithMinMaxObserver(quant_delay=2).set_train(), _f(4, 5)
    for _ in range(2):
        np.testing.assert_array_equal(net(_t(x)).asnumpy(), x)
        assert net.minq.asnumpy() == [x.min()]
    assert (net(_t(x)).asnumpy() != x).any()
    assert (net.set_train(False)(_t(x)).asnumpy() != x).any()


def test_gradients_go_straight_through_an_observer_in_training(mode):
    net, x = nn.FakeQuantWithMinMaxObserver().set_train(), _f(4, 5)
    got = ops.GradOperation()(lambda v: (net(v) * 3).sum())(_t(x)).asnumpy()
    assert (got == 3).sum() >= x.size - 2  # an end of the range may be nudged past the extreme that made it
    assert not net.trainable_params()


def test_ranges_have_mindspores_names_and_a_checkpoint_of_them_loads(tmp_path):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2dBnFoldQuant(1, 2, 3)
            self.act = nn.ActQuant(nn.HSwish(), ema=True, fake_before=True)
            self.fc = nn.DenseQuant(2, 2)

        def construct(self, x):
            return self.fc(ops.ReduceMean()(self.act(self.conv(x)), (2, 3)))

    names = """conv.weight conv.gamma conv.beta conv.moving_mean conv.moving_variance conv.fake_quant_weight.minq
        conv.fake_quant_weight.maxq conv.step act.fake_quant_act_before.minq act.fake_quant_act_before.maxq
        act.fake_quant_act.minq act.fake_quant_act.maxq fc.weight fc.bias fc.fake_quant_weight.minq
        fc.fake_quant_weight.maxq""".split()
    net, other, x = Net().set_train(), Net(), _t(_f(2, 1, 5, 5))
    assert sorted(p.name for p in net.get_parameters()) == sorted(names)
    net(x)
    path = str(tmp_path / "quantised.ckpt")
    ms.save_checkpoint(net, path)
    ms.load_param_into_net(other, ms.load_checkpoint(path))
    np.testing.assert_array_equal(other(x).asnumpy(), net.set_train(False)(x).asnumpy())
    assert other.act.fake_quant_act.minq.asnumpy() != [-6]


# ---------------------------------------------------------------------- layers
def test_a_quantised_convolution_is_one_with_a_rounded_weight(mode):
    config = create_quant_config(per_channel=(True, False), symmetric=(True, False))
    net, plain = nn.Conv2dQuant(3, 4, 3, has_bias=True, quant_config=config), nn.Conv2d(3, 4, 3, has_bias=True)
    w, b, x = _f(4, 3, 3, 3), _f(4), _t(_f(2, 3, 5, 5))
    _set(net, weight=w, bias=b)
    ends = np.abs(w).max((1, 2, 3))
    _set(plain, weight=np.stack([_rounded(v, -end, end) for v, end in zip(w, ends)]), bias=b)
    np.testing.assert_allclose(net.set_train()(x).asnumpy(), plain(x).asnumpy(), rtol=1e-4, atol=1e-4)
    norm = nn.Conv2dBnWithoutFoldQuant(3, 4, 3, has_bias=True, quant_config=config).set_train()
    _set(norm, weight=w, bias=b)
    want = nn.BatchNorm2d(4).set_train()(plain(x))
    np.testing.assert_allclose(norm(x).asnumpy(), want.asnumpy(), rtol=1e-3, atol=1e-3)


def test_a_quantised_dense_is_one_with_a_rounded_weight_for_more_axes_too(mode):
    net, plain = nn.DenseQuant(5, 4, activation="relu").set_train(), nn.Dense(5, 4, activation="relu")
    w, x = _f(4, 5), _t(_f(2, 3, 5))
    _set(net, weight=w)
    _set(plain, weight=_rounded(w, w.min(), w.max()))
    np.testing.assert_allclose(net(x).asnumpy(), plain(x).asnumpy(), rtol=1e-4, atol=1e-4)
    assert net(x).shape == (2, 3, 4)


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("kind", FOLDED)
def test_folding_without_rounding_is_convolution_and_normalisation(mode, kind, has_bias):
    folded = kind(3, 4, 3, has_bias=has_bias, fake=False, momentum=0.8)
    conv, norm = nn.Conv2d(3, 4, 3, has_bias=has_bias), nn.BatchNorm2d(4, momentum=0.8)
    plain, x = nn.SequentialCell([conv, norm]), _t(_f(5, 3, 6, 6))
    w, g, b = _f(4, 3, 3, 3), np.abs(_f(4)) + np.float32(0.3), _f(4)
    _set(folded, weight=w, gamma=g, beta=b)
    _set(conv, weight=w)
    _set(norm, gamma=g, beta=b)
    if has_bias:
        _set(folded, bias=b)
        _set(conv, bias=b)
    ours, theirs = [folded.weight, folded.gamma, folded.beta], [conv.weight, norm.gamma, norm.beta]
    close = lambda got, want: np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-3, atol=1e-4)
    for _ in range(2):  # the second step starts with statistics that have moved
        for net in (folded, plain):
            net.set_train()
        grad = ops.GradOperation(get_by_list=True)
        got = grad(lambda v: (folded(v) ** 3).mean(), ms.ParameterTuple(ours))(x)
        want = grad(lambda v: (plain(v) ** 3).mean(), ms.ParameterTuple(theirs))(x)
        for one, other in zip(got, want, strict=True):
            close(one, other)
        close(folded(x), plain(x))
        close(folded.moving_mean, norm.moving_mean)
        close(folded.moving_variance, norm.moving_variance)
    for net in (folded, plain):
        net.set_train(False)
    close(folded(x), plain(x))


@pytest.mark.parametrize("kind", FOLDED)
def test_what_is_rounded_is_the_folded_weight(mode, kind):
    net, x = kind(2, 3, 3), _t(_f(4, 2, 5, 5))
    w, g, variance = _f(3, 2, 3, 3), np.abs(_f(3)) + np.float32(0.3), np.abs(_f(3)) + np.float32(0.3)
    _set(net, weight=w, gamma=g, moving_variance=variance, moving_mean=_f(3))
    scale = g / np.sqrt(variance + 1e-5)
    plain = nn.Conv2d(2, 3, 3)
    _set(plain, weight=_rounded(w * scale.reshape(-1, 1, 1, 1), -6, 6))
    want = plain(x).asnumpy() - (scale * net.moving_mean.asnumpy()).reshape(-1, 1, 1)
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-3, atol=1e-3)


def test_a_channel_whose_gamma_is_zero_comes_out_as_beta(mode):
    net = nn.Conv2dBnFoldQuantOneConv(2, 3, 3)
    _set(net, gamma=[0, 1, 0], beta=[4, 0, 5])
    y = net(_t(_f(2, 2, 4, 4))).asnumpy()
    assert (y[:, 0] == 4).all() and (y[:, 2] == 5).all() and np.isfinite(y).all()


def test_frozen_statistics_are_used_and_stay(mode):
    net, x = nn.Conv2dBnFoldQuant(2, 3, 3, freeze_bn=1, fake=False).set_train(), _t(_f(4, 2, 5, 5))
    net(x)
    moved = net.moving_mean.asnumpy()
    assert moved.any()
    frozen = net(x)
    np.testing.assert_array_equal(net.moving_mean.asnumpy(), moved)
    assert net.step.asnumpy() == [2]
    np.testing.assert_allclose(frozen.asnumpy(), net.set_train(False)(x).asnumpy(), rtol=1e-4, atol=1e-5)


def test_activations_sums_and_products_are_rounded(mode):
    x, y = 3 * _f(4, 5), _f(4, 5)
    for net, args, want in (
        (nn.ActQuant(nn.ReLU()), (x,), np.maximum(x, 0)),
        (nn.TensorAddQuant(), (x, y), x + y),
        (nn.MulQuant(), (x, y), x * y),
    ):
        np.testing.assert_allclose(net(*map(_t, args)).asnumpy(), _rounded(want, -6, 6), atol=1e-5)
        assert net.fake_quant_act.ema == (len(args) == 2)
    act = nn.ActQuant(nn.HSwish(), fake_before=True)
    before = _rounded(x, -6, 6)
    np.testing.assert_allclose(act(_t(x)).asnumpy(), _rounded(before * np.clip(before + 3, 0, 6) / 6, -6, 6), atol=1e-4)
    assert isinstance(act.get_origin(), nn.HSwish)


def test_half_precision_leaves_ranges_in_single(mode):
    net = nn.Conv2dQuant(1, 2, 3).set_train().to_float(ms.float16)
    y = net(_t(_f(2, 1, 4, 4)))
    assert y.dtype == ms.float16 and net.fake_quant_weight.minq.dtype == ms.float32


def test_prepared_observers_take_more_arguments_and_show_their_class():
    prepared = nn.FakeQuantWithMinMaxObserver.partial_init(symmetric=True).partial_init(quant_delay=3)
    assert prepared(symmetric=False).quant_delay == 3 and not prepared(symmetric=False).symmetric
    assert "FakeQuantWithMinMaxObserver" in repr(prepared)
    assert quant.quant_config_default.weight is nn.FakeQuantWithMinMaxObserver
    shown = str(nn.Conv2dBnFoldQuant(1, 2, 3))
    assert "fake=True" in shown and "quant_dtype=INT8" in shown
