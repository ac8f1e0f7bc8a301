"""Extra outputs of a program arrive without a wait, from any position in the program."""

import numpy as np
import pytest

from msnb import Tensor, context, jit, nn, ops
from msnb.core.jaxpr import sown_values
from msnb.core.program import program_cache as compiling
from msnb.insight.gradients import GradientMonitor
from msnb.ops import debug
from msnb.ops.debug import ScalarSummary

MODES = [context.GRAPH_MODE, context.PYNATIVE_MODE]
summary = ScalarSummary()


def straight(x):
    summary("seen", x * 2)
    return x * x


def twice(x):
    summary("seen", x)
    summary("seen", x * 2)
    return x * x


def loop(x):
    i, y = Tensor(0), x
    while i < 3:
        y = y * x
        summary("seen", y)
        i = i + 1
    return y


def branch(x):
    if x > 1:
        summary("seen", x * 3)
    else:
        summary("seen", x * 4)
    return x * x


def branch_in_loop(x):
    i, y = Tensor(0), x
    while i < 4:
        if i < 2:
            summary("seen", y)
        y = y * x
        i = i + 1
    return y


def constant(x):
    summary("seen", Tensor(5.0))
    return x * x


@pytest.fixture
def values_by_name():
    """Yield {name: value} of the last operator of each name that ran."""
    results = {}

    def listen(_, name, tensor, ran):
        if ran is None or ran:
            results[name] = float(tensor.asnumpy())

    remove = debug.on_summary(listen)
    yield results
    remove()


@pytest.fixture(params=MODES)
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


@pytest.mark.parametrize(
    ("place", "value"),
    [(straight, 4.0), (twice, 4.0), (loop, 16.0), (branch, 6.0), (branch_in_loop, 4.0), (constant, 5.0)],
)
def test_a_value_is_handed_over_from_anywhere_in_a_program_and_from_within_its_gradient(
    mode, values_by_name, place, value
):
    class Net(nn.Cell):
        def construct(self, x):
            return place(x)

    x = Tensor(np.float32(2))
    for called in (Net(), ops.GradOperation()(Net()), jit(place)):
        values_by_name.clear()
        called(x).asnumpy()
        assert values_by_name == {"seen": value}


@pytest.mark.parametrize("mode", [context.GRAPH_MODE], indirect=True)
def test_no_call_waits_for_what_it_hands_over(mode, values_by_name):
    for place in (straight, loop, branch, branch_in_loop):
        program = compiling.program_of(jit(place), Tensor(np.float32(2)))
        assert program.sown and not program.prints and not program.jaxpr.effects


@pytest.mark.parametrize("mode", [context.GRAPH_MODE], indirect=True)
def test_what_is_computed_again_for_a_gradient_is_handed_over_once(mode, values_by_name):
    net = nn.SequentialCell(nn.Tanh())

    class Net(nn.Cell):
        def construct(self, x):
            summary("seen", x * 2)
            return net(x) * x

    block = Net()
    block.recompute()
    program = compiling.program_of(ops.GradOperation()(block), Tensor(np.float32(2)))
    assert len(program.sown) == 1


def test_the_lanes_of_a_vmap_are_seen_one_after_the_other(mode, values_by_name):
    ops.vmap(straight)(Tensor(np.float32([1, 2, 3]))).asnumpy()
    assert values_by_name == {"seen": 6.0}


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE], indirect=True)
def test_a_function_is_seen_under_a_gradient_of_pynative_mode(mode, values_by_name):
    assert float(ops.GradOperation()(jit(loop))(Tensor(np.float32(2)))) == 32.0
    assert values_by_name == {"seen": 16.0}


@pytest.mark.parametrize("mode", [context.GRAPH_MODE], indirect=True)
def test_a_training_step_writes_over_its_parameters_although_it_hands_something_over(mode):
    net = nn.Dense(2, 1)

    class Loss(nn.Cell):
        def construct(self, x):
            loss = net(x).sum()
            summary("loss", loss)
            return loss

    step = nn.TrainOneStepCell(Loss(), nn.SGD(net.trainable_params(), 0.1))
    x = Tensor(np.ones((1, 2), np.float32))
    losses, results = [], []
    step(x)
    remove = debug.on_summary(lambda _, name, tensor, ran: results.append(float(tensor.asnumpy())))
    losses.append(float(step(x)))
    old = net.weight._get_stored_array()
    losses.append(float(step(x)))
    with GradientMonitor() as monitor:
        losses.append(float(step(x)))
    losses.append(float(step(x)))
    remove()
    step(x)
    assert old.is_deleted()
    assert results == losses and monitor.recording.steps


def test_a_graph_without_anything_to_hand_over_stays_the_same_object():
    program = compiling.program_of(jit(lambda x: x + 1), Tensor(1.0))
    assert sown_values.remove_callbacks(program.jaxpr) is program.jaxpr is program.returning is program.calling
