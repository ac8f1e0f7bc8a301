"""Tensor's methods in place: `x.add_(y)` gives `x` the values of `x + y`, in both modes, and gradients see it."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, ops

A = np.array([[1.0, 5.0, 2.0], [7.0, 0.5, 3.0]], np.float32)
ROWS = Tensor([1, 0], ms.int32)


def put(x, index, values):
    x = x.copy()
    x[index] = values
    return x


CALLS = [
    (lambda x: x.add_(2), A + 2),
    (lambda x: x.add_(x, alpha=2), 3 * A),
    (lambda x: x.div_(2), A / 2),
    (lambda x: x.floor_divide_(2), A // 2),
    (lambda x: x.floor_(), np.floor(A)),
    (lambda x: x.exp_(), np.exp(A)),
    (lambda x: x.log_(), np.log(A)),
    (lambda x: x.clamp_(1, 3), A.clip(1, 3)),
    (lambda x: x.fill_(4), np.full_like(A, 4)),
    (lambda x: x.fill_diagonal_(9), put(A, ([0, 1], [0, 1]), 9)),
    (lambda x: x.copy_(Tensor([1, 2, 3], ms.int32)), np.broadcast_to(np.float32([1, 2, 3]), A.shape)),
    (lambda x: x.addmm_(Tensor(A[:, :2]), Tensor(A)), A + A[:, :2] @ A),
    (lambda x: x.index_add_(0, ROWS, Tensor(A), alpha=2), A + 2 * A[::-1]),
    (lambda x: x.index_copy_(0, ROWS, Tensor(A)), A[::-1]),
    (lambda x: x.index_fill_(1, ROWS, 9.0), put(A, (slice(None), [0, 1]), 9)),
    (lambda x: x.index_put_((ROWS, ROWS), Tensor([8.0, 9.0])), put(A, ([1, 0], [1, 0]), [8, 9])),
    (lambda x: x.index_put_((ROWS, ROWS), Tensor([8.0, 9.0]), True), A + put(0 * A, ([1, 0], [1, 0]), [8, 9])),
]


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize("call, want", CALLS)
def test_a_method_in_place_writes_the_tensor_and_returns_it(call, want, mode):
    context.set_context(mode=mode)

    def written(x):
        y = x + 0
        call(y)
        return y

    got = ms.jit(written)(Tensor(A)) if mode == context.GRAPH_MODE else written(Tensor(A))
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-5)
    assert got.dtype == ms.float32
    x = Tensor(A)
    assert call(x) is x


def test_a_gradient_goes_through_what_was_written():
    def f(x):
        y = x * 1
        y.exp_()
        return y.sum()

    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        np.testing.assert_allclose(ms.grad(f)(Tensor(A)).asnumpy(), np.exp(A), rtol=1e-5)


def test_what_does_not_fit_in_place_is_refused():
    with pytest.raises(ValueError, match="add_"):
        Tensor(A[0]).add_(Tensor(A))
    with pytest.raises(TypeError, match="'generator' should be a Generator or None, but got int"):
        Tensor(A).bernoulli_(0.5, generator=1)
    with pytest.raises(ValueError, match="lambd"):
        Tensor(A).exponential_(0)


def test_random_numbers_in_place_are_distributed_as_asked():
    ms.set_seed(3)
    x = ops.zeros((4000,), ms.float32)
    assert x.bernoulli_(0.25).asnumpy().mean() == pytest.approx(0.25, abs=0.05)
    assert x.exponential_(2).asnumpy().mean() == pytest.approx(0.5, rel=0.1)
    assert set(ops.bernoulli(x, 0.5).asnumpy()) == {0.0, 1.0}
    assert ops.bernoulli(x, Tensor(1.0)).asnumpy().min() == 1
    hard = ops.gumbel_softmax(ops.zeros((500, 4), ms.float32), hard=True).asnumpy()
    assert np.array_equal(hard.sum(1), np.ones(500)) and hard.mean(0) == pytest.approx(0.25, abs=0.1)
    soft = ops.gumbel_softmax(ops.zeros((500, 4), ms.float32), 0.5)
    np.testing.assert_allclose(soft.asnumpy().sum(1), 1, rtol=1e-5)


def test_eigenvectors_keep_their_direction():
    matrix = np.array([[4.0, 1.0], [2.0, 3.0]], np.float32)
    values, vectors = ops.eig(Tensor(matrix))
    np.testing.assert_allclose(matrix @ vectors.asnumpy(), vectors.asnumpy() * values.asnumpy(), atol=1e-5)
    assert sorted(ops.eigvals(Tensor(matrix)).asnumpy().real) == pytest.approx([2, 5], rel=1e-5)
