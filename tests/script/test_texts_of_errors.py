"""Values of a graph in the messages of its errors and in strings that it returns, as in MindSpore 2.7.1."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn
from msnb.core.operator import api_generations

SMALL, LARGE = Tensor([1.0]), Tensor([4.0, 7.5])


@pytest.fixture
def meanings_of_mindspore_2():
    api_generations.share(2)
    yield
    api_generations.share(1)


@ms.jit
def with_f_string(x):
    if x.sum() > 10:
        raise ValueError(f"the sum is {x.sum()}")
    return x


@ms.jit
def with_format(x):
    if x.sum() > 10:
        raise ValueError("the sum is {}".format(x.sum()))  # noqa: UP032
    return x


@ms.jit
def with_percent(x):
    if x.sum() > 10:
        raise ValueError("the sum is %s" % x.sum())  # noqa: UP031
    return x


@ms.jit
def with_specification(x):
    if x.sum() > 10:
        raise ValueError(f"the sum is {x.sum():.1f}")
    return x


@ms.jit
def with_assert(x):
    assert x.sum() < 10, f"the sum is {x.sum()}"
    return x


@ms.jit
def inside_a_loop(x):
    while x.sum() > 0:
        if x.sum() == 11.5:
            raise ValueError(f"the sum is {x.sum()}")
        x = x - 1
    return x


@pytest.mark.parametrize(
    "fn", [with_f_string, with_format, with_percent, with_specification, with_assert, inside_a_loop]
)
@pytest.mark.parametrize("generation", [1, 2])
def test_an_error_of_a_graph_has_the_values_of_its_run(fn, generation):
    api_generations.share(generation)
    try:
        fn(SMALL)
        for _ in range(2):
            with pytest.raises((ValueError, AssertionError), match=r"^the sum is 11\.5"):
                fn(LARGE)
    finally:
        api_generations.share(1)


def test_each_run_has_its_own_values():
    for value in (11, 12.5, 100):
        with pytest.raises(ValueError, match=f"^the sum is {value}"):
            with_f_string(Tensor([float(value)]))


def test_an_argument_of_the_error_may_be_a_tensor():
    @ms.jit
    def check(x):
        if x.sum() > 10:
            raise ValueError("the sum is", x.sum(), 3)
        return x

    with pytest.raises(ValueError, match="the sum is") as info:
        check(LARGE)
    text, total, number = info.value.args
    assert (text, float(total), number) == ("the sum is", 11.5, 3)


def test_the_gradient_raises_the_same_error():
    with pytest.raises(ValueError, match=r"^the sum is 11\.5"):
        ms.grad(with_f_string)(LARGE)
    np.testing.assert_array_equal(ms.grad(with_f_string)(SMALL).asnumpy(), [1])


class Raises(nn.Cell):
    def construct(self, x):
        raise ValueError(f"x is {x}")


class Describes(nn.Cell):
    def construct(self, x):
        return f"x is {x}"


def test_an_unconditional_error_has_values_in_mindspore_2(meanings_of_mindspore_2):
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        with pytest.raises(ValueError, match=r"^x is \[4\.  7\.5\]"):
            Raises()(LARGE)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_returned_string_has_values_in_mindspore_2(meanings_of_mindspore_2):
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert Describes()(LARGE) == "x is [4.  7.5]"
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
