"""Find the calls of operators in a graph, with the names that r1.1 gives them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import Literal

from msnb.core.jaxpr.instrument import REMAT_PRIMITIVES
from msnb.core.jaxpr.op_names import GraphName
from msnb.core.operator.operator_types import REGISTRY
from msnb.ir.scope import parse

# Matches an item of a CellList in a scope: the "layers.0" of "layers.0-Dense".
_LIST_ITEM = re.compile(r"([^/.]+)\.(\d+)(?=[.-])")
_LIST_INDEX = re.compile(r"-CellList/\d+-")


class OperatorCall(NamedTuple):
    """A call of an operator that the user's program contains.

    Attributes:
        name (str): Name of the call in r1.1, ``Default/network-Net/MatMul-op1``.
        eqn (JaxprEqn): The call in the graph.
        forward (bool): True if a gradient is taken through it.
    """

    name: str
    eqn: Any
    forward: bool

    @property
    def scope(self) -> str:
        """Scope of the call: its name without ``-op`` and the number."""
        return self.name.rpartition("-op")[0]

    @property
    def meaning(self) -> Any:
        """Operator and attributes of the call, see `core.jaxpr.op_names.OpInfo`."""
        return self.eqn.params["name"].meaning

    @property
    def inputs(self) -> list[Any]:
        """The call's inputs in the graph, variables or literals, without the random key."""
        return list(self.eqn.invars[REGISTRY[self.meaning.operator].random :])


def iterate_equations(jaxpr: Any) -> Iterator[Any]:
    """Iterate over the equations of a graph. Recomputed Cells are inlined, and their variables are replaced by
    variables of the graph.
    """
    replacements: dict[Any, Any] = {}

    def walk(inner):
        for eqn in inner.eqns:
            invars = [v if isinstance(v, Literal) else replacements.get(v, v) for v in eqn.invars]
            if eqn.primitive.name not in REMAT_PRIMITIVES:
                yield eqn.replace(invars=invars)
                continue
            body = eqn.params["jaxpr"]
            replacements.update(zip(body.invars, invars, strict=True))
            yield from walk(body)
            results = [v if isinstance(v, Literal) else replacements.get(v, v) for v in body.outvars]
            replacements.update(zip(eqn.outvars, results, strict=True))

    return walk(jaxpr)


def operator_calls(jaxpr: Any) -> Iterator[OperatorCall]:
    """Iterate over the calls of operators in a graph, in the graph's order.

    Calls that transformations created are left out: gradients, and calls with a batch axis or with tangents. The
    numbers are those of r1.1: it visits operators from a result back to its inputs, depth first.
    """
    eqns = list(iterate_equations(jaxpr))
    transforms_of = {index: _get_transforms_of_user_call(eqn) for index, eqn in enumerate(eqns)}
    transforms_of = {index: transforms for index, transforms in transforms_of.items() if transforms is not None}
    numbers = {}
    for index in _iterate_back_from_results(eqns, jaxpr.outvars):
        if index in transforms_of:
            numbers[index] = len(numbers)
    for index in transforms_of:
        numbers.setdefault(index, len(numbers))
    for index, transforms in transforms_of.items():
        eqn = eqns[index]
        operator = REGISTRY.get(eqn.params["name"].meaning.operator)
        if operator is not None and len(eqn.invars) == _count_inputs(operator, eqn.params["name"].layout):
            scope = parse(str(eqn.source_info.name_stack))[0]
            scope = [_LIST_ITEM.sub(r"\1-CellList/\2", component) for component in scope]
            path = "/".join([*scope, f"{eqn.params['name'].meaning.operator}-op{numbers[index]}"])
            yield OperatorCall(path, eqn, "jvp" in transforms)


def network_calls(jaxpr: Any) -> list[OperatorCall]:
    """Return the operator calls that r1.1 counts as a network's own.

    In a training step these are the calls that gradients are taken through, without the optimizer's. A call that is
    computed once by itself and once for a gradient counts once.
    """
    every_call = list(operator_calls(jaxpr))
    if not any(call.forward for call in every_call):
        return every_call
    by_scope: dict[str, list[OperatorCall]] = defaultdict(list)
    for call in every_call:
        by_scope[call.scope].append(call)
    selected = []
    for scope_calls in by_scope.values():
        if any(call.forward for call in scope_calls):
            selected += [call for call in scope_calls if not call.forward] or scope_calls
    return selected


def count_operators(jaxpr: Any) -> int:
    """Return how many operators r1.1's search would consider.

    Equal Cells of a CellList count as one. An input of the graph with several readers adds an identity.
    """
    network = network_calls(jaxpr)
    calls_per_scope = Counter(call.scope for call in network)
    calls_per_block: dict[str, int] = defaultdict(int)
    for scope, count in calls_per_scope.items():
        block = _LIST_INDEX.sub("-CellList/", scope)
        calls_per_block[block] = max(calls_per_block[block], count)
    graph_inputs = set(jaxpr.invars)
    readers = Counter(
        v for call in network for v in {v for v in call.inputs if not isinstance(v, Literal)} & graph_inputs
    )
    return sum(calls_per_block.values()) + sum(count > 1 for count in readers.values())


def _get_transforms_of_user_call(eqn):
    """Return the transformations around an operator call that the user's program contains, or None for any other
    equation.
    """
    if not isinstance(eqn.params.get("name"), GraphName):
        return None
    transforms = set(parse(str(eqn.source_info.name_stack))[1])
    is_noop = is_identity(eqn.params["name"].meaning, np.shape(eqn.invars[0].aval) if eqn.invars else ())
    return None if transforms - {"jvp"} or is_noop else transforms


def is_identity(meaning: Any, shape: tuple[int, ...]) -> bool:
    """Return True for a Reshape to the input's own shape, which r1.1 removes before it reads strategies."""
    return meaning.operator == "Reshape" and tuple(meaning.attributes.get("shape", ())) == tuple(shape)


def _iterate_back_from_results(eqns, results):
    """Iterate over the indices of equations, depth first from the results back to the inputs."""
    producers = {var: index for index, eqn in enumerate(eqns) for var in eqn.outvars}
    visited, pending = set(), list(results)[::-1]
    while pending:
        index = producers.get(var) if not isinstance(var := pending.pop(), Literal) else None
        if index is None or index in visited:
            continue
        visited.add(index)
        yield index
        pending += reversed(eqns[index].invars)


def _count_inputs(operator, layout):
    if layout is None:
        return operator.random + sum(i.kind is None for i in operator.inputs)
    return operator.random + sum(entry[0] if isinstance(entry, tuple) else entry == 1 for entry in layout)
