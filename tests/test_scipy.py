"""`mindspore.scipy.linalg` beside scipy itself, in both modes, and `mindspore.scipy.optimize`."""

import numpy as np
import pytest
from scipy import linalg as by_scipy

import msnb as ms
from msnb import Tensor, context
from msnb.scipy import linalg, optimize

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
    result = arrays(ms.jit(lambda: function(*tensors(given)))())
    expected = want if isinstance(want, tuple) else (want,)
    assert len(result) == len(expected)
    for got, right in zip(result, expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=2e-4, atol=2e-4)


def test_what_was_factored_solves():
    a, b = tensors((POSITIVE, B))
    want = by_scipy.solve(POSITIVE, B)
    for result in (
        linalg.cho_solve(linalg.cho_factor(a), b),
        linalg.cho_solve(linalg.cho_factor(a, lower=True), b),
        linalg.lu_solve(linalg.lu_factor(a), b),
    ):
        np.testing.assert_allclose(result.asnumpy(), want, rtol=2e-4, atol=2e-4)


def test_integers_count_as_float64_and_gradients_are_those_of_the_operators():
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


def rosenbrock(x, scale=100.0):
    return (scale * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@pytest.mark.parametrize("method", ["BFGS", "lbfgs"])
@pytest.mark.parametrize("jac", [None, ms.grad(rosenbrock)], ids=["own gradient", "gradient of the function"])
def test_a_minimum_is_where_the_gradient_vanishes(method, jac):
    start = Tensor(np.zeros(3))
    result = optimize.minimize(rosenbrock, start, (50.0,), method, jac, options={"gtol": 1e-6, "maxiter": 100})
    assert result.success and result.status == 0 and result.x.dtype == ms.float64
    np.testing.assert_allclose(result.x.asnumpy(), 1, atol=1e-5)
    assert abs(result.jac.asnumpy()).max() <= 1e-6 and (result.hess_inv is None) == (method == "lbfgs")
    assert result.fun < 1e-10 and result.nfev >= result.nit > 5


def test_a_minimum_keeps_the_element_type_and_stops_at_the_last_iteration():
    result = optimize.minimize(rosenbrock, Tensor(np.zeros(3, np.float32)), method="bfgs", options={"maxiter": 2})
    assert result.x.dtype == ms.float32 and not result.success and result.nit == 2


@pytest.mark.parametrize(
    "error, words, arguments",
    [
        (ValueError, "'BFGS' or 'LBFGS'", {"method": "newton"}),
        (ValueError, "is needed", {}),
        (NotImplementedError, "constraints", {"method": "lagrange"}),
        (TypeError, "history_size", {"method": "bfgs", "options": {"history_size": 3}}),
        (TypeError, "unexpected", {"method": "bfgs", "options": {"steps": 3}}),
        (ValueError, "one axis", {"method": "bfgs", "x0": Tensor(np.zeros((2, 2)))}),
        (TypeError, "floats", {"method": "bfgs", "x0": Tensor([1, 2])}),
    ],
)
def test_a_search_for_a_minimum_says_what_is_wrong(error, words, arguments):
    with pytest.raises(error, match=words):
        optimize.minimize(rosenbrock, **{"x0": Tensor(np.zeros(3)), **arguments})


def test_a_graph_has_no_values_to_search_a_minimum():
    with pytest.raises(RuntimeError, match="outside a graph"):
        ms.jit(lambda x: optimize.minimize(rosenbrock, x, method="BFGS").x)(Tensor(np.zeros(2)))
    with pytest.raises(RuntimeError, match="outside a graph"):
        ms.jit(lambda x: optimize.linear_sum_assignment(x, False))(Tensor(np.eye(2)))


def test_a_step_satisfies_the_conditions_of_wolfe():
    def bowl(x):
        return (x * x).sum()

    x, direction = Tensor([1.8, 1.7]), Tensor([-1.0, -1.0])
    result = optimize.line_search(bowl, x, direction)  # MindSpore 2.7.1: 1.0, 1.13, [1.6, 1.4]
    assert not result.failed and result.a_k == 1 and abs(result.f_k - 1.13) < 1e-6
    np.testing.assert_allclose(result.g_k.asnumpy(), [1.6, 1.4], atol=1e-6)
    assert result.status == 0
    result = optimize.line_search(bowl, x, -direction)
    assert result.failed and result.status == 1


def test_a_search_without_a_step_returns_the_first_length_and_the_values_at_the_start():
    result = optimize.line_search(lambda x: x[0] ** 2 - x[1] ** 3, Tensor([1.0, 1.0]), Tensor([-1.0, -1.0]))
    assert result.failed and (result.a_k, result.f_k, result.status) == (1.0, 0.0, 1)  # as in MindSpore 2.7.1
    assert result.g_k.asnumpy().tolist() == [2, -3]


COSTS = np.array([[4, 1, 3], [2, 0, 5], [3, 2, 2.0]])


@pytest.mark.parametrize(
    "costs, most, limit, rows, columns",  # results of MindSpore 2.7.1
    [
        (COSTS, False, None, [0, 1, 2], [1, 0, 2]),
        (COSTS, False, Tensor(2), [0, 1, -1], [1, 0, -1]),
        (COSTS[:2], True, None, [0, 1], [0, 2]),
    ],
)
def test_columns_are_assigned_to_rows(costs, most, limit, rows, columns):
    pair = optimize.linear_sum_assignment(Tensor(costs), most, limit)
    assert [t.asnumpy().tolist() for t in pair] == [rows, columns] and pair[0].dtype == ms.int64


def test_an_assignment_says_what_is_wrong():
    for error, arguments in ((TypeError, (COSTS, True)), (ValueError, (Tensor([1.0]), True)), (TypeError, (ONE, 1))):
        with pytest.raises(error):
            optimize.linear_sum_assignment(*arguments)
