"""Scopes of a graph as the attribute paths that a user wrote."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, ir, nn
from msnb.core.errors.cell_path import attribute_name, attribute_path, class_of
from msnb.core.program.program_cache import program_of
from msnb.train import amp  # noqa: F401 - its Cells around others are known once it is there


@pytest.mark.parametrize(
    ("scope", "root", "path"),
    [
        ("Default/layer3-SequentialCell/2-Bottleneck/conv2-Conv2d", "ResNet50", "layer3.2.conv2"),
        ("Default/network-WithLossCell/_backbone-Net/conv-Conv2d", "TrainOneStepCell", "conv"),
        ("Default/network-WithLossCell/_loss_fn-L1Loss", "TrainOneStepCell", "loss_fn"),
        ("Default/optimizer-Momentum", "TrainOneStepCell", "optimizer"),
        ("Default/TrainOneStepCell/network-Net/conv-Conv2d", "step", "conv"),
        ("Default/network-Net/conv-Conv2d", "Mine", "network.conv"),  # an attribute of the user's own
        ("Default/network-Net/conv-Conv2d", "", "conv"),
        ("Default/network-WithLossCell/_backbone-Net", "TrainOneStepCell", ""),
        ("Default/bn1-OutputTo16/_op-BatchNorm2d", "Net", "bn1"),
        ("Default/network/_backbone/conv", "TrainOneStepCell", "conv"),  # reserve_class_name_in_scope=False
        ("Default/Generator/conv-Conv2d", "step", "Generator.conv"),
        ("Default/relu-ReLU (4)", "Net", "relu (4th call)"),
        ("Default/block-Block (2)/conv-Conv2d", "Net", "block.conv (2nd call of block)"),
        ("Default/block-Block/_both()/conv-Conv2d", "Net", "block.conv"),
        ("Default/block-Block/_both() 2", "Net", "block._both() 2"),
        ("Default/Default/while(x, i)/layers.0-Dense", "Net", "layers.0"),
        ("Default/block-Block/while(x)", "Net", "block.while(x)"),
        ("Default", "Net", ""),
    ],
)
def test_a_scope_is_the_path_that_the_user_wrote(scope, root, path):
    assert attribute_path(scope, root) == path


def test_the_class_of_a_scope_is_distinguished_from_its_attribute():
    assert class_of("Default/block-Block (2)/conv-Conv2d") == "Conv2d"
    assert class_of("Default/relu-ReLU (11)") == "ReLU"
    assert class_of("Default/block-Block/while(x)") == class_of("Default") == ""


class Lists(nn.Cell):
    """Cells wherever people put them."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.CellList([nn.Dense(3, 3), nn.Dense(3, 3)])
        self.decoder = nn.CellList([nn.Dense(3, 3), nn.Dense(3, 3)])
        self.body = nn.SequentialCell([nn.Dense(3, 3)])
        self.plain = [nn.ReLU(), nn.ReLU()]
        self.named = {"act": nn.ReLU()}
        self.deep = nn.CellList([nn.CellList([nn.ReLU()])])

    def construct(self, x):
        for layer in self.encoder:
            x = layer(x)
        for layer in self.decoder:
            x = layer(x)
        x = self.named["act"](self.plain[1](self.body(x)))
        return self.deep[0][0](x)


PATHS = ["encoder.0", "encoder.1", "decoder.0", "decoder.1", "body.0", "plain.1", "named.act", "deep.0.0"]


def _paths(graph):
    return list(dict.fromkeys(attribute_path(node.scope, graph.name) for node in graph.nodes))


def test_a_cell_in_a_list_is_named_by_the_list(graph_mode):
    graph = ir.graph(Lists(), Tensor(np.ones((2, 3), np.float32)))
    assert _paths(graph) == PATHS


def test_a_network_in_a_train_step_keeps_its_paths(graph_mode):
    net = Lists()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.L1Loss()), nn.SGD(net.trainable_params(), 0.1))
    x = Tensor(np.ones((2, 3), np.float32))
    program = program_of(step, x, x)
    forward = [path for path in _paths(ir.graph(program)) if path not in ("loss_fn", "optimizer")]
    assert forward == PATHS
    assert [entry[1] for entry in program.inputs if entry[0] == "arg"] == ["data", "label"]

    @ms.ms_function
    def of_function(x):
        return net(x)

    assert _paths(ir.graph(of_function, x)) == [f"Lists.{path}" for path in PATHS]


def test_a_cell_that_the_caller_does_not_hold_has_no_path():
    assert attribute_name(Lists(), nn.ReLU()) == ""
