"""Small programs in the form the execution core traces them: one named jit per operator, one named scope per Cell."""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def operator(name):
    """Return an operator as the core makes it: a jit of that name."""

    def wrap(function):
        function.__name__ = name
        return jax.jit(function)

    return wrap


@operator("MatMul")
def matmul(a, b):
    return a @ b


@operator("Add")
def add(a, b):
    return a + b


@operator("ReLU")
def relu(x):
    return jnp.maximum(x, 0)


@operator("Conv2D")
def conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"))


@operator("ReduceMean")
def mean(x):
    return jnp.mean(x)


@operator("ApplyMomentum")
def momentum(p, v, g):
    return p - 0.1 * (0.9 * v + g), 0.9 * v + g


def dense(name, x, w):
    with jax.named_scope(f"{name}-Dense"):
        return matmul(x, w)


def network(weights, x):
    """`len(weights)` equal layers, one ReLU Cell called after each."""
    with jax.named_scope("Default/network-Net"):
        for index, w in enumerate(weights):
            x = dense(f"fc{index}", x, w)
            with jax.named_scope("relu-ReLU"):
                x = relu(x)
        return x


def loss(weights, x):
    value = network(weights, x)
    with jax.named_scope("Default/loss-Loss"):
        return mean(value)


def step(weights, moments, x):
    value, grads = jax.value_and_grad(loss)(weights, x)
    with jax.named_scope("Default/optimizer-Momentum"):
        updated = [momentum(p, v, g) for p, v, g in zip(weights, moments, grads, strict=False)]
    return value, updated


@functools.cache
def traced(kind="forward", layers=3, width=4):
    """Return a jaxpr: "forward" or a whole training "step"."""
    weights = [jnp.ones((width, width), jnp.float32)] * layers
    x = jnp.ones((2, width), jnp.float32)
    if kind == "forward":
        return jax.make_jaxpr(network)(weights, x)
    return jax.make_jaxpr(step)(weights, weights, x)


def inputs(kind="forward", layers=3):
    """Return the description of its inputs, as `Program.inputs` gives it."""
    weights = [("param", f"fc{index}.weight", True) for index in range(layers)]
    moments = [("param", f"moments.fc{index}.weight", False) for index in range(layers)] if kind == "step" else []
    return [*weights, *moments, ("arg", "x")]
