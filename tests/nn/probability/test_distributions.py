"""Every method of every distribution beside scipy.stats, in both modes, with gradients and samples."""

import itertools

import numpy as np
import pytest
from distribution_families import EVERYWHERE, FAMILIES, MOMENTS
from scipy import integrate, stats
from sweeps import swept

import msnb as ms
from msnb import Tensor, nn


def _t(x, dtype=ms.float32):
    return Tensor(np.asarray(x), dtype)


class _All(nn.Cell):
    """Every method of one distribution, in one program."""

    def __init__(self, family, dtype=ms.float32):
        super().__init__()
        self.dist = family.make(*(_t(p, dtype) for p in family.a), dtype=dtype)
        self.at_value = family.methods(EVERYWHERE)
        self.moments = family.methods(MOMENTS)
        self.two = family.methods("kl_loss cross_entropy")
        self.family = family.make.__name__

    def construct(self, value, a, b):
        results = [self.dist(name, value, *a) for name in self.at_value]
        results += [self.dist(name, *a) for name in self.moments]
        return tuple(results + [self.dist(name, self.family, *b, *a) for name in self.two])


def _kl(family, i):
    """KL(a||b) of the i-th distributions, by numbers alone."""
    a, b = (family.reference(*(np.float64(p[i]) for p in group)) for group in (family.a, family.b))
    if family.discrete:
        k = np.arange(200)
        k = k[a.pmf(k) > 0]
        return np.sum(a.pmf(k) * (a.logpmf(k) - b.logpmf(k)))
    with np.errstate(all="ignore"):
        low, high = max(a.support()[0], a.ppf(1e-13)), min(a.support()[1], a.isf(1e-13))

    def density(x):
        return a.pdf(x) * (a.logpdf(x) - b.logpdf(x))

    cuts = a.ppf(np.linspace(0.05, 0.95, 7))
    ends = [low, *cuts, high]
    if family.make.__name__ == "Cauchy":
        ends = [-np.inf, *cuts, np.inf]
    return sum(integrate.quad(density, s, e, limit=200)[0] for s, e in zip(ends, ends[1:], strict=False))


def _expected(family):
    reference = family.reference(*(np.asarray(p, np.float64) for p in family.a))
    names = {
        "prob": "pmf" if family.discrete else "pdf",
        "log_prob": "logpmf" if family.discrete else "logpdf",
        "log_cdf": "logcdf",
        "survival_function": "sf",
        "log_survival": "logsf",
        "sd": "std",
    }
    values = np.asarray(family.values)
    with np.errstate(all="ignore"):
        results = [getattr(reference, names.get(n, n))(values) for n in family.methods(EVERYWHERE)]
        results += [getattr(reference, names.get(n, n))() for n in family.methods(MOMENTS)]
    if family.b:
        kl = np.array([_kl(family, i) for i in range(len(family.values))])
        results += [kl, reference.entropy() + kl]
    return [np.asarray(f, np.float64) for f in results]


MODES = (ms.PYNATIVE_MODE, ms.GRAPH_MODE)
ALTERNATING = [*zip(FAMILIES, itertools.cycle(MODES))]


# Families take turns with the modes, which differ in nothing that belongs to one of them; the other half is slow.
@pytest.mark.parametrize(
    ("name", "mode"),
    [
        pytest.param(*case, marks=[] if case in ALTERNATING else [pytest.mark.slow])
        for case in itertools.product(FAMILIES, MODES)
    ],
)
def test_every_method_gives_what_scipy_gives(name, mode):
    family = FAMILIES[name]
    net = _All(family)
    inputs = _t(family.values), tuple(_t(p) for p in family.a), tuple(_t(p) for p in family.b)
    methods = net.at_value + net.moments + net.two
    expected = _expected(family)
    ms.set_context(mode=mode)
    for method, got, want in zip(methods, net(*inputs), expected, strict=True):
        np.testing.assert_allclose(got.asnumpy(), want, rtol=2e-5, atol=2e-6, err_msg=f"{name}.{method}")
    # ... and so it does of the parameters that the constructor was given
    called = "cdf" if "cdf" in methods else "prob"
    got = getattr(net.dist, called)(inputs[0])
    np.testing.assert_allclose(got.asnumpy(), expected[methods.index(called)], rtol=2e-5, atol=2e-6)


def kind_of(name):
    """Return the kind of a family: a gradient depends on it beside the formulas, which JAX differentiates."""
    family = FAMILIES[name]
    return family.discrete, len(family.a), bool(family.b)


@pytest.mark.parametrize("name", swept(FAMILIES, kind_of))
def test_gradients_are_those_of_finite_differences(name):
    family = FAMILIES[name]
    net = _All(family, ms.float64)
    ms.set_context(mode=ms.GRAPH_MODE)
    weights = np.random.RandomState(0).uniform(0.5, 1.5, 99)

    class Sum(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = net

        def construct(self, value, *parameters):
            half = len(family.a)
            total = 0.0
            for weight, x in zip(weights, self.net(value, parameters[:half], parameters[half:]), strict=False):
                total = total + weight * x.sum()
            return total

    total = Sum()
    inputs = [np.array(v, np.float64) for v in (family.values, *family.a, *family.b)]
    reference = family.reference(*inputs[1 : 1 + len(family.a)])
    with np.errstate(all="ignore"):
        is_inside = (reference.cdf(inputs[0]) > 0) & (reference.sf(inputs[0]) > 0)
    inputs[0] = np.where(is_inside, inputs[0], reference.ppf(0.3))  # the logarithm of 0 has no gradient
    both = ms.value_and_grad(total, tuple(range(len(inputs))))  # one program, for the differences as well
    _, got = both(*(_t(x, ms.float64) for x in inputs))
    step = 1e-5
    for place, x in enumerate(inputs):
        if family.discrete and not place:
            continue
        assert got[place].dtype == ms.float64
        for i in range(x.size):
            ends = []
            for sign in (1, -1):
                moved = [y.copy() for y in inputs]
                moved[place][i] += sign * step
                ends.append(float(both(*(_t(y, ms.float64) for y in moved))[0].asnumpy()))
            differences = (ends[0] - ends[1]) / (2 * step)
            where = f"{name}, input {place}, element {i}"
            np.testing.assert_allclose(got[place].asnumpy()[i], differences, rtol=1e-5, atol=1e-6, err_msg=where)


@pytest.mark.parametrize(("name", "mode"), ALTERNATING)
def test_samples_are_of_the_distribution(name, mode):
    family = FAMILIES[name]
    ms.set_context(mode=mode)
    ms.set_seed(3)
    dist = family.make(*(_t(p) for p in family.a), seed=5)
    drawn = dist("sample", (50, 40))
    assert drawn.dtype == dist.dtype and drawn.shape == (50, 40, len(family.values))
    for i, numbers in enumerate(drawn.asnumpy().reshape(2000, -1).T):
        reference = family.reference(*(np.float64(p[i]) for p in family.a))
        if family.discrete:
            cells = np.arange(reference.ppf(0.02), reference.ppf(0.98) + 1)
            share = np.diff(reference.cdf(cells), prepend=0, append=1)
            seen = np.bincount(np.searchsorted(cells, numbers), minlength=len(share))
            p = stats.chisquare(seen[share > 0], 2000 * share[share > 0]).pvalue
        else:
            p = stats.kstest(numbers, reference.cdf).pvalue
        assert p > 1e-3, f"{name} {i}: {p}"
