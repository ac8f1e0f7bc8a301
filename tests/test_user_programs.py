"""The programs msnb was asked for, as MindSpore r1.1 spells them, in both modes."""

import logging

import jax.numpy as jnp
import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, ParameterTuple, Tensor, context, nn, ops
from msnb._checkparam import Validator
from msnb.ops import PrimitiveWithInfer, prim_attr_register
from msnb.ops import composite as C
from msnb.ops import functional as F
from msnb.ops import operations as P

MODES = [context.GRAPH_MODE, context.PYNATIVE_MODE]


@pytest.fixture(params=MODES, ids=["graph", "pynative"])
def mode(request):
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=context.PYNATIVE_MODE)


def test_the_derivative_of_a_cube_prints_12_and_the_third_derivative_6(mode, capsys):
    grad_all = ops.composite.GradOperation()

    @ms.ms_function
    def df2_func(x):
        def cube(x):
            return x * x * x

        return grad_all(cube)(x)

    print(df2_func(ms.Tensor(2, ms.float32)))
    assert capsys.readouterr().out == "12.0\n"

    def cube(x):
        return x * x * x

    third = grad_all(grad_all(grad_all(cube)))
    assert third(ms.Tensor(2, ms.float32)).asnumpy() == 6


def test_a_cell_with_mul_prints_the_products(mode, capsys):
    context.set_context(mode=mode, device_target="CPU")

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mul = P.Mul()

        def construct(self, x, y):
            return self.mul(x, y)

    x, y = (Tensor(np.array(v).astype(np.float32)) for v in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    print(Net()(x, y))
    assert capsys.readouterr().out == "[ 4. 10. 18.]\n"


def test_tensor_add_of_two_blocks_of_ones():
    context.set_context(mode=context.PYNATIVE_MODE)
    x, y = Tensor(np.ones([1, 3, 3, 4]).astype(np.float32)), Tensor(np.ones([1, 3, 3, 4]).astype(np.float32))
    assert (F.tensor_add(x, y).asnumpy() == 2).all()


def test_a_device_that_is_not_there_is_named_with_those_that_are():
    if any(d.platform == "gpu" for d in __import__("jax").devices()):
        pytest.skip("this machine has a GPU")
    with pytest.raises(ValueError, match="CPU"):
        context.set_context(device_target="GPU")


def test_ascend_is_answered_by_the_best_device_and_says_so_once(monkeypatch):
    said = []
    monkeypatch.setattr(context.log, "once", lambda text, *args: said.append(text))
    before = context.get_context("device_target")
    context.set_context(device_target="Ascend")
    assert Tensor(1.0).asnumpy() == 1 and len(said) == 1 and "best device" in said[0]
    context.set_context(device_target=before)


class SmallNet(nn.Cell):
    """A convolution, a dense layer and a dropout-free head."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, weight_init="normal")
        self.bn = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(4 * 8 * 8, 3)

    def construct(self, x):
        return self.fc(self.flatten(self.relu(self.bn(self.conv(x)))))


IMAGES = Tensor(np.random.default_rng(0).normal(size=(2, 1, 8, 8)).astype(np.float32))
LABELS = Tensor(np.array([0, 2], np.int32))


def test_one_line_switches_the_mode_and_changes_nothing():
    ms.set_seed(1)
    net = SmallNet()
    results = []
    for mode in MODES:
        context.set_context(mode=mode)
        results.append(net(IMAGES).asnumpy())
    assert np.allclose(*results, atol=1e-6)


# ---------------------------------------------------------------------- a primitive written by a user
class Power(PrimitiveWithInfer):
    """x ** n."""

    @prim_attr_register
    def __init__(self, n=2):
        self.init_prim_io_names(inputs=["x"], outputs=["y"])
        self.n = Validator.check_positive_int(n, "n", self.name)
        self.add_prim_attr("precision", "high")

    def infer_shape(self, x):
        return x

    def infer_dtype(self, x):
        Validator.check_tensor_dtype_valid("x", x, [ms.float16, ms.float32], self.name)
        return x

    def kernel(self, x):
        return jnp.power(x, self.n)


def test_a_users_primitive_computes_differentiates_and_shows_by_name(mode):
    cube = Power(3)
    x = Tensor(np.float32([1, 2]))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.power = cube

        def construct(self, x):
            return self.power(x)

    net = Net()
    assert net(x).asnumpy().tolist() == [1, 8]
    assert C.GradOperation()(net)(x).asnumpy().tolist() == [3, 12]
    text = ms.ir.text(net, x)
    assert "Power" in text and "3" in text


def test_a_users_primitive_checks_attributes_and_dtypes():
    with pytest.raises(ValueError):
        Power(-1)
    with pytest.raises(TypeError):
        Power("two")
    with pytest.raises(TypeError, match="Power"):
        Power(2)(Tensor(np.int32([1])))


def test_a_primitive_without_a_kernel_says_how_to_give_one():
    class Nothing(PrimitiveWithInfer):
        @prim_attr_register
        def __init__(self):
            pass

    with pytest.raises(NotImplementedError, match="def kernel"):
        Nothing()(Tensor(1.0))


# ---------------------------------------------------------------------- bprop and the wrapping Cells
class Doubling(nn.Cell):
    """x * x with a gradient of its own: twice the true one."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (x * dout * 4,)


def test_a_cells_bprop_is_its_gradient(mode):
    x = Tensor(np.float32(3))
    assert C.GradOperation()(Doubling())(x).asnumpy() == 12
    assert C.GradOperation()(lambda x: Doubling()(x * 2) * 10)(x).asnumpy() == 480


def test_a_bprop_of_the_wrong_size_is_refused(mode):
    class Wrong(Doubling):
        def bprop(self, x, out, dout):
            return x, x

    with pytest.raises(ValueError, match="one gradient per input"):
        C.GradOperation()(Wrong())(Tensor(np.float32(3)))


def test_training_cells_lower_the_loss(mode):
    ms.set_seed(0)
    net = SmallNet()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.05, 0.9))
    step.set_train()
    losses = [float(step(IMAGES, LABELS).asnumpy()) for _ in range(8)]
    assert losses[-1] < losses[0] * 0.5


def test_with_grad_cell_gives_the_gradients_of_the_weights(mode):
    net = SmallNet()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    grads = nn.WithGradCell(net, loss)(IMAGES, LABELS)
    assert [g.shape for g in grads] == [p.shape for p in net.trainable_params()]


@pytest.mark.parametrize("flags", [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
def test_all_flags_of_grad_operation(mode, flags):
    get_all, get_by_list, sens_param = map(bool, flags)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(np.float32([2, 3]), name="w")

        def construct(self, x, y):
            return x * y * self.w

    net = Net()
    x, y, sens = (Tensor(np.float32(v)) for v in ([1, 2], [4, 5], [1, 10]))
    weights = ParameterTuple(net.trainable_params())
    grad = C.GradOperation(get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)(net, weights)
    scale = np.float32([1, 10]) if sens_param else np.float32([1, 1])
    dx, dy, dw = np.float32([8, 15]) * scale, np.float32([2, 6]) * scale, np.float32([4, 10]) * scale
    result = grad(x, y, sens) if sens_param else grad(x, y)
    if get_by_list:
        inputs, (w,) = result if get_all else (None, result)
        assert np.allclose(w.asnumpy(), dw)
        result = inputs
    if get_all:
        assert np.allclose(result[0].asnumpy(), dx) and np.allclose(result[1].asnumpy(), dy)
    elif not get_by_list:
        assert np.allclose(result.asnumpy(), dx)


def test_integer_inputs_have_gradients_of_their_type(mode):
    grads = C.GradOperation(get_all=True)(lambda x, n: x * n)(Tensor(2.0), Tensor(3, ms.int32))
    assert grads[0].asnumpy() == 3 and grads[1].asnumpy() == 2 and grads[1].dtype == ms.int32


def test_stop_gradient_and_shared_inputs(mode):
    x = Tensor(3.0)
    assert C.GradOperation()(lambda x: F.stop_gradient(x) * x + x)(x).asnumpy() == 4
    both = C.GradOperation(get_all=True)(lambda a, b: a * a * b)(x, x)
    assert [g.asnumpy() for g in both] == [18, 9]


def test_a_hook_sees_what_comes_in_and_what_goes_on(mode):
    seen = []

    class Inner(nn.Cell):
        def construct(self, x):
            return ops.stack((x, x * 2))

    inner = Inner()

    def hook(cell_id, grad_input, grad_output):
        seen.append((cell_id, [g.shape for g in grad_input], [g.shape for g in grad_output]))
        return grad_output[0] * 10

    inner.register_backward_hook(hook)
    assert C.GradOperation()(lambda x: inner(x) * 2)(Tensor(1.0)).asnumpy() == 60
    assert seen and seen[0][1:] == ([(2,)], [()])


# ---------------------------------------------------------------------- higher-order functions
def test_hyper_map_and_multitype_func_graph_in_both_modes(mode):
    scale = C.MultitypeFuncGraph("scale")

    @scale.register("Number", "Tensor")
    def _scale_tensor(k, x):
        return x * k

    @scale.register("Number", "Tuple")
    def _scale_tuple(k, pair):
        return pair[0] * k

    hyper_map = C.HyperMap()

    @ms.ms_function
    def f(x, y):
        return hyper_map(F.partial(scale, 2), (x, (y, x)))

    (a, (b, c)) = f(Tensor(1.0), Tensor(5.0))
    assert (a.asnumpy(), b.asnumpy(), c.asnumpy()) == (2, 10, 2)
    with pytest.raises(ValueError, match="scale"):
        scale("text", 1)


def test_ms_function_inside_pynative_is_one_differentiable_step():
    context.set_context(mode=context.PYNATIVE_MODE)
    w = Parameter(np.float32(3), name="w")

    @ms.ms_function
    def compiled(x):
        return x * x * w

    def f(x):
        return compiled(x) + compiled(x * 2)

    grad, (dw,) = C.GradOperation(get_all=True, get_by_list=True)(f, ParameterTuple([w]))(Tensor(2.0))
    assert grad[0].asnumpy() == 60 and dw.asnumpy() == 20


def test_mixed_precision_casts_inputs_and_parameters(mode):
    net = nn.Dense(3, 2).to_float(ms.float16)
    assert net(Tensor(np.ones((1, 3), np.float32))).dtype == ms.float16
    grads = C.GradOperation(get_by_list=True)(net, net.trainable_params())(Tensor(np.ones((1, 3), np.float32)))
    assert [g.dtype for g in grads] == [ms.float32, ms.float32]


def test_an_ordinary_network_logs_nothing(mode, monkeypatch):
    records = []
    handler = logging.Handler(logging.WARNING)
    monkeypatch.setattr(handler, "emit", records.append)
    ms.log.warning("makes the logger")
    logger = logging.getLogger("ME.mindspore.log")
    logger.addHandler(handler)
    SmallNet()(IMAGES)
    logger.warning("heard")
    logger.removeHandler(handler)
    assert [r.getMessage() for r in records] == ["heard"]
