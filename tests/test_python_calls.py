"""The number of Python functions that a call runs. A count depends on no clock."""

import re
from pathlib import Path

import pytest

import msnb as ms
from msnb import nn
from msnb.core.state import trace_state

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "python_calls.py"


def test_calls_stay_below_their_limits(fresh, tmp_path):
    done = fresh.script(BENCHMARK, tmp_path)
    rows = re.findall(r"^(.+?) +(\d+) calls, limit (\d+)$", done.out, re.MULTILINE)
    assert [row for row, *_ in rows] == ["GRAPH call, cold", "GRAPH call, warm", "Model.train, one step"], done.err
    assert not [row for row in rows if int(row[1]) > int(row[2])]


@pytest.fixture
def net():
    return nn.SequentialCell(nn.Dense(2, 2, weight_init="ones"), nn.SequentialCell(nn.Dropout(0.5), nn.ReLU()))


def has_bumped(change):
    """Return True if `change()` makes compiled programs check their guards."""
    before = trace_state.epoch.value
    change()
    return trace_state.epoch.value > before


def test_set_train_invalidates_programs_only_if_a_flag_changes(net):
    assert has_bumped(lambda: net.set_train(True))
    assert not has_bumped(lambda: net.set_train(True))
    assert has_bumped(lambda: net.set_train(False))
    assert not has_bumped(lambda: net.set_train(False))
    assert has_bumped(lambda: net.set_grad(True))
    assert not has_bumped(lambda: net.set_grad(True))
    assert not has_bumped(lambda: setattr(net, "phase", "eval")) and net.phase == "eval"


def test_set_train_reaches_a_child_whose_flag_differs_from_its_parent(net):
    net.set_train(True)
    dropout = net[1][0]
    dropout.set_train(False)
    assert net.training and not dropout.training
    assert has_bumped(lambda: net.set_train(True)) and dropout.training and dropout.get_flags()["training"]


def test_a_flag_that_changes_changes_the_result(net):
    ms.set_context(mode=ms.GRAPH_MODE)
    dropout, x = net[1][0], ms.ops.ones((50, 2), ms.float32)
    net.set_train(False)
    evaluated = net(x).asnumpy()
    net.set_train(False)
    assert (net(x).asnumpy() == evaluated).all()
    dropout.set_train(True)
    assert (net(x).asnumpy() != evaluated).any()
    net.set_train(False)
    assert (net(x).asnumpy() == evaluated).all()


def test_a_property_of_a_subclass_may_have_the_name_of_an_inert_one():
    class Phased(nn.Cell):
        phase = "first"

        def construct(self, x):
            return x + 1 if self.phase == "first" else x - 1

    ms.set_context(mode=ms.GRAPH_MODE)
    cell, x = Phased(), ms.Tensor(1.0)
    assert cell(x).asnumpy() == 2
    cell.phase = "second"
    assert cell(x).asnumpy() == 0
