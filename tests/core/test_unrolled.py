"""A Python loop of many rounds in a graph is told, with the line and the cure; nothing else is."""

import logging

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.core.compile import program_of
from msnb.core.unrolled import MANY, sentence

X = Tensor(np.ones((2, 4), np.float32))


@pytest.fixture(autouse=True)
def _graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)


class Rounds(nn.Cell):
    def __init__(self, rounds):
        super().__init__()
        self.rounds = rounds
        self.dense = nn.Dense(4, 4)

    def construct(self, x):
        for _ in range(self.rounds):
            x = ops.tanh(x)
        return self.dense(x)


def test_a_long_loop_is_told_with_its_line_and_a_cure(caplog):
    with caplog.at_level(logging.WARNING):
        said = sentence(program_of(Rounds(MANY), X))
    line = Rounds.construct.__code__.co_firstlineno + 2
    assert f"Tanh at test_unrolled.py:{line} stands {MANY} times" in said and f"while i < {MANY}" in said


def test_in_a_train_step_it_is_the_same_loop():
    net = Rounds(MANY)
    train = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))
    assert "Tanh at test_unrolled.py" in sentence(program_of(train, X))


@pytest.mark.parametrize("net", [Rounds(MANY - 1), nn.SequentialCell([nn.ReLU() for _ in range(MANY + 1)])])
def test_a_short_loop_and_many_layers_are_not(net):
    assert sentence(program_of(net, X)) is None


def test_an_optimizer_of_many_parameters_is_not():
    net = nn.SequentialCell([nn.Dense(4, 4) for _ in range(MANY // 2 + 1)])
    train = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))
    assert sentence(program_of(train, X)) is None
