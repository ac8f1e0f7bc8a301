"""New shapes and numbers in each call log a message with a remedy at the third compilation."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, ir, log, nn


@pytest.fixture
def read_warnings(capsys):
    log._reset()
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    yield lambda: [line for line in capsys.readouterr().err.splitlines() if "compiled" in line]
    context.set_context(mode=before)
    log._reset()


class Scale(nn.Cell):
    def construct(self, x, k=2):
        return x * k


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


def test_batches_of_ever_new_sizes(read_warnings):
    net = Scale()
    for size in (4, 3, 4):
        net(ones(size, 2))
    assert not read_warnings()
    for size in (2, 1, 5):
        net(ones(size, 2))
    (line,) = read_warnings()
    assert (
        "Scale has been compiled 3 times: axis 0 of 'x' was 4, 3, 2. Every new shape is compiled anew: "
        "dataset.batch(..., drop_remainder=True) makes all batches of one size, or pad."
    ) in line
    assert "test_varying.py:" in line


def test_texts_of_ever_new_lengths_in_a_train_step(read_warnings):
    net = nn.Dense(1, 1)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.L1Loss()), nn.SGD(net.trainable_params(), 0.1))
    for length in (3, 4, 5):
        step(ones(2, length, 1), ones(2, length, 1))
    (line,) = read_warnings()
    assert "axis 1 of 'data' was 3, 4, 5 and axis 1 of 'label' was 3, 4, 5." in line
    assert "dataset.bucket_batch_by_length" in line and "drop_remainder" not in line


def test_a_python_number_that_changes(read_warnings):
    @ms.ms_function
    def power(x, k):
        return x**k

    for k in range(5):
        power(ones(2), k)
    (line,) = read_warnings()
    assert "power has been compiled 3 times: the Python number 'k' was 0, 1, 2. Pass it as a Tensor, Tensor(k)" in line


def test_graphs_that_are_only_looked_at_are_no_news(read_warnings):
    net = Scale()
    for size in range(1, 20):
        ir.graph(net, ones(size, 2))
    assert not read_warnings()


def test_two_sizes_and_switched_flags_are_no_news(read_warnings):
    net = Scale()
    for training in (True, False):
        net.set_train(training)
        for size in (4, 2):
            net(ones(size, 2))
    assert not read_warnings()


@pytest.mark.parametrize(
    "values", [(1, "a", Tensor([1.0])), ("a", Tensor([1.0]), Tensor([[1.0]])), (1, Tensor([1.0]), 2)]
)
def test_an_argument_of_several_kinds_gets_no_hint_and_no_error(read_warnings, values):
    @ms.jit
    def kind(x):
        return isinstance(x, ms.Tensor)

    assert [bool(kind(value)) for value in values] == [isinstance(value, Tensor) for value in values]
    assert not read_warnings()


def test_the_hint_lists_values_of_one_kind(read_warnings):
    @ms.jit
    def is_five(x):
        return x == 5 if isinstance(x, int) else False

    for value in (1, Tensor([1.0]), 2, "a", 3):
        is_five(value)
    (line,) = read_warnings()
    assert "the Python number 'x' was 1, 2, 3." in line
