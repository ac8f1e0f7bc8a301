"""Conversion of a float network to a quantised one: converted layers, unchanged Parameters, and names."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.compression.common import QuantDtype
from msnb.compression.quant import (
    OptimizeOption,
    QuantizationAwareTraining,
    create_quant_config,
    load_nonquant_param_into_quant_net,
    quant_utils,
)
from msnb.compression.quant.qat import _AddFakeQuantInput
from msnb.nn.layer.quant import FakeQuantWithMinMaxObserver

_random = np.random.default_rng(5)


class Net(nn.Cell):
    """Two blocks with a sum between them."""

    def __init__(self, **how):
        super().__init__()
        self.first = nn.Conv2dBnAct(1, 4, 3, has_bn=True, momentum=0.8, activation="relu", **how)
        self.rest = nn.SequentialCell([nn.Conv2dBnAct(4, 4, 3, has_bn=True, activation="hswish"), nn.MaxPool2d(2, 2)])
        self.add = ops.TensorAdd()
        self.flatten = nn.Flatten()
        self.fc = nn.DenseBnAct(16, 3)

    def construct(self, x):
        x = self.first(x)
        return self.fc(self.flatten(self.rest(self.add(x, x))))


X = Tensor(_random.normal(size=(5, 1, 4, 4)).astype(np.float32))


def _layer_types(net):
    return net.first.conv.cls_name, net.rest[0].conv.cls_name, net.fc.dense.cls_name


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ({}, "Conv2dBnFoldQuantOneConv"),
        ({"one_conv_fold": False}, "Conv2dBnFoldQuant"),
        ({"bn_fold": False}, "Conv2dBnWithoutFoldQuant"),
    ],
)
def test_blocks_are_converted_and_keep_their_parameters(how, kind):
    net = Net()
    before = {p.name: p for p in net.get_parameters()}
    first, norm = net.first.conv.weight, net.first.batchnorm.gamma
    quantised = QuantizationAwareTraining(**how).quantize(net)
    assert quantised is net and _layer_types(net) == (kind, kind, "DenseQuant")
    holder = net.first.conv.batchnorm if kind.endswith("WithoutFoldQuant") else net.first.conv
    assert net.first.conv.weight is first and holder.gamma is norm
    parameter_ids = {id(p) for p in before.values()}
    assert parameter_ids <= {id(p) for p in net.get_parameters()}
    assert net(X).shape == (5, 3)


def test_parameter_names_are_those_of_mindspore():
    net = QuantizationAwareTraining().quantize(Net())
    names = {p.name for p in net.get_parameters()}
    ends = lambda *places: {f"{place}.{end}" for place in places for end in ("minq", "maxq")}
    assert names == {
        *(f"first.conv.{n}" for n in ("weight", "gamma", "beta", "moving_mean", "moving_variance")),
        *(f"rest.0.conv.{n}" for n in ("weight", "gamma", "beta", "moving_mean", "moving_variance")),
        *("fc.dense.weight", "fc.dense.bias"),
        *ends("first.conv.fake_quant_weight", "rest.0.conv.fake_quant_weight", "fc.dense.fake_quant_weight"),
        *ends("first.activation.fake_quant_act", "fc.activation.fake_quant_act"),
        *ends("rest.0.activation.fake_quant_act_before", "rest.0.activation.fake_quant_act"),
        *ends(f"{net.add.subcell.name.replace('TensorAdd', 'tensor_add').lower()}.fake_quant_act"),
    }


def test_momentum_of_statistics_is_preserved():
    net, plain = Net(), Net()
    ms.load_param_into_net(plain, net.parameters_dict())
    net = QuantizationAwareTraining().quantize(net).set_train()
    assert net.first.conv.momentum == pytest.approx(0.8)
    net(X), plain.set_train()(X)
    got, want = net.first.conv.moving_variance.asnumpy(), plain.first.batchnorm.moving_variance.asnumpy()
    np.testing.assert_allclose(got, want, rtol=0.02)


def test_settings_reach_the_observers():
    quantizer = QuantizationAwareTraining(
        quant_delay=[4, 5],
        quant_dtype=(QuantDtype.INT4, QuantDtype.UINT7),
        per_channel=(True, False),
        symmetric=(True, False),
        narrow_range=[True, False],
        optimize_option=[OptimizeOption.QAT],
    )
    net = quantizer.quantize(Net())
    weight, flow = net.first.conv.fake_quant_weight, net.add.fake_quant_act
    assert (weight.num_bits, weight.quant_delay, weight.symmetric, weight.narrow_range) == (4, 4, True, True)
    assert (flow.num_bits, flow.quant_delay, flow.symmetric, flow.narrow_range) == (7, 5, False, False)
    assert weight.minq.shape == (4,) and flow.minq.shape == (1,) and flow.ema
    assert (quantizer.weight_dtype, quantizer.act_qdelay) == (QuantDtype.INT4, 5)
    one = create_quant_config(quant_delay=3, symmetric=True)
    assert one.weight().quant_delay == one.activation().quant_delay == 3 and one.activation().symmetric


def test_result_without_activation_is_quantised_by_default():
    net = QuantizationAwareTraining().quantize(nn.SequentialCell([nn.DenseBnAct(3, 4), nn.DenseBnAct(4, 2)]))
    assert isinstance(net[0].activation.fake_quant_act, FakeQuantWithMinMaxObserver)
    net = QuantizationAwareTraining().quantize(nn.SequentialCell([nn.DenseBnAct(3, 4, after_fake=False)]))
    assert not net[0].has_act


def test_training_mode_is_preserved_and_a_single_block_is_converted():
    assert QuantizationAwareTraining().quantize(nn.DenseBnAct(3, 4).set_train()).dense.fake_quant_weight.training
    assert not QuantizationAwareTraining().quantize(nn.DenseBnAct(3, 4)).dense.fake_quant_weight.training


def test_repeated_operators_have_ranges_with_different_names():
    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one, self.two = ops.Mul(), ops.Mul()

        def construct(self, x):
            return self.two(self.one(x, x), x)

    net = QuantizationAwareTraining().quantize(Two())
    names = [p.name for p in net.get_parameters()]
    assert names == ["mul.fake_quant_act.minq", "mul.fake_quant_act.maxq", "two.fake_quant_act.minq"] + [
        "two.fake_quant_act.maxq"
    ]
    assert net(Tensor([2.0], ms.float32)).asnumpy() == pytest.approx([6.0], abs=0.03)  # 8 is beyond the first range


def test_input_can_be_quantised():
    net = _AddFakeQuantInput(QuantizationAwareTraining().quantize(nn.SequentialCell([nn.DenseBnAct(3, 4)])))
    assert net.fake_quant_input.minq.name == "fake_quant_input.minq"
    assert "0.dense.weight" in {p.name for p in net.get_parameters()}
    assert net(Tensor(np.ones((2, 3), np.float32))).shape == (2, 4)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: QuantizationAwareTraining(quant_delay=-1), ValueError, "quant_delay"),
        (lambda: QuantizationAwareTraining(quant_dtype="INT8"), TypeError, "quant_dtype"),
        (lambda: QuantizationAwareTraining(symmetric=(True, False, True)), ValueError, "symmetric"),
        (lambda: QuantizationAwareTraining(per_channel=True), ValueError, "per_channel"),
        (lambda: QuantizationAwareTraining(optimize_option="QAT"), TypeError, "optimize_option"),
        (lambda: QuantizationAwareTraining().quantize(3), TypeError, "network"),
        (lambda: QuantizationAwareTraining().quantize(nn.Dense(3, 4)), ValueError, "nn.DenseBnAct"),
        (lambda: QuantizationAwareTraining().quantize(nn.DenseBnAct(3, 4, activation="tanh")), ValueError, "ReLU6"),
    ],
)
def test_invalid_arguments_raise(make, error, says):
    with pytest.raises(error, match=says):
        make()


# ---------------------------------------------------------------------- Parameters of a float network
def test_parameters_are_loaded_by_kind_and_order():
    trained, net = Net(), QuantizationAwareTraining(one_conv_fold=False).quantize(Net())
    load_nonquant_param_into_quant_net(net, trained.parameters_dict(), ["step"])
    np.testing.assert_array_equal(net.first.conv.weight.asnumpy(), trained.first.conv.weight.asnumpy())
    np.testing.assert_array_equal(net.rest[0].conv.gamma.asnumpy(), trained.rest[0].batchnorm.gamma.asnumpy())
    np.testing.assert_array_equal(net.fc.dense.bias.asnumpy(), trained.fc.dense.bias.asnumpy())


def test_mismatched_parameters_raise():
    net = QuantizationAwareTraining(one_conv_fold=False).quantize(Net())
    with pytest.raises(ValueError, match="'step' in 'quant_new_params'"):
        load_nonquant_param_into_quant_net(net, Net().parameters_dict())
    with pytest.raises(TypeError, match="quant_new_params"):
        load_nonquant_param_into_quant_net(net, Net().parameters_dict(), "step")
    with pytest.raises(ValueError, match="fc.weight.* has shape"):
        load_nonquant_param_into_quant_net(net, {"fc.weight": nn.Dense(3, 4).weight}, ["step"])


# ---------------------------------------------------------------------- scales, zero points, integers
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_integers_represent_the_simulated_numbers(kind, symmetric):
    w = _random.normal(size=(3, 4)).astype(np.float32)
    observer = FakeQuantWithMinMaxObserver(per_channel=True, channel_axis=0, num_channels=3, symmetric=symmetric)
    simulated = observer.set_train()(Tensor(w)).asnumpy()
    scale, zero, high, low = quant_utils.scale_zp_max_min_from_fake_quant_cell(observer, kind)
    steps = quant_utils.weight2int(w, scale, zero, kind)
    first, last = quant_utils.integer_range(kind, 8, False)
    assert (steps == np.round(steps)).all() and first <= steps.min() and steps.max() <= last
    np.testing.assert_allclose((steps - zero[:, None]) * scale[:, None], simulated, atol=1e-6)
    np.testing.assert_array_equal(high, np.maximum(w.max(1), 0))
    np.testing.assert_array_equal(low, np.minimum(w.min(1), 0))


def test_range_without_width_has_scale_one():
    scale, zero = quant_utils.cal_quantization_params(np.zeros(2), np.float32([0, 1]), np.int8)
    assert scale[0] == 1 and zero[0] == 0 and scale[1] == pytest.approx(1 / 255) and zero[1] == -128
    with pytest.raises(ValueError, match=r"numpy\.int8"):
        quant_utils.cal_quantization_params(np.zeros(2), np.ones(2), np.int16)
    with pytest.raises(ValueError, match="channels fit"):
        quant_utils.weight2int(np.zeros((3, 4)), np.ones(5), np.zeros(5), np.int8)


@pytest.mark.parametrize("kind", [nn.Conv2dBnFoldQuant, nn.Conv2dBnWithoutFoldQuant])
def test_folded_convolution_agrees_with_the_layer_in_evaluation(kind):
    net = kind(2, 3, 3, has_bias=True)
    for p in net.get_parameters():
        if p.name != "step" and not p.name.endswith("q"):
            p.set_data(Tensor(np.abs(_random.normal(size=p.shape)).astype(np.float32) + np.float32(0.2)))
    fold = quant_utils.without_fold_batchnorm if hasattr(net, "batchnorm") else quant_utils.fold_batchnorm
    weight, bias = fold(net.weight.asnumpy(), net)
    plain = nn.Conv2d(2, 3, 3, has_bias=True)
    plain.weight.set_data(Tensor(weight.astype(np.float32)))
    plain.bias.set_data(Tensor(bias.astype(np.float32)))
    x = Tensor(_random.normal(size=(2, 2, 5, 5)).astype(np.float32))
    net.fake_quant_weight = nn.Identity()
    np.testing.assert_allclose(net(x).asnumpy(), plain(x).asnumpy(), rtol=1e-4, atol=1e-4)
