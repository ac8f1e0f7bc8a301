"""Tensor methods and operators: numpy's meaning, MindSpore's element types."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, ops

A = np.array([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]], np.float32)
I = A.astype(np.int32)
B = np.array([[True, False], [True, True]])


def check(got, want, dtype=None):
    want = np.asarray(want)
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)
    assert got.shape == want.shape
    if dtype is not None:
        assert got.dtype == dtype


METHODS = [
    (lambda x: x.sum(), A.sum()),
    (lambda x: x.sum(1), A.sum(1)),
    (lambda x: x.sum(axis=0, keepdims=True), A.sum(0, keepdims=True)),
    (lambda x: x.mean(), A.mean()),
    (lambda x: x.mean(1, True), A.mean(1, keepdims=True)),
    (lambda x: x.prod(), A.prod()),
    (lambda x: x.max(), A.max()),
    (lambda x: x.max(axis=1), A.max(1)),
    (lambda x: x.min(axis=0, keepdims=True), A.min(0, keepdims=True)),
    (lambda x: x.std(), A.std()),
    (lambda x: x.var(1), A.var(1)),
    (lambda x: x.std(0, 1), A.std(0, ddof=1)),
    (lambda x: x.argmax(), A.argmax()),
    (lambda x: x.argmin(1), A.argmin(1)),
    (lambda x: x.cumsum(0), A.cumsum(0)),
    (lambda x: x.cumsum(), A.cumsum()),
    (lambda x: x.reshape(3, 2), A.reshape(3, 2)),
    (lambda x: x.reshape((3, -1)), A.reshape(3, 2)),
    (lambda x: x.view(-1), A.reshape(-1)),
    (lambda x: x.transpose(), A.T),
    (lambda x: x.transpose(1, 0), A.T),
    (lambda x: x.T, A.T),
    (lambda x: x.permute(1, 0), A.T),
    (lambda x: x.swapaxes(0, 1), A.T),
    (lambda x: x.flatten(), A.flatten()),
    (lambda x: x.flatten("F"), A.flatten("F")),
    (lambda x: x.ravel(), A.ravel()),
    (lambda x: x.expand_dims(0), A[None]),
    (lambda x: x.unsqueeze(-1), A[..., None]),
    (lambda x: x.expand_dims(1).squeeze(1), A),
    (lambda x: x.broadcast_to((2, 2, 3)), np.broadcast_to(A, (2, 2, 3))),
    (lambda x: x[0].expand_as(x), np.broadcast_to(A[0], A.shape)),
    (lambda x: x.repeat(2), A.repeat(2)),
    (lambda x: x.repeat(2, 0), A.repeat(2, 0)),
    (lambda x: x.tile((2, 1)), np.tile(A, (2, 1))),
    (lambda x: x.take(Tensor([0, 5])), A.take([0, 5])),
    (lambda x: x.take(Tensor([0, 2]), 1), A.take([0, 2], 1)),
    (lambda x: x.abs(), abs(A)),
    (lambda x: x.sqrt(), np.sqrt(A)),
    (lambda x: x.exp(), np.exp(A)),
    (lambda x: x.clip(2, 4), A.clip(2, 4)),
    (lambda x: x.ptp(1), np.ptp(A, 1)),
    (lambda x: x.copy(), A),
    (lambda x: x.matmul(x.T), A @ A.T),
    (lambda x: x @ x.T, A @ A.T),
    (lambda x: x.sort()[0], np.sort(A)),
    (lambda x: x.argsort(), np.argsort(A)),
    (lambda x: x.gather(Tensor([1, 0]), 0), A[[1, 0]]),
    (lambda x: x.index_select(1, Tensor([2])), A[:, [2]]),
    (lambda x: x.masked_fill(x > 3, 0.0), np.where(A > 3, 0, A)),
    (lambda x: x.masked_select(x > 3), A[A > 3]),
    (lambda x: x.nonzero(), np.argwhere(A)),
    (lambda x: x.where(x > 3, 0.0), np.where(A > 3, A, 0)),
    (lambda x: x.split(2, 1)[1], A[:, 2:]),
    (lambda x: x.chunk(2, 1)[0], A[:, :2]),
    (lambda x: x.unbind(1)[2], A[:, 2]),
    (lambda x: x.trace(), A.trace()),
    (lambda x: x.diagonal(), A.diagonal()),
    (lambda x: x.norm(), np.linalg.norm(A)),
    (lambda x: x.flip(1), A[:, ::-1]),
    (lambda x: x.roll(1, 0), np.roll(A, 1, 0)),
    (lambda x: x.resize(2, 2), A.ravel()[:4].reshape(2, 2)),
    (lambda x: x.fill(3.0), np.full_like(A, 3)),
    (lambda x: x.all(), True),
    (lambda x: (x > 5).any(1), (A > 5).any(1)),
    (lambda x: x.pow(2), A**2),
    (lambda x: x.tril(), np.tril(A)),
]


@pytest.mark.parametrize("method, want", METHODS)
def test_a_method_gives_what_numpy_gives(method, want):
    check(method(Tensor(A)), want)


OPERATORS = [
    (lambda x: x + 1, A + 1),
    (lambda x: 1 - x, 1 - A),
    (lambda x: x * 2.5, A * 2.5),
    (lambda x: 2 / x, 2 / A),
    (lambda x: x / 2, A / 2),
    (lambda x: x // 2, A // 2),
    (lambda x: 7 // x, 7 // A),
    (lambda x: -x % 4, -A % 4),
    (lambda x: 7 % x, 7 % A),
    (lambda x: x**2, A**2),
    (lambda x: 2**x, 2**A),
    (lambda x: -x, -A),
    (lambda x: +x, A),
    (lambda x: abs(-x), A),
    (lambda x: x > 3, A > 3),
    (lambda x: 3 >= x, A <= 3),
    (lambda x: x == 3, A == 3),
    (lambda x: x != x, A != A),
    (lambda x: (x > 2) & (x < 5), (A > 2) & (A < 5)),
    (lambda x: (x > 5) | (x < 2), (A > 5) | (A < 2)),
    (lambda x: ~(x > 2), ~(A > 2)),
]


@pytest.mark.parametrize("operation, want", OPERATORS)
def test_an_operator_gives_what_python_says(operation, want):
    check(operation(Tensor(A)), want)


@pytest.mark.parametrize(
    "operation, dtype",
    [
        (lambda: Tensor(I) / 2, ms.float32),
        (lambda: Tensor(I) / Tensor(I), ms.float32),
        (lambda: Tensor(I) + 1.5, ms.float32),
        (lambda: Tensor(I) // 2, ms.int32),
        (lambda: Tensor(B) + 1, ms.int64),
        (lambda: Tensor(A.astype(np.float16)) * 1.5, ms.float16),
        (lambda: Tensor(I).sum(), ms.int64),
        (lambda: Tensor(B).sum(), ms.int64),
        (lambda: Tensor(I).mean(), ms.int32),
        (lambda: Tensor(I).argmax(), ms.int64),
        (lambda: Tensor(I).std(), ms.float32),
        (lambda: Tensor(I).cumsum(0), ms.int32),
        (lambda: Tensor(I).prod(), ms.int64),
        (lambda: ops.tensor_div(Tensor(I), Tensor(I)), ms.int32),
        (lambda: Tensor(I).float(), ms.float32),
        (lambda: Tensor(A).astype(ms.int8), ms.int8),
        (lambda: Tensor(A).astype("int64"), ms.int64),
        (lambda: Tensor(A).astype(np.float16), ms.float16),
        (lambda: Tensor(I).half(), ms.float16),
        (lambda: Tensor(I) ** -1, ms.int32),
    ],
)
def test_an_element_type_is_mindspores(operation, dtype):
    assert operation().dtype == dtype


def test_equality_with_something_else_is_plain_false():
    x = Tensor(A)
    assert (x == None) is False  # noqa: E711
    assert (x == "a") is False
    assert (x != "a") is True


def test_unsigned_integers_do_not_mix():
    with pytest.raises(TypeError, match="Add"):
        Tensor([1], ms.uint16) + Tensor([1], ms.int32)


def test_shapes_that_do_not_broadcast_are_named():
    with pytest.raises(ValueError, match=r"Add.*\(2, 3\).*\(2, 2\)"):
        Tensor(A) + Tensor(B.astype(np.float32))


def test_an_item_is_a_python_number():
    x = Tensor(A)
    assert x.item((1, 2)) == 6.0 and isinstance(x.item(0), float)
    assert Tensor(3).item() == 3
    with pytest.raises(ValueError):
        x.item()


def test_itemset_gives_a_copy_with_one_other_element():
    x = Tensor(A)
    assert x.itemset((0, 1), 9).itemset(5, 8).asnumpy().tolist() == [[1, 9, 3], [4, 2, 8]]
    assert x.asnumpy().tolist() == A.tolist()


def test_maximum_with_indices_and_by_dim():
    value, index = Tensor(A).max(axis=1, return_indices=True)
    check(value, [5, 6])
    check(index, [1, 2], ms.int64)
    assert isinstance(Tensor(A).max(dim=1), tuple)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.view(),
        lambda x: x.reshape(4, 2),
        lambda x: x.squeeze(0),
        lambda x: x.max(axis=3),
        lambda x: x.transpose(0, 0),
        lambda x: x @ x,
        lambda x: x.flatten("K"),
    ],
)
def test_wrong_shapes_and_axes_are_refused(call):
    with pytest.raises(ValueError):
        call(Tensor(A))
