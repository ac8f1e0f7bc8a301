"""Attributions that are gradients of a score: plain, and with another rule at the ReLU nodes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb import log
from msnb.insight.attribution.traced_network import Call, Source
from msnb.insight.instrument import Point

RELU_OPERATORS = ("ReLU", "ReLU6")
RULES = ("guided", "deconvolution")


def compute_modified_gradient(source: Source, inputs: list[Any], indices: Any, rule: str) -> tuple[Any, Any]:
    """Return (gradient, scores) with the rule of guided backpropagation or of deconvolution at the ReLU nodes."""
    operators = {point: _make_modified_relu(point, rule) for point in list_relu_points(source)}
    return source.differentiate(source.read(inputs), inputs, indices, operators)


def list_relu_points(source: Source) -> list[Point]:
    """Return the ReLU and ReLU6 nodes of a network."""
    return source.network.list_points_of_operators(RELU_OPERATORS)


def _make_modified_relu(point, rule):
    """Return a ReLU whose gradient lets positive gradients pass only.

    Guided backpropagation also has the derivative of ReLU; deconvolution ignores the input.
    """
    largest = 6.0 if point.node.op == "ReLU6" else jnp.inf

    @jax.custom_vjp
    def relu(value):
        return jnp.clip(value, 0, largest).astype(value.dtype)

    def forward(value):
        return relu(value), (value > 0) & (value < largest)

    def backward(is_active, gradient):
        gradient = jnp.maximum(gradient, 0)
        return (jnp.where(is_active, gradient, 0) if rule == "guided" else gradient,)

    relu.defvjp(forward, backward)
    return lambda value: (relu(value),)


def run_gradient(call: Call) -> tuple[Any, Any]:
    """Return (gradient, scores) of a call."""
    return call.differentiate(call.read_value())


def run_modified_gradient(call: Call, rule: str) -> tuple[Any, Any]:
    """Return (gradient, scores) of a call with a rule at the ReLU nodes."""
    if rule not in RULES:
        raise ValueError(f"'rule' should be 'guided' or 'deconvolution', but got {rule!r}.")
    if not list_relu_points(call.source):
        log.warning(
            "%s", f"{call.network.name} has no ReLU or ReLU6, so the rule {rule!r} gives the gradient without a rule."
        )
    return call.run(
        ("modified", rule),
        lambda source, inputs, indices: compute_modified_gradient(source, inputs, indices, rule),
    )


def gradient(net: Any, inputs: Any, targets: Any) -> np.ndarray:
    """Return the gradient of the scores of the targets with respect to the inputs.

    Args:
        net (Union[Cell, Callable]): the network; it returns scores of shape (N, classes).
        inputs (Tensor): the inputs, of shape (N, ...).
        targets (Union[int, Sequence[int], Tensor]): class of each example.

    Returns:
        numpy.ndarray, of the shape of the inputs.
    """
    return np.asarray(run_gradient(Call(net, (inputs,), targets))[0])


def modified_relu_gradient(net: Any, inputs: Any, targets: Any, rule: str) -> np.ndarray:
    """Return the gradient with another rule at the ReLU and ReLU6 nodes of the graph, Cells and functions alike.

    Args:
        net (Union[Cell, Callable]): the network; it returns scores of shape (N, classes).
        inputs (Tensor): the inputs, of shape (N, ...).
        targets (Union[int, Sequence[int], Tensor]): class of each example.
        rule (str): ``"guided"``: only positive gradients pass an active ReLU. ``"deconvolution"``: only positive
            gradients pass, and the input of the ReLU does not matter.

    Returns:
        numpy.ndarray, of the shape of the inputs.
    """
    return np.asarray(run_modified_gradient(Call(net, (inputs,), targets), rule)[0])
