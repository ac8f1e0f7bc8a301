"""Names that a graph resolves and Python does not, as in MindSpore 2.7.1: a global that is also a local name, and a
method without `self`."""

import ast
import math

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.core.operator import api_generations
from msnb.core.script.early_reads import find_early_reads

total = Tensor(np.ones(2, np.float32))
width = 3


@pytest.fixture
def meanings_of_mindspore_2():
    api_generations.share(2)
    yield
    api_generations.share(1)


@ms.jit
def add_in_a_loop():
    for i in (1, 2):
        total += i  # noqa: F823 - a graph reads the global
    return total


@ms.jit
def read_then_assign(x):
    first = width + x  # noqa: F823
    width = 5
    return first + width


@ms.jit
def assign_in_one_branch(x):
    if x > 0:
        width = 7
    return x + width


@ms.jit
def assign_in_a_while_loop(x):
    while x > 0:
        width = width + 1  # noqa: F823
        x = x - 1
    return width


@ms.jit
def read_an_unknown_name(x):
    unknown = unknown + x  # noqa: F821
    return unknown


def test_a_graph_reads_the_global_of_a_name_that_it_assigns_later():
    np.testing.assert_array_equal(add_in_a_loop().asnumpy(), [4, 4])
    np.testing.assert_array_equal(read_then_assign(total).asnumpy(), [9, 9])
    assert assign_in_one_branch(Tensor(1)) == 8 and assign_in_one_branch(Tensor(-1)) == 2
    assert assign_in_a_while_loop(Tensor(2)) == 5
    np.testing.assert_array_equal(total.asnumpy(), [1, 1])
    assert width == 3


def test_a_graph_follows_the_global_that_it_has_read(monkeypatch):
    assert assign_in_one_branch(Tensor(-1)) == 2
    monkeypatch.setitem(globals(), "width", 10)
    assert assign_in_one_branch(Tensor(-1)) == 9


def test_the_construct_of_a_cell_reads_the_global_in_graph_mode_only():
    class Add(nn.Cell):
        def construct(self, x):
            width += x  # noqa: F823
            return width

    x = Tensor([1.0])
    with pytest.raises(UnboundLocalError):
        Add()(x)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert Add()(x) == 4
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_name_without_global_is_still_unbound():
    with pytest.raises(UnboundLocalError, match="unknown"):
        read_an_unknown_name(total)


def test_a_variable_of_an_enclosing_function_is_not_read_for_a_local_name():
    outer = 10

    @ms.jit
    def add(x):
        outer = outer + x  # noqa: F823
        return outer

    with pytest.raises(UnboundLocalError):
        add(total)
    assert outer == 10


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("a = 1\nb = a", ""),
        ("b = a\na = 1", "a"),
        ("a += 1", "a"),
        ("if c:\n    a = 1\nb = a", "a"),
        ("if c:\n    a = 1\nelse:\n    a = 2\nb = a", ""),
        ("if c:\n    return 1\nelse:\n    a = 2\nb = a", ""),
        ("if (a := c) > a:\n    b = a", ""),
        ("for i in c:\n    a = i\nb = a", ""),
        ("for i in c:\n    b = a\n    a = i", "a"),
        ("while a:\n    a = 1", "a"),
        ("for i in c:\n    if i:\n        continue\n    else:\n        a = 1\n    b = a", ""),
        ("with c as a:\n    b = a", ""),
        ("try:\n    a = 1\nexcept E:\n    pass\nb = a", "a"),
        ("try:\n    a = 1\nexcept E as e:\n    a = e\nb = a", ""),
        ("b = [a for a in c]\na = 1", ""),
        ("b = [a for d in c]\na = d", "a"),
        ("b = lambda: a\na = 1", ""),
        ("def b():\n    return a\na = b", ""),
        ("import a.d\nb = a", ""),
        ("match c:\n    case [a, *d]:\n        b = a, d", ""),
        ("a: int\nb = a", "a"),
        ("b: int = a\na = 1", "a"),
    ],
)
def test_early_reads_of_a_block(code, names):
    assert "".join(sorted(find_early_reads(ast.parse(code).body))) == names


class Methods(nn.Cell):
    def quotient(x, y):  # noqa: N805 - a graph fills in `self` by name only
        return ops.div(x, y)

    def triple(x):  # noqa: N805
        return x * 3

    def increase(this, x):  # noqa: N805
        return x + 1

    @classmethod
    def kind(cls):
        return cls.__name__

    def construct(self, x, y):
        return self.quotient(x, y), self.quotient(y=x, x=y), self.triple(x), self.increase(x), self.kind()


def test_a_graph_calls_a_method_without_self():
    x, y = Tensor(3.0), Tensor(2.0)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        out = Methods()(x, y)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    np.testing.assert_allclose([float(o) for o in out[:4]], [1.5, 2 / 3, 9, 4], rtol=1e-6)
    assert out[4] == "Methods"


def test_pynative_mode_keeps_the_binding_of_python():
    with pytest.raises(TypeError, match=r"quotient\(\) takes 2 positional arguments but 3 were given"):
        Methods()(Tensor(3.0), Tensor(2.0))


def test_a_call_that_fits_neither_way_keeps_the_error_of_python():
    class Wrong(Methods):
        def construct(self, x):
            return self.quotient(x, x, x)

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        with pytest.raises(TypeError, match=r"quotient\(\) takes 2 positional arguments but 4 were given"):
            Wrong()(Tensor(3.0))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("value", [[-2], [[2.5]], 3.0])
def test_numbers_of_an_array_with_one_element(value):
    array = np.array(value)

    @ms.jit
    def convert(x):
        return x + float(array), x + int(array), bool(array), complex(array).real

    number = array.item()
    out = convert(Tensor([1.0]))
    np.testing.assert_allclose([float(o) for o in out], [1 + number, 1 + int(number), 1, number])


def test_an_array_with_several_elements_is_no_number():
    array = np.array([1, 2])

    @ms.jit
    def convert(x):
        return x + float(array)

    with pytest.raises(TypeError):
        convert(Tensor([1.0]))


@ms.jit
def take_values(x):
    total += math.sqrt(float(x.asnumpy()))  # noqa: F823
    return total


class TakesValues(Methods):
    def construct(self, x):
        return self.triple(x) + int(x.asnumpy())


def test_python_that_takes_values_keeps_the_meaning_of_a_graph(meanings_of_mindspore_2):
    np.testing.assert_array_equal(take_values(Tensor([4.0])).asnumpy(), [3, 3])
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        np.testing.assert_array_equal(TakesValues()(Tensor([4.0])).asnumpy(), [16])
        np.testing.assert_array_equal(ms.grad(TakesValues())(Tensor([4.0])).asnumpy(), [3])
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
