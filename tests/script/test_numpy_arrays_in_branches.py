"""A NumPy array that a branch or loop of a graph changes in place: the path that does not run changes nothing.

MindSpore 2 runs such a function operator by operator, and r1.1's interface refuses it.
"""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor
from msnb.core.operator import api_generations


@pytest.fixture
def meanings_of_mindspore_2():
    api_generations.share(2)
    yield
    api_generations.share(1)


@ms.jit
def set_an_entry(x):
    z = np.array([1, 2])
    if x > 0:
        z[0] = 10
    return x + Tensor(z)


@ms.jit
def add_in_place(x):
    z = np.array([1, 2])
    if x > 0:
        z += 10
    else:
        x = x * 2
    return x + Tensor(z)


@ms.jit
def loop_in_a_branch(x):
    z = np.array([1, 2])
    if x > 0:
        while np.array([5]) > z[0]:
            z += 1
    return x + Tensor(z)


@ms.jit
def loop_of_a_tensor(x):
    z = np.array([1, 2])
    while x < 0:
        z += 1
        x = x + 1
    return x + Tensor(z)


@ms.jit
def unchanged(x):
    z = np.array([1, 2])
    if x > 0:
        if z[0] > 5:
            z[0] = 7
        x = x + 1
    return x + Tensor(z)


CASES = [
    (set_an_entry, {1: [11, 3], -1: [0, 1]}),
    (add_in_place, {1: [12, 13], -1: [-1, 0]}),
    (loop_in_a_branch, {1: [6, 7], -1: [0, 1]}),
    (loop_of_a_tensor, {1: [2, 3], -2: [3, 4]}),
    (unchanged, {1: [3, 4], -1: [0, 1]}),
]


@pytest.mark.parametrize("function, results", CASES, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.usefixtures("meanings_of_mindspore_2")
def test_the_result_is_that_of_the_path_that_runs(function, results):
    for x, expected in results.items():
        np.testing.assert_array_equal(function(Tensor(x)).asnumpy(), expected)


@pytest.mark.parametrize("function", [set_an_entry, loop_of_a_tensor])
def test_r1_1_refuses_an_array_that_differs_between_paths(function):
    with pytest.raises(TypeError, match="the variable 'z' is ndarray"):
        function(Tensor(-1))


def test_an_array_that_no_path_changes_stays_a_constant_of_the_graph():
    np.testing.assert_array_equal(unchanged(Tensor(1)).asnumpy(), [3, 4])
