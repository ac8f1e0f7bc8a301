"""Bijectors: there and back, the logarithms of their derivatives, and the distributions that they make."""

import numpy as np
import pytest
from scipy import stats

import msnb as ms
import msnb.nn.probability.bijector as msb
import msnb.nn.probability.distribution as msd
from msnb import Tensor, nn


def _t(x, dtype=ms.float64):
    return Tensor(np.asarray(x), dtype)


# Bijector, its function in numpy, and values.
BIJECTORS = {
    "power": (lambda: msb.PowerTransform(0.5), lambda x: (1 + 0.5 * x) ** 2, [-0.5, 0.1, 3.0]),
    "powers": (
        lambda: msb.PowerTransform(_t([0.0, 2.0, 0.5])),
        lambda x: np.array([np.exp(x[0]), np.sqrt(1 + 2 * x[1]), (1 + 0.5 * x[2]) ** 2]),
        [-0.5, 0.1, 3.0],
    ),
    "exp": (msb.Exp, np.exp, [-2.0, 0.1, 3.0]),
    "affine": (lambda: msb.ScalarAffine(-2.0, 0.5), lambda x: 0.5 - 2 * x, [-2.0, 0.1, 3.0]),
    "softplus": (lambda: msb.Softplus(2.0), lambda x: np.log1p(np.exp(2 * x)) / 2, [-3.0, 0.1, 30.0]),
    "gumbel": (lambda: msb.GumbelCDF(0.5, 2.0), lambda x: np.exp(-np.exp(-(x - 0.5) / 2)), [-2.0, 0.1, 3.0]),
    "invert": (lambda: msb.Invert(msb.Exp()), np.log, [0.2, 1.0, 3.0]),
}


@pytest.mark.parametrize("name", BIJECTORS)
def test_a_bijector_goes_there_and_back_and_knows_its_derivatives(name):
    make, function, x = BIJECTORS[name]

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bijector = make()

        def construct(self, x):
            y = self.bijector.forward(x)
            back = self.bijector("inverse", y)
            return y, back, self.bijector.forward_log_jacobian(x), self.bijector("inverse_log_jacobian", y)

    x = np.array(x)
    net = Net()
    slope = np.abs(function(x + 1e-6) - function(x - 1e-6)) / 2e-6
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        y, back, there, here = (out.asnumpy() for out in net(_t(x)))
        np.testing.assert_allclose(y, function(x), rtol=1e-6)
        np.testing.assert_allclose(back, x, rtol=1e-6)
        np.testing.assert_allclose(np.broadcast_to(there, x.shape), np.log(slope), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(np.broadcast_to(here, x.shape), -np.log(slope), rtol=1e-5, atol=1e-6)


def test_a_bijector_makes_a_distribution_of_another():
    normal = msd.Normal(0.5, 2.0)
    x = _t([-1.0, 0.25, 4.0], ms.float32)
    for dist, reference in (
        (msb.ScalarAffine(-3.0, 1.0)(normal), stats.norm(-0.5, 6)),
        (msb.Exp()(normal), stats.lognorm(2, scale=np.exp(0.5))),
        (msb.Invert(msb.GumbelCDF(1.0, 2.0))(msd.Uniform(0.0, 1.0)), stats.gumbel_r(1, 2)),
    ):
        assert isinstance(dist, msd.TransformedDistribution)
        value = x if isinstance(dist.bijector, msb.ScalarAffine) else Tensor(np.array([0.25, 0.5, 0.75], np.float32))
        numbers = value.asnumpy().astype(np.float64)
        for method, of_scipy in {
            "prob": "pdf",
            "log_prob": "logpdf",
            "cdf": "cdf",
            "log_cdf": "logcdf",
            "survival_function": "sf",
            "log_survival": "logsf",
        }.items():
            got = getattr(dist, method)(value).asnumpy()
            np.testing.assert_allclose(got, getattr(reference, of_scipy)(numbers), rtol=1e-5, atol=1e-6, err_msg=method)
        ms.set_seed(2)
        assert stats.kstest(dist.sample((2000,)).asnumpy(), reference.cdf).pvalue > 1e-3
    straight = msb.ScalarAffine(-3.0, 1.0)(normal)
    moments = [getattr(straight, m)().asnumpy() for m in ("mean", "mode", "sd", "var", "entropy")]
    np.testing.assert_allclose(moments, [-0.5, -0.5, 6, 36, stats.norm(0, 6).entropy()], rtol=1e-6)
    with pytest.raises(ValueError, match="mean has no general formula"):
        msb.Exp()(normal).mean()
    with pytest.raises(NotImplementedError, match="sd is not implemented"):
        msb.Exp()(normal).sd()


def test_a_seed_that_is_another_is_said_to_have_no_effect(capsys):
    msd.TransformedDistribution(msb.Exp(), msd.Normal(0.0, 1.0, seed=3), seed=3)
    assert not capsys.readouterr().err
    msd.TransformedDistribution(msb.Exp(), msd.Normal(0.0, 1.0), seed=3)
    assert "'seed' has no effect" in capsys.readouterr().err


def test_shapes_and_types_are_those_of_parameters_and_values():
    bijector = msb.ScalarAffine(np.ones(2, np.float32), np.zeros((3, 1), np.float32))
    assert bijector.batch_shape == (3, 2) and bijector.shape_mapping((5, 1, 1)) == (5, 3, 2)
    assert bijector.is_constant_jacobian and not bijector.is_scalar_batch and msb.Exp().is_scalar_batch
    assert bijector.forward(_t([1.0, 2.0], ms.float16)).dtype == ms.float16
    assert msb.Invert(msb.Exp()).name == "InvertExp"


@pytest.mark.parametrize(
    ("error", "says", "make"),
    [
        (TypeError, "'scale' should be of floating point numbers, but got Int", lambda: msb.ScalarAffine(1, 2.0)),
        (TypeError, "'shift' should be of type Float32", lambda: msb.ScalarAffine(1.0, np.zeros(2))),
        (TypeError, "'power' should be numbers, but got", lambda: msb.PowerTransform("2")),
        (TypeError, "'power' should be numbers, but got None", lambda: msb.PowerTransform(None)),
        (ValueError, "Power should be greater than or equal to zero", lambda: msb.PowerTransform(-1.0)),
        (ValueError, "scale should be greater than zero", lambda: msb.GumbelCDF(0.0, 0.0)),
        (TypeError, "'name' should be a string", lambda: msb.Exp(name=1)),
        (TypeError, "'bijector' should be a Bijector", lambda: msb.Invert(1.0)),
        (TypeError, "'value' should be a Tensor", lambda: msb.Exp().forward(1.0)),
        (TypeError, "type of floating point numbers, but got Int32", lambda: msb.Exp().forward(_t([1], ms.int32))),
        (TypeError, "'name' should be a string, but got None", lambda: msb.Bijector()),
        (
            NotImplementedError,
            "inverse is not implemented for the bijector 'x'",
            lambda: msb.Bijector(name="x").inverse(1),
        ),
        (NotImplementedError, "should be one of forward, inverse", lambda: msb.Exp()("back", _t([1.0]))),
    ],
)
def test_what_is_refused_says_what_to_give(error, says, make):
    with pytest.raises(error, match=says):
        make()
