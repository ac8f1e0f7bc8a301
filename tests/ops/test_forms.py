"""Functional forms, operators on Python values, and refusals with MindSpore's error classes."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, ops
from msnb.ops import composite as C
from msnb.ops import functional as F
from msnb.ops import operations as P

A = np.array([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]], np.float32)
X = Tensor(A)


@pytest.mark.parametrize(
    "got, want",
    [
        (lambda: F.tensor_add(X, X), A + A),
        (lambda: F.reshape(X, (3, 2)), A.reshape(3, 2)),
        (lambda: F.cast(X, ms.int32), A.astype(int)),
        (lambda: F.fill(ms.float32, (2,), 3), [3, 3]),
        (lambda: F.tile(X, (1, 2)), np.tile(A, (1, 2))),
        (lambda: F.stack((X, X)), np.stack([A, A])),
        (lambda: F.select(X > 2, X, X * 0), np.where(A > 2, A, 0)),
        (lambda: F.addn((X, X)), 2 * A),
        (lambda: F.sqrt(X), np.sqrt(A)),
        (lambda: F.gather(X, Tensor([1], ms.int32), 0), A[[1]]),
        (lambda: F.tuple_to_array((1, 2)), [1, 2]),
        (lambda: F.scalar_to_array(2.5), 2.5),
        (lambda: F.expand_dims(X, 0), A[None]),
        (lambda: ops.concat((X, X), 1), np.hstack([A, A])),
        (lambda: ops.sum(X, 1), A.sum(1)),
        (lambda: ops.mean(X, 0, True), A.mean(0, keepdims=True)),
        (lambda: ops.max(X, 1)[0], A.max(1)),
        (lambda: ops.amin(X, 0), A.min(0)),
        (lambda: ops.arange(1, 6, 2), [1, 3, 5]),
        (lambda: ops.full((2,), 2.0), [2, 2]),
        (lambda: ops.eye(2), np.eye(2)),
        (lambda: ops.ones((2, 1)), np.ones((2, 1))),
        (lambda: ops.zeros_like(X), 0 * A),
        (lambda: ops.linspace(0, 1, 3), [0, 0.5, 1]),
        (lambda: ops.where(X > 2, X, 0), np.where(A > 2, A, 0)),
        (lambda: ops.einsum("ij,kj->ik", X, X), A @ A.T),
        (lambda: ops.outer(X[0], X[1]), np.outer(A[0], A[1])),
        (lambda: ops.matmul(X, Tensor(np.ones((3, 2), np.float32))), A @ np.ones((3, 2))),
        (lambda: ops.dot(X, X[0]), A @ A[0]),
        (lambda: ops.clamp(X, 2, 4), A.clip(2, 4)),
        (lambda: ops.roll(X, 1, 1), np.roll(A, 1, 1)),
        (lambda: ops.norm(X, dim=1), np.linalg.norm(A, axis=1)),
        (lambda: ops.logsumexp(X, 1), np.log(np.exp(A).sum(1))),
        (lambda: C.count_nonzero(X), 6),
        (lambda: C.tensor_dot(X, X, ((1,), (1,))), A @ A.T),
        (lambda: C.repeat_elements(X, 2, 1), A.repeat(2, 1)),
        (lambda: C.sequence_mask(Tensor([1, 2], ms.int32), 3), [[True, False, False], [True, True, False]]),
        (lambda: ops.split(X, [1, 2], 1)[1], A[:, 1:]),
        (lambda: ops.repeat_interleave(X, 2, 0), A.repeat(2, 0)),
        (lambda: ops.unique(Tensor([3, 1, 3]))[0], [3, 1]),
        (lambda: ops.div(X, 2, rounding_mode="floor"), A // 2),
        (lambda: ops.bincount(Tensor([0, 2, 2])), [1, 0, 2]),
        (lambda: ops.meshgrid(X[0], X[1])[0], np.meshgrid(A[0], A[1])[0]),
        (lambda: F.mixed_precision_cast(ms.float16, (X, 1))[0], A),
        (lambda: ops.masked_select(X, X > 3), A[A > 3]),
    ],
    ids=lambda value: "" if callable(value) and not isinstance(value, type) else None,
)
def test_a_functional_form_gives_what_numpy_gives(got, want):
    np.testing.assert_allclose(got().asnumpy(), want, rtol=1e-6)


def test_shapes_types_and_scalars_are_python_values():
    assert F.shape(X) == (2, 3) and F.rank(X) == 2 and F.size(X) == 6 and F.dtype(X) == ms.float32
    assert F.scalar_add(1, 2) == 3 and F.scalar_cast(2.7, ms.int32) == 2 and F.make_range(3) == (0, 1, 2)
    assert F.tuple_setitem((1, 2), 0, 5) == (5, 2) and F.broadcast_gradient_args((2, 1), (2, 3)) == ((1,), ())
    assert (
        P.InvertPermutation()((2, 0, 1)) == (1, 2, 0) and F.isinstance_(1, ms.int_) and F.issubclass_(ms.int8, ms.int_)
    )
    assert F.typeof(X).element_type() == ms.float32 and F.depend(X, None) is X and ops.identity(X) is X


@pytest.mark.parametrize(
    "call, error, word",
    [
        (lambda: P.Add()(A, X), TypeError, "numpy"),
        (lambda: F.env_add(1, 2), NotImplementedError, "env_add"),
    ],
    ids=["numpy", "env_add"],
)
def test_what_no_row_can_be_given_is_refused_with_the_operators_name(call, error, word):
    with pytest.raises(error, match=word):
        call()


def test_a_failed_assignment_leaves_the_parameter_as_it_was():
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    with pytest.raises(ValueError):
        P.Assign()(w, Tensor([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError):
        P.ScatterAdd()(w, Tensor([0.5]), Tensor([1.0]))
    assert w.asnumpy().tolist() == [1.0, 2.0]


def test_half_precision_updates_are_widened_and_wide_ones_refused():
    w = Parameter(Tensor([1.0, 2.0], ms.float32), name="w")
    P.ScatterUpdate()(w, Tensor([0], ms.int32), Tensor([5.0], ms.float16))
    assert w.asnumpy().tolist() == [5.0, 2.0]
    half = Parameter(Tensor([1.0], ms.float16), name="half")
    with pytest.raises(TypeError):
        P.Assign()(half, Tensor([1.0], ms.float32))


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
def test_products_of_segments_have_a_gradient_even_with_zeros(mode):
    context.set_context(mode=mode)
    ids = Tensor([0, 0, 1, 1, 1], ms.int32)
    grad = ops.GradOperation()(lambda x: P.UnsortedSegmentProd()(x, ids, 2).sum())(Tensor([2.0, 3.0, 0.0, 4.0, 5.0]))
    assert grad.asnumpy().tolist() == [3.0, 2.0, 20.0, 0.0, 0.0]


def test_a_constexpr_function_runs_as_plain_python():
    @ops.constexpr
    def halves(shape):
        return tuple(n // 2 for n in shape)

    assert halves((4, 6)) == (2, 3)


def test_keywords_of_mindspore_1_8_to_2_2_are_taken():
    x = Tensor(np.arange(24.0).reshape(1, 2, 3, 4), ms.float32)
    pairs = [
        (ops.split(input_x=x, axis=1, output_num=2)[1], ops.split(x, 1, axis=1)[1]),
        (ops.logsumexp(x, axis=1, keep_dims=True), ops.logsumexp(x, 1, True)),
        (ops.norm(x, axis=1, keep_dims=True), ops.norm(x, dim=1, keepdim=True)),
        (ops.argmax(x, axis=1), ops.argmax(x, 1)),
        (ops.max(x, axis=1, keep_dims=True)[0], ops.max(x, 1, True)[0]),
        (ops.min(x, axis=1, keep_dims=True)[1], ops.min(x, 1, True)[1]),
        (
            ops.interpolate(x, sizes=(5, 7), coordinate_transformation_mode="half_pixel", mode="bilinear"),
            ops.interpolate(x, (5, 7), mode="bilinear"),
        ),
        (
            ops.interpolate(x, roi=None, scales=(1.0, 1.0, 2.0, 2.0), mode="bilinear"),
            ops.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
        ),
    ]
    for older, newer in pairs:
        assert older.shape == newer.shape and (older.asnumpy() == newer.asnumpy()).all()
    with pytest.raises(ValueError, match="have no form here"):
        ops.interpolate(x, sizes=(2, 2), coordinate_transformation_mode="asymmetric")
    with pytest.raises(ValueError, match="3 equal pieces"):
        ops.split(x, axis=3, output_num=3)
