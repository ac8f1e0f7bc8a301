"""`mindspore.scipy.linalg` beside scipy itself, in both modes."""

import numpy as np
import pytest
from scipy import linalg as by_scipy

import msnb as ms
from msnb import Tensor, context
from msnb.scipy import linalg

R = np.random.default_rng(3)
SQUARE, TALL, B = R.normal(size=(3, 3)), R.normal(size=(4, 3)), R.normal(size=3)
POSITIVE = SQUARE @ SQUARE.T + np.eye(3)
ONE = Tensor([[1.0]], ms.float32)
CALLS = {
    "inv": (SQUARE,),
    "det": (SQUARE,),
    "cholesky": (POSITIVE,),
    "cholesky lower": (POSITIVE, True),
    "eigh": (POSITIVE, None, False, True),
    "lu_factor": (SQUARE,),
    "lu": (SQUARE,),
    "lu permuted": (TALL, True),
    "solve_triangular": (POSITIVE, B),
    "solve_triangular transposed": (POSITIVE, B, 1, True, True),
    "lstsq": (TALL, R.normal(size=(4, 2))),
    "block_diag": (SQUARE, TALL, B),
}


def tensors(values):
    return [Tensor(v.astype(np.float32)) if isinstance(v, np.ndarray) else v for v in values]


def arrays(out):
    return [x.asnumpy() for x in (out if isinstance(out, tuple) else (out,))]


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
@pytest.mark.parametrize("call", CALLS)
def test_a_function_gives_what_scipy_gives(mode, call):
    context.set_context(mode=mode)
    name = call.split()[0]
    given = CALLS[call]
    keywords = {"eigvals_only": True, "lower": False} if name == "eigh" else None
    want = by_scipy.eigh(given[0], **keywords) if keywords else getattr(by_scipy, name)(*given)
    function = getattr(linalg, name)
    found = arrays(ms.jit(lambda: function(*tensors(given)))())
    wanted = want if isinstance(want, tuple) else (want,)
    assert len(found) == len(wanted)
    for got, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=2e-4, atol=2e-4)


def test_what_was_factored_solves():
    a, b = tensors((POSITIVE, B))
    want = by_scipy.solve(POSITIVE, B)
    for found in (
        linalg.cho_solve(linalg.cho_factor(a), b),
        linalg.cho_solve(linalg.cho_factor(a, lower=True), b),
        linalg.lu_solve(linalg.lu_factor(a), b),
    ):
        np.testing.assert_allclose(found.asnumpy(), want, rtol=2e-4, atol=2e-4)


def test_whole_numbers_count_as_float64_and_gradients_are_those_of_the_operators():
    assert linalg.inv(Tensor([[1, 2], [3, 4]])).dtype == ms.float64
    (x,) = tensors((POSITIVE,))
    slope = ms.grad(lambda x: linalg.det(x))(x).asnumpy()
    np.testing.assert_allclose(slope, np.linalg.det(POSITIVE) * np.linalg.inv(POSITIVE).T, rtol=1e-3)


@pytest.mark.parametrize(
    "error, call",
    [
        (ValueError, lambda: linalg.inv(Tensor([[1.0, 2.0, 3.0]]))),
        (ValueError, lambda: linalg.cholesky(Tensor([[[1.0]]]))),
        (ValueError, lambda: linalg.eigh(ONE, ONE)),
        (ValueError, lambda: linalg.eigh(ONE, eigvals=(0, 1))),
        (TypeError, lambda: linalg.eigh(ONE, ONE, turbo=None)),
        (TypeError, lambda: linalg.eigh(Tensor([[1.0]], ms.float16))),
        (TypeError, lambda: linalg.det(Tensor([[1.0]], ms.complex64))),
        (TypeError, lambda: linalg.lu([[1.0]])),
        (NotImplementedError, lambda: linalg.lstsq(ONE, ONE, driver="gelsd")),
        (ValueError, lambda: linalg.solve_triangular(ONE, ONE, trans="X")),
        (TypeError, lambda: linalg.solve_triangular(ONE, ONE, trans=1.0)),
        (TypeError, lambda: linalg.solve_triangular(ONE, [1.0])),
    ],
)
def test_what_does_not_fit_is_said(error, call):
    with pytest.raises(error, match="For '"):
        call()
