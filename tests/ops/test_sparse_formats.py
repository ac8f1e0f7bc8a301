"""COOTensor and CSRTensor: what scipy or numpy says of the dense matrix is said of the sparse one, with gradients."""

import numpy as np
import pytest
import scipy.sparse

import msnb as ms
from msnb import COOTensor, CSRTensor, Tensor, context, nn, ops
from msnb.ops import functional
from msnb.ops.operations import _csr_ops

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
DENSE = np.array([[0, 0.5, 0, -0.25], [0, 0, 0, 0], [0.75, 0, 0.125, 0]], np.float32)
OTHER = np.array([[0.5, -0.5, 0, 0], [0, 0, 1, 0], [-0.75, 0, 2, 0]], np.float32)


def coo(dense=DENSE):
    matrix = scipy.sparse.coo_array(dense)
    return COOTensor(Tensor(np.stack(matrix.coords, 1).astype(np.int32)), Tensor(matrix.data), dense.shape)


def csr(dense=DENSE):
    matrix = scipy.sparse.csr_array(dense)
    return CSRTensor(Tensor(matrix.indptr), Tensor(matrix.indices), Tensor(matrix.data), dense.shape)


def dense(value):
    return value.to_dense().asnumpy() if isinstance(value, (COOTensor, CSRTensor)) else value.asnumpy()


WIDE = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
THIN = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.mark.parametrize("make", [coo, csr])
@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda m: m, DENSE),
        (lambda m: m.to_csr() if isinstance(m, COOTensor) else m.to_coo(), DENSE),
        (lambda m: type(m)(**{f"{type(m).__name__[:3].lower()}_tensor": m}), DENSE),
        (lambda m: -m.abs().astype(ms.float16), -np.abs(DENSE)),
        (lambda m: m * 2, DENSE * 2),
        (lambda m: m * Tensor(WIDE), DENSE * WIDE),
        (lambda m: Tensor(WIDE) * m, DENSE * WIDE),
        (lambda m: m / Tensor(WIDE[:, :1]), DENSE / WIDE[:, :1]),
        (lambda m: m + Tensor(WIDE), DENSE + WIDE),
        (lambda m: m - m, np.zeros_like(DENSE)),
        (lambda m: m + (coo if isinstance(m, COOTensor) else csr)(OTHER), DENSE + OTHER),
    ],
)
def test_what_is_computed_of_either_format_is_that_of_the_dense_matrix(make, compute, expected):
    result = compute(make())
    assert ops.dtype(result) == result.dtype
    np.testing.assert_allclose(dense(result), expected, rtol=1e-3)


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda: csr().mm(Tensor(THIN)), DENSE @ THIN),
        (lambda: ops.csr_mv(csr(), Tensor(THIN[:, :1])), DENSE @ THIN[:, :1]),
        (lambda: ops.csr_mm(csr(), csr(OTHER), trans_b=True), DENSE @ OTHER.T),
        (lambda: ops.csr_reduce_sum(csr(), 1), DENSE.sum(1, keepdims=True)),
        (lambda: csr().sum(0), DENSE.sum(0, keepdims=True)),
        (lambda: ops.csr_mul(csr(), Tensor(WIDE)), (DENSE * WIDE)[DENSE != 0]),
        (lambda: ops.csr_div(csr(), Tensor(WIDE)), (DENSE / WIDE)[DENSE != 0]),
        (lambda: ops.csr_gather(csr().indptr, csr().indices, Tensor(WIDE), (3, 4)), WIDE[DENSE != 0]),
        (lambda: ops.csr_add(csr(), csr(OTHER), Tensor(2.0), Tensor(-1.0)), 2 * DENSE - OTHER),
        (lambda: ops.coo_add(coo(), coo(OTHER), Tensor(0.6)), np.where(abs(DENSE + OTHER) < 0.6, 0, DENSE + OTHER)),
        (lambda: ops.coo_concat((coo(), coo(OTHER)), 1), np.concatenate([DENSE, OTHER], 1)),
        (lambda: ops.csr_to_coo(ops.dense_to_sparse_csr(Tensor(DENSE))), DENSE),
        (lambda: ops.dense_to_sparse_coo(Tensor(DENSE)), DENSE),
        (lambda: ops.csr2coo(csr().indptr, 4), [0, 0, 2, 2]),
        (lambda: ops.coo2csr(Tensor([0, 0, 2, 2], ms.int32), 3), [0, 2, 2, 4]),
        (lambda: ops.coo_tensor_get_indices(coo()), np.argwhere(DENSE)),
        (lambda: ops.csr_tensor_get_indptr(csr()), [0, 2, 2, 4]),
        (lambda: _csr_ops.CSRMM()(csr(), csr(OTHER.T)), DENSE @ OTHER.T),
        (lambda: _csr_ops.CSRMV()(csr(), Tensor(THIN[:, :1])), DENSE @ THIN[:, :1]),
        (lambda: _csr_ops.CSRReduceSum()(csr(), 1), DENSE.sum(1, keepdims=True)),
        (lambda: _csr_ops.CSRMul()(csr(), Tensor(WIDE)), (DENSE * WIDE)[DENSE != 0]),
        (lambda: _csr_ops.CSRDiv()(csr(), Tensor(WIDE)), (DENSE / WIDE)[DENSE != 0]),
        (lambda: _csr_ops.CSRGather()(csr().indptr, csr().indices, Tensor(WIDE), (3, 4)), WIDE[DENSE != 0]),
        (lambda: _csr_ops.CSR2COO()(csr().indptr, 4), [0, 0, 2, 2]),
        (lambda: _csr_ops.COO2CSR()(Tensor([0, 0, 2, 2], ms.int32), 3), [0, 2, 2, 4]),
        (lambda: ops.csr_softmax(csr(), ms.float32).values, [0.679179, 0.320821, 0.651355, 0.348645]),
    ],
)
def test_functions_of_sparse_matrices_have_the_values_of_dense_ones(compute, expected):
    np.testing.assert_allclose(dense(compute()), expected, rtol=1e-5)


NOT_OF_VALUES = (
    "coo_add",
    "coo_concat",
    "coo_tensor_get_dense_shape",
    "coo_tensor_get_indices",
    "coo_tensor_get_values",
)


@pytest.mark.parametrize(
    "what", sorted(n[4:] for n in functional.__all__ if n.startswith("coo_") and n not in NOT_OF_VALUES)
)
def test_a_function_of_values_is_that_of_a_tensor(what):
    plain = getattr(ops, "reciprocal" if what == "inv" else what)
    for matrix in (coo(), csr()):
        prefix = type(matrix).__name__[:3].lower()
        result = getattr(ops, f"{prefix}_{what}")(matrix)
        np.testing.assert_array_equal(result.values.asnumpy(), plain(matrix.values).asnumpy())
        assert type(result) is type(matrix) and result.shape == matrix.shape


@BOTH_MODES
def test_a_network_takes_and_returns_sparse_matrices_and_their_values_have_gradients(mode):
    class Net(nn.Cell):
        def construct(self, matrix, x):
            return (matrix * 2).mm(x), matrix * x.T[0]

    context.set_context(mode=mode)
    product, scaled = Net()(csr(), Tensor(THIN))
    np.testing.assert_allclose(product.asnumpy(), 2 * DENSE @ THIN)
    assert isinstance(scaled, CSRTensor)
    np.testing.assert_allclose(scaled.to_dense().asnumpy(), DENSE * THIN.T[0])

    def loss(values, x):
        return CSRTensor(result.indptr, result.indices, values, result.shape).mm(x).sum()

    result = csr()
    of_values, of_x = ops.grad(loss, (0, 1))(result.values, Tensor(THIN))
    np.testing.assert_allclose(of_values.asnumpy(), THIN.sum(1)[result.indices.asnumpy()])
    np.testing.assert_allclose(of_x.asnumpy(), np.repeat(DENSE.sum(0)[:, None], 2, 1))


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        (lambda: COOTensor(Tensor([[0.0, 1.0]]), Tensor([1.0]), (2, 2)), TypeError),
        (lambda: COOTensor(Tensor([[0, 1]]), Tensor([1.0]), (2, 2, 2)), ValueError),
        (lambda: COOTensor(Tensor([[0, 1]]), coo_tensor=coo()), ValueError),
        (lambda: CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([1.0]), (2, 2)), ValueError),
        (lambda: CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([1.0]), (1, 2, 3)), ValueError),
        (lambda: csr() + coo(), TypeError),
        (lambda: coo() * Tensor([1.0, 2.0]), ValueError),
        (lambda: csr().mv(Tensor([1.0])), ValueError),
        (lambda: csr().mm(Tensor(WIDE)), ValueError),
        (lambda: csr().sum(2), ValueError),
        (lambda: ops.csr_abs(coo()), TypeError),
        (lambda: ops.coo_concat((coo(), coo(OTHER[:, :2]))), ValueError),
    ],
)
def test_what_is_no_sparse_matrix_is_refused(refused, error):
    with pytest.raises(error):
        refused()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concatenated_elements_are_in_the_order_of_their_indices(axis):
    first = COOTensor(Tensor([[1, 2], [0, 1]]), Tensor([1, 2], ms.int32), (3, 4))
    second = COOTensor(Tensor([[1, 1], [0, 0]]), Tensor([3, 4], ms.int32), (3, 4))
    joined = ops.coo_concat((first, second), axis)
    indices = joined.indices.asnumpy().tolist()
    assert indices == sorted(indices) and joined.indices.dtype == ms.int64
    assert joined.values.asnumpy().tolist() == ([2, 1, 4, 3] if axis == 0 else [2, 4, 1, 3])


@BOTH_MODES
def test_the_layer_sparse_to_dense_takes_a_coo_tensor(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.to_dense = nn.SparseToDense()

        def construct(self, indices, values):
            return self.to_dense(COOTensor(indices, values, (3, 4)))

    context.set_context(mode=mode)
    result = Net()(Tensor([[0, 1], [1, 2]]), Tensor([1, 2], ms.int32))
    assert result.asnumpy().tolist() == [[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]]
    with pytest.raises(TypeError, match="SparseTensor or a COOTensor"):
        nn.SparseToDense()(Tensor([1]))
