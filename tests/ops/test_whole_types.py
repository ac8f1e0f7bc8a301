"""Element types of results for whole numbers, as MindSpore 2.7.1 gives them."""

import numpy as np
import pytest

from msnb import Tensor, grad, mint, nn, ops
from msnb.ops import operations as P

SMALL = ["bool", "int8", "uint8", "int16", "int32"]


@pytest.mark.parametrize("dtype", SMALL)
def test_sums_that_run_along_a_tensor_do_not_wrap(dtype):
    x = np.full(3, 100).astype(dtype)
    result = Tensor(x).cumsum(0).asnumpy()
    assert result.dtype == np.int32 and result.tolist() == np.cumsum(x, dtype=np.int32).tolist()


@pytest.mark.parametrize("dtype", SMALL)
def test_the_reciprocal_of_whole_numbers_is_a_fraction(dtype):
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
def test_losses_of_whole_numbers_are_fractions(dtype):
    x, y, ones = (Tensor(np.array(v, dtype)) for v in ([1, 2], [1, 3], [1, 1]))
    loss = nn.GaussianNLLLoss()(x, y, ones).asnumpy()
    assert loss.dtype == np.float32 and loss == 0.25
    pairs = [Tensor(np.array(v, dtype)) for v in ([[1, 2], [3, 4]], [[1, 2], [4, 3]])]
    loss = nn.CosineEmbeddingLoss()(*pairs, Tensor(np.array([1, -1], np.int32))).asnumpy()
    assert loss.dtype == np.float32 and abs(loss - 0.48) < 1e-6


def test_pools_that_tell_places_take_whole_numbers():
    pooled, places = P.MaxPool3DWithArgmax(2, 2, 0)(Tensor(np.arange(8, dtype=np.int32).reshape(1, 1, 2, 2, 2)))
    assert pooled.asnumpy().item() == 7 and places.asnumpy().item() == 7


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
def test_selu_of_whole_numbers_is_relu(dtype):
    result = ops.SeLU()(Tensor(np.array([-3, 0, 4], dtype))).asnumpy()
    assert result.dtype == dtype and result.tolist() == [0, 0, 4]


def test_the_layer_leaky_relu_has_a_slope_of_the_type_of_its_input():
    assert nn.LeakyReLU()(Tensor(np.array([-8, 9], np.int32))).asnumpy().tolist() == [0, 9]
    assert nn.LeakyReLU()(Tensor([True, False])).asnumpy().tolist() == [True, False]


@pytest.mark.parametrize("size, expected", [((1, 1, 2), [52, 2]), ((2, 1, 1), [51, 3])], ids=str)
def test_the_mean_of_a_volume_of_whole_numbers_is_truncated(size, expected):
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
