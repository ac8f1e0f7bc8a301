"""Stages of a pipeline that are not there: what they compute row by row, and what a plan says of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb.parallel.rows import by_rows

ROWS = jax.ShapeDtypeStruct((8, 4), np.float32)
WEIGHT = jax.ShapeDtypeStruct((4, 4), np.float32)


def attention(w, x):
    heads = (x.reshape(-1, 1) @ w[:1]).reshape(x.shape[0], 4, 4)
    return jax.nn.softmax(heads @ heads.transpose(0, 2, 1)).mean(1) + x


def drawn(w, x):
    return x * jax.random.bernoulli(jax.random.key(0), 0.5, x.shape)


def several(w, x):
    return jax.lax.scan(lambda x, _: (jnp.tanh(x @ w), None), x, None, 3)[0]


@pytest.mark.parametrize("fn", [lambda w, x: x @ w, attention, drawn, several, lambda w, x: x - x.max(1)[:, None]])
def test_rows_are_computed_apart(fn):
    assert by_rows(fn, WEIGHT, ROWS, 2)


DEPENDENT = {
    "their mean": lambda w, x: x - x.mean(0),
    "their largest": lambda w, x: x / x.max(),
    "their number": lambda w, x: x / x.shape[0],
    "the place of one": lambda w, x: x + jnp.arange(x.shape[0])[:, None],
    "an array of as many": lambda w, x: x + np.ones((8, 1), np.float32),
    "their order": lambda w, x: x[::-1],
    "a sum from the first": lambda w, x: jnp.cumsum(x, 0),
    "one of them": lambda w, x: x + x[0],
    "some that are looked up": lambda w, x: x[jnp.argsort(x[:, 0])],
    "the one before": lambda w, x: jax.lax.pad(x, np.float32(0), [(1, -1, 0), (0, 0, 0)]),
    "the one before, in a loop": lambda w, x: jax.lax.scan(lambda x, _: (jnp.roll(x, 1, 0), None), x, None, 2)[0],
    "another axis": lambda w, x: jnp.concatenate([x.T, x.T]) if x.shape[0] == 8 else x,
    "columns": lambda w, x: (x.T @ x.reshape(8, -1)[:, :4]).repeat(2, 0) if x.shape[0] == 8 else x,
}


@pytest.mark.parametrize("what", DEPENDENT)
def test_rows_that_depend_on_one_another_are_found(what):
    assert not by_rows(DEPENDENT[what], WEIGHT, ROWS, 2)


def test_rows_that_cannot_be_divided_are_not():
    assert not by_rows(lambda w, x: x, WEIGHT, ROWS, 3)
    assert not by_rows(lambda w, x: x, WEIGHT, jax.ShapeDtypeStruct((), np.float32), 2)
