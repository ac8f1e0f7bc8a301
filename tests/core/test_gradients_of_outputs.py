"""Gradients where an output is a Parameter itself, where there are no inputs, and where a position is no input."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.mindspore2 import ops as ops2


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"], autouse=True)
def mode(request):
    context.set_context(mode=request.param)


class ReturnsItsWeight(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0, 5.0], ms.float32), name="w")

    def construct(self, x):
        return x * self.w, self.w


class OnlyWeight(ReturnsItsWeight):
    def construct(self):
        return self.w


X = [3.0, 4.0]


def test_a_parameter_that_is_an_output_has_the_gradient_of_an_output():
    net = ReturnsItsWeight()
    (gradient,) = ops.GradOperation(get_by_list=True)(net, net.trainable_params())(Tensor(X, ms.float32))
    np.testing.assert_array_equal(gradient.asnumpy(), [4, 5])


def test_its_gradient_is_weighted_by_the_cotangent():
    net, x = ReturnsItsWeight(), Tensor(X, ms.float32)
    gradient_of = ops.GradOperation(get_by_list=True, sens_param=True)
    (gradient,) = gradient_of(net, net.trainable_params())(x, (x, Tensor([10.0, 20.0], ms.float32)))
    np.testing.assert_array_equal(gradient.asnumpy(), [19, 36])


def test_a_parameter_that_a_function_returns_after_a_write_has_no_gradient():
    net = ReturnsItsWeight()

    def write_and_return(x):
        ops.assign(net.w, x * 1.0)
        return net.w

    gradient = ops.grad(write_and_return, None, net.w)(Tensor(X, ms.float32))
    np.testing.assert_array_equal(gradient.asnumpy(), [0, 0])


def test_a_cell_without_inputs_can_return_its_parameter():
    net = OnlyWeight()
    (gradient,) = ops.GradOperation(get_by_list=True)(net, net.trainable_params())()
    np.testing.assert_array_equal(gradient.asnumpy(), [1, 1])


@pytest.mark.parametrize("get_all", [False, True])
def test_a_cell_without_inputs_has_no_gradients_of_inputs(get_all):
    assert ops.GradOperation(get_all=get_all)(OnlyWeight())() == ()


def test_one_parameter_has_a_gradient_in_a_tuple_in_r1_1_and_without_one_in_mindspore_2():
    net, x = ReturnsItsWeight(), Tensor(X, ms.float32)
    assert isinstance(ops.GradOperation(get_by_list=True)(net, net.w)(x), tuple)
    assert isinstance(ops2.GradOperation(get_by_list=True)(net, net.w)(x), Tensor)
    assert isinstance(ops2.GradOperation(get_by_list=True)(net, [net.w])(x), tuple)
    inputs, weight = ops2.GradOperation(get_all=True, get_by_list=True)(net, net.w)(x)
    assert isinstance(inputs, tuple) and isinstance(weight, Tensor)


@pytest.mark.parametrize("make", [ops.grad, ops.value_and_grad])
def test_a_position_that_is_no_input_is_an_index_error(make):
    with pytest.raises(IndexError, match="argument 1, but the function was called with 1 arguments"):
        make(ReturnsItsWeight(), 1)(Tensor(X, ms.float32))


@pytest.mark.parametrize("make", [ops.grad, ops.value_and_grad])
def test_no_position_at_all_is_refused(make):
    net = ReturnsItsWeight()
    with pytest.raises(RuntimeError, match="use None for gradients of weights only"):
        make(net, (), net.w)
