"""A Generator that a function is given is the stream that it draws from, and disturbs no other."""

import inspect

import numpy as np
import pytest

import msnb
from msnb import Generator, Tensor, mint, ops
from msnb.core.operator.declare import SPELLINGS

HALVES = Tensor(np.full(64, 0.5, np.float32))


def blank():
    return Tensor(np.zeros(64, np.float32))


DRAWS = {
    "mint.rand": lambda g: mint.rand(8, generator=g),
    "mint.randn": lambda g: mint.randn(8, generator=g),
    "mint.randint": lambda g: mint.randint(1000, (8,), generator=g),
    "mint.randperm": lambda g: mint.randperm(64, generator=g),
    "mint.normal": lambda g: mint.normal(0.0, 1.0, (8,), generator=g),
    "mint.bernoulli": lambda g: mint.bernoulli(HALVES, generator=g),
    "mint.multinomial": lambda g: mint.multinomial(HALVES, 64, generator=g),
    "bernoulli_ext": lambda g: ops.bernoulli_ext(HALVES, generator=g),
    "bernoulli": lambda g: HALVES.bernoulli(generator=g),
    "bernoulli_": lambda g: blank().bernoulli_(generator=g),
    "exponential_": lambda g: blank().exponential_(generator=g),
    "normal_": lambda g: blank().normal_(generator=g),
    "uniform": lambda g: blank().uniform(generator=g),
    "uniform_": lambda g: blank().uniform_(generator=g),
    "random_": lambda g: blank().random_(0, 1000, generator=g),
}


def takes_one(function):
    return inspect.isfunction(function) and "generator" in inspect.signature(function).parameters


def test_every_function_that_takes_a_generator_is_tried():
    results = {f"mint.{name}" for name in dir(mint) if takes_one(getattr(mint, name))}
    results |= {name for (_, name, _), spelling in SPELLINGS.items() if takes_one(spelling.target)}
    assert results == DRAWS.keys()


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_are_those_of_the_generator_and_no_other_stream_moves(name):
    def draw(generator):
        return DRAWS[name](generator).asnumpy().tolist()

    msnb.set_seed(5)
    generator = Generator().manual_seed(3)
    others = msnb.get_rng_state().asnumpy().tolist()
    first, state = draw(generator), generator.get_state()
    second = draw(generator)
    assert first != second and msnb.get_rng_state().asnumpy().tolist() == others
    generator.set_state(state)
    plain = draw(None)
    assert draw(generator) == second  # what was drawn between them is of another stream
    msnb.manual_seed(5)
    assert draw(msnb.default_generator) == plain
    assert draw(Generator().manual_seed(3)) == first


@pytest.mark.parametrize("name", DRAWS)
def test_what_is_no_generator_and_what_is_compiled_is_refused(name):
    short = name.removeprefix("mint.").removesuffix("_ext")
    with pytest.raises(TypeError, match=f"'{short}', 'generator' should be a Generator or None, but got int"):
        DRAWS[name](3)
    with pytest.raises(NotImplementedError, match=f"'{short}', 'generator' draws outside of compiled programs"):
        msnb.jit(lambda: DRAWS[name](Generator()))()


def test_a_stream_that_was_chosen_is_left_when_drawing_fails():
    generator = Generator().manual_seed(3)
    state = generator.get_state().asnumpy().tolist()
    with pytest.raises(ValueError):
        mint.rand(-1, generator=generator)
    mint.rand(2)
    assert generator.get_state().asnumpy().tolist() == state
