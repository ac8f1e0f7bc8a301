"""The integer network computes the results of the simulation, up to the last rounding."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.compression.export.quant_export import ExportManualQuantNetwork, ExportToQuantInferNetwork
from msnb.compression.quant import QuantizationAwareTraining, create_quant_config
from msnb.compression.quant.qat import _AddFakeQuantInput
from msnb.formats import mindir
from msnb.nn.layer._quant.block import QuantBlock, QuantMindirBlock

_random = np.random.default_rng(11)


class Net(nn.Cell):
    """Convolutions in a list, and pooling; optionally with a sum of two branches."""

    def __init__(self, has_sum=False):
        super().__init__()
        self.has_sum = has_sum
        self.body = nn.SequentialCell(
            [
                nn.Conv2dBnAct(1, 4, 3, has_bn=True, momentum=0.5, has_bias=True, activation="relu"),
                nn.MaxPool2d(2, 2),
                nn.Conv2dBnAct(4, 4, 3, has_bn=True, momentum=0.5, activation="relu6"),
            ]
        )
        if has_sum:
            self.side = nn.Conv2dBnAct(4, 4, 1)
            self.add = ops.TensorAdd()
        self.flatten = nn.Flatten()
        self.fc = nn.DenseBnAct(36, 5)

    def construct(self, x):
        x = self.body(x)
        return self.fc(self.flatten(self.add(x, self.side(x)) if self.has_sum else x))


def _random_input(n=8):
    return Tensor(np.clip(_random.normal(size=(n, 1, 6, 6)), -3, 3).astype(np.float32))


def _with_statistics(net):
    """Change the Parameters of a network and run some batches, so that it has ranges and statistics."""
    for p in net.trainable_params():
        p.set_data(Tensor((0.3 * _random.normal(size=p.shape) + 0.05).astype(np.float32)))
    net.set_train()
    x = _random_input()
    for _ in range(20):
        net(x)
    return net.set_train(False), x


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"one_conv_fold": False, "per_channel": (True, False)},
        {"bn_fold": False, "per_channel": (True, False), "symmetric": (True, False)},
        {"quant_dtype": ms.compression.common.QuantDtype.INT4},
    ],
)
def test_integer_network_agrees_with_simulation(how):
    net, x = _with_statistics(_AddFakeQuantInput(QuantizationAwareTraining(**how).quantize(Net())))
    want = net(x).asnumpy()
    deployed = ExportToQuantInferNetwork(net, 0, 1.0, x).run()
    observer = net.network.fc.activation.fake_quant_act
    low, high = observer.minq.asnumpy(), observer.maxq.asnumpy()
    step = (high - low) / (2**observer.num_bits - 1)
    got = np.clip(deployed(x).asnumpy(), low, high)  # the result itself is rounded and held in training alone
    assert np.abs(got - want).max() < 0.55 * step
    assert len(np.unique(want)) >= 4
    blocks = [cell for _, cell in deployed.cells_and_names() if isinstance(cell, QuantBlock)]
    assert len(blocks) == 3 and all(block.weight.dtype == ms.int8 for block in blocks)
    names = [type(cell).__name__ for _, cell in deployed.cells_and_names()]
    assert not [n for n in names if "Fake" in n or n.endswith("Quant")]
    np.testing.assert_array_equal(net(x).asnumpy(), want)  # the trained network is as it was


def test_table_maps_layers_to_observers():
    net = QuantizationAwareTraining().quantize(Net(has_sum=True))
    export = ExportToQuantInferNetwork(net, 0, 40.0, _random_input())
    act = "body.2.activation.fake_quant_act.minq"
    assert export.quant_info_table == {
        "body.0.conv.fake_quant_weight.minq": "input",
        "body.2.conv.fake_quant_weight.minq": "body.0.activation.fake_quant_act.minq",
        "side.conv.fake_quant_weight.minq": act,
        "fc.dense.fake_quant_weight.minq": f"{net.add.fake_quant_act.minq.name}",
    }
    deployed = export.run()
    assert deployed.body[0].quant.scale == 40.0 and deployed.body[0].quant.offset == 0
    assert deployed.add.operator.name == net.add.subcell.name


def test_network_built_by_hand_is_converted():
    config = create_quant_config(per_channel=(True, False), symmetric=(True, False))

    class Manual(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2dBnFoldQuant(1, 4, 3, momentum=0.5, quant_config=config)
            self.relu = nn.ActQuant(nn.ReLU(), quant_config=config)
            self.sum = nn.TensorAddQuant(quant_config=config)
            self.flatten = nn.Flatten()
            self.fc = nn.DenseQuant(144, 3, activation="sigmoid", quant_config=config)

        def construct(self, x):
            x = self.relu(self.conv(x))
            return self.fc(self.flatten(self.sum(x, x)))

    net, x = _with_statistics(Manual())
    deployed = ExportManualQuantNetwork(net, 0, 40.0, x).run()
    assert isinstance(deployed.conv, QuantBlock) and isinstance(deployed.relu, nn.ReLU)
    np.testing.assert_allclose(deployed(x).asnumpy(), net(x).asnumpy(), atol=0.03)


def test_mindir_network_has_floats_and_ranges():
    net, x = _with_statistics(QuantizationAwareTraining().quantize(Net()))
    deployed = ExportToQuantInferNetwork(net, 0, 40.0, x, is_mindir=True).run()
    block = deployed.body[2]
    assert isinstance(block, QuantMindirBlock)
    observer = net.body[0].activation.fake_quant_act
    assert block.core_op.input_maxq == observer.maxq.asnumpy()
    assert block.core_op.filter_minq == net.body[2].conv.fake_quant_weight.minq.asnumpy()
    assert deployed.body[0].core_op.std_dev == 40.0
    scale = net.body[2].conv.gamma.asnumpy() / np.sqrt(net.body[2].conv.moving_variance.asnumpy() + 1e-5)
    folded = net.body[2].conv.weight.asnumpy() * scale.reshape(-1, 1, 1, 1)
    np.testing.assert_allclose(block.weight.asnumpy(), folded, rtol=1e-5)
    assert deployed(x).shape == (8, 5)


def test_file_has_the_ranges_as_attributes(tmp_path):
    net, x = _with_statistics(QuantizationAwareTraining().quantize(Net(has_sum=True)))
    path = str(tmp_path / "net.mindir")
    ms.export(net, x, file_name=path, file_format="MINDIR", quant_mode="AUTO", mean=0, std_dev=40.0)
    deployed = ExportToQuantInferNetwork(net, 0, 40.0, x, is_mindir=True).run()
    np.testing.assert_allclose(nn.GraphCell(ms.load(path))(x).asnumpy(), deployed(x).asnumpy(), atol=1e-5)
    attributes = {}
    for primitive in ms.load_mindir(path).primitives:
        attributes.setdefault(primitive.op_type, []).append(
            {a.name: mindir.value_of(a._fields) for a in primitive.attribute}
        )
    first = attributes["Conv2D"][0]
    observer = net.body[0].conv.fake_quant_weight
    np.testing.assert_array_equal(first["filter_maxq"], observer.maxq.asnumpy())
    np.testing.assert_array_equal(first["output_minq"], net.body[0].activation.fake_quant_act.minq.asnumpy())
    assert (first["num_bits"], first["symmetric"], first["narrow_range"], first["mean"]) == (8, False, False, 0)
    assert first["activation_name"] == "ReLU" and "input_maxq" not in first and "std_dev" not in attributes["Conv2D"][1]
    np.testing.assert_array_equal(attributes["Add"][0]["output_maxq"], net.add.fake_quant_act.maxq.asnumpy())
    assert attributes["MatMul"][0]["filter_maxq"].dtype == np.float32


def test_invalid_arguments_raise():
    net = QuantizationAwareTraining().quantize(Net())
    with pytest.raises(TypeError, match="network"):
        ExportToQuantInferNetwork(3, 0, 1.0, _random_input())
    with pytest.raises(ValueError, match="std_dev"):
        ExportToQuantInferNetwork(net, 0, 0.0, _random_input())
