"""The functions of mindspore.numpy that compute: numpy's values and shapes, on several shapes and element types.

Elementwise functions are recognised by their signature: one operand and `dtype`, or two operands.
"""

import functools
import inspect
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from np_face.arrays import DRAWN

import msnb
from msnb import Tensor, ops
from msnb import numpy as mnp

SHAPES = ((), (3,), (2, 3))
PAIRS = (((), (3,)), ((2, 3), (2, 3)), ((2, 1), (3,)))
TYPES = ("bool", "int32", "float16", "float32")
RANGES = {  # where numpy has a number to give
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), (-0.9, 0.9)),
    **dict.fromkeys(("log", "log2", "log10", "log1p", "sqrt", "cbrt", "reciprocal"), (0.3, 4.0)),
    "arccosh": (1.1, 4.0),
    **dict.fromkeys(("power", "float_power"), (1.0, 3.0)),
    **dict.fromkeys(("divide", "true_divide", "floor_divide", "remainder", "mod", "fmod", "divmod"), (1.0, 9.0)),
}
INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "bitwise_not", "gcd", "lcm")
NO_BOOL = ("reciprocal", "negative", "positive", "subtract", "sign", "floor_divide", "remainder", "mod", "fmod")
NO_BOOL += ("divmod", "gcd", "lcm", "copysign")  # numpy refuses them, or gives int8

drawn = settings(
    max_examples=DRAWN, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def elementwise(count):
    """Return the names of functions of `count` operands and `dtype`."""
    results = []
    for name in mnp.__all__:
        function = getattr(mnp, name)
        if inspect.isfunction(function) and name != "matmul" and hasattr(np, name):
            taken = list(inspect.signature(function).parameters)
            if (
                len(taken) == count + 1
                and taken[-1] == "dtype"
                and taken[0] in ("x", "x1", "a", "input")
                and taken[1] != "axis"
            ):
                results.append(name)
    return results


ONE, TWO = elementwise(1), elementwise(2)


def numbers(name, shape, dtype, seed):
    low, high = RANGES.get(name, (-3.0, 3.0))
    if dtype == "int32":
        low, high = np.ceil(low), max(np.floor(high), np.ceil(low))
        return np.random.default_rng(seed).integers(int(low), int(high) + 1, shape).astype(dtype)
    rng = np.random.default_rng(seed)
    return rng.random(shape) > 0.5 if dtype == "bool" else (low + (high - low) * rng.random(shape)).astype(dtype)


def compare(result, expected, tolerance=None, name=""):
    """One result or several of msnb beside numpy's; `name` says whose they are."""
    if isinstance(expected, (tuple, list)):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            compare(one, other, tolerance, name)
        return
    assert isinstance(result, Tensor) and result.shape == np.shape(expected), name
    if tolerance is None:
        tolerance = 4e-3 if result.dtype == msnb.float16 else 2e-5
    expected = np.asarray(expected)
    if result.dtype in (msnb.int32, msnb.int64) and expected.dtype.kind == "f":
        expected = np.trunc(expected)  # mindspore.numpy keeps integers
    np.testing.assert_allclose(
        np.asarray(result.asnumpy(), expected.dtype), expected, tolerance, tolerance, err_msg=name
    )


def wide(array):
    """Return the inputs of numpy: real numbers in float64, so that it does not round as half precision does."""
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def allowed(name):
    types = ("bool", "int32") if name in INTEGERS else TYPES
    return [t for t in types if not (t == "bool" and name in NO_BOOL) and not (t == "bool" and name in RANGES)]


def test_the_signatures_tell_most_of_what_works_element_by_element():
    assert len(ONE) >= 40 and {"sin", "abs", "logical_not", "arccos"} <= set(ONE)
    assert len(TWO) >= 30 and {"add", "power", "logical_or", "divmod"} <= set(TWO)


def rounds(*lists):
    """Return every item of each list at least once, side by side: a program for each combination takes half a
    minute."""
    return list(zip(range(max(map(len, lists))), *map(itertools.cycle, lists), strict=False))


def draw_rounds(names):
    """Return each function with one round, the next one for the next function, so that functions made alike try all of
    them together; and with each round, which is slow."""
    turns = [pytest.param(name, i) for i, name in enumerate(names)]
    return turns + [pytest.param(name, None, marks=pytest.mark.slow) for name in names]


def select_rounds(rounds, which):
    """Return the rounds that a test takes."""
    return rounds if which is None else rounds[which % len(rounds) :][:1]


@pytest.mark.parametrize("name, which", draw_rounds(ONE))
def test_a_function_of_one_operand_is_numpys(name, which):
    for seed, dtype, shape in select_rounds(rounds(allowed(name), SHAPES), which):
        x = numbers(name, shape, dtype, seed)
        expected = getattr(np, name)(wide(x) if x.dtype != bool or name not in ("exp2",) else x.astype(np.float64))
        compare(getattr(mnp, name)(Tensor(x)), expected, 4e-3 if dtype in ("float16", "bool") else None)


@pytest.mark.parametrize("name, which", draw_rounds(TWO))
def test_a_function_of_two_operands_is_numpys(name, which):
    types = allowed(name)
    meeting = [(t, t) for t in types] + list(zip(types, types[1:]))  # each type with itself, and with the next
    for seed, (first, second), shapes in select_rounds(rounds(meeting, PAIRS), which):
        x, y = numbers(name, shapes[0], first, seed), numbers(name, shapes[1], second, seed + 1)
        if name in ("maximum", "minimum") and x.dtype != y.dtype and not (x.ndim and y.ndim):
            x = x.astype(y.dtype)  # a scalar takes the type of the array that it meets
        coarse = "float16" in (first, second) or "bool" in (first, second)
        if {first, second} == {"float16", "float32"}:
            x, y = x.astype(np.float32), y.astype(np.float32)
        expected = getattr(np, name)(wide(x), wide(y))
        compare(getattr(mnp, name)(Tensor(x), Tensor(y)), expected, 1e-2 if coarse else None)


X = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
W = np.random.default_rng(2).random((3, 4)).astype(np.float32)
N = np.where(X > 1, np.nan, X).astype(np.float32)
axes = st.sampled_from([None, 0, 1, -1, (0, 1)])


@pytest.mark.parametrize("name", ["sum", "mean", "std", "var", "amax", "amin", "max", "min", "ptp", "count_nonzero"])
def test_a_reduction_is_numpys(name):
    @drawn
    @given(axes, st.booleans(), st.sampled_from(["int32", "float32"]))
    def check(axis, keepdims, dtype):
        x = (X * 3).astype(dtype)
        compare(
            getattr(mnp, name)(Tensor(x), axis=axis, keepdims=keepdims), getattr(np, name)(x, axis, keepdims=keepdims)
        )

    check()


@pytest.mark.parametrize("name", ["nansum", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"])
def test_a_reduction_without_nan_is_numpys(name):
    @drawn
    @given(axes, st.booleans())
    def check(axis, keepdims):
        compare(
            getattr(mnp, name)(Tensor(N), axis=axis, keepdims=keepdims), getattr(np, name)(N, axis, keepdims=keepdims)
        )

    check()
    assert name == "nansum" or np.isnan(getattr(mnp, name)([np.nan, np.nan]).asnumpy())


T = Tensor
V = X[0]
CALLS = {  # what it is called with; Tensors for msnb, arrays for numpy
    "cumsum": [(X,), (X, 1)],
    "cumprod": [(X,), (X, 0)],
    "nancumsum": [(N,), (N, 1)],
    "sometrue": [(X > 9,), (X > 0, 0)],
    "average": [(X,), (X, 1, W), (X, 0, [1.0, 2.0, 3.0]), (X, None, W, True)],
    "cov": [(X,), (V,), (X, W), (X, None, False), (X, None, True, True), (X, None, True, False, 0, [1, 2, 3, 1], V**2)],
    "corrcoef": [(X,), (V, X[1]), (X, None, False)],
    "diff": [(X,), (X, 2, 0), (X, 0, -1, None, X), (X, 1, 1, X[:, :1], X), (X, 5)],
    "ediff1d": [(X,), (X, V, V)],
    "gradient": [(X,), (X, 2.0), (X, 2.0, 0.5), (V, 0.5)],
    "trapz": [(X,), (X, V.cumsum()), (X, None, 0.5, 0)],
    "unwrap": [(X * 5,), (X * 5, 4.0, 0)],
    "interp": [(X, [-1.0, 0.0, 1.0], [3.0, 2.0, 5.0]), (X, [-1.0, 0.0, 1.0], [3.0, 2.0, 5.0], 9.0, 8.0)],
    "clip": [(X, -0.5, 0.5), (X, None, V), (X, W, None)],
    "inner": [(X, W), (V, V), (2.0, X)],
    "dot": [(X, W.T), (X, V), (V, V), (2.0, X), (np.ones((2, 3), int), np.ones((2, 3, 2), int))],
    "outer": [(X, V)],
    "kron": [(X, W[:2]), (V, X)],
    "tensordot": [(X, W), (X, W.T, 1), (X, W, ([0], [0])), (X, W, ((1, 0), (1, 0))), (X, W, 0)],
    "matmul": [(X, W.T), (X, V), (V, V), (X, W.reshape(2, 2, 3).transpose(0, 2, 1)[:, :, :1].repeat(4, 1)[:, :4])],
    "cross": [(X[:, :3], W[:, :3]), (X[:, :2], W[:, :3]), (X[:, :2], W[:, :2]), (X, W, 0, 0, 0)],
    "convolve": [(X[0], W[1, :3]), (W[1, :3], V, "same"), (V, W[0], "valid"), ([1, 2], [3, 4, 5])],
    "correlate": [(X[0], W[1, :3]), (W[1, :3], V, "full"), (V, W[0], "same")],
    "polyadd": [([1.0, 2.0, 3.0], [4.0, 5.0]), (2, [1, 2])],
    "polysub": [([1.0, 2.0], [4.0, 5.0, 6.0])],
    "polymul": [([1.0, 2.0, 3.0], [4.0, 5.0]), ([1, 2], [3, 4])],
    "polyval": [([1.0, 2.0, 3.0], X), (V, 2.0)],
    "polyder": [([1, 2, 3, 4],), ([1.0, 2.0, 3.0, 4.0], 2), ([1.0, 2.0], 0)],
    "polyint": [([6.0, 6.0, 6.0],), ([6, 6], 2, [1, 2]), ([6.0], 2, 3.0)],
    "histogram": [(X,), (X, 5, (-1.0, 1.0), W, True), (X, [-2.0, 0.0, 0.5, 3.0]), ([1.0, 1.0],), (X, 4, None, W)],
    "histogram_bin_edges": [(X,), (X, 3, (0.0, 1.0)), ([2.0], 4)],
    "histogram2d": [
        (V, X[1], 3),
        (V, X[1], [2, 3], None, None, True),
        (V, X[1], [[-9.0, 0.0, 9.0], [-9.0, 9.0]], None, W[0]),
    ],
    "digitize": [
        (X, [-1.0, 0.0, 0.5]),
        (X, [0.5, 0.0, -1.0], True),
        ([3, 1, 2], [3, 1, 1, 0]),
        ([3, 1, 2], [3, 1, 1, 0], True),
        (3, [1, 3, 5]),
    ],
    "bincount": [([0, 1, 1, 3],), ([0, 1, 1, 3], [0.5, 1.0, 2.0, 3.0], 6)],
    "isclose": [(X, X + 1e-6), (N, N, 0.1, 0.1, True), (X, 0)],
    "array_equal": [(X, X), (X, V), (N, N), (N, N, True)],
    "array_equiv": [(X, X), (np.ones((2, 3)), np.ones(3)), (X, V[:3])],
    "around": [(X,), (X, 2)],
    "round": [(X * 3,)],
    "fix": [(X * 3,)],
    "isposinf": [([1.0, np.inf, -np.inf, np.nan],)],
    "isneginf": [([1.0, np.inf, -np.inf, np.nan],)],
    "copysign": [(X, -W), (X, [0.0, -0.0, 1.0, -1.0])],
    "signbit": [([0.0, -0.0, 1.0, -np.inf],), ([-1, 0, 1],)],
    "norm": [
        (X,),
        (V, 1),
        (V, np.inf),
        (V, 0),
        (X, "fro"),
        (X, 1),
        (X, -np.inf),
        (X, 2),
        (X, 3, 1, True),
        (X, None, 0),
    ],
    "matrix_power": [(X[:, :3], 0), (X[:, :3], 1), (X[:, :3], 6), (X[:, :3], 7), ([[1, 1], [0, 1]], 5)],
    "multi_dot": [([X, W.T],), ([X, W.T, X, V],), ([V, X.T, W, X.T],)],
}
ELSEWHERE = {"norm": np.linalg.norm, "matrix_power": np.linalg.matrix_power, "multi_dot": np.linalg.multi_dot}
KEYWORDS = {  # numpy has them in another order, or by name alone; those of MindSpore behind the first one
    "cov": ("y", "rowvar", "bias", "ddof", "fweights", "aweights"),
    "corrcoef": ("y", "rowvar"),
    "average": ("axis", "weights", "returned"),
    "histogram": ("bins", "range", "weights", "density"),
    "histogram2d": ("y", "bins", "range", "weights", "density"),
}
ELSEWHERE |= {"trapz": np.trapezoid, "sometrue": np.any}


def crossed(a, b, *axes):
    """numpy's cross product; vectors of two numbers, which numpy 2.5 no longer takes, have a third that is 0."""
    if a.shape[-1] == b.shape[-1] == 2:
        return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return np.cross(np.pad(a, ((0, 0), (0, 1))) if a.shape[-1] == 2 else a, b, *axes)


ELSEWHERE["cross"] = crossed


def tensors(value):
    if isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value):
        return [tensors(v) for v in value]
    return T(value) if isinstance(value, np.ndarray) else value


def at_the_ends(calls):
    """Return a function with the first and the last of its calls, and with those between, which are slow."""
    ends = [pytest.param(name, slice(None, None, max(len(of) - 1, 1)), id=name) for name, of in calls.items()]
    between = [(name, slice(1, -1)) for name, of in calls.items() if len(of) > 2]
    return ends + [pytest.param(*case, id=f"{case[0]}, further", marks=pytest.mark.slow) for case in between]


@pytest.mark.filterwarnings("ignore")  # numpy's, about what it has other names for
@pytest.mark.parametrize(("name", "which"), at_the_ends(CALLS))
def test_a_call_is_numpys(name, which):
    for args in CALLS[name][which]:
        theirs = ELSEWHERE.get(name) or getattr(np, name)
        if name in KEYWORDS:
            expected = theirs(args[0], **dict(zip(KEYWORDS[name], args[1:], strict=False)))
        else:
            expected = theirs(*args)
        compare(getattr(mnp, name)(*map(tensors, args)), expected, 1e-4)


def test_histograms_of_several_dimensions_are_numpys():
    for args in ((3,), ([2, 3, 2, 2],), (2, [(-1, 1), None, None, (0, 2)], np.array([1.0, 2.0, 3.0]), True)):
        (result, edges), (counts, ends) = (
            mnp.histogramdd(T(X), *map(tensors, args)),
            np.histogramdd(X, args[0], *args[1:2]),
        )
        if len(args) > 2:
            counts, ends = np.histogramdd(X, args[0], args[1], weights=args[2], density=args[3])
        compare([result, *edges], [counts, *ends], 1e-4)


def test_what_takes_part_in_an_extreme_is_said():
    masked = np.where(X > 0, X, -0.5)
    compare(mnp.amax(T(X), 1, initial=-0.5, where=T(X > 0)), masked.max(1, initial=-0.5))
    compare(mnp.amin(T(X), 0, True, initial=-9.0), np.full((1, 4), -9.0))
    with pytest.raises(ValueError, match="amax.*initial"):
        mnp.amax(T(X), where=T(X > 0))


def test_python_numbers_and_what_is_a_scalar():
    assert [mnp.isscalar(v) for v in (1, 2.5, "a", True, T(1), [1])] == [True] * 4 + [False] * 2


# ---------------------------------------------------------------------- gradients and graphs
SMOOTH = "add multiply subtract divide power arctan2 hypot logaddexp logaddexp2 maximum minimum".split()
WITHOUT = (*INTEGERS, "isfinite", "isinf", "isnan", "logical_not", "signbit")
SLOPES = [n for n in ONE if n not in WITHOUT]
FLAT = ("ceil", "floor", "rint", "trunc", "sign", "fabs")  # steps, and one that is abs


def slope(function, x, h=1e-6):
    """d function / dx element by element, in float64."""
    return (function(x + h) - function(x - h)) / (2 * h)


def together(functions, *inputs):
    """Return {name: gradients} of functions of the same Tensors, each of the sum of its results, from one program: step
    by step each is several."""
    every = tuple(range(len(inputs)))
    functions_by_name = {name: ops.grad(function, every) for name, function in functions.items()}
    result = msnb.ms_function(lambda *values: [functions_by_name[name](*values) for name in functions_by_name])(*inputs)
    return dict(zip(functions_by_name, [g if isinstance(g, tuple) else (g,) for g in result], strict=True))


def test_the_gradients_of_one_operand_are_numpys_slopes():
    names = [n for n in SLOPES if n not in FLAT]
    low, high = np.array([0.35, 0.55, 0.85]), np.array([1.3, 2.1, 3.7])

    def of(name, x):
        return getattr(mnp, name)(x[1] if name == "arccosh" else x[0])

    result = together({n: functools.partial(of, n) for n in names}, T(np.float32([low, high])))
    for name, (gradient,) in result.items():
        at = int(name == "arccosh")
        compare(gradient[at], slope(getattr(np, name), (low, high)[at]), 1e-3, name)


def test_the_gradients_of_two_operands_are_numpys_slopes():
    x, y = np.array([[0.35, 1.55], [2.85, 0.4]]), np.array([1.2, 0.7])
    result = together({n: getattr(mnp, n) for n in SMOOTH}, T(x.astype(np.float32)), T(y.astype(np.float32)))
    for name, (dx, dy) in result.items():
        function = getattr(np, name)
        compare(dx, slope(lambda v, f=function: f(v, y), x), 2e-3, name)
        compare(dy, slope(lambda v, f=function: f(x, v), y * np.ones((2, 1))).sum(0), 2e-3, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in SLOPES if n not in FLAT])
def test_so_is_the_gradient_of_one_operand_step_by_step(name):
    x = np.array([1.3, 2.1, 3.7]) if name == "arccosh" else np.array([0.35, 0.55, 0.85])
    result = ops.grad(getattr(mnp, name))(Tensor(x.astype(np.float32)))
    compare(result, slope(getattr(np, name), x), 1e-3)


COMPOSED = {
    "mean": lambda np_, x: np_.mean(x, 1),
    "sum": lambda np_, x: np_.sum(x, 0),
    "std": lambda np_, x: np_.std(x, 1),
    "nanvar": lambda np_, x: np_.nanvar(x, 0),
    "nanmax": lambda np_, x: np_.nanmax(x, 1),
    "average": lambda np_, x: np_.average(x, 0, [1.0, 2.0, 3.0]),
    "cov": lambda np_, x: np_.cov(x),
    "corrcoef": lambda np_, x: np_.corrcoef(x),
    "diff": lambda np_, x: np_.diff(x, 2),
    "gradient": lambda np_, x: np_.gradient(x, 0.5, axis=1),
    "cumprod": lambda np_, x: np_.cumprod(x, 1),
    "dot": lambda np_, x: np_.dot(x, x.T),
    "tensordot": lambda np_, x: np_.tensordot(x, x, ((0, 1), (0, 1))),
    "kron": lambda np_, x: np_.kron(x, x[:2]),
    "cross": lambda np_, x: np_.cross(x[:, :3], x[:, 1:4]),
    "convolve": lambda np_, x: np_.convolve(x[0], x[1]),
    "correlate": lambda np_, x: np_.correlate(x[0], x[1], "full"),
    "polyval": lambda np_, x: np_.polyval(x[0], x),
    "polyint": lambda np_, x: np_.polyint(x[0]),
    "interp": lambda np_, x: np_.interp(x, [-3.0, 0.03, 3.0], [3.0, 2.0, 5.0]),
    "clip": lambda np_, x: np_.clip(x, -0.5, 0.5),
    "unwrap": lambda np_, x: np_.unwrap(x * 5),
    "ediff1d": lambda np_, x: np_.ediff1d(x),
}


def weighted(value):
    """Return a number that depends on every element in its own way."""
    shape = value.shape
    weights = np.cos(np.arange(int(np.prod(shape)))).reshape(shape)
    return (value * (Tensor(weights.astype(np.float32)) if isinstance(value, Tensor) else weights)).sum()


def test_the_gradients_of_what_is_composed_are_numpys_slopes():
    result = together({n: lambda v, n=n: weighted(COMPOSED[n](mnp, v)) for n in COMPOSED}, T(X))
    for name, (gradient,) in result.items():
        call, x = COMPOSED[name], X.astype(np.float64)
        expected = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[place] = 1e-6
            expected[place] = (weighted(call(np, x + step)) - weighted(call(np, x - step))) / 2e-6
        compare(gradient, expected, 5e-3, name)


def test_a_graph_computes_what_step_by_step_does():
    x = T(np.array([0.35, 0.55, 0.85], np.float32))
    compiled = msnb.ms_function(lambda v: [getattr(mnp, n)(v) for n in ONE if n not in INTEGERS])
    assert all(
        np.array_equal(a.asnumpy(), getattr(mnp, n)(x).asnumpy(), equal_nan=True)
        or np.allclose(a.asnumpy(), getattr(mnp, n)(x).asnumpy(), 1e-5, 1e-6, equal_nan=True)
        for a, n in zip(compiled(x), [n for n in ONE if n not in INTEGERS], strict=True)
    )
    pairs = [n for n in TWO if n not in (*INTEGERS, "divmod")]
    compiled = msnb.ms_function(lambda v, w: [getattr(mnp, n)(v, w) for n in pairs])
    for name, result in zip(pairs, compiled(x, x[:1]), strict=True):
        compare(result, getattr(mnp, name)(x, x[:1]).asnumpy(), 1e-5)


def test_a_graph_computes_and_differentiates_what_is_composed():
    def total(v):  # a fourth of them: each is many programs step by step, and its gradient as many again
        return sum(weighted(COMPOSED[n](mnp, v)) for n in list(COMPOSED)[::4])

    compare(msnb.ms_function(total)(T(X)), total(T(X)).asnumpy(), 1e-4)
    compare(msnb.ms_function(ops.grad(total))(T(X)), ops.grad(total)(T(X)).asnumpy(), 1e-3)


def test_histograms_and_counts_stand_in_a_graph():
    def counts(v):
        return mnp.histogram(v, 4)[0], mnp.histogramdd(v, 2)[0], mnp.bincount(mnp.digitize(v[0], [0.0]), length=3)

    compare(msnb.ms_function(counts)(T(X)), [c.asnumpy() for c in counts(T(X))])


def test_a_count_whose_length_depends_on_values_runs_operator_by_operator_and_says_so(capfd):
    def how_many(v):
        return mnp.bincount(mnp.digitize(v[0], [0.0]))

    compare(msnb.ms_function(how_many)(T(X)), how_many(T(X)).asnumpy())
    said = [line for line in capfd.readouterr().err.splitlines() if "how_many" in line]
    assert len(said) == 1 and "'bincount'" in said[0] and "give it 'length'" in said[0]


@pytest.mark.parametrize(
    "error, says, call",
    [
        (ValueError, "dot.*paired", lambda: mnp.dot([1, 2], [1, 2, 3])),
        (ValueError, "tensordot.*axes", lambda: mnp.tensordot([1, 2], [1, 2], 2)),
        (ValueError, "clip.*xmin", lambda: mnp.clip([1], None, None)),
        (ValueError, "cross.*length", lambda: mnp.cross([1, 2, 3, 4], [1, 2, 3, 4])),
        (ValueError, "diff.*n", lambda: mnp.diff([1, 2], -1)),
        (TypeError, "cumsum.*axis", lambda: mnp.cumsum([1, 2], 0.5)),
        (ValueError, "around.*decimals", lambda: mnp.around([1.5], -1)),
        (ValueError, "norm.*axis", lambda: mnp.norm(T(np.ones((2, 2, 2))), 1)),
        (ValueError, "convolve.*mode", lambda: mnp.convolve([1], [1], "most")),
        (ValueError, "convolve.*empty", lambda: mnp.convolve([], [1.0])),
        (ValueError, "polyval.*p", lambda: mnp.polyval([[1]], 1)),
        (ValueError, "polyint.*k", lambda: mnp.polyint([1.0], 3, [1, 2])),
        (ValueError, "interp.*length", lambda: mnp.interp([1.0], [1.0, 2.0], [1.0])),
        (ValueError, "trapz.*x", lambda: mnp.trapz([1.0, 2.0], [1.0, 2.0, 3.0])),
        (TypeError, "gradient.*distance", lambda: mnp.gradient([1.0, 2.0], 1, 2)),
        (ValueError, "gradient.*2 elements", lambda: mnp.gradient([1.0])),
        (ValueError, "histogram.*range", lambda: mnp.histogram([1.0], 3, (2, 1))),
        (ValueError, "histogram.*weights", lambda: mnp.histogram([1.0], weights=[1, 2])),
        (ValueError, "histogramdd.*sample", lambda: mnp.histogramdd(T(np.ones(3)))),
        (TypeError, "amax.*initial", lambda: mnp.amax([1.0], initial=[1.0, 2.0])),
        (ValueError, "digitize.*bins", lambda: mnp.digitize([1], [[1]])),
        (TypeError, "bincount", lambda: mnp.bincount([1.5])),
        (TypeError, "average.*weights", lambda: mnp.average(T(X), weights=[1.0])),
        (RuntimeError, "cov.*fweights", lambda: mnp.cov(T(X), fweights=[1])),
        (ValueError, "matrix_power.*shape", lambda: mnp.matrix_power([[1, 2]], 2)),
        (ValueError, "multi_dot.*2", lambda: mnp.multi_dot([T(X)])),
    ],
)
def test_an_error_names_the_function_and_the_argument(error, says, call):
    with pytest.raises(error, match=f"For '{says}"):
        call()
