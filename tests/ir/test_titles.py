"""Titles of boxes."""

import numpy as np

from msnb import Tensor, context, ir, nn
from msnb.core.program.program_cache import program_of
from msnb.ir.layout.hierarchy import Hierarchy
from msnb.ir.layout.labels import paths, title


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.norm = nn.LayerNorm((4,))
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(x + self.relu(self.norm(self.dense(x))))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([Block() for _ in range(4)])

    def construct(self, x):
        return self.body(x)


def titles_of_scopes(fold):
    net, x = Net(), Tensor(np.ones((2, 4), np.float32))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.L1Loss()), nn.SGD(net.trainable_params(), 0.1))
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        tree = Hierarchy(ir.graph(program_of(step, x, x)), fold=fold)
    finally:
        context.set_context(mode=before)
    result = paths(tree)
    return {result[scope.index]: title(scope, result) for scope in tree.root.scopes() if result[scope.index]}


def test_a_box_has_the_path_of_its_cell_and_shows_what_the_box_around_it_does_not():
    called = titles_of_scopes(fold=False)
    assert called["body.2"] == "2" and called["body.2.dense"] == "dense"
    assert called["body.2.relu (2nd call)"] == "relu (2nd call)"
    assert called["loss_fn"] == "loss_fn" and called["optimizer"] == "optimizer"
    assert called["Net and loss"] == "Net and loss", "not WithLossCell"
    assert not any("_backbone" in text or "network" in text or "-" in text for text in called)


def test_repeats_are_named_from_the_first_to_the_last():
    called = titles_of_scopes(fold=True)
    assert called["body.1 … body.3"] == "1 … 3"  # the first takes no gradient of its input
