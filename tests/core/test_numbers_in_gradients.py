"""Python numbers are variables of a gradient like Tensors of no dimension, in both modes; what is in a stopped tuple is
none. `check_bprop` decides how far the result of a bprop is checked."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.operator import api_generations

grad, grad_all = ops.GradOperation(), ops.GradOperation(get_all=True)
grad_with = ops.GradOperation(get_all=True, sens_param=True)


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"], autouse=True)
def mode(request):
    context.set_context(mode=request.param)


def cube(x):
    return 3 * x * x * x


@pytest.mark.parametrize("number", [2, 2.0])
def test_a_function_of_a_number_has_derivatives_of_every_order(number):
    def first(x):
        return grad(cube)(x)

    def second(x):
        return grad(first)(x)

    assert [float(f(number).asnumpy()) for f in (first, second, grad(second))] == [36.0, 36.0, 18.0]
    assert float(ms.ms_function(lambda x: grad(second)(x))(number).asnumpy()) == 18.0


def test_an_if_on_a_number_takes_the_branch_of_its_value():
    def bent(x):
        if x > 10:
            return x * x
        return x * x * x

    assert float(grad(bent)(12).asnumpy()) == 24.0
    assert float(grad(bent)(4).asnumpy()) == 48.0


def test_a_float_beside_a_tensor_has_its_gradient_and_widens_nothing():
    by_x, by_factor = grad_all(lambda x, factor: x * factor)(Tensor([1.0, 2.0], ms.float16), 3.0)
    assert by_x.dtype == ms.float16 and by_x.asnumpy().tolist() == [3.0, 3.0]
    assert float(by_factor.asnumpy()) == 3.0


def test_an_int_beside_a_tensor_stays_an_int():
    x = Tensor(np.ones((2, 3), np.float32))
    by_x, by_axis = grad_all(lambda x, axis: x.sum(axis) ** 2)(x, 1)
    assert by_x.asnumpy().tolist() == [[6.0] * 3] * 2 and by_axis.asnumpy() == 0


def test_numbers_weigh_the_outputs():
    gradients = grad_with(lambda x, y: (x * y, x + y))(2, 3, (1, 0))
    assert [float(g.asnumpy()) for g in gradients] == [3.0, 2.0]


@pytest.mark.parametrize(
    "kind", [tuple, list, lambda pair: {"a": pair[0], "b": pair[1]}], ids=["tuple", "list", "dict"]
)
def test_no_gradient_passes_a_stopped_collection(kind):
    def function(x):
        stopped = ops.stop_gradient(kind([x * 2, x * 3]))
        values = list(stopped.values()) if isinstance(stopped, dict) else stopped
        return values[0] * values[1] + x

    assert grad(function)(Tensor([1.0, 2.0])).asnumpy().tolist() == [1.0, 1.0]


class Halved(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        return (ops.cast(dout * 5, ms.float16),)


def test_a_gradient_of_another_type_is_cast_unless_check_bprop_refuses_it():
    gradient = grad(Halved())(Tensor([1.0]))
    assert gradient.dtype == ms.float32 and gradient.asnumpy().tolist() == [5.0]
    context.set_context(check_bprop=True)
    with pytest.raises(TypeError, match="Float16 gradient for a Float32 input"):
        grad(Halved())(Tensor([1.0]))


def test_check_bprop_counts_for_what_was_compiled_before():
    net = Halved()
    gradient = grad(net)
    gradient(Tensor([1.0]))
    context.set_context(check_bprop=True)
    with pytest.raises(TypeError, match="Float16"):
        gradient(Tensor([1.0]))


def test_check_bprop_refuses_parameters_that_bprop_knows_nothing_of():
    class Scaled(Halved):
        def __init__(self):
            super().__init__()
            self.scale = Parameter(Tensor([2.0]), name="scale")

    grad(Scaled())(Tensor([1.0]))
    context.set_context(check_bprop=True)
    with pytest.raises(RuntimeError, match="1 parameters.*scale"):
        grad(Scaled())(Tensor([1.0]))


def test_a_bprop_may_set_a_global_name_in_pynative_mode():
    class Told(Halved):
        def bprop(self, x, out, dout):
            global told
            told = dout.shape
            return (dout,)

    if context.get_context("mode") == context.PYNATIVE_MODE:
        grad(Told())(Tensor([1.0, 2.0]))
        assert told == (2,)


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
def test_parameters_beside_a_bprop_get_gradients_of_0_in_mindspore_2(mode, monkeypatch):
    class Scaled(Halved):
        def __init__(self):
            super().__init__()
            self.scale = Parameter(Tensor([2.0]), name="scale")

        def bprop(self, x, out, dout):
            return (dout * 5,)

    monkeypatch.setattr(api_generations, "shared", 2)
    context.set_context(mode=mode, check_bprop=True)
    net = Scaled()
    _, (of_inputs, of_weights) = ops.value_and_grad(net, 0, net.trainable_params())(Tensor([1.0]))
    assert of_inputs.asnumpy().tolist() == [5.0] and of_weights[0].asnumpy().tolist() == [0.0]


def test_check_bprop_refuses_a_number_as_the_gradient_of_a_tensor():
    class Numbered(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (2,)

    context.set_context(check_bprop=True)
    with pytest.raises(TypeError, match="as the gradient of a Tensor"):
        grad(Numbered())(Tensor([1.0]))
