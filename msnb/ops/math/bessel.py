r"""Bessel functions of order 0 and 1: of the first and the second kind, and modified ones of the second kind.

Functions of the first kind are computed up to 25 from Bessel's integral :math:`J_n(x) = \frac1{2\pi}\int\cos(n\tau -
x\sin\tau)d\tau`. The trapezoidal rule is exact up to rounding if it has enough more points than x. Functions of the
second kind are computed from Neumann's series of :math:`J_{2k}`, a sum over the same points. Above 25, both kinds use
Hankel's expansion. The modified functions are computed from
:math:`e^x K_n(x) = \int_0^\infty e^{-x(\cosh t - 1)}\cosh(nt)dt`, also by the trapezoidal rule.
See Abramowitz and Stegun, chapter 9.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.operator.cases import Values, case, refused
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import of_one

_BORDER = 25.0
_COUNT = 128
_ANGLES = 2 * np.pi * (np.arange(_COUNT) + 0.5) / _COUNT
_SINES = np.sin(_ANGLES)
_SERIES = sum((-1) ** k * np.cos(2 * k * _ANGLES) / k for k in range(1, 31))  # Neumann's series at each point
_STEPS = 160


def _average_wave_over_angles(x, weights, wave):
    return jnp.mean(jnp.asarray(weights, x.dtype) * wave(x[..., None] * jnp.asarray(_SINES, x.dtype)), -1)


def _compute_bessel_near_zero(order, x):
    """Return the Bessel functions J and Y at |x| <= `_BORDER`, from integrals."""
    first = _average_wave_over_angles(x, 1.0, jnp.cos), _average_wave_over_angles(x, _SINES, jnp.sin)
    logarithm = jnp.log(x / 2) + np.euler_gamma
    if order == 0:
        return first[0], 2 / np.pi * (logarithm * first[0] - 2 * _average_wave_over_angles(x, _SERIES, jnp.cos))
    second = logarithm * first[1] - first[0] / x - 2 * _average_wave_over_angles(x, _SERIES * _SINES, jnp.sin)
    return first[1], 2 / np.pi * second


def _compute_bessel_far_from_zero(order, x):
    """Return the Bessel functions J and Y at x > `_BORDER`, from the asymptotic expansion."""
    mu, term, even, odd = 4.0 * order**2, 1.0, 1.0, 0.0
    for k in range(1, 8):
        term = term * (mu - (2 * k - 1) ** 2) / (k * 8 * x)
        sign = (-1) ** (k // 2)
        even, odd = (even + sign * term, odd) if k % 2 == 0 else (even, odd + sign * term)
    sine, cosine = jnp.sin(x), jnp.cos(x)
    # Cosine and sine of the angle x - order * pi / 2 - pi / 4, times the square root of 2.
    a, b = (cosine + sine, sine - cosine) if order == 0 else (sine - cosine, -sine - cosine)
    size = 1 / jnp.sqrt(np.pi * x)
    return size * (even * a - odd * b), size * (even * b + odd * a)


def _compute_bessel_j_or_y(order, kind, x):
    size = jnp.abs(x) if kind == 0 else x
    is_near = size <= _BORDER
    result = jnp.where(
        is_near,
        _compute_bessel_near_zero(order, jnp.where(is_near, size, 1.0))[kind],
        _compute_bessel_far_from_zero(order, jnp.where(is_near, 2 * _BORDER, size))[kind],
    )
    if kind == 0:
        return result * jnp.sign(x) if order == 1 else result
    return jnp.where(x > 0, result, jnp.where(x == 0, -jnp.inf, jnp.nan))


def _compute_scaled_bessel_k(order, x):
    """Return the modified Bessel function K times exp(x)."""
    is_positive = (x > 0) & (x < jnp.inf)
    size = jnp.where(is_positive, x, 1.0)
    reach = jnp.arccosh(1 + 90 / jnp.maximum(size, jnp.finfo(x.dtype).tiny * 1e3))
    t = reach[..., None] * jnp.asarray(np.arange(_STEPS) / _STEPS, x.dtype)
    rise = 2 * jnp.sinh(t / 2) ** 2  # cosh(t) - 1
    values = jnp.exp(-size[..., None] * rise) * (jnp.cosh(t) if order else 1)
    result = (jnp.sum(values, -1) - values[..., 0] / 2) * reach / _STEPS
    return jnp.where(is_positive, result, jnp.where(x == 0, jnp.inf, jnp.where(x == jnp.inf, 0, jnp.nan)))


def _attach_derivative(function, slope):
    """Return `function` with a custom derivative: slope(x, function(x)) at x."""
    differentiable = jax.custom_jvp(function)

    @differentiable.defjvp
    def forward(primals, tangents):
        (x,), (change,) = primals, tangents
        value = differentiable(x)
        return value, slope(x, value) * change

    return differentiable


@functools.cache
def _get_bessel_function(name):
    """Return the differentiable array function of MindSpore's "bessel_<name>"."""
    order = int(name[1])
    other = lambda x: _get_bessel_function(f"{name[0]}{1 - order}{name[2:]}")(x)
    if name[0] in "jy":
        compute = functools.partial(_compute_bessel_j_or_y, order, "jy".index(name[0]))
        if order == 0:
            return _attach_derivative(compute, lambda x, y: -other(x))
        at_zero = 0.5 if name[0] == "j" else jnp.inf
        return _attach_derivative(
            compute, lambda x, y: jnp.where(x == 0, at_zero, other(x) - y / jnp.where(x == 0, 1, x))
        )
    scaled = functools.partial(_compute_scaled_bessel_k, order)
    if name.endswith("e"):
        return _attach_derivative(scaled, lambda x, y: y - other(x) - (y / x if order else 0))
    return _attach_derivative(lambda x: scaled(x) * jnp.exp(-x), lambda x, y: -other(x) - (y / x if order else 0))


@of_one(x="[0., 1.]", output="[1.         0.76519775]", generation=2)
@in_float32
def BesselJ0(x):
    """Bessel function of the first kind, of order 0."""
    return _get_bessel_function("j0")(x)


@of_one(x="[0., 1.]", output="[0.         0.44005054]", generation=2)
@in_float32
def BesselJ1(x):
    """Bessel function of the first kind, of order 1."""
    return _get_bessel_function("j1")(x)


@of_one(x="[1., 2.]", output="[0.08825693 0.5103756 ]", generation=2)
@in_float32
def BesselY0(x):
    """Bessel function of the second kind, of order 0."""
    return _get_bessel_function("y0")(x)


@of_one(x="[1., 2.]", output="[-0.78121287 -0.10703246]", generation=2)
@in_float32
def BesselY1(x):
    """Bessel function of the second kind, of order 1."""
    return _get_bessel_function("y1")(x)


@of_one(x="[1., 2.]", output="[0.42102453 0.11389388]", generation=2)
@in_float32
def BesselK0(x):
    """Modified Bessel function of the second kind, of order 0."""
    return _get_bessel_function("k0")(x)


@of_one(x="[1., 2.]", output="[0.60190725 0.13986586]", generation=2)
@in_float32
def BesselK1(x):
    """Modified Bessel function of the second kind, of order 1."""
    return _get_bessel_function("k1")(x)


@of_one(x="[1., 2.]", output="[1.1444633 0.8415683]", generation=2)
@in_float32
def BesselK0e(x):
    """Modified Bessel function of the second kind, of order 0, times exp(x)."""
    return _get_bessel_function("k0e")(x)


@of_one(x="[1., 2.]", output="[1.6361535 1.0334767]", generation=2)
@in_float32
def BesselK1e(x):
    """Modified Bessel function of the second kind, of order 1, times exp(x)."""
    return _get_bessel_function("k1e")(x)


def _declare_bessel_function(operator):
    name = f"bessel_{operator.__name__.removeprefix('Bessel').lower()}"

    def compute(x: Tensor) -> Tensor:
        return operator.functional(x)

    compute.__name__ = compute.__qualname__ = name
    compute.__doc__ = operator.__doc__.split("\n\n")[0]
    spelling(operator, function=name)(compute)


for _operator in (BesselJ0, BesselJ1, BesselY0, BesselY1, BesselK0, BesselK1, BesselK0e, BesselK1e):
    _declare_bessel_function(_operator)


CASES = [
    *(
        case(op, Values([-30.0, -3.0, -0.5, 1e-3, 0.7, 4.0, 24.9, 25.1, 90.0])).within(1e-5)
        for op in (BesselJ0, BesselJ1)
    ),
    *(case(op, Values([0.02, 0.7, 4.0, 24.9, 25.1, 90.0])).within(1e-5) for op in (BesselY0, BesselY1)),
    *(
        case(op, Values([0.02, 0.7, 4.0, 24.9, 25.1, 70.0])).within(1e-5)
        for op in (BesselK0, BesselK1, BesselK0e, BesselK1e)
    ),
    refused(TypeError, BesselJ0, Values([1])),
]
