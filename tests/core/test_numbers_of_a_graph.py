"""A Python float that is an argument is an input of the graph; what is made of it is float32, as outside."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context

X = Tensor(np.ones(2, np.float32))
CALLS = [
    lambda x, a: x * (0 - a),
    lambda x, a: x * -a,
    lambda x, a: x * abs(-a),
    lambda x, a: x * (a + 1),
    lambda x, a: x * (a / 2),
    lambda x, a: x * (1 / a),
    lambda x, a: x * a**2,
    lambda x, a: x * (a // 2 + a % 2),
    lambda x, a: x * max(a, 1.0) * min(a, 2),
]


@pytest.mark.parametrize("call", CALLS)
def test_results_of_numbers_are_float32(call):
    plain = call(X, 0.5)
    context.set_context(mode=context.GRAPH_MODE)
    got = ms.jit(call)(X, 0.5)
    assert got.dtype == plain.dtype == ms.float32
    np.testing.assert_array_equal(got.asnumpy(), plain.asnumpy())
