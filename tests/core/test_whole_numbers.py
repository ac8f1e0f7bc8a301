"""Gradients by integers: those of the same operators on real numbers, cast to the integer type; equal in both modes,
with any other arguments."""

import itertools

import numpy as np
import pytest
from sweeps import swept

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops

grad, grad_all = ops.GradOperation(), ops.GradOperation(get_all=True)
grad_with = ops.GradOperation(get_all=True, sens_param=True)
MODES = [context.GRAPH_MODE, context.PYNATIVE_MODE]


@pytest.fixture(params=MODES, ids=["graph", "pynative"], autouse=True)
def mode(request):
    context.set_context(mode=request.param)


def make_integers(*values, dtype="int32"):
    return Tensor(np.array(values, dtype))


def numbers(gradients):
    return [g.asnumpy().tolist() for g in gradients]


KINDS = {
    "float32": Tensor([2.0, 4.0], ms.float32),
    "float16": Tensor([2.0, 4.0], ms.float16),
    "int32": make_integers(2, 4),
    "int64": make_integers(2, 4, dtype="int64"),
    "uint8": make_integers(2, 4, dtype="uint8"),
    "bool": Tensor([True, False]),
    "number": 3.0,
    "Parameter": Parameter(Tensor([2.0, 4.0]), name="weight"),
    "whole Parameter": Parameter(make_integers(2, 4), name="whole_weight"),
}


def product(x, y):
    return x * y * 2


def families(pair):
    """Floats of all widths take one way, and so do whole numbers with a sign; two widths of one are a kind, too."""
    return *(name.rstrip("0123456789") for name in pair), pair[0] == pair[1]


@pytest.mark.parametrize("pair", swept(list(itertools.product(KINDS, KINDS)), families), ids="-".join)
def test_a_gradient_has_the_type_of_its_input_and_the_value_of_the_real_one(pair):
    x, y = (KINDS[name] for name in pair)
    inputs = [np.asarray(v.asnumpy() if isinstance(v, Tensor) else v, np.float64) for v in (x, y)]
    result = grad_all(product)(x, y)
    for gradient, value, own, other in zip(result, (x, y), inputs, reversed(inputs), strict=True):
        slope = np.broadcast_to(2 * other, np.broadcast(*inputs).shape)
        if own.ndim == 0:
            slope = slope.sum()
        if isinstance(value, Tensor):
            assert gradient.dtype == value.dtype
            if value.dtype == ms.bool_:
                slope = np.zeros(2)
        assert gradient.asnumpy().astype(np.float64).tolist() == slope.tolist()


@pytest.mark.parametrize(
    ("function", "x", "want"),
    [
        (lambda x: x * x * x, (2, 3), [12, 27]),
        (lambda x: x**3, (2, 3), [12, 27]),
        (lambda x: -x, (2, 3), [-1, -1]),
        (lambda x: x.sum() * x, (2, 3), [10, 10]),
        (lambda x: x.reshape((2, 1)) * x, (2, 3), [10, 10]),
        (lambda x: x[1] * 3, (2, 3), [0, 3]),
        (lambda x: ops.Concat()((x, x)) * make_integers(1, 2, 3, 4), (2, 3), [4, 6]),
        (lambda x: ops.GatherV2()(x, make_integers(0, 0, 1), 0), (2, 3), [2, 1]),
        (lambda x: ops.cast(x, ms.float32) * 2.5, (2, 3), [2, 2]),
        (lambda x: ops.stop_gradient(x + x) + x, (2, 3), [1, 1]),
        (lambda x: ops.AddN()((x, x * 2)), (2, 3), [3, 3]),
        (lambda x: ops.Select()(Tensor([True, False]), x, make_integers(7, 8)) * 3, (2, 3), [3, 0]),
        (lambda x: ops.cast(x, ms.int8) * x, (2, 3), [4, 6]),
        (lambda x: (x > 2) * Tensor([1.0, 2.0]), (2, 3), [0, 0]),
    ],
)
def test_an_operator_on_integers_has_the_gradient_of_floats(function, x, want):
    gradient = grad(function)(make_integers(*x))
    assert gradient.dtype == ms.int32 and gradient.asnumpy().tolist() == want


def test_it_is_cut_at_each_operator():
    by_x, by_y = grad_all(lambda x, y: x * y * 2)(Tensor([0.25, -0.75]), make_integers(3, 4))
    assert by_x.asnumpy().tolist() == [6.0, 8.0] and by_y.asnumpy().tolist() == [0, -1]


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8"])
def test_a_gradient_passes_where_numbers_become_integers(dtype):
    kind = getattr(ms, dtype)
    there = grad(lambda x: ops.cast(x, kind) * 3)(Tensor([1.5, 2.0]))
    and_back = grad(lambda x: ops.cast(ops.cast(x, kind), ms.float32) * 2.5)(Tensor([1.5, 2.0]))
    assert there.dtype == and_back.dtype == ms.float32
    assert numbers((there, and_back)) == [[3.0, 3.0], [2.0, 2.0]]


def test_a_choice_among_integers_has_no_slope():
    assert grad(lambda x: ops.Argmax()(x) * x.sum())(Tensor([1.0, 2.0])).asnumpy().tolist() == [1.0, 1.0]


def test_an_index_has_no_slope():
    by_table, by_index = grad_all(lambda table, i: ops.GatherV2()(table, i, 0))(Tensor([1.0, 2.0]), make_integers(1, 1))
    assert by_table.asnumpy().tolist() == [0.0, 2.0]
    assert by_index.dtype == ms.int32 and by_index.asnumpy().tolist() == [0, 0]


def test_one_tensor_given_twice_is_two_variables():
    x = make_integers(2, 3)
    assert numbers(grad_all(lambda a, b: a * a * b)(x, x)) == [[8, 18], [4, 9]]


def test_integers_weigh_integer_outputs():
    transposed = grad_with(lambda x: x.transpose())(make_integers((1, 2), (3, 4)), make_integers((1, 2), (3, 4)))
    assert numbers(transposed) == [[[1, 3], [2, 4]]]


def test_there_are_second_derivatives():
    assert grad(lambda y: grad(lambda x: x * x * x)(y))(make_integers(2, 3)).asnumpy().tolist() == [12, 18]


class Square(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(make_integers(3, 4), name="weight")

    def construct(self, x):
        return x * self.weight * self.weight


def test_a_parameter_of_integers_has_a_gradient():
    net = Square()
    by_weight = ops.GradOperation(get_by_list=True)(net, [net.weight])(make_integers(1, 2))
    assert by_weight[0].dtype == ms.int32 and numbers(by_weight) == [[6, 16]]


class Told(nn.Cell):
    """A gradient of its own, which differs from the true one."""

    def construct(self, x, y):
        return x + y, x * y

    def bprop(self, x, y, out, dout):
        return dout[0] * 3, dout[1] * 5 + x


class Around(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x, y):
        first, second = self.inner(x * 2, y * 1)
        return first * 1, second


@pytest.mark.parametrize("dtypes", list(itertools.product(("int32", "float32", "uint8"), repeat=2)))
def test_a_bprop_is_called_for_integers_too(dtypes):
    x, y = (make_integers(2, 3, dtype=dtype) for dtype in dtypes)
    result = grad_all(Told())(x, y)
    assert [g.dtype for g in result] == [x.dtype, y.dtype]
    assert numbers(result) == [[3, 3], [7, 8]]
    assert numbers(grad_all(Around(Told()))(x, y)) == [[6, 6], [9, 11]]


class OfPair(nn.Cell):
    def construct(self, pair, z):
        return (pair[0] * pair[1] * z,)

    def bprop(self, pair, z, out, dout):
        return (dout[0] * 10, dout[0] * 20), dout[0] * 30


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_a_bprop_gives_a_tuple_for_a_tuple(dtype):
    def run(x, y, z):
        return net((x, y), z)

    net = OfPair()
    x, y, z = (make_integers(2, 3, dtype=dtype) for _ in range(3))
    assert numbers(grad_all(run)(x, y, z)) == [[10, 10], [20, 20], [30, 30]]


def test_a_loop_of_python_unrolls_integers_too():
    def cube(x):
        result = x
        for _ in range(2):
            result = result * x
        return result

    assert grad(cube)(make_integers(2, 3)).asnumpy().tolist() == [12, 27]


def rounds(x, n):
    while x.sum() < 100:
        x = x * n
    return x


def chosen(x, n):
    if x.sum() > 0:
        x = x * n
    else:
        x = x + 1
    return x * 2


def counted(x, n):
    i = 0
    total = x
    while i < n.sum():
        if i % 2 == 0:
            total = total * x
        i = i + 1
    return total + n


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_loops_and_branches_that_depend_on_values_pass_it_on(dtype):
    x, n = make_integers(1, 2, dtype=dtype), make_integers(2, 3)
    assert numbers(grad_all(rounds)(x, n)) == [[16, 81], [32, 216]]
    assert numbers(grad_all(chosen)(x, n)) == [[4, 6], [2, 4]]
    assert numbers(grad_all(chosen)(-x, n)) == [[2, 2], [0, 0]]
    assert numbers(grad_all(counted)(x, n)) == [[4, 32], [1, 1]]
