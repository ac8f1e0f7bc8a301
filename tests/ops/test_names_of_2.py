"""Names of MindSpore 2 that no row reaches: methods of Tensor about its memory, loops as operators, classes that are
constructed once, values that change."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.ops._primitive_cache import _get_cache_prim

X = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])


@pytest.mark.parametrize(
    "method, want",
    [
        (lambda x: x.stride(), [3, 1]),
        (lambda x: x.argmax_with_value(axis=None)[0], 6),
        (lambda x: x.argmin_with_value(1)[1].dtype, ms.int64),
        (lambda x: ops.bmm(x, x.T), X @ X.T),
        (lambda x: ops.inner(x, Tensor(2.0)), X * 2),
        (lambda x: ops.clip_by_value([x, x], 2, 5)[1], X.clip(2, 5)),
        (lambda x: ops.clip_by_value(x, 2), X.clip(2, None)),
        (lambda x: ops.clip_by_value(x, clip_value_max=5), X.clip(None, 5)),
        (lambda x: ops.sequence_mask(Tensor([2, 0])), [[True, True], [False, False]]),
        (lambda x: ops.var(x, 0, True), X.var(0, ddof=1)),
        (lambda x: ops.Bucketize([1.0, 3.0])(x), [[1, 1, 2], [2, 2, 2]]),
        (lambda x: ops.argmin(x).dtype, ms.int32),
        (lambda x: ops.jvp(lambda y: (2 * y, y), x, x, has_aux=True)[2], X),
        (lambda x: ms.numpy.result_type("i2", ms.float32), ms.float32),
        (lambda x: x.stride(-1), 1),
        (lambda x: x.storage_offset(), 0),
        (lambda x: x.get_bytes(), X.tobytes()),
        (lambda x: x.is_pinned(), False),
        (lambda x: x.mH, X.T),
        (lambda x: x.move_to("CPU"), X),
        (lambda x: x.msort(), X),
        (lambda x: x.sum_to_size((1, 3)), X.sum(0, keepdims=True)),
        (lambda x: x.sum_to_size(3), X.sum(0)),
        (lambda x: x.reverse_sequence(Tensor([1, 2]), 1, 0), [[1, 2, 3], [5, 4, 6]]),
        (lambda x: x.reshape(1, 1, 2, 3).unfold((2, 2)), [[[1, 2], [2, 3], [4, 5], [5, 6]]]),
        (lambda x: x.to_coo().to_dense(), X),
        (lambda x: x.to_csr().to_dense(), X),
        (lambda x: x.multinomial(4).shape, (2, 4)),
        (lambda x: x.random_categorical(4).shape, (2, 4)),
        (lambda x: x.log_normal().shape, (2, 3)),
        (lambda x: x.cauchy().dtype, ms.float32),
        (lambda x: x.new_empty((2,)).shape, (2,)),
    ],
)
def test_a_method_gives_what_mindspore_2_gives(method, want):
    got = method(Tensor(X))
    if isinstance(got, Tensor):
        np.testing.assert_array_equal(got.asnumpy(), want)
    else:
        assert got == want


@pytest.mark.parametrize(
    "write, want",
    [
        (lambda p, x: ops.assign(p, x), X),
        (lambda p, x: ops.AssignAdd()(p, x), X + 1),
        (lambda p, x: ops.ScatterUpdate()(p, Tensor([1]), x[:1]), [[1, 1, 1], [1, 2, 3]]),
        (lambda p, x: ops.ApplyGradientDescent()(p, Tensor(1.0), x), 1 - X),
        (lambda p, x: ops.ApplyMomentum()(p, ms.Parameter(x, name="m"), 1.0, x, 1.0), 1 - 2 * X),
    ],
)
def test_what_writes_a_parameter_gives_a_tensor_of_what_it_holds_then(write, want):
    context.set_context(mode=context.PYNATIVE_MODE)
    param = ms.Parameter(Tensor(np.ones((2, 3), np.float32)), name="p")
    written = write(param, Tensor(X))
    assert isinstance(written, Tensor) and not isinstance(written, ms.Parameter)
    np.testing.assert_array_equal(written.asnumpy(), want)
    assert repr(written) == repr(param.value()) and written.shape == (2, 3) and written.dtype == ms.float32
    doubled = ms.jit(lambda x: x * 2)(written)  # read by a program, then given away by another
    ops.assign_add(param, 1)
    np.testing.assert_array_equal(doubled.asnumpy(), np.multiply(want, 2))
    np.testing.assert_array_equal(written.asnumpy(), np.add(want, 1))  # it shares what the Parameter holds


def test_what_does_not_fit_is_refused():
    x = Tensor(X)
    with pytest.raises(ValueError, match="sum_to_size"):
        x.sum_to_size((5,))
    with pytest.raises(ValueError, match="move_to"):
        x.move_to("TPU")
    with pytest.raises(NotImplementedError, match="add_pipeline_stage"):
        ms.Parameter(x, name="p").add_pipeline_stage(1)


@MODES
def test_loops_of_functions_run_in_both_modes_and_have_gradients(mode):
    context.set_context(mode=mode)

    class Net(nn.Cell):
        def construct(self, x, n):
            doubled = ops.WhileLoop()(lambda v: v < 50, lambda v: v * 2, x)
            summed = ops.ForiLoop()(0, n, lambda i, v: v + i, x)
            last, outputs = ops.Scan()(lambda total, v: (total + v, total * v), x, [x, x])
            return doubled, summed, last, outputs[1]

    for n in (4, Tensor(4)):
        assert [int(v) for v in Net()(Tensor(3), n)] == [96, 9, 9, 18]
    slope = ms.grad(lambda x: ops.WhileLoop()(lambda v: v < 50.0, lambda v: v * 2, x))
    assert float(slope(Tensor(3.0))) == 32.0


@MODES
def test_a_loop_that_is_not_to_be_unrolled_is_one_loop_of_the_graph(mode):
    context.set_context(mode=mode)
    bodies = []

    def body(i, v):
        bodies.append("a round")
        return v * 2 + i

    class Net(nn.Cell):
        def construct(self, x, unroll):
            return ops.ForiLoop()(0, 30, body, x, unroll)

    x = Tensor(np.float32([1, -1]))
    counts, values, slopes = [], [], []
    for unroll in (True, False):
        bodies.clear()
        net = Net()
        values.append(net(x, unroll).asnumpy())
        counts.append(len(bodies))
        slopes.append(ms.grad(lambda x, net=net, unroll=unroll: net(x, unroll).sum())(x).asnumpy())
    assert counts[0] == 30 and (counts[1] < 10 if mode == context.GRAPH_MODE else counts[1] == 30)
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(slopes, np.full((2, 2), 2.0**30))


@MODES
def test_derivatives_of_any_order_along_a_curve_are_those_of_mindspore(mode):
    context.set_context(mode=mode)
    x = Tensor([[1.0, 2.0]], ms.float32)
    value, third = ops.derivative(lambda x: ops.exp(ops.sin(x)), x, 3)
    np.testing.assert_allclose(third.asnumpy(), [[-4.0515366, 3.6724353]], rtol=1e-5)
    curve = Tensor([[[1.0, 2.0]], [[0.5, 0.0]], [[0.0, 1.0]]], ms.float32)
    value, result = ops.jet(lambda x: ops.exp(ops.sin(x)), x, curve)
    np.testing.assert_allclose(value.asnumpy(), np.exp(np.sin(x.asnumpy())), rtol=1e-6)
    want = [[[1.2533808, -2.0662339]], [[-0.64813006, -7.3098927]], [[-5.9637666, 28.346367]]]
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-5)
    values, slopes = ops.derivative(lambda a, b: (a * b, a), (Tensor([2, 3]), Tensor([5, 7])), 1)
    assert [v.asnumpy().tolist() for v in (*values, *slopes)] == [[10, 21], [2, 3], [7, 10], [1, 1]]
    value, push = ops.linearize(lambda a, b: a * b, (Tensor([2.0]), Tensor([3.0])))
    assert float(value) == 6 and float(push((Tensor([1.0]), Tensor([10.0])))) == 23
    with pytest.raises(ValueError, match="jet"):
        ops.jet(ops.exp, x, Tensor([1.0]))


@MODES
def test_recompute_leaves_values_and_gradients_as_they_are(mode):
    context.set_context(mode=mode)
    net = nn.Dense(2, 3)
    x = Tensor(np.ones((1, 2), np.float32))
    plain = ms.grad(lambda x: net(x).sum(), 0, net.trainable_params())(x)
    again = ms.grad(lambda x: ms.recompute(net, x).sum(), 0, net.trainable_params())(x)
    for one, other in zip((plain[0], *plain[1]), (again[0], *again[1]), strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy())
    with pytest.raises(TypeError, match="recompute"):
        ms.recompute(3)


def test_an_operator_is_created_once_for_its_attributes():
    make = _get_cache_prim(ops.ReduceSum)
    assert make(True) is make(True) is not make(False)


def test_mutable_values_are_what_they_were():
    inputs = (Tensor(1.0), {"a": 2})
    assert ms.mutable(inputs) is inputs
    with pytest.raises(TypeError, match="mutable"):
        ms.mutable("text")
    with pytest.raises(ValueError, match="mutable"):
        ms.mutable(3, dynamic_len=True)


def test_a_parameter_keeps_its_settings_for_optimizers():
    p = ms.Parameter(Tensor(X), name="p", parallel_optimizer=False)
    assert not p.parallel_optimizer
    assert p.requires_grad_(False) is p and not p.requires_grad


def test_a_pipeline_on_one_device_sums_the_losses_of_its_micro_batches():
    loss = nn.WithLossCell(nn.Dense(3, 1, weight_init="ones"), nn.MSELoss())
    x, y = Tensor(np.concatenate([X, X + 1])), Tensor(np.ones((4, 1), np.float32))
    total = sum(float(loss(x[i : i + 2], y[i : i + 2])) for i in (0, 2))
    np.testing.assert_allclose(float(nn.PipelineCell(loss, 2)(x, y)), total, rtol=1e-6)


def test_a_layer_pools_as_the_function_of_its_name():
    x, shares = Tensor(np.arange(49, dtype=np.float32).reshape(1, 1, 7, 7)), Tensor(np.full((1, 1, 2), 0.4, np.float32))
    pool = nn.FractionalMaxPool2d(2, output_size=3, return_indices=True, _random_samples=shares)
    for one, other in zip(pool(x), ops.fractional_max_pool2d(x, 2, 3, None, True, shares), strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())
