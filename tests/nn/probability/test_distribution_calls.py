"""Constructors and calls of distributions: parameters, shapes, types, names and errors."""

import numpy as np
import pytest
from distribution_families import EVERYWHERE, FAMILIES, MOMENTS
from scipy import stats

import msnb as ms
import msnb.nn.probability.bijector as msb
import msnb.nn.probability.distribution as msd
from msnb import Parameter, Tensor, nn, ops


def _t(x, dtype=ms.float32):
    return Tensor(np.asarray(x), dtype)


@pytest.mark.parametrize("name", FAMILIES)
def test_parameters_of_a_call_stand_for_those_of_the_constructor(name):
    family = FAMILIES[name]
    a, value = [_t(p) for p in family.a], _t(family.values)
    reference = family.make(*a)
    unknown = family.make(*(_t(np.asarray(p) * 0.9) for p in family.a)) if name == "Gumbel" else family.make()
    if name != "Gumbel":
        assert unknown.batch_shape is None and "None" in repr(unknown)
        with pytest.raises(TypeError, match="the constructor was not given it"):
            unknown.prob(value)
    for method in family.methods(EVERYWHERE):
        got = getattr(unknown, method)(value, *a).asnumpy()
        np.testing.assert_array_equal(got, getattr(reference, method)(value).asnumpy())
    for method in family.methods(MOMENTS):
        np.testing.assert_array_equal(getattr(unknown, method)(*a).asnumpy(), getattr(reference, method)().asnumpy())
    assert reference.get_dist_type() == name and len(reference.get_dist_args()) == len(a)
    assert [x is y for x, y in zip(unknown.get_dist_args(*a), a, strict=True)] == [True] * len(a)


def test_shapes_of_parameters_and_values_broadcast():
    dist = msd.Normal([0.0, 1.0], [[1.0], [2.0], [3.0]])
    assert dist.batch_shape == dist.broadcast_shape == (3, 2) and not dist.is_scalar_batch
    assert dist.mean().shape == dist.entropy().shape == dist.sample().shape == (3, 2)
    assert dist.sample((4, 5)).shape == (4, 5, 3, 2)
    assert dist.prob(_t(np.zeros((7, 1, 1)))).shape == (7, 3, 2)
    assert dist.cdf(_t(0.0), _t([0.0]), _t(1.0)).shape == (1,)
    with pytest.raises(ValueError, match=r"should broadcast, but got \(2,\) and \(3,\)"):
        msd.Normal([0.0, 1.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="should broadcast"):
        dist.mean(_t([0.0, 1.0]), _t([1.0, 2.0, 3.0]))


def test_a_categorical_distribution_counts_classes_along_the_last_axis():
    probs = np.array([[0.2, 0.1, 0.7], [0.5, 0.25, 0.25]])
    dist = msd.Categorical(probs)
    assert dist.broadcast_shape == (2,) and dist.sample((4,)).shape == (4, 2) and dist.sample().dtype == ms.int32
    value = _t([[0, 2], [1, 1], [-1, 3], [5, -4]], ms.int32)
    expected = np.array([[0.2, 0.25], [0.1, 0.25], [0, 0], [0, 0]])
    cdf = np.array([[0.2, 1], [0.3, 0.75], [0, 1], [1, 0]])

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dist = dist

        def construct(self, value, b):
            moments = dist.mean(), dist.var(), dist.mode(), dist.entropy(), dist.kl_loss("Categorical", b)
            return self.dist.prob(value), dist.cdf(value), dist.survival_function(value), *moments

    b = np.array([[0.3, 0.3, 0.4], [0.5, 0.25, 0.25]])
    reference = [stats.rv_discrete(values=(np.arange(3), p)) for p in probs]
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        prob, below, above, mean, var, most, entropy, kl = (x.asnumpy() for x in Net()(value, _t(b)))
        np.testing.assert_allclose(prob, expected, rtol=1e-6)
        np.testing.assert_allclose(below, cdf, rtol=1e-6)
        np.testing.assert_allclose(above, 1 - cdf, atol=1e-6)
        np.testing.assert_allclose(mean[:, 0], [k.mean() for k in reference], rtol=1e-6)
        np.testing.assert_allclose(var[:, 0], [k.var() for k in reference], rtol=1e-6)
        np.testing.assert_array_equal(most, [2, 0])
        np.testing.assert_allclose(entropy, [stats.entropy(p) for p in probs], rtol=1e-6)
        np.testing.assert_allclose(kl, [stats.entropy(p, q) for p, q in zip(probs, b, strict=True)], atol=1e-6)
    ms.set_seed(1)
    drawn = dist.sample((3000,)).asnumpy()
    for row, p in zip(drawn.T, probs, strict=True):
        assert stats.chisquare(np.bincount(row, minlength=3), 3000 * p).pvalue > 1e-3
    gradient = ops.GradOperation(get_all=True)(lambda p: dist.log_prob(_t([0, 2]), p).sum())(_t(probs))[0]
    np.testing.assert_allclose(gradient.asnumpy(), [[5, 0, 0], [0, 0, 4]], rtol=1e-6)


def test_modes_are_where_the_density_is_highest():
    cases = [
        (msd.Normal(2.0, 1.0), 2),
        (msd.Exponential(2.0), 0),
        (msd.Cauchy(2.0, 1.0), 2),
        (msd.Logistic(2.0, 1.0), 2),
        (msd.Gumbel(2.0, 1.0), 2),
        (msd.LogNormal(0.5, 2.0), np.exp(-3.5)),
        (msd.Gamma([3.0], [4.0]), 0.5),
        (msd.Gamma([0.5], [4.0]), np.nan),
        (msd.Beta([3.0], [2.0]), 2 / 3),
        (msd.Beta([0.5], [2.0]), np.nan),
        (msd.Poisson([2.5]), 2),
        (msd.Bernoulli(0.75), 1),
        (msd.Bernoulli(0.5), 0),
        (msd.Geometric(0.75), 0),
    ]
    for dist, mode in cases:
        np.testing.assert_allclose(dist.mode().asnumpy(), mode, rtol=1e-6, err_msg=dist.name)
    with pytest.raises(NotImplementedError, match="mode is not implemented for the distribution 'Uniform'"):
        msd.Uniform(0.0, 1.0).mode()


def test_logarithms_stay_exact_where_probabilities_vanish():
    far = _t([-30.0, 30.0])
    for dist, reference in (
        (msd.Normal(0.0, 1.0), stats.norm),
        (msd.Logistic(0.0, 1.0), stats.logistic),
        (msd.Gumbel(0.0, 1.0), stats.gumbel_r),
    ):
        np.testing.assert_allclose(dist.log_cdf(far).asnumpy(), reference.logcdf([-30, 30]), rtol=1e-5, atol=1e-12)
        np.testing.assert_allclose(dist.log_survival(far).asnumpy(), reference.logsf([-30, 30]), rtol=1e-5, atol=1e-12)
    lower = msd.Cauchy(0.0, 1e-6).log_cdf(_t([-30.0])).asnumpy()
    np.testing.assert_allclose(lower, stats.cauchy(0, 1e-6).logcdf(-30), rtol=1e-5)
    small = msd.Exponential(1.0).log_cdf(_t([1e-6, 50.0])).asnumpy()
    np.testing.assert_allclose(small, stats.expon.logcdf([1e-6, 50]), rtol=1e-5)
    np.testing.assert_allclose(
        msd.Normal(0.0, 1.0, dtype=ms.float16).log_prob(_t([300.0])).asnumpy(), -45001, rtol=2e-3
    )


def _total(dist):
    return lambda value, *parameters: dist.prob(value, *parameters).sum()


def test_gradients_are_finite_where_a_value_is_impossible_or_certain():
    outside = _t([-1.0, 2.0])
    for dist, a in (
        (msd.LogNormal, ([0.0], [1.0])),
        (msd.Gamma, ([2.0], [1.0])),
        (msd.Beta, ([2.0], [2.0])),
        (msd.Exponential, ([2.0],)),
        (msd.Poisson, ([2.0],)),
    ):
        total = _total(dist())
        gradients = ops.GradOperation(get_all=True)(total)(outside, *map(_t, a))
        assert all(np.isfinite(g.asnumpy()).all() for g in gradients), dist.__name__
    certain = ops.GradOperation()(lambda p: msd.Bernoulli().log_prob(_t([1.0, 0.0]), p).sum())(_t([1.0, 0.0]))
    np.testing.assert_array_equal(certain.asnumpy(), [1, -1])


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_distribution_is_called_by_the_name_of_a_method(mode):
    ms.set_context(mode=mode)
    dist, value = msd.Normal(1.0, 2.0), _t([0.5])
    assert dist("log_prob", value).asnumpy() == pytest.approx(dist.log_prob(value).asnumpy())
    assert dist("prob", value, mean=_t(0.0)).asnumpy() == pytest.approx(stats.norm(0, 2).pdf(0.5))
    assert dist("cdf", value, sd=_t(1.0), mean=_t(0.0)).asnumpy() == pytest.approx(stats.norm.cdf(0.5))
    assert dist("kl_loss", "Normal", mean_b=_t(1.0), sd_b=_t(2.0)).asnumpy() == 0
    assert dist("get_dist_type") == "Normal"
    with pytest.raises(NotImplementedError, match="what is not implemented for the distribution 'Normal'"):
        dist("what")


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_parameters_that_are_trained_get_gradients(mode):
    ms.set_context(mode=mode)

    class Likelihood(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dist = msd.Normal(Parameter(_t([0.5]), name="mean"), Parameter(_t([2.0]), name="sd"))

        def construct(self, x):
            return -self.dist.log_prob(x).sum()

    net = Likelihood()
    assert [p.name for p in net.trainable_params()] == ["dist._mean_value", "dist._sd_value"]
    x = np.array([1.0, -2.0, 0.0], np.float32)
    got = ops.GradOperation(get_by_list=True)(net, net.trainable_params())(_t(x))
    np.testing.assert_allclose(got[0].asnumpy(), [-((x - 0.5) / 4).sum()], rtol=1e-5)
    np.testing.assert_allclose(got[1].asnumpy(), [(1 / 2 - (x - 0.5) ** 2 / 8).sum()], rtol=1e-5)
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    assert float(step(_t(x)).asnumpy()) > float(step(_t(x)).asnumpy())


def test_a_number_drawn_follows_its_parameters():
    ms.set_context(mode=ms.GRAPH_MODE)
    dist = msd.Normal()
    gradient = ops.GradOperation(get_all=True)(lambda m, s: dist.sample((1000,), m, s).sum())(_t(1.0), _t(2.0))
    assert gradient[0].asnumpy() == pytest.approx(1000) and abs(gradient[1].asnumpy()) < 150


def test_seeds_repeat_numbers_and_pick_streams():
    def drawn(seed=None):
        ms.set_seed(7)
        dist = msd.Normal(0.0, 1.0, seed=seed)
        return dist.sample((3,)).asnumpy(), dist.sample((3,)).asnumpy()

    assert np.array_equal(drawn(), drawn()) and not np.array_equal(*drawn())
    assert not np.array_equal(drawn(1)[0], drawn(2)[0]) and np.array_equal(drawn(), drawn(0))


@pytest.mark.parametrize(
    ("parameters", "dtype", "kind"),
    [
        ((0.0, 1.0), ms.float32, ms.float32),
        ((0.0, 1.0), ms.float16, ms.float16),
        ((0.0, 1.0), ms.float64, ms.float64),
        ((np.zeros(2), np.ones(2)), ms.float32, ms.float32),
        ((np.zeros(2), np.ones(2)), ms.float64, ms.float64),
        ((_t([0, 1], ms.int32), _t([1, 2], ms.int32)), ms.float32, ms.float32),
        ((_t([0, 1], ms.float16), 1.0), ms.float32, ms.float16),
    ],
)
def test_parameters_have_the_type_of_the_arguments(parameters, dtype, kind):
    dist = msd.Normal(*parameters, dtype=dtype)
    assert dist.parameter_type == dist.mean().dtype == kind
    assert dist.dtype == dist.sample((2,)).dtype == dtype


@pytest.mark.parametrize(
    ("error", "says", "make"),
    [
        (ValueError, "Standard deviation should be greater than zero", lambda: msd.Normal(0.0, [1.0, 0.0])),
        (ValueError, "low should be less than high", lambda: msd.Uniform(1.0, 1.0)),
        (ValueError, "less than one", lambda: msd.Bernoulli(1.0)),
        (ValueError, "greater than zero", lambda: msd.Geometric([0.5, 0.0])),
        (ValueError, "add|sum to one", lambda: msd.Categorical([0.5, 0.4])),
        (ValueError, "axis of categories", lambda: msd.Categorical(0.5)),
        (TypeError, r"'rate' should not be a scalar: give \[2.0\] or a Tensor", lambda: msd.Poisson(2.0)),
        (TypeError, "'concentration' should not be a scalar", lambda: msd.Gamma(1, [1.0])),
        (TypeError, "'concentration0' should not be a scalar", lambda: msd.Beta([1.0], 1.0)),
        (TypeError, "'dtype' should be a type of floating point numbers", lambda: msd.Normal(dtype=ms.int32)),
        (TypeError, "'dtype' should be a type of real numbers", lambda: msd.Bernoulli(dtype=ms.bool_)),
        (TypeError, "'name' should be a string", lambda: msd.Normal(name=1)),
        (TypeError, "'seed' should be a non-negative int", lambda: msd.Normal(seed="1")),
        (ValueError, "'seed' should be a non-negative int", lambda: msd.Normal(seed=-1)),
        (TypeError, "numbers or a Tensor, but got bool True", lambda: msd.Normal(True, 1.0)),
        (TypeError, "the same dtype", lambda: msd.Normal(_t([0.0], ms.float16), _t([1.0]))),
        (TypeError, "'value' should be a Tensor, but got float 1.0", lambda: msd.Normal(0.0, 1.0).prob(1.0)),
        (TypeError, "'mean' should be a Tensor, but got float", lambda: msd.Normal(0.0, 1.0).prob(_t(1.0), 1.0)),
        (TypeError, "'shape' should be a tuple, but got list", lambda: msd.Normal(0.0, 1.0).sample([2])),
        (TypeError, "missing a required argument: 'sd_b'", lambda: msd.Normal(0.0, 1.0).kl_loss("Normal", _t(1.0))),
        (ValueError, "should be 'Normal', but got", lambda: msd.Normal(0.0, 1.0).kl_loss("Uniform", _t(1.0), _t(1.0))),
        (ValueError, "variance of a Cauchy distribution is not defined", lambda: msd.Cauchy(0.0, 1.0).var()),
        (NotImplementedError, "kl_loss", lambda: msd.Logistic(0.0, 1.0).kl_loss("Logistic", _t(1.0), _t(1.0))),
        (TypeError, "'bijector' should be a Bijector", lambda: msd.TransformedDistribution(1, msd.Normal())),
        (TypeError, "floating point", lambda: msd.TransformedDistribution(msb.Exp(), msd.Bernoulli(0.5))),
    ],
)
def test_what_is_refused_says_what_to_give(error, says, make):
    with pytest.raises(error, match=says):
        make()


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_users_distribution_says_one_method_and_gets_the_others(mode):
    ms.set_context(mode=mode)

    class Square(msd.Distribution):
        """Density 2 x on [0, 1]; its `_cdf` branches on a Tensor."""

        def __init__(self, power=2.0, seed=None, dtype=ms.float32, name="Square"):
            super().__init__(seed, dtype, name, {"power": power, "param_dict": {"power": power}})
            self._power = self._add_parameter(power, "power")

        def _cdf(self, value, power=None):
            power = self._check_param_type(power)
            value = self._check_value(value, "value")
            if value.max() > 1:
                value = value.clip(0, 1)
            return value**power

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dist = Square()

        def construct(self, x):
            return self.dist.survival_function(x), self.dist.log_cdf(x), self.dist("log_survival", x)

    x = np.array([0.25, 0.5], np.float32)
    survival, below, above = (y.asnumpy() for y in Net()(_t(x)))
    np.testing.assert_allclose(survival, 1 - x**2, rtol=1e-6)
    np.testing.assert_allclose(below, np.log(x**2), rtol=1e-6)
    np.testing.assert_allclose(above, np.log1p(-(x**2)), rtol=1e-6)
    for method in ("prob", "mean", "sample", "entropy"):
        with pytest.raises(NotImplementedError, match=f"{method} is not implemented for the distribution 'Square'"):
            getattr(Square(), method)(*[_t(x)] * (method == "prob"))


def test_what_is_printed_is_what_r1_1_prints():
    assert repr(msd.Normal(0.0, 1.0)) == "Normal<mean = 0.0, standard deviation = 1.0>"
    assert repr(msd.Normal([0.0, 1.0], 1.0)) == "Normal<batch_shape = (2,)>"
    assert repr(msb.PowerTransform(2.0)) == "PowerTransform<power = 2.0>" and repr(msb.Exp()) == "Exp<power = 0.0>"
    transformed = repr(msd.TransformedDistribution(msb.Exp(), msd.Normal(0.0, 1.0)))
    assert transformed.splitlines()[1:3] == [
        "  (_bijector): Exp<power = 0.0>",
        "  (_distribution): Normal<mean = 0.0, standard deviation = 1.0>",
    ]
