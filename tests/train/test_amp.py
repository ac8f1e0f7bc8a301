"""2.x's ways to train in mixed precision: loss scalers and networks for training functions that users write."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, amp, context, nn, ops

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])


@BOTH_MODES
def test_a_dynamic_scaler_follows_the_gradients(mode):
    context.set_context(mode=mode)
    scaler = amp.DynamicLossScaler(scale_value=8, scale_factor=2, scale_window=2)

    @ms.jit
    def step(x):
        grads = scaler.unscale((x, x))
        finite = amp.all_finite(grads)
        scaler.adjust(finite)
        return scaler.scale(x), finite

    seen = []
    for value in (1.0, 1.0, np.inf, np.nan, 1.0, 1.0):
        _, finite = step(Tensor(np.array([value, 2.0], np.float32)))
        assert bool(finite.asnumpy()) == np.isfinite(value)
        seen.append(float(scaler.scale_value.asnumpy()))
    assert seen == [8.0, 16.0, 8.0, 4.0, 4.0, 8.0]


def test_a_static_scaler_scales_and_unscales_in_the_type_of_its_inputs():
    scaler = amp.StaticLossScaler(4)
    half = Tensor(np.array([1.0, 2.0], np.float16))
    scaled = scaler.scale(half)
    assert scaled.dtype == ms.float16 and scaled.asnumpy().tolist() == [4.0, 8.0]
    assert scaler.unscale((scaled,))[0].asnumpy().tolist() == [1.0, 2.0]
    assert scaler.adjust(Tensor(True)) is False
    with pytest.raises(TypeError):
        amp.StaticLossScaler("4")
    with pytest.raises(ValueError):
        amp.DynamicLossScaler(0, 2, 2)


@BOTH_MODES
@pytest.mark.parametrize("level", ["O0", "O2", "O3"])
def test_a_training_function_of_2_x_learns_in_mixed_precision(mode, level, make_net, batches):
    context.set_context(mode=mode)
    net = amp.auto_mixed_precision(make_net(), level)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    scaler = amp.DynamicLossScaler(1024, 2, 1000)

    def forward(data, label):
        return scaler.scale(loss_fn(net(data), label))

    grad = ops.value_and_grad(forward, None, optimizer.parameters)

    def step(data, label):
        loss, grads = grad(data, label)
        optimizer(scaler.unscale(grads))
        return scaler.unscale(loss)

    net.set_train()
    losses = [float(step(*row).asnumpy()) for _ in range(3) for row in batches().rows]
    assert losses[-1] < 0.6 * losses[0]
    assert net(batches().rows[0][0]).dtype == ms.float32


def test_levels_that_do_not_exist_are_refused(make_net):
    with pytest.raises(ValueError):
        amp.auto_mixed_precision(make_net(), "O4")
    with pytest.raises(TypeError):
        amp.auto_mixed_precision(lambda x: x, "O2")
    with pytest.raises(ValueError):
        amp.auto_mixed_precision(make_net(), "O2", ms.float32)


def test_fit_evaluates_between_epochs_and_the_monitor_prints_it(make_model, batches, capsys):
    model = make_model(metrics={"acc"})
    model.fit(3, batches(steps=2), batches(steps=1, seed=1), valid_frequency=[1, 3], callbacks=ms.LossMonitor(2))
    out = [line for line in capsys.readouterr().out.splitlines() if line]
    assert [line.split(",")[0] for line in out] == [
        "epoch: 1 step: 2",
        "Eval result: epoch 1",
        "epoch: 2 step: 2",
        "epoch: 3 step: 2",
        "Eval result: epoch 3",
    ]
    assert model.train_network.training
    with pytest.raises(ValueError):
        make_model().fit(1, batches(), batches())
    with pytest.raises(TypeError):
        model.fit(1, batches(), batches(), valid_frequency="1")


@BOTH_MODES
@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("how", ["O1", "O2", "O3", "white", "black"])
def test_what_is_chosen_computes_in_sixteen_bits_and_the_network_gives_float32(mode, dtype, how):
    class Seen(nn.Dense):
        def construct(self, x):
            out = super().construct(x)
            seen.append((type(self).__name__, out.dtype))
            return out

    context.set_context(mode=mode)
    seen = []
    net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3), Seen(3, 2), nn.LayerNorm((2,)))
    if how in ("white", "black"):
        net = amp.custom_mixed_precision(net, **{f"{how}_list": [Seen]}, dtype=dtype)
    else:
        net = amp.auto_mixed_precision(net, how, dtype)
    out = net(Tensor(np.ones((2, 2), np.float32)))
    assert out.dtype == ms.float32
    half = how not in ("black", "O1")  # O1 is about the layers themselves, not what derives from them
    assert seen == [("Seen", dtype if half else ms.float32)]


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        (lambda net: amp.auto_mixed_precision(net, "O2", ms.float32), ValueError),
        (lambda net: amp.custom_mixed_precision(net), ValueError),
        (lambda net: amp.custom_mixed_precision(net, white_list=[], black_list=[]), ValueError),
        (lambda net: amp.custom_mixed_precision(net, white_list=[int]), TypeError),
        (lambda net: ms.Model(net, boost_level="O9"), ValueError),
        (lambda net: net.to_float(ms.int32), ValueError),
    ],
)
def test_levels_and_types_of_no_meaning_are_refused(refused, error):
    with pytest.raises(error):
        refused(nn.Dense(2, 2))


def test_a_model_trains_at_level_o1(make_model, batches):
    model = make_model(amp_level="O1")
    model.train(1, batches())
    assert all(np.isfinite(p.asnumpy()).all() for p in model._network.trainable_params())
