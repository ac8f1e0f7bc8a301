"""Python code in a graph that needs values, and lists that a graph returns, as in MindSpore 2.7.1 and in r1.1."""

import dataclasses
import math

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.core.operator import api_generations


@pytest.fixture
def meanings_of_mindspore_2():
    api_generations.share(2)
    yield
    api_generations.share(1)


@ms.jit
def half_of_sum(x):
    return math.sqrt(x.asnumpy().sum()) / 2


@pytest.fixture
def warnings(monkeypatch):
    lines = []
    monkeypatch.setattr("msnb.log.once", lambda text, *args: lines.append(text))
    return lines


def test_python_takes_values_in_a_graph_of_mindspore_2(meanings_of_mindspore_2, warnings):
    for _ in range(2):
        assert half_of_sum(Tensor([1.0, 3.0])) == 1
    assert all(line.startswith("half_of_sum runs operator by operator: asnumpy() at") for line in warnings)
    assert len(set(warnings)) == 1 and "which a compiled program does not know" in warnings[0]


def test_a_cell_whose_function_of_another_library_takes_values_is_differentiated(meanings_of_mindspore_2):
    class Scaled(nn.Cell):
        def construct(self, x):
            return ops.sin(x) * float(np.max(x.asnumpy()))

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        x = Tensor([0.0, 2.0])
        np.testing.assert_allclose(Scaled()(x).asnumpy(), np.sin([0, 2]) * 2, rtol=1e-6)
        np.testing.assert_allclose(ms.grad(Scaled())(x).asnumpy(), np.cos([0, 2]) * 2, rtol=1e-6)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_graph_of_r1_1_has_no_values_for_python():
    with pytest.raises(RuntimeError, match="values exist only when it runs"):
        half_of_sum(Tensor([1.0, 3.0]))


def test_a_graph_inside_a_graph_leaves_the_fallback_to_the_outer_one(meanings_of_mindspore_2):
    @ms.jit
    def outer(x):
        return half_of_sum(x + 1)

    assert outer(Tensor([1.0, 1.0])) == 1


@pytest.mark.parametrize("generation", [1, 2])
def test_the_largest_element_of_a_constant(generation):
    api_generations.share(generation)
    try:

        @ms.jit
        def extremes():
            x = Tensor([1, 3, 2])
            return max(x), min(x), max(Tensor(2), Tensor(5))

        assert extremes() == (3, 1, 5)
    finally:
        api_generations.share(1)


@ms.jit
def lists_of(x):
    inner = [x, 1]
    inner.append(x + 1)
    return inner


@ms.jit
def list_of_numbers():
    return [i * 2 for i in (1, 2)]


def test_a_list_leaves_a_graph_of_mindspore_2_as_a_list(meanings_of_mindspore_2):
    first, second = lists_of(Tensor(1)), lists_of(Tensor(1))
    assert first == [1, 1, 2] and type(first) is list and first is not second
    assert list_of_numbers() == [2, 4] and type(list_of_numbers()) is list


def test_a_list_leaves_a_graph_of_r1_1_as_a_tuple():
    assert type(lists_of(Tensor(1))) is tuple and list_of_numbers() == (2, 4)


def test_a_small_numpy_array_is_a_constant_of_a_graph_of_mindspore_2(meanings_of_mindspore_2):
    @ms.jit
    def add(x, y):
        return Tensor(x) + y

    for values in ([1, 2], [3, 4], [1, 2]):
        assert add(np.array(values), Tensor([10, 20])).asnumpy().tolist() == [values[0] + 10, values[1] + 20]
    assert add(np.float32(2), Tensor(1.0)) == 3
    for wrong in (np.array(["a"]), np.zeros(100_000)):
        with pytest.raises(TypeError, match="inputs of a graph should be Tensors"):
            add(wrong, Tensor(1))
    api_generations.share(1)
    with pytest.raises(TypeError, match="wrap it"):
        add(np.array([1, 2]), Tensor(1))


@dataclasses.dataclass
class Pair:
    first: Tensor
    second: int


class Named(dict):
    pass


@ms.jit
def pair_of(x):
    return Pair(x + 1, 2)


@ms.jit
def named(x):
    return Named(a=[x + 1], b=2)


def test_a_function_that_returns_an_object_runs_operator_by_operator_in_mindspore_2(meanings_of_mindspore_2, warnings):
    assert pair_of(Tensor(1)) == Pair(Tensor(2), 2) and type(named(Tensor(1))) is Named
    assert any("pair_of runs operator by operator: it returns an object of Pair" in line for line in warnings)


@pytest.mark.parametrize("fn, kind", [(pair_of, "Pair"), (named, "Named")])
def test_an_object_with_tensors_leaves_no_graph_of_r1_1(fn, kind):
    with pytest.raises(RuntimeError, match=f"returns an object of {kind} with Tensors in it. Return a tuple"):
        fn(Tensor(1))


def test_a_generator_expression_leaves_a_graph_as_a_list():
    @ms.jit
    def numbers():
        return (x * x for x in range(1, 7) if x % 2 == 0)

    @ms.jit
    def products(x):
        return (x * i for i in range(3)), sum(x * i for i in range(3)), tuple(x * i for i in range(2))

    assert numbers() == [4, 16, 36]
    several, total, two = products(Tensor([1.0, 1.0]))
    assert type(several) is list and [y.asnumpy().tolist() for y in several] == [[0, 0], [1, 1], [2, 2]]
    assert total.asnumpy().tolist() == [3, 3] and two[1].asnumpy().tolist() == [1, 1]

    @ms.jit
    def yields(x):
        yield x

    with pytest.raises(TypeError, match="generator or async"):
        yields(Tensor(1.0))
