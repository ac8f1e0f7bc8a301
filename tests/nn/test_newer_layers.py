"""Layers of MindSpore 2 that stand for a function: the same numbers, in both modes, and refusals by name."""

import numpy as np
import pytest

import msnb as mindspore
from msnb import Tensor, context, nn, ops

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
VOLUME = np.arange(64, dtype=np.float32).reshape(1, 2, 2, 4, 4)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize(
    ("net", "x", "wanted"),
    [
        (nn.AdaptiveAvgPool1d(2), X, X.reshape(2, 3, 2, 2).mean(-1)),
        (nn.AdaptiveMaxPool1d(2), X, X.reshape(2, 3, 2, 2).max(-1)),
        (nn.AdaptiveAvgPool3d((1, None, 2)), VOLUME, VOLUME.reshape(1, 2, 2, 4, 2, 2).mean((2, 5))[:, :, None]),
        (nn.AdaptiveMaxPool3d(1), VOLUME, VOLUME.max((2, 3, 4), keepdims=True)),
        (nn.Upsample(scale_factor=2.0, recompute_scale_factor=True), X, X.repeat(2, -1)),
        (nn.Upsample(7, mode="linear", align_corners=True), X, X[..., :1] + np.arange(7) / 2),
        (nn.Dropout1d(0.9), X, X),
        (nn.Dropout3d(0.9), VOLUME, VOLUME),
        (nn.RReLU(0.25, 0.25), -X, -X / 4),
    ],
)
def test_what_it_computes(net, x, wanted, mode):
    context.set_context(mode=mode)
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (nn.Dropout1d, (40, 50, 3)),
        (nn.Dropout1d, (2000, 3)),
        (nn.Dropout2d, (40, 50, 2, 2)),
        (nn.Dropout3d, (40, 50, 2, 1, 2)),
    ],
)
def test_complete_channels_are_dropped(make, shape, mode):
    context.set_context(mode=mode)
    result = make(0.25).set_train()(Tensor(np.ones(shape, np.float32))).asnumpy()
    channels = result.reshape(2000, -1)
    assert set(np.unique(result)) == {np.float32(0), np.float32(1 / 0.75)}
    assert (channels == channels[:, :1]).all() and 0.2 < (channels == 0).mean() < 0.3
    assert not make(1.0).set_train()(Tensor(np.ones(shape, np.float32))).asnumpy().any()


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize(
    ("of_mint", "same", "shape"),
    [
        (nn.AvgPool1dExt((3,), 2), nn.AvgPool1d(3, 2), (2, 4, 7)),
        (
            nn.AvgPool2dExt((2, 3), 2, 1, True, False),
            nn.AvgPool2d((2, 3), 2, "pad", padding=1, ceil_mode=True, count_include_pad=False),
            (2, 4, 6, 6),
        ),
        (nn.AvgPool3dExt(2, divisor_override=3), nn.AvgPool3d(2, 2, "pad", divisor_override=3), (2, 4, 5, 6)),
        (nn.MaxPool2dExt(3, padding=1), nn.MaxPool2d(3, 3, "pad", padding=1), (2, 4, 6, 6)),
        (nn.LogSoftmaxExt(), nn.LogSoftmax(1), (3, 4)),
        (nn.LogSoftmaxExt(), nn.LogSoftmax(0), (2, 3, 4)),
        (nn.LayerNormExt((3, 4)), nn.LayerNorm((3, 4), 1, 1, epsilon=1e-5), (2, 3, 4)),
        (nn.PReLUExt(4, 0.5), nn.PReLU(4, 0.5), (2, 4, 3)),
        (nn.DropoutExt(0.9), nn.Identity(), (2, 3)),
        (nn.Dropout2dExt(1.0).set_train(), lambda x: x * 0, (2, 3, 4, 4)),
    ],
)
def test_a_layer_of_mint_is_another_with_other_arguments(of_mint, same, shape, mode):
    context.set_context(mode=mode)
    x = Tensor(np.random.RandomState(0).randn(*shape).astype(np.float32))
    np.testing.assert_allclose(of_mint(x).asnumpy(), same(x).asnumpy(), rtol=1e-5, atol=1e-6)


def test_a_table_of_mint_has_a_row_that_is_nothing_and_learns_nothing():
    context.set_context(mode=context.PYNATIVE_MODE)
    net = nn.EmbeddingExt(5, 2, padding_idx=-1, dtype=mindspore.float16)
    assert net.weight.dtype == mindspore.float16 and not net.weight.asnumpy()[4].any() and net.weight.asnumpy()[3].any()
    (gradient,) = ops.GradOperation(get_by_list=True)(net, net.trainable_params())(Tensor([[4, 0]], mindspore.int32))
    assert gradient.asnumpy().tolist() == [[1, 1], *[[0, 0]] * 4]
    assert nn.EmbeddingExt(5, 2, _freeze=True).trainable_params() == []


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_products_with_the_jacobian(mode):
    context.set_context(mode=mode)
    x, y, v = (Tensor(np.array(row, np.float32)) for row in ([1, 2], [3, 4], [1, 10]))
    out, change = nn.Jvp(lambda a, b: a * b)(x, y, (v, x))
    assert out.asnumpy().tolist() == [3, 8] and change.asnumpy().tolist() == [4, 44]
    out, (of_x, of_y) = nn.Vjp(lambda a, b: a * b)(x, y, v)
    assert (
        out.asnumpy().tolist() == [3, 8] and of_x.asnumpy().tolist() == [3, 40] and of_y.asnumpy().tolist() == [1, 20]
    )
    assert nn.Vjp(ops.square)(x, v)[1].asnumpy().tolist() == [2, 40]


@pytest.mark.parametrize(("time", "other"), [(1, 0), (2, 0), (0, 2), (-3, -2)])
def test_times_that_are_joined_with_another_axis_give_what_each_gives(time, other):
    context.set_context(mode=context.PYNATIVE_MODE)
    x, layer = Tensor(np.random.RandomState(0).randn(2, 3, 5, 4).astype(np.float32)), nn.Dense(4, 6)
    joined, each = nn.TimeDistributed(layer, time, other)(x), nn.TimeDistributed(layer, time)(x)
    np.testing.assert_allclose(joined.asnumpy(), each.asnumpy(), rtol=1e-5, atol=1e-6)


def test_a_dictionary_of_cells_is_one():
    context.set_context(mode=context.PYNATIVE_MODE)
    cells = nn.CellDict({"a": nn.Dense(2, 3), "b": nn.ReLU()})
    cells["c"] = nn.Dense(3, 1)
    cells.update([("d", nn.Tanh()), ("a", nn.Dense(2, 4))])
    assert list(cells) == ["a", "b", "c", "d"] and len(cells) == 4 and "a" in cells and "z" not in cells
    assert [p.name for p in cells.get_parameters()] == ["a.weight", "a.bias", "c.weight", "c.bias"]
    assert cells["a"].out_channels == 4 and isinstance(cells.pop("b"), nn.ReLU)
    del cells["c"]
    assert [key for key, _ in cells.items()] == list(cells.keys()) == ["a", "d"] and len(cells.values()) == 2
    cells.clear()
    assert len(cells) == 0


class OfDict(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cells_by_name = nn.CellDict([("x", nn.Dense(2, 2, weight_init="ones")), ("y", nn.ReLU())])

    def construct(self, x):
        for key in self.cells_by_name.keys():
            x = self.cells_by_name[key](x)
        for _, cell in self.cells_by_name.items():
            x = cell(x)
        return x


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_a_construct_goes_through_a_dictionary_of_cells(mode):
    context.set_context(mode=mode)
    net = OfDict()
    assert net(Tensor(np.ones((1, 2), np.float32))).asnumpy().tolist() == [[4, 4]]
    assert [p.name for p in net.get_parameters()] == ["cells_by_name.x.weight", "cells_by_name.x.bias"]


@pytest.mark.parametrize(
    ("error", "call", "said"),
    [
        (ValueError, lambda: nn.Dropout2d(1.5), "'p'"),
        (ValueError, lambda: nn.Dropout1d().set_train()(ops.ones((2, 3, 4, 5))), "2 or 3 dimensions"),
        (ValueError, lambda: nn.AdaptiveAvgPool3d((1, 2)), "tuple of three"),
        (ValueError, lambda: nn.AdaptiveMaxPool1d(0), "output_size"),
        (KeyError, lambda: nn.CellDict({"x.y": nn.ReLU()}), "x.y"),
        (KeyError, lambda: nn.CellDict({"construct": nn.ReLU()}), "construct"),
        (TypeError, lambda: nn.CellDict({"x": nn.CellList([])}), "CellList"),
        (TypeError, lambda: nn.CellDict([3]), "pairs"),
        (ValueError, lambda: nn.CellDict([("a", "b", "c")]), "3 things"),
        (NotImplementedError, lambda: nn.CellDict()(3), "not called"),
        (ValueError, lambda: nn.AvgPool3d(2, padding=1), "pad_mode"),
        (ValueError, lambda: nn.Conv2dTranspose(2, 2, 3, output_padding=1), "pad_mode"),
        (ValueError, lambda: nn.Conv2dTranspose(2, 2, 3, pad_mode="pad", output_padding=1), "less than"),
        (ValueError, lambda: nn.Unflatten(3, (1, 2))(ops.ones((2, 3))), "axis 3"),
        (ValueError, lambda: nn.Transformer(8, 2, 1, 1, 8)(ops.ones((2, 3, 7)), ops.ones((2, 3, 8))), "'src'"),
        (ValueError, lambda: nn.TransformerEncoderLayer(8, 2, activation="elu"), "activation"),
        (ValueError, lambda: nn.Upsample()(Tensor(X)), "scale_factor"),
    ],
)
def test_what_does_not_fit_is_named(error, call, said):
    with pytest.raises(error, match=said):
        call()


@pytest.mark.parametrize(("name", "axes"), [("_check_input_3d", 3), ("_check_input_5dims", 5)])
def test_layers_that_users_derive_check_their_input_by_the_function_of_conv(name, axes):
    check = getattr(nn.layer.conv, name)
    check((1,) * axes)
    with pytest.raises(ValueError, match=f"For 'Mine', the input should have {axes} axes"):
        check((1, 2), "Mine")


@pytest.mark.parametrize(
    ("arguments", "size", "total"),  # of 2.7.1
    [
        ({"pad_mode": "valid", "divisor_override": 3}, 2, 168.0),
        ({"pad_mode": "same", "divisor_override": 3}, 3, 392.0),
        ({"pad_mode": "valid", "ceil_mode": True}, 3, 178.5),
        ({"pad_mode": "same", "ceil_mode": True}, 3, 130.666667),
        ({"pad_mode": "valid", "count_include_pad": False}, 2, 56.0),
        ({"pad_mode": "same", "count_include_pad": False}, 3, 178.5),
    ],
)
def test_average_pooling_counts_in_every_pad_mode(arguments, size, total):
    x = Tensor(np.arange(36.0).reshape(1, 1, 6, 6), mindspore.float32)
    y = nn.AvgPool2d(3, 2, **arguments)(x)
    assert y.shape == (1, 1, size, size)
    np.testing.assert_allclose(y.asnumpy().sum(), total, rtol=1e-6)


def test_average_pooling_of_volumes_takes_incomplete_windows_in_mode_valid():
    x = Tensor(np.tile(np.arange(36.0).reshape(1, 1, 1, 6, 6), (1, 1, 6, 1, 1)), mindspore.float32)
    y = nn.AvgPool3d(3, 2, pad_mode="valid", ceil_mode=True)(x)
    assert y.shape == (1, 1, 3, 3, 3) and float(y.asnumpy().sum()) == 535.5


def test_adafactor_lists_the_first_moment_before_the_second():
    optimizer = nn.AdaFactor(nn.Dense(2, 3).trainable_params(), learning_rate=None, beta1=0.9)
    names = [p.name for p in optimizer.get_parameters() if "exp_avg" in p.name]
    assert names[:3] == ["exp_avg.weight", "exp_avg.bias", "exp_avg_sq_row_weight"]
