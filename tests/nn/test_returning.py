"""A forgotten `return` is said once."""

import numpy as np
import pytest

from msnb import Tensor, context, log, nn, ops

X = Tensor(np.ones((2, 3), np.float32))


class Forgets(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)

    def construct(self, x):
        y = self.dense(x)  # noqa: F841 - the mistake


class Returns(Forgets):
    def construct(self, x):
        if x.ndim > 2:
            return None
        return self.dense(x)


class Writes(nn.Cell):
    def construct(self, x):
        ops.assign(self.p, x)


class Shows(nn.Cell):
    def construct(self, x):
        print(x.shape)


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["GRAPH", "PYNATIVE"])
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield
    context.set_context(mode=before)


@pytest.fixture
def logged(capsys):
    log._reset()
    yield lambda: capsys.readouterr().err.splitlines()
    log._reset()


def test_a_construct_that_forgets_to_return_is_reported_once(mode, logged):
    Forgets()(X)
    Forgets()(X)
    (said,) = [text for text in logged() if "returns None" in text]
    assert "computes, but returns None; end it with 'return y'." in said and "Forgets (test_returning.py:" in said


def test_arithmetic_alone_is_a_computation_too(mode, logged):
    class Adds(nn.Cell):
        def construct(self, x):
            y = x + 1  # noqa: F841

    Adds()(X)
    assert [text for text in logged() if "construct of Adds" in text and "end it with 'return y'." in text]


def test_what_returns_or_acts_is_left_alone(mode, logged):
    from msnb.nn._cell.missing_return import _returns_nothing

    Returns()(X)
    Shows()(X)
    assert not [text for text in logged() if "returns None" in text]
    assert not _returns_nothing(Writes.construct.__code__) and _returns_nothing(Forgets.construct.__code__)
