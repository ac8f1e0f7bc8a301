"""A Python loop of many rounds in a graph logs one message, with the line and the remedy."""

import logging

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.core.program.unroll_hint import HINT_AFTER, format_hint

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


def test_a_long_loop_is_reported_with_its_line_and_a_cure(caplog):
    with caplog.at_level(logging.WARNING):
        said = format_hint(program_of(Rounds(HINT_AFTER), X))
    line = Rounds.construct.__code__.co_firstlineno + 2
    assert f"Tanh at test_unrolled.py:{line} stands {HINT_AFTER} times" in said and f"while i < {HINT_AFTER}" in said


def test_in_a_train_step_it_is_the_same_loop():
    net = Rounds(HINT_AFTER)
    train = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))
    assert "Tanh at test_unrolled.py" in format_hint(program_of(train, X))


@pytest.mark.parametrize("net", [Rounds(HINT_AFTER - 1), nn.SequentialCell([nn.ReLU() for _ in range(HINT_AFTER + 1)])])
def test_a_short_loop_and_many_layers_are_not(net):
    assert format_hint(program_of(net, X)) is None


def test_an_optimizer_of_many_parameters_is_not():
    net = nn.SequentialCell([nn.Dense(4, 4) for _ in range(HINT_AFTER // 2 + 1)])
    train = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))
    assert format_hint(program_of(train, X)) is None


def clipped(net):
    optimizer = nn.SGD(net.trainable_params())
    gradient = ops.GradOperation(get_by_list=True)(net, optimizer.parameters)

    @ms.ms_function
    def step(x):
        return optimizer(ops.clip_by_global_norm(gradient(x)))

    return step


def test_clipping_the_gradients_of_many_parameters_is_not_even_where_a_loop_of_the_user_calls_the_step():
    step = clipped(nn.SequentialCell([nn.Dense(4, 4) for _ in range(HINT_AFTER // 2 + 1)]))
    for _ in range(1):
        program = program_of(step, X)
    assert len(program.jaxpr.jaxpr.eqns) > HINT_AFTER and format_hint(program) is None


class Smooth(nn.Cell):
    def construct(self, x):
        return ops.tanh(x)


class Around(nn.Cell):
    def __init__(self):
        super().__init__()
        self.smooth = Smooth()

    def construct(self, x):
        for _ in range(HINT_AFTER):
            x = self.smooth(x)
        return x


def test_a_loop_around_a_cell_of_the_user_is_one():
    assert "Tanh at test_unrolled.py" in format_hint(program_of(Around(), X))
