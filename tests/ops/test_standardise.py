"""The derivative of a normalisation: that of its definition in every order and mode, with fewer sums."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxprs_in_params

from msnb.ops.nn.norm._standardize import standardise

_random = np.random.default_rng(0)
X = _random.normal(size=(4, 3, 5, 2))
CHANNELS, ROWS = (0, 2, 3), (2, 3)


def defined(x, axes, epsilon, scale, shift):
    mean = jnp.mean(x, axes, keepdims=True)
    variance = jnp.mean((x - mean) ** 2, axes, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + epsilon) * scale + shift, mean, variance


def number(function, axes):
    """Return all results of a normalisation, as one function from its inputs to a number."""
    weights = [np.cos(np.arange(a.size)).reshape(a.shape) for a in defined(X, axes, 1e-3, 1.0, 0.0)]

    def of(x, scale, shift, epsilon):
        return sum((jnp.sin(a) * w).sum() for a, w in zip(function(x, axes, epsilon, scale, shift), weights))

    return of


@pytest.mark.parametrize(("axes", "shape"), [(CHANNELS, (3, 1, 1)), pytest.param(ROWS, (5, 2), marks=pytest.mark.slow)])
def test_derivatives_of_both_modes_and_orders_are_those_of_the_definition(axes, shape):
    inputs = X, _random.normal(size=shape), _random.normal(size=shape), 1e-3
    along = tuple(np.sin(np.arange(np.size(a)) + 1.0).reshape(np.shape(a)) for a in inputs)
    for derivative in (
        lambda f: jax.grad(f, (0, 1, 2, 3))(*inputs),
        lambda f: jax.jvp(f, inputs, along),
        lambda f: jax.jvp(jax.grad(f, (0, 1, 2, 3)), inputs, along),
        lambda f: jax.grad(lambda s: f(X, inputs[1], s, 1e-3))(inputs[2]),
    ):
        got, expected = (jax.tree.leaves(derivative(number(f, axes))) for f in (standardise, defined))
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_the_gradient_of_a_batch_norm_sums_over_the_batch_twice():
    scale = np.ones((3, 1, 1))

    def pulled(x, scale, shift, dy):
        return jax.vjp(lambda *a: standardise(a[0], CHANNELS, 1e-5, *a[1:])[0], x, scale, shift)[1](dy)

    def sums(jaxpr):
        for eqn in jaxpr.eqns:
            yield from [eqn] if eqn.primitive.name == "reduce_sum" and eqn.invars[0].aval.shape == X.shape else []
            for inner in jaxprs_in_params(eqn.params):
                yield from sums(inner)

    assert len(list(sums(jax.make_jaxpr(pulled)(X, scale, scale, X).jaxpr))) == 2 + 2  # the moments, and two more
