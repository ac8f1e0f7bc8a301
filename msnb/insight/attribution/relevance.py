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

from msnb.core.compat.jax_private import eval_jaxpr
from msnb.core.operator.rule_table import RuleTable
from msnb.core.support.type_promotion import is_inexact
from msnb.insight.attribution.traced_network import Call, Source
from msnb.insight.debugger.names import place_of_node
from msnb.ir.anf import CNode, ValueNode
from msnb.nn.graph_cell import operator_of
from msnb.ops import operations as P
from msnb.ops.index import _TensorGetItem
from msnb.ops.math.division import _TrueDiv

RULES = ("epsilon", "z-plus", "composite")
KINDS = RuleTable("a rule of relevance", "Add it to msnb/insight/attribution/relevance.py.")
KINDS.register(P.Conv2D, P.Conv3D, P.Conv2DTranspose, P.Conv3DTranspose)("convolution")
KINDS.register(P.MatMul, P.BatchMatMul, P.Dense)("dense")
KINDS.register(P.BiasAdd)("bias")
# linear in all activations
KINDS.register(P.Add, P.Sub, P.AddN, P.Neg, P.BatchNorm, P.AvgPool, P.AvgPool1D, P.AvgPool2D)("sum")
KINDS.register(P.AvgPool3D, P.AdaptiveAvgPool1D, P.AdaptiveAvgPool2D, P.AdaptiveAvgPool3D, P.ReduceMean)("sum")
KINDS.register(P.ReduceSum, P.ResizeBilinear, P.ResizeBilinearV2)("sum")
KINDS.register(P.ReLU, P.ReLU6, P.LeakyReLUExt, P.PReLU, P.Elu, P.CeLU, P.SeLU, P.GeLU, P.GeluExt)("activation")
KINDS.register(P.FastGeLU, P.SiLU, P.Sigmoid, P.HSigmoid, P.HSwish, P.Mish, P.Softplus, P.SoftplusExt)("activation")
KINDS.register(P.Softsign, P.Tanh, P.Hardtanh, P.Dropout)("activation")
# times a constant
KINDS.register(P.Mul, P.RealDiv, P.Div, _TrueDiv)("scale")
KINDS.register(P.Maximum, P.Minimum)("extreme")
# elements are selected or moved
KINDS.register(P.MaxPool, P.AdaptiveMaxPool2D, P.ReduceMax, P.ReduceMin, P.Pad, P.Cast, P.Identity)("route")
KINDS.register(P.Reshape, P.Flatten, P.Transpose, P.Squeeze, P.ExpandDims, P.BroadcastTo, P.Tile)("route")
KINDS.register(P.Concat, P.Stack, P.Unstack, P.Split, P.StridedSlice, P.Slice, P.Gather, P.GatherD)("route")
KINDS.register(_TensorGetItem, P.ResizeNearestNeighbor, P.ResizeNearestNeighborV2)("route")

# XLA's operations in functions of jax.numpy
_ROUTES_OF_XLA = ("convert_element_type", "reshape", "broadcast_in_dim", "squeeze", "transpose", "slice", "concatenate")


class _MissingRule(Exception):
    """Raised while relevance is distributed. The message names the node."""


def compute_relevance(source: Source, inputs: list[Any], indices: Any, epsilon: Any, rule: str) -> tuple[Any, Any]:
    """Return (relevance of the source, scores).

    Args:
        source (Source): the source.
        inputs (list): the inputs of the program.
        indices (jax.Array): the targets.
        epsilon (jax.Array): stabilizer of the denominators.
        rule (str): ``"epsilon"``, ``"z-plus"`` or ``"composite"``.
    """
    network = source.network
    before_bias = _collect_nodes_before_bias(network.points)
    operators, values = {}, {}
    for point in network.points:
        node = point.node
        is_differentiated = is_inexact(point.dtype) and node.direction == "forward" and not point.in_condition
        if not is_differentiated or node.graphs or _is_route(node):
            continue
        if point.vmapped or _get_kind(node) is None:
            values[point] = _make_refusal(point)
        else:
            stabilizer = jnp.float32(0) if node.id in before_bias else epsilon
            operators[point] = _make_operator(point, rule, stabilizer)
    value = source.read(inputs)
    scores, pull = jax.vjp(lambda value: source.compute_scores(value, inputs, indices, operators, values), value)
    (relevance,) = pull(scores)
    return relevance.astype(jnp.float32), scores


def _get_kind(node):
    """Return the kind of the operator of a node, None if there is no rule for it."""
    operator = operator_of(node)
    if operator is None or node.kernel is None:
        return None
    if node.op == "Add" and [type(each) for each in node.inputs].count(CNode) == 1:
        is_constant = (isinstance(each, ValueNode) or getattr(each, "is_weight", False) for each in node.inputs)
        return "bias" if any(is_constant) else "sum"
    return KINDS.get(operator)


def _is_route(node):
    return _get_kind(node) == "route" or node.kernel is None and node.op in _ROUTES_OF_XLA


def _collect_nodes_before_bias(points):
    """Return the numbers of nodes whose result is read by a BiasAdd only, which stabilizes the denominator."""
    readers: dict[int, list[Any]] = {}
    for point in points:
        for each in point.node.inputs:
            if isinstance(each, CNode):
                readers.setdefault(each.id, []).append(_get_kind(point.node))
    return {number for number, kinds in readers.items() if kinds == ["bias"]}


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


def _make_operator(point, rule, epsilon):
    """Return the operator of a node as a function whose gradient distributes relevance."""
    node, slot = point.node, point.slot

    def evaluate(*args):
        return tuple(eval_jaxpr(node.kernel.jaxpr, node.kernel.consts, *args))

    run = jax.custom_vjp(evaluate)

    def forward(*args):
        values = [arg.value for arg in args]
        activations = [at for at, arg in enumerate(args) if arg.perturbed and is_inexact(arg.value.dtype)]
        return evaluate(*values), (values, _Static(tuple(activations)))

    def backward(saved, cotangents):
        values, activations = saved[0], saved[1].value
        shares: list[Any] = [None] * len(values)
        if not isinstance(cotangents[slot], SymbolicZero):
            distribution = _Distribution(node, rule, epsilon, lambda *args: evaluate(*args)[slot], values, activations)
            for at, share in zip(activations, distribution.distribute(cotangents[slot]), strict=True):
                shares[at] = share
        return tuple(shares)

    run.defvjp(forward, backward, symbolic_zeros=True)
    return run


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
        """Return the relevance of each activation."""
        kind = _get_kind(self._node)
        if kind == "scale" and self._activations == (1,) and self._node.op != "Mul":
            raise _MissingRule(f"LRP has no rule for a division by an activation: {place_of_node(self._node)}.")
        if kind in ("convolution", "dense", "scale") and len(self._activations) > 1:
            raise _MissingRule(
                f"LRP has no rule for a product of two activations: {place_of_node(self._node)}. Select a node behind "
                "it with `node=`, or use another method, such as 'integrated_gradients'."
            )
        if kind == "activation" or kind == "bias" and any(map(self._has_positive_rule, self._node.inputs)):
            return [relevance]
        if self._has_positive_rule(self._node):
            return self._distribute_positive(relevance)
        result, pull = jax.vjp(self._evaluate_activations, *self._get_activations())
        if kind == "extreme":
            is_compared_to_constant = len(self._activations) == 1 and self._get_activations()[0].shape == result.shape
            return [relevance] if is_compared_to_constant else list(pull(relevance))
        gradients = pull(self._divide(relevance, result))
        return [value * gradient for value, gradient in zip(self._get_activations(), gradients, strict=True)]

    def _has_positive_rule(self, node):
        kind = _get_kind(node) if isinstance(node, CNode) else None
        return kind == "convolution" and self._rule != "epsilon" or kind == "dense" and self._rule == "z-plus"

    def _get_activations(self):
        return [self._values[at] for at in self._activations]

    def _evaluate_activations(self, *activations, weights=None):
        args = list(self._values if weights is None else weights)
        for at, value in zip(self._activations, activations, strict=True):
            args[at] = value
        return self._evaluate(*args)

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
            result, pull = jax.vjp(
                lambda a, weights=weights: self._evaluate_activations(a, weights=weights), values[-1]
            )
            results.append(result)
            pulls.append(pull)
        share = self._divide(relevance, results[0] + results[1])
        return [sum(value * pull(share)[0] for value, pull in zip(values, pulls, strict=True))]


@jax.tree_util.register_static
class _Static:
    """A Python value among the residuals of a gradient."""

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return type(other) is _Static and self.value == other.value


def run_relevance(call: Call, rule: str = "epsilon", epsilon: float = 1e-6) -> tuple[Any, Any]:
    """Return (relevance, scores) of a call."""
    if rule not in RULES:
        raise ValueError(f"'rule' should be one of {', '.join(map(repr, RULES))}, but got {rule!r}.")
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not epsilon >= 0:
        raise ValueError(f"'epsilon' should be a number of at least 0, but got {epsilon!r}.")

    def compute(source, inputs, indices, epsilon):
        return compute_relevance(source, inputs, indices, epsilon, rule)

    try:
        return call.run(("relevance", rule), compute, np.float32(epsilon))
    except _MissingRule as error:  # without the trace of JAX that it was raised in
        raise ValueError(str(error)) from None
