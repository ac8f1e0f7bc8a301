"""A Parameter owns its value, and copies it without a compiled program."""

import weakref

import jax
import numpy as np
import pytest

from msnb import Parameter, Tensor, context, nn, ops


@pytest.fixture
def compiled_programs():
    """Collect the programs that are compiled from here on."""
    seen, listening = [], True

    def hear(event, _, **more):
        if listening and "backend_compile" in event:
            seen.append(more.get("fun_name"))

    jax.monitoring.register_event_duration_secs_listener(hear)
    yield seen
    listening = False


def _tensor(*shape):
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))


@pytest.mark.parametrize("sizes", [(3, 7, 1, 13), (1, 3, 17, 1, 2)])
def test_parameters_of_a_new_shape_are_created_set_and_read_without_a_program(compiled_programs, sizes):
    source = _tensor(*sizes)
    weight = Parameter(source, name="weight")
    weight.set_data(source)
    weight.assign_value(source)
    copy = weight.clone()
    assert np.array_equal(copy.asnumpy(), source.asnumpy())
    assert compiled_programs == []


def test_a_parameter_that_is_trained_in_place_leaves_the_tensors_that_it_was_created_and_set_with():
    context.set_context(mode=context.GRAPH_MODE)
    parameter, source = _tensor(2, 3), _tensor(2, 3)

    class Adding(nn.Cell):
        def __init__(self):
            super().__init__()
            self.made, self.given = Parameter(parameter, name="made"), Parameter(_tensor(2, 3) * 0, name="given")
            self.given.set_data(source)

        def construct(self, x):
            return ops.assign_add(self.made, x) + ops.assign_add(self.given, x)

    adding = Adding()
    for _ in range(3):
        adding(_tensor(2, 3))
    assert np.array_equal(parameter.asnumpy(), _tensor(2, 3).asnumpy())
    assert np.array_equal(source.asnumpy(), _tensor(2, 3).asnumpy())
    assert np.array_equal(adding.made.asnumpy(), 4 * parameter.asnumpy())


def test_a_parameter_stays_where_its_tensor_was_put():
    there = jax.device_put(np.ones((2, 3), np.float32), jax.devices()[0])
    assert Parameter(Tensor(there), name="weight")._array.committed
    assert not Parameter(_tensor(2, 3), name="weight")._array.committed


def test_what_the_way_forth_computed_is_let_go_as_the_way_back_goes_past():
    context.set_context(mode=context.PYNATIVE_MODE)
    between, left = [], []

    def look(gradient):
        left.extend(array() for array in between)
        return gradient

    def chain(x):
        y = ops.InsertGradientOf(look)(x)
        for _ in range(3):
            y = ops.sin(y)
            between.append(weakref.ref(y._array))
        return ops.sin(y)

    gradient = ops.grad(chain)(_tensor(2, 3))
    assert left == [None, None, None]
    assert np.all(np.isfinite(gradient.asnumpy()))


def test_a_gradient_of_a_gradient_finds_all_that_was_computed():
    context.set_context(mode=context.PYNATIVE_MODE)
    x = np.float32(0.3)
    second = ops.grad(ops.grad(lambda x: ops.sin(ops.sin(x))))(Tensor(x))
    expected = -np.sin(np.sin(x)) * np.cos(x) ** 2 - np.cos(np.sin(x)) * np.sin(x)
    assert np.allclose(second.asnumpy(), expected, atol=1e-6)
