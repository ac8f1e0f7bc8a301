"""Element types of results for integers, as in MindSpore 2.7.1."""

import numpy as np
import pytest

import msnb.numpy as mnp
from msnb import COOTensor, Parameter, Tensor, grad, mint, nn, ops
from msnb.common import dtype as mstype
from msnb.core.operator import api_generations
from msnb.ops import operations as P

SMALL = ["bool", "int8", "uint8", "int16", "int32"]


@pytest.mark.parametrize("dtype", SMALL)
def test_sums_that_run_along_a_tensor_do_not_wrap(dtype):
    x = np.full(3, 100).astype(dtype)
    result = Tensor(x).cumsum(0).asnumpy()
    assert result.dtype == np.int32 and result.tolist() == np.cumsum(x, dtype=np.int32).tolist()


@pytest.mark.parametrize("dtype", SMALL)
def test_the_reciprocal_of_integers_is_a_fraction(dtype):
    result = ops.reciprocal(Tensor(np.ones(2, dtype) * 1)).asnumpy()
    assert result.dtype == np.float32 and result.tolist() == [1, 1]


@pytest.mark.parametrize("bounds", [(1.5, 2.5), (Tensor(1.5), Tensor(2.5))], ids=["numbers", "Tensors"])
def test_bounds_take_the_type_of_what_they_bound(bounds):
    result = ops.clamp(Tensor(np.array([1, 2, 3], np.int32)), *bounds).asnumpy()
    assert result.dtype == np.int32 and result.tolist() == [1, 2, 2]


def test_a_bound_beyond_the_type_is_its_end():
    assert ops.clamp(Tensor(np.array([1, 200], np.uint8)), -1, 300).asnumpy().tolist() == [1, 200]


def test_the_tilde_is_logical():
    assert (~Tensor([1, 0])).asnumpy().tolist() == [False, True]
    assert (~Tensor([True, False])).asnumpy().tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_losses_of_integers_are_fractions(dtype):
    x, y, ones = (Tensor(np.array(v, dtype)) for v in ([1, 2], [1, 3], [1, 1]))
    loss = nn.GaussianNLLLoss()(x, y, ones).asnumpy()
    assert loss.dtype == np.float32 and loss == 0.25
    pairs = [Tensor(np.array(v, dtype)) for v in ([[1, 2], [3, 4]], [[1, 2], [4, 3]])]
    loss = nn.CosineEmbeddingLoss()(*pairs, Tensor(np.array([1, -1], np.int32))).asnumpy()
    assert loss.dtype == np.float32 and abs(loss - 0.48) < 1e-6


def test_pools_that_return_indices_take_integers():
    pooled, indices = P.MaxPool3DWithArgmax(2, 2, 0)(Tensor(np.arange(8, dtype=np.int32).reshape(1, 1, 2, 2, 2)))
    assert pooled.asnumpy().item() == 7 and indices.asnumpy().item() == 7


WHOLE = np.array([-2, 2, 4], np.int32)
COMPLEX = np.array([1 + 1j, 2], np.complex64)
RESULTS = {  # call -> the element type and the values, as MindSpore 2.7.1 and numpy have them
    "leaky_relu": (lambda: ops.leaky_relu(Tensor(WHOLE)), "int32", [0, 2, 4]),
    "hardswish": (lambda: ops.hardswish(Tensor(WHOLE)), "int32", [0, 1, 4]),
    "hardsigmoid": (lambda: ops.hardsigmoid(Tensor(WHOLE)), "int32", [0, 0, 1]),
    "tanhshrink": (lambda: ops.tanhshrink(Tensor(WHOLE)), "float32", WHOLE - np.tanh(WHOLE)),
    "l1_loss": (lambda: ops.l1_loss(Tensor(WHOLE), Tensor(WHOLE + 3), "none"), "int32", [3, 3, 3]),
    "mean of l1_loss": (lambda: ops.l1_loss(Tensor(WHOLE), Tensor(WHOLE + 3)), "int32", 3),
    "norm": (lambda: ops.norm(Tensor(WHOLE)), "float32", np.sqrt(24)),
    "vector_norm": (lambda: ops.vector_norm(Tensor(WHOLE)), "float32", np.sqrt(24)),
    "matrix_norm": (lambda: ops.matrix_norm(Tensor(np.diag(WHOLE))), "float32", np.sqrt(24)),
    "MatMul": (
        lambda: P.MatMul()(Tensor(np.array([[1], [2]], np.uint8)), Tensor(np.array([[3]], np.uint8))),
        "uint8",
        [[3], [6]],
    ),
    "log1p": (lambda: ops.log1p(Tensor(COMPLEX)), "complex64", np.log1p(COMPLEX)),
    "xlogy": (lambda: ops.xlogy(Tensor(COMPLEX), Tensor(COMPLEX)), "complex64", COMPLEX * np.log(COMPLEX)),
    "logsigmoid": (lambda: ops.logsigmoid(Tensor(COMPLEX)), "complex64", -np.log(1 + np.exp(-COMPLEX))),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_the_element_type_of_mindspore(name):
    call, dtype, values = RESULTS[name]
    result = call().asnumpy()
    assert result.dtype == dtype
    np.testing.assert_allclose(result, values, rtol=1e-5)


@pytest.mark.parametrize(
    "function, at, slope",
    [
        (lambda y: nn.BCELoss(reduction="none")(Tensor([0.3, 0.6]), y), [0.25, 0.75], [0.8472978, -0.4054652]),
        (lambda w: ops.bincount(Tensor([0, 1, 1]), w) * Tensor([1.0, 2.0]), [1.0, 2.0, 3.0], [1, 2, 2]),
        (lambda x: ops.nextafter(x, Tensor([2.0, -2.0])), [1.0, 1.0], [1, 1]),
    ],
    ids=["binary_cross_entropy", "bincount", "nextafter"],
)
def test_a_slope_that_exists_is_given(function, at, slope):
    np.testing.assert_allclose(grad(function)(Tensor(at)).asnumpy(), slope, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "int32"])
def test_selu_of_integers_is_relu(dtype):
    result = ops.SeLU()(Tensor(np.array([-3, 0, 4], dtype))).asnumpy()
    assert result.dtype == dtype and result.tolist() == [0, 0, 4]


def test_the_layer_leaky_relu_has_a_slope_of_the_type_of_its_input():
    assert nn.LeakyReLU()(Tensor(np.array([-8, 9], np.int32))).asnumpy().tolist() == [0, 9]
    assert nn.LeakyReLU()(Tensor([True, False])).asnumpy().tolist() == [True, False]


@pytest.mark.parametrize("size, expected", [((1, 1, 2), [52, 2]), ((2, 1, 1), [51, 3])], ids=str)
def test_the_mean_of_a_volume_of_integers_is_truncated(size, expected):
    x = Tensor(np.array([3, 9, 200, -7, 5, 6, 1, 1], np.int32).reshape(1, 2, 2, 2))
    assert ops.AdaptiveAvgPool3D(size)(x).asnumpy().ravel().tolist() == expected
    assert ops.AdaptiveMaxPool3D()(x, size)[0].dtype == x.dtype


def test_functions_that_give_a_fraction_of_bool_or_int32():
    flags = Tensor([True, False])
    assert ops.Reciprocal()(flags).asnumpy().tolist() == [1, np.inf]
    assert np.allclose(ops.Sinc()(flags).asnumpy(), [0, 1], atol=1e-6)
    assert np.allclose(ops.Lgamma()(Tensor(np.array([1, 3], np.int32))).asnumpy(), [0, np.log(2)], atol=1e-5)


def test_a_spacing_of_zero_gives_infinite_frequencies():
    assert ops.rfftfreq(4, 0.0).asnumpy()[1:].tolist() == [np.inf, np.inf]


def test_an_empty_tensor_has_as_many_pieces_as_asked():
    empty = Tensor(np.zeros((0, 2), np.float32))
    for chunk in (ops.chunk_ext, mint.chunk):
        assert [piece.shape for piece in chunk(empty, 3)] == [(0, 2)] * 3
    assert [piece.shape for piece in ops.chunk(empty, 3)] == [(0, 2)]


@pytest.fixture
def api2():
    """Behaviour of MindSpore 2 that all programs of the process share."""
    api_generations.share(2)
    yield
    api_generations.share(1)


FLAGS, OTHERS = [True, False, True, False], [True, True, False, False]
OF_BOOL = {  # call of bool Tensors -> results of MindSpore 2.7.1
    "relu": (lambda x, y: P.ReLU()(x), FLAGS),
    "abs": (lambda x, y: P.Abs()(x), FLAGS),
    "sqrt": (lambda x, y: P.Sqrt()(x), [1.0, 0.0, 1.0, 0.0]),
    "difference": (lambda x, y: x - y, [False, True, True, False]),
    "scaled difference": (lambda x, y: mint.sub(x, y, alpha=2), [False, True, True, False]),
    "subtract": (lambda x, y: ops.subtract(x, y), [0, -1, 1, 0]),
    "sum": (lambda x, y: P.ReduceSum()(x, 0), True),
    "product": (lambda x, y: P.ReduceProd()(x, 0), False),
    "nansum": (lambda x, y: ops.nansum(x), 2),
    "scatter_nd": (lambda x, y: ops.scatter_nd(Tensor([[0], [0], [1], [2]]), y, (3,)), [True, False, False]),
    "tensor_scatter_elements": (
        lambda x, y: ops.tensor_scatter_elements(x, Tensor([0, 1, 2, 3]), y, 0, "add"),
        [True, True, True, False],
    ),
    "l1_loss": (lambda x, y: ops.l1_loss(x, y, "none"), [False, True, True, False]),
    "mean l1_loss": (lambda x, y: ops.l1_loss(x, y), True),
    "kron": (lambda x, y: ops.kron(x[:2], y[1:3]), [True, False, False, False]),
    "signbit": (lambda x, y: ops.signbit(x), [False] * 4),
    "frac": (lambda x, y: ops.frac(x), [0] * 4),
    "xlogy": (lambda x, y: ops.xlogy(x, y)[:3], [0.0, 0.0, -np.inf]),
    "numpy.abs": (lambda x, y: mnp.abs(x), FLAGS),
    "numpy.exp2": (lambda x, y: mnp.exp2(x), [2, 1, 2, 1]),
    "packed": (lambda x, y: P.CompareAndBitpack()(Tensor(FLAGS + OTHERS), Tensor(True)), [0b00110101]),
}


@pytest.mark.parametrize("name", OF_BOOL)
def test_a_bool_is_taken_where_mindspore_2_takes_it(api2, name):
    call, expected = OF_BOOL[name]
    result = call(Tensor(FLAGS), Tensor(OTHERS)).asnumpy()
    assert result.tolist() == expected and isinstance(result.ravel()[0].item(), type(np.ravel(expected)[0].item()))


@pytest.mark.parametrize("operator", [P.ReLU, P.Abs, P.Sqrt, P.ReduceSum], ids=lambda operator: operator.__name__)
def test_a_bool_is_refused_where_r1_1_refuses_it_also_after_mindspore_2(api2, operator):
    operate, flags = operator(), Tensor([True, False, True])
    operate(flags)
    api_generations.share(1)
    with pytest.raises(TypeError, match="but got Bool"):
        operate(flags)


def test_an_empty_block_is_refused_where_r1_1_refuses_it_also_after_mindspore_2(api2):
    x = Tensor([1.0, 2.0])
    assert ops.Slice()(x, (1,), (0,)).shape == (0,)
    api_generations.share(1)
    with pytest.raises(ValueError, match="not be empty"):
        ops.Slice()(x, (1,), (0,))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integers_are_taken_where_mindspore_2_takes_them(api2, dtype):
    def whole(*values):
        return Tensor(np.array(values, dtype))

    variable, accumulation = Parameter(whole(6, 4), name="v"), Parameter(whole(5, 2), name="a")
    P.ApplyMomentum()(variable, accumulation, whole(2)[0], whole(1, 2), whole(3)[0])
    assert variable.asnumpy().tolist() == [-26, -12] and accumulation.asnumpy().tolist() == [16, 8]
    assert ops.tensor_dot(whole([1, 2], [3, 4]), whole([1, 2], [3, 4]), 1).asnumpy().tolist() == [[7, 10], [15, 22]]
    assert P.MulNoNan()(whole(1, 2, -3), whole(0, 3, 5)).asnumpy().tolist() == [0, 6, -15]
    assert nn.Tanhshrink()(whole(1)).asnumpy() == pytest.approx(1 - np.tanh(1))
    assert P.FFTWithSize(1, False, True)(whole(1, 2, 5)).asnumpy() == pytest.approx([8, -2.5 + 2.598076j])
    assert ops.nansum(whole(100, 100)).asnumpy() == np.sum(np.array([100, 100], dtype), dtype=dtype)


STEPS = {  # operator, arguments before and after the gradient (100, -2) -> the variable of MindSpore 2.7.1
    "ApplyAdagrad": ((0.1,), (), [0.9000025, 2.0942810]),
    "ApplyProximalAdagrad": ((0.1, 0.0, 0.0), (), [0.9000025, 2.0942810]),
    "ApplyMomentum": ((0.1,), (0.9,), [-9.045, 2.155]),
    "ApplyAddSign": ((0.1, 0.9, 0.1, 0.9), (), [-9.0, 2.16]),
}


@pytest.mark.parametrize("dtype", ["int8", "int64"])
@pytest.mark.parametrize("name", STEPS)
def test_a_gradient_of_integers_counts_as_one_of_floats(name, dtype):
    before, after, expected = STEPS[name]
    variable, slot = (Parameter(Tensor([a, b], mstype.float32), name=f"p{a}") for a, b in ((1.0, 2.0), (0.5, 0.5)))
    getattr(P, name)()(variable, slot, *before, Tensor(np.array([100, -2], dtype)), *after)
    np.testing.assert_allclose(variable.asnumpy(), expected, rtol=1e-6)


def test_complex_numbers_are_taken_where_mindspore_2_takes_them(api2):
    x, matrix = Tensor(np.array([1 + 2j, -3], np.complex64)), Tensor(np.array([[1 + 2j, 2], [3, 4 - 1j]], np.complex64))
    np.testing.assert_allclose(ops.silu(x).asnumpy(), [0.214538 + 2.44627j, -0.142278], rtol=1e-5)
    np.testing.assert_allclose(P.Expm1()(x).asnumpy(), [-2.131204 + 2.471727j, -0.950213], rtol=1e-5)
    np.testing.assert_allclose(ops.xdivy(x, Tensor(np.array([2j, 0.5j], np.complex64))).asnumpy(), [1 - 0.5j, 6j])
    np.testing.assert_allclose(ops.det(matrix).asnumpy(), 7j, atol=1e-6)
    power = ops.float_power(x, 2).asnumpy()
    assert power.dtype == np.complex128
    np.testing.assert_allclose(power, [-3 + 4j, 9], atol=1e-12)


def test_the_slopes_of_rrelu_are_integers_for_integers():
    x = Tensor(np.array([-4, 4, -7], np.int32))
    assert ops.rrelu(x, 2.7, 2.7).asnumpy().tolist() == [-8, 4, -14]
    with pytest.raises(ValueError, match="lower <= upper"):
        ops.rrelu(x, 3.0, 2.0)


@pytest.mark.parametrize("call", [mint.add, mint.sub, Tensor.add, Tensor.sub], ids=["add", "sub", "add", "sub"])
def test_a_factor_does_not_widen_the_common_type(call):
    x, y = Tensor(np.array([1, 2], np.float16)), Tensor(np.array([3, 5], np.int32))
    assert call(x, y, alpha=0.5).dtype == mstype.float16


def test_products_of_a_bilinear_form_do_not_wrap():
    x = Tensor(np.array([[100, 100]], np.int8))
    assert ops.bidense(x, x, Tensor(np.ones((1, 2, 2), np.int8))).asnumpy().tolist() == [[40000]]


def test_a_block_of_length_0_is_cut_in_mindspore_2(api2):
    assert P.Slice()(Tensor(np.ones((2, 3), np.float32)), (0, 3), (2, 0)).shape == (2, 0)


def test_sparse_matrices_of_two_index_types_are_added():
    matrices = [(np.int64, [[0, 1], [1, 2]]), (np.int32, [[0, 0], [1, 1]])]
    a, b = (COOTensor(Tensor(np.array(i, t)), Tensor([1.0, 2.0], mstype.float32), (3, 4)) for t, i in matrices)
    assert (a + b).indices.dtype == mstype.int64
