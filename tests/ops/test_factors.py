"""Triangular factors of matrices that have none, and other arguments that no kernel can take."""

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, nn, ops
from msnb.ops import operations as P
from msnb.ops.math import linalg
from msnb.ops.operations import _quant_ops as Q

INDEFINITE = np.array([[1, 2], [2, 1]], np.float32)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_matrix_that_is_not_positive_definite_has_no_factor(mode, dtype):
    ms.set_context(mode=mode)
    factor = ms.jit(ops.cholesky) if mode == ms.GRAPH_MODE else ops.cholesky
    for matrices in (INDEFINITE, np.stack([np.eye(2), INDEFINITE])):
        with pytest.raises(RuntimeError, match="positive definite matrices, but 1 of them"):
            factor(Tensor(matrices.astype(dtype))).asnumpy()


def test_the_check_of_a_factor_computes_no_second_one():
    assert "cholesky" not in str(jax.make_jaxpr(linalg._count_indefinite_matrices)(np.eye(2)))


def test_sgd_keeps_a_negative_state():
    stat = Parameter(Tensor([1.5, -0.25]), name="stat")
    accum = Parameter(Tensor([0.1, 0.3]), name="accum")
    P.SGD()(Parameter(Tensor([2.0, -0.5]), name="p"), Tensor([1.0, -1.0]), Tensor(0.01), accum, Tensor(0.1), stat)
    assert stat.asnumpy().tolist() == [0, -0.25]
    stat.set_data(Tensor([1.5, -0.25]))  # without momentum nothing has begun
    P.SGD()(Parameter(Tensor([2.0, -0.5]), name="q"), Tensor([1.0, -1.0]), Tensor(0.01), accum, Tensor(0.0), stat)
    assert stat.asnumpy().tolist() == [1.5, -0.25]


def test_a_factor_has_its_gradient():
    slope = ms.grad(ops.cholesky)(Tensor(np.array([[4, 2], [2, 3]], np.float32)))
    np.testing.assert_allclose(slope.asnumpy(), [[0.2133884, 0.0732233], [0.0732233, 0.3535534]], rtol=1e-5)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_strides_of_an_unpooling_are_positive(dims):
    x, places = np.ones((1, 1, *(2,) * dims), np.float32), np.arange(2**dims).reshape(1, 1, *(2,) * dims)
    with pytest.raises(ValueError, match="should be positive"):
        getattr(ops, f"max_unpool{dims}d")(Tensor(x), Tensor(places), 2, stride=-2)


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 2, 4)])
def test_the_mean_loss_of_classes_takes_more_dimensions(shape):
    logits = np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)
    labels = (np.arange(np.prod(shape[:-1])) % 4).reshape(shape[:-1]).astype(np.int32)
    flat = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    loss = flat(Tensor(logits), Tensor(labels)).asnumpy()
    np.testing.assert_allclose(loss, flat(Tensor(logits.reshape(-1, 4)), Tensor(labels.ravel())).asnumpy(), rtol=1e-6)
    result = P.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(Tensor(logits), Tensor(labels)).asnumpy()
    np.testing.assert_allclose(ms.grad(flat)(Tensor(logits), Tensor(labels)).asnumpy(), result, rtol=1e-4, atol=1e-7)


def test_the_channels_of_a_vector_are_its_elements():
    dout, low, high = Tensor([1.0, 2.0, 3.0]), Tensor([-1.0, -1.0, -1.0]), Tensor([1.0, 2.0, 2.0])
    assert Q.FakeQuantPerChannelGrad()(dout, Tensor([0.5, 9.0, 1.0]), low, high).asnumpy().tolist() == [1, 0, 3]


def test_python_rounds_a_tensor():
    assert round(Tensor([1.5, 2.5, -0.2])).asnumpy().tolist() == [2, 2, 0]


def test_real_and_imaginary_numbers_are_attributes_or_methods():
    x = Tensor(np.array([1 + 2j], np.complex64))
    assert x.real.asnumpy().tolist() == [1]
    from msnb.core.operator import api_generations

    api_generations.share(2)
    try:
        assert x.real().asnumpy().tolist() == [1] and x.imag().asnumpy().tolist() == [2]
    finally:
        api_generations.share(1)


def test_powers_of_matrices_of_integers():
    x = Tensor([[1, 2], [3, 4]], ms.int8)
    assert ops.matrix_power(x, 2).asnumpy().tolist() == [[7, 10], [15, 22]]
    assert ops.matrix_power(x, 0).dtype == ms.int8
    with pytest.raises(ValueError, match="negative"):
        ops.matrix_power(x, -1)


def test_addbmm_of_two_matrices_sums_the_rows_of_their_product():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ops.addbmm(Tensor([[1.0, 1.0], [1.0, 1.0]]), x, x).asnumpy().tolist() == [[23, 33], [23, 33]]


@pytest.mark.parametrize("dtype", ["bool_", "int8", "uint8", "float16"])
def test_index_add_converts_what_it_adds_unless_that_narrows_it(dtype):
    x = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]))
    ops.inplace_index_add(x, Tensor([0], ms.int32), Tensor([[1, 1]], getattr(ms, dtype)), 0)
    assert x.asnumpy().tolist() == [[2, 3], [3, 4]]
    with pytest.raises(TypeError):
        ops.inplace_index_add(x, Tensor([0], ms.int32), Tensor([[1, 1]], ms.float64), 0)


def test_approximate_equal_compares_in_the_common_type():
    x, y = Tensor([1, 2, 3], ms.int8), Tensor([2.0, 3.0, 1.0])
    assert P.ApproximateEqual(2.0)(x, y).asnumpy().tolist() == [True, True, False]
    with pytest.raises(TypeError):
        P.ApproximateEqual(2.0)(x, x)


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_scatter_nd_takes_three_types_of_indices(dtype):
    at = Tensor([[0], [2]], getattr(ms, dtype))
    assert ops.scatter_nd(at, Tensor([1.0, 2.0]), (3,)).asnumpy().tolist() == [1, 0, 2]
