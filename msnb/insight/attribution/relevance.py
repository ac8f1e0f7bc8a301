"""Layer-wise relevance propagation (LRP): a score is distributed backwards over the inputs of each node.

A backward pass through the graph carries relevance in place of gradients. An operator that is linear in its activations
gives each of them its share of the result. An activation function passes relevance unchanged. Operators that select or
move elements have the same rule for relevance as for gradients.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from msnb import log
from msnb.core.compat.jax_private import eval_jaxpr
from msnb.core.support.type_promotion import is_inexact
from msnb.insight.attribution.relevance_kinds import collect_nodes_before_bias, get_kind, is_divisor, is_route
from msnb.insight.attribution.traced_network import Call, Source
from msnb.insight.debugger.names import place_of_node
from msnb.ir.anf import CNode

RULES = ("epsilon", "z-plus", "composite")
RULES_OF_SOFTMAX = ("taylor", "constant")
_PRODUCTS = ("convolution", "dense", "product", "scale")  # activations among the factors have equal shares


class _MissingRule(Exception):
    """Raised while relevance is distributed. The message names the node."""


def compute_relevance(
    source: Source, inputs: list[Any], indices: Any, epsilon: Any, rule: str, softmax: str
) -> tuple[Any, Any]:
    """Return (relevance of the source, scores).

    Args:
        source (Source): the source.
        inputs (list): the inputs of the program.
        indices (jax.Array): the targets.
        epsilon (jax.Array): stabilizer of the denominators.
        rule (str): ``"epsilon"``, ``"z-plus"`` or ``"composite"``.
        softmax (str): ``"taylor"`` or ``"constant"``.
    """
    network = source.network
    before_bias = collect_nodes_before_bias(network.points)
    constants = [
        point
        for point in network.points
        if point.node.op == "StopGradient" or softmax == "constant" and get_kind(point.node) == "softmax"
    ]
    dependent = source.list_dependent_inputs(constants)
    operators, values = {}, {}
    for point in network.points:
        node = point.node
        is_differentiated = is_inexact(point.dtype) and node.direction == "forward" and not point.in_condition
        if not is_differentiated or node.graphs or is_route(node):
            continue
        if point in constants:
            values[point] = jax.lax.stop_gradient
        elif point.vmapped or get_kind(node) is None:
            values[point] = _make_refusal(point)
        else:
            stabilizer = jnp.float32(0) if node.id in before_bias else epsilon
            operators[point] = _make_operator(point, rule, stabilizer, dependent(point))
    value = source.read(inputs)
    scores, pull = jax.vjp(lambda value: source.compute_scores(value, inputs, indices, operators, values), value)
    (relevance,) = pull(scores)
    return relevance.astype(jnp.float32), scores


def _make_refusal(point):
    """Return the identity. A relevance that reaches it raises an error."""

    @jax.custom_vjp
    def refuse(value):
        return value

    def backward(_, cotangent):
        if isinstance(cotangent, SymbolicZero):
            return (None,)
        raise _MissingRule(
            f"LRP has no rule for {place_of_node(point.node)}. Explain the scores before it, select a node behind it "
            "with `node=`, or use another method, such as 'integrated_gradients'."
        )

    refuse.defvjp(lambda value: (value.value, None), backward, symbolic_zeros=True)
    return refuse


def _make_operator(point, rule, epsilon, is_dependent):
    """Return the operator of a node as a function whose gradient distributes relevance over its dependent inputs."""
    node, slot = point.node, point.slot

    def evaluate(*args):
        return tuple(eval_jaxpr(node.kernel.jaxpr, node.kernel.consts, *args))

    # An argument, not a variable of the closure: JAX refuses one of an outer trace in the gradient inside a loop.
    run = jax.custom_vjp(lambda epsilon, *args: evaluate(*args))

    def forward(epsilon, *args):
        values = [arg.value for arg in args]
        activations = [
            at for at, arg in enumerate(args) if is_dependent[at] and arg.perturbed and is_inexact(arg.value.dtype)
        ]
        return evaluate(*values), (epsilon.value, values, _Static(tuple(activations)))

    def backward(saved, cotangents):
        epsilon, values, activations = *saved[:2], saved[2].value
        shares: list[Any] = [None] * len(values)
        if activations and not isinstance(cotangents[slot], SymbolicZero):
            distribution = _Distribution(node, rule, epsilon, lambda *args: evaluate(*args)[slot], values, activations)
            for at, share in zip(activations, distribution.distribute(cotangents[slot]), strict=True):
                shares[at] = share
        return (None, *shares)

    run.defvjp(forward, backward, symbolic_zeros=True)
    return lambda *args: run(epsilon, *args)


class _Distribution:
    """Distributes the relevance of a result over the activations among the inputs of a node.

    Args:
        node (CNode): the node.
        rule (str): the rule of the user.
        epsilon (jax.Array): stabilizer of the denominator.
        evaluate (Callable): returns the result for all inputs.
        values (list): the inputs.
        activations (tuple[int]): the indices of inputs that depend on the source.
    """

    def __init__(self, node, rule, epsilon, evaluate, values, activations):
        self._node, self._rule, self._epsilon, self._evaluate = node, rule, epsilon, evaluate
        self._values, self._activations = values, activations

    def distribute(self, relevance):
        """Return the relevance of each activation, None for one without a share."""
        kind, is_single = get_kind(self._node), len(self._activations) == 1
        if kind == "activation" or kind == "bias" and any(map(self._has_positive_rule, self._node.inputs)):
            return [relevance]
        if kind == "softmax":
            return [self._distribute_softmax(relevance)]
        if kind == "gate":  # of both halves
            return [jnp.concatenate([relevance / 2] * 2, self._node.attrs.get("axis", self._node.attrs.get("dim")))]
        if kind == "normalization":
            return [self._distribute_normalization(relevance)]
        if is_single and self._has_positive_rule(self._node):
            return self._distribute_positive(relevance)
        if kind == "extreme":
            result, pull = jax.vjp(self._evaluate_at(self._activations), *self._get_activations())
            is_compared_to_constant = is_single and self._get_activations()[0].shape == result.shape
            return [relevance] if is_compared_to_constant else list(pull(relevance))
        factors = self._activations
        if kind == "scale":
            factors = [at for at in self._activations if not is_divisor(self._node, at)]
        if not factors:
            raise self._refuse("a division by an activation")
        result, pull = jax.vjp(self._evaluate_at(factors), *(self._values[at] for at in factors))
        count = len(factors) if kind in _PRODUCTS else 1
        gradients = dict(zip(factors, pull(self._divide(relevance, result) / count), strict=True))
        return [self._values[at] * gradients[at] if at in gradients else None for at in self._activations]

    def _refuse(self, thing):
        return _MissingRule(
            f"LRP has no rule for {thing}: {place_of_node(self._node)}. Select a node behind it with `node=`, or use "
            "another method, such as 'integrated_gradients'."
        )

    def _has_positive_rule(self, node):
        kind = get_kind(node) if isinstance(node, CNode) else None
        return kind == "convolution" and self._rule != "epsilon" or kind == "dense" and self._rule == "z-plus"

    def _get_activations(self):
        return [self._values[at] for at in self._activations]

    def _evaluate_at(self, positions, values=None):
        """Return the result as a function of the inputs at some positions."""

        def evaluate(*changed):
            args = list(self._values if values is None else values)
            for at, value in zip(positions, changed, strict=True):
                args[at] = value
            return self._evaluate(*args)

        return evaluate

    def _divide(self, relevance, result):
        epsilon = self._epsilon.astype(result.dtype)
        divisor = result + jnp.where(result >= 0, epsilon, -epsilon)
        return jnp.where(divisor == 0, 0, relevance / jnp.where(divisor == 0, 1, divisor))

    def _distribute_positive(self, relevance):
        """Return the shares of the positive contributions, activation times weight. A bias has no share."""
        (activation,) = self._get_activations()
        results, pulls, values = [], [], []
        for clip in (lambda array: jnp.maximum(array, 0), lambda array: jnp.minimum(array, 0)):
            weights = [clip(value) if is_inexact(value.dtype) else value for value in self._values]
            if len(weights) > 2:  # Dense with a bias
                weights[2:] = [jnp.zeros_like(bias) for bias in weights[2:]]
            values.append(clip(activation))
            result, pull = jax.vjp(self._evaluate_at(self._activations, weights), values[-1])
            results.append(result)
            pulls.append(pull)
        share = self._divide(relevance, results[0] + results[1])
        return [sum(value * pull(share)[0] for value, pull in zip(values, pulls, strict=True))]

    def _distribute_softmax(self, relevance):
        """Return the terms of a Taylor expansion of first order (Achtibat et al., 2024). They add up to less or more
        than the relevance: the constant term has a share, too."""
        (value,) = self._get_activations()
        result = self._evaluate(*self._values)
        total = jnp.sum(relevance, axis=self._node.attrs["axis"], keepdims=True)
        return jnp.where(result == 0, 0, value * (relevance - result * total))  # a mask may be minus infinity

    def _distribute_normalization(self, relevance):
        """Return the shares of the elements. The standard deviation counts as a constant."""
        if self._activations != (0,):
            raise self._refuse("a normalization whose factor depends on the input")
        result = self._evaluate(*self._values)
        normalize, value = _freeze_deviation(self._node, self._values), self._values[0]
        _, pull = jax.vjp(normalize, value)
        return value * pull(self._divide(relevance, result))[0]


def _freeze_deviation(node, values):
    """Return the normalization of a node without its bias, with the standard deviation of `values` as a constant."""
    value, (scale, *_) = values[0], [*values[1:], 1]
    attrs, shape = node.attrs, value.shape
    if node.op == "InstanceNorm" and not attrs["is_training"]:
        deviation = jnp.sqrt(values[4] + attrs["epsilon"])
        return lambda x: x * _append_axes(scale / deviation, x)
    if node.op == "LayerNorm":
        groups, epsilon = shape, attrs["epsilon"]
        axes = tuple(range(attrs["begin_norm_axis"] % len(shape), len(shape)))
    else:
        count, epsilon = (attrs["num_groups"], attrs["eps"]) if node.op == "GroupNorm" else (shape[1], attrs["epsilon"])
        groups, axes, scale = (shape[0], count, -1), (2,), _append_axes(scale, value)
    grouped = value.astype(jnp.float32).reshape(groups)
    deviation = jnp.sqrt(jnp.var(grouped, axis=axes, keepdims=True) + epsilon)

    def normalize(x):
        x = x.astype(jnp.float32).reshape(groups)
        normalized = (x - jnp.mean(x, axis=axes, keepdims=True)) / deviation
        return (normalized.reshape(shape) * scale).astype(value.dtype)

    return normalize


def _append_axes(channels, value):
    """Return values per channel in a shape that broadcasts with (N, C, ...)."""
    return jnp.reshape(channels, (-1, *[1] * (value.ndim - 2)))


@jax.tree_util.register_static
class _Static:
    """A Python value among the residuals of a gradient."""

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return type(other) is _Static and self.value == other.value


def run_relevance(call: Call, rule: str = "epsilon", epsilon: float = 1e-6, softmax: str = "taylor") -> tuple[Any, Any]:
    """Return (relevance, scores) of a call."""
    for name, value, names in (("rule", rule, RULES), ("softmax", softmax, RULES_OF_SOFTMAX)):
        if value not in names:
            raise ValueError(f"'{name}' should be one of {', '.join(map(repr, names))}, but got {value!r}.")
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not epsilon >= 0:
        raise ValueError(f"'epsilon' should be a number of at least 0, but got {epsilon!r}.")

    def compute(source, inputs, indices, epsilon):
        return compute_relevance(source, inputs, indices, epsilon, rule, softmax)

    try:
        relevance, scores = call.run(("relevance", rule, softmax), compute, np.float32(epsilon))
    except _MissingRule as error:  # without the trace of JAX that it was raised in
        advice = " set_train(False) first gives BatchNorm a rule." if call.network.has_training_effects else ""
        raise ValueError(f"{error}{advice}") from None
    if softmax == "constant" and not np.any(relevance) and np.any(scores):
        log.warning(
            "%s", f"All relevance of {call.network.name} passes through a Softmax, which softmax='constant' stops."
        )
    return relevance, scores
