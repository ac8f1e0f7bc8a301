"""An assignment into a slice of a Tensor, ``x[0][1] = 5``, reaches the Tensor: in GRAPH mode, and in MindSpore 2.

The expected values are those of numpy, as in MindSpore 2.7.1.
"""

import gc
import weakref

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, log, nn
from msnb.core.operator import api_generations


def chained(x):
    x[0][1] = 5
    return x


def of_slices(x):
    x[-1][::2] = 4
    x[:, 1][0] = 3
    x[..., 0][1] = 2
    return x


def of_new_axes(x):
    x[None][0, 1, 2] = 4
    return x


def added(x):
    x[0][1] += 2
    x[1] *= 3
    x[1][0] -= 1
    return x


def in_a_loop(x):
    for i in range(2):
        for j in range(3):
            if j > i:
                x[i][j] = i - j
    return x


def of_a_branch(x):
    if x.sum() > 0:
        x[0][0] = 7
    else:
        x[1][0] = 8
    return x


def read_again(x):
    x[0][1] = x[1][2] * 3
    return x[0] + x[1]


FORMS = (chained, of_slices, of_new_axes, added, in_a_loop, of_a_branch, read_again)
START = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def of_mindspore2():
    before = api_generations.shared
    api_generations.share(2)
    yield
    api_generations.share(before)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_graph_puts_it_into_the_tensor(form):
    result = ms.ms_function(form)(Tensor(START))
    np.testing.assert_array_equal(result.asnumpy(), form(START.copy()))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_mindspore_2_puts_it_into_the_tensor(form, of_mindspore2):
    np.testing.assert_array_equal(form(Tensor(START)).asnumpy(), form(START.copy()))


def test_a_graph_puts_it_into_lists_tuples_and_parameters():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.zeros((2, 3), np.float32)), name="w")

        def construct(self, x):
            several, pair, named = [x, x + 1], (x, x * 2), {"a": x}
            several[1][0] = 9
            pair[1][0][1] = 8
            named["a"][1][2] = 7
            self.w[0][1] = 6
            self.w[1][0] += 5
            return several[1], pair[1], named["a"], x

    context.set_context(mode=context.GRAPH_MODE)
    net = Net()
    listed, paired, named, x = (out.asnumpy() for out in net(Tensor(START)))
    np.testing.assert_array_equal(listed, [[9, 9, 9], [5, 6, 7]])
    np.testing.assert_array_equal(paired, [[2, 8, 6], [8, 10, 12]])
    np.testing.assert_array_equal(named, [[1, 2, 3], [4, 5, 7]])
    np.testing.assert_array_equal(x, START)
    np.testing.assert_array_equal(net.w.asnumpy(), [[0, 6, 0], [5, 0, 0]])


def test_of_mindspore_2_rows_masks_lists_iteration_and_parameters_select_elements(of_mindspore2):
    x = Tensor(np.zeros((4, 3), np.float32))
    row = x[0]
    row[1] = 1
    x[[1, 2]][0] = 2
    x[x == 1][0] = 3
    for part in x:
        part[2] = 4
    np.testing.assert_array_equal(x.asnumpy(), [[0, 3, 4], [2, 2, 4], [0, 0, 4], [0, 0, 4]])
    weight = Parameter(Tensor(np.zeros((2, 2), np.float32)), name="w")
    weight[0][1] = 1.5
    np.testing.assert_array_equal(weight.asnumpy(), [[0, 1.5], [0, 0]])


def test_gradients_go_through_what_was_put_into_a_part(of_mindspore2):
    def replaced(x):
        y = x * 2
        y[0][1] = x[1][2] * 3
        return y.sum()

    gradient = ms.grad(replaced)(Tensor(START))
    np.testing.assert_array_equal(gradient.asnumpy(), [[2, 0, 2], [2, 2, 5]])  # as 2.7.1 has it


def test_a_part_keeps_no_tensor_alive_and_its_copy_is_none(of_mindspore2):
    x = Tensor(START)
    part, gone = x[0], weakref.ref(x)
    twin = part.copy()
    twin[0] = 100
    assert x[0, 0].asnumpy() == 1
    del x
    gc.collect()
    part[0] = 5
    assert gone() is None and part.asnumpy().tolist() == [5, 2, 3]


def test_of_r1_1_it_is_a_copy_which_is_said_once(monkeypatch, capsys):
    monkeypatch.setattr(log, "_logged_once", set())
    x = Tensor(START)
    chained(x)
    chained(x)
    assert capsys.readouterr().err.count("is a copy in MindSpore r1.1") == 1
    np.testing.assert_array_equal(x.asnumpy(), START)
