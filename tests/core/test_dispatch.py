"""PYNATIVE dispatch: what one call of an operator does."""

import jax.numpy as jnp
import numpy as np
import pytest

from msnb import Tensor, context, ops
from msnb.core.eager.kernel import Kernel

X = Tensor(np.float32([1.0, 2.0]))


@pytest.fixture(autouse=True)
def pynative_mode():
    context.set_context(mode=context.PYNATIVE_MODE)


class Counting(Kernel):
    """Counts its runs."""

    def __init__(self, fn):
        super().__init__("Counting", fn)
        self.runs, inner = 0, self.run

        def run(*arrays):
            self.runs += 1
            return inner(*arrays)

        self.run = run


@pytest.mark.parametrize("make, inputs", [(ops.Square, (X,)), (ops.Add, (X, X))])
@pytest.mark.parametrize(
    "fn",
    [lambda *a: a[0] + 1, lambda *a: (a[0] + 1, a[0] * 2), lambda *a: a[0]],
    ids=["one result", "two results", "its input"],
)
def test_an_operator_runs_once_whatever_it_returns(make, inputs, fn, monkeypatch):
    prim, kernel = make(), Counting(fn)
    monkeypatch.setattr(prim, "_kernel", kernel)
    out = prim(*inputs)
    assert kernel.runs == 1
    expected = fn(*[jnp.asarray(i.asnumpy()) for i in inputs])
    for got, want in zip(
        out if isinstance(out, tuple) else (out,), expected if isinstance(expected, tuple) else (expected,)
    ):
        assert got.asnumpy().tolist() == want.tolist() and got._array is not X._array


@pytest.mark.parametrize(
    "call", [lambda: ops.Square()(X, name="y"), lambda: ops.Add()(X, X, name="y"), lambda: ops.square(X, other=1)]
)
def test_a_keyword_that_an_operator_does_not_have_is_refused(call):
    with pytest.raises(TypeError, match="there is no input"):
        call()
