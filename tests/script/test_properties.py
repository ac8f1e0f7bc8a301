"""Laws: a random program means the same in plain Python, PYNATIVE and GRAPH, and so does its gradient."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import Program

import msnb as ms
from msnb import Tensor, context, ops

COUNT = int(os.environ.get("MSNB_PROGRAMS", "8"))
X, Y = np.array([0.31, -0.12]), np.array([0.23, 0.41])


def _difference(f, step, n):
    """Central differences of sum(f) with respect to x."""
    grads = []
    for i in range(2):
        d = np.zeros(2)
        d[i] = step
        grads.append((f(X + d, Y, n).sum() - f(X - d, Y, n).sum()) / (2 * step))
    return np.array(grads)


@pytest.mark.first
@pytest.mark.filterwarnings("ignore")
@settings(
    max_examples=COUNT,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    print_blob=True,
    database=None,
)
@given(st.integers(0, 2**32), st.integers(0, 3))
def test_a_random_program_means_the_same_everywhere(seed, n):
    program = Program(seed)
    f = program.function()
    plain = f(X, Y, n)

    def run(mode):
        context.set_context(mode=mode)
        x, y, count = Tensor(X), Tensor(Y), Tensor(n, ms.int32)
        value = (ms.ms_function(f) if mode == context.GRAPH_MODE else f)(x, y, count)
        return value.asnumpy(), ops.GradOperation()(f)(x, y, count).asnumpy()

    graph, graph_grad = run(context.GRAPH_MODE)
    eager, eager_grad = run(context.PYNATIVE_MODE)
    note = f"seed {seed}, n {n}\n{program.source}"
    assert np.allclose(graph, plain, atol=1e-6), note  # Python floats are float32 here
    assert np.allclose(eager, plain, atol=1e-6), note
    assert np.allclose(graph_grad, eager_grad, atol=1e-6), note
    near, far = _difference(f, 1e-6, n), _difference(f, 1e-5, n)
    if np.allclose(near, far, atol=1e-5):  # no branch edge in between
        assert np.allclose(graph_grad, near, atol=1e-4), note
