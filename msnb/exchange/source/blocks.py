"""From the scopes of a graph to the Cells that are to be written: which operators are one Cell's, what it is given.

A stretch of nodes in one scope is a call of the Cell that stands there. Two stretches that compute the same with the
same Parameters are two calls of one Cell. A Parameter is held by the innermost Cell that alone uses it.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from msnb.common.kinds import hashable
from msnb.ir.anf import AnfNode, CNode, FuncGraph, ParameterNode, ValueNode

Value = tuple[AnfNode, int]  # a node, and which of its results

_FUNCTION = re.compile(r"\w+\(\)( \d+)?$|while\(.*\)$")  # scopes of functions and loops, which are no Cells


class Op:
    """A call of an operator, or a branch or loop; `bodies` are the graphs within."""

    __slots__ = ("node", "bodies")

    def __init__(self, node: CNode, bodies: Sequence["Body"] = ()) -> None:
        self.node: CNode = node
        self.bodies: Sequence[Body] = bodies


class Body:
    """What a branch or a round of a loop does."""

    __slots__ = ("graph", "steps", "outputs")

    def __init__(self, graph: FuncGraph, steps: list[Any], outputs: list[Value]) -> None:
        self.graph: FuncGraph = graph
        self.steps: list[Any] = steps
        self.outputs: list[Value] = outputs


class Call:
    """A call of a Cell: what it is given and what it gives here, in the order of the Cell's own inputs and outputs."""

    __slots__ = ("block", "part", "nodes", "inputs", "outputs")

    def __init__(self, part: str, nodes: list[CNode]) -> None:
        self.part: str = part
        self.nodes: list[CNode] = nodes
        self.block: Any = None
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []


class Block:
    """A Cell to be written.

    Attributes:
        part (str): Its segment of the scope, ``"conv1-Conv2d"`` or ``"conv1"``.
        path (tuple[str]): Names of the attributes that lead to it in the network that was read.
        steps (list): What `construct` does: `Op`, `Call` and what `layers` makes of them.
        inputs (list[Value]), outputs (list[Value]): What it takes and returns.
        weights (list[ParameterNode]): Parameters of its own.
        layer (Layer): What it is where it is one of `mindspore.nn`; None otherwise.
    """

    def __init__(self, part: str, path: tuple[str, ...]) -> None:
        self.part: str = part
        self.path: tuple[str, ...] = path
        self.steps: list[Any] = []
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.weights: list[ParameterNode] = []
        self.layer: Any = None

    @property
    def attribute(self) -> str:
        """What the Cell around it calls it: ``"conv1"``, ``"layers.0"``; "" where the scope does not say."""
        return attribute_of(self.part)

    @property
    def kind(self) -> str:
        """Its class, "" where the scope does not say."""
        return self.part.rpartition("-")[2] if "-" in self.part else ""


def attribute_of(part: str) -> str:
    """The attribute in a segment of a scope."""
    return part.rpartition("-")[0] if "-" in part else part


def parts_of(scope: str) -> list[str]:
    """The Cells of a scope, outermost first. What says the one before it again, as ``layer1/layer1.0`` does, is cut."""
    parts, before = [], ""
    for part in scope.split("/"):
        if not part or (part == "Default" and not parts) or _FUNCTION.match(part):
            continue
        parts.append(part.removeprefix(f"{before}.") if before else part)
        before = part
    return parts


class Blocks:
    """Reads a graph into the Block of the whole network, `root`.

    Args:
        graph (FuncGraph): The graph.

    Attributes:
        missing (dict): {(operator, why): node} of what has no form in Python, as it is found.
    """

    def __init__(self, graph: FuncGraph) -> None:
        self.graph: FuncGraph = graph
        self.missing: dict[tuple[str, str], CNode] = {}
        self._alias: dict[Value, Value] = {}  # parameter of a graph within -> what it stands for
        self._users: dict[Value, set[CNode | None]] = {}
        self._within: dict[CNode, list[CNode]] = {}  # a node and all in the graphs that it has
        self._twin: dict[CNode, CNode] = {}  # node of a further call of a Cell -> the node of its first call
        self._parts: dict[CNode, list[str]] = {}
        self._kept: dict[CNode, list[list[CNode]]] = {}  # the nodes of its graphs
        self.outputs: list[Value] = graph.outputs[: len(graph.outputs) - graph.written]
        nodes = self._look(graph, self.outputs)
        for value in self.outputs:
            self._users.setdefault(self.real(value), set()).add(None)
        self.root: Block = Block(graph.name, ())
        depth = self._common(nodes)
        self._fill(self.root, nodes, depth, {p for p in graph.parameters if p.is_weight})
        self.root.inputs = [(p, 0) for p in graph.parameters if not p.is_weight]
        self.root.outputs = [self.real(value) for value in self.outputs]

    # ------------------------------------------------------------------ what stands where
    def real(self, value: Value) -> Value:
        """A value by the node that makes it, however many graphs around this one that is."""
        while value in self._alias:
            value = self._alias[value]
        return value

    def users(self, value: Value) -> set[CNode | None]:
        """The nodes that take a value; None stands for the results of the whole, a branch or loop for those of a
        graph within."""
        return self._users.get(value, set())

    def uses(self, node: CNode) -> list[Value]:
        """What a node takes."""
        return [self.real(value) for value in node.uses]

    def _look(self, graph: FuncGraph, outputs: Iterable[Value]) -> list[CNode]:
        """Note who uses what in a graph; its nodes that something depends on."""
        wanted, kept = {node for node, _ in outputs}, []
        for node in reversed(graph.nodes):
            if node in wanted:
                wanted.update(node.inputs)
                kept.append(node)
        kept.reverse()
        for node in kept:
            self._parts[node] = parts_of(node.scope)
            self._within[node] = [node]
            for value in self._direct(node):
                self._users.setdefault(self.real(value), set()).add(node)
            self._kept[node] = []
            for inner in node.graphs:
                self._kept[node].append(self._look(inner, inner.outputs))
                for inside in self._kept[node][-1]:
                    self._within[node] += self._within[inside]
                for value in inner.outputs:
                    self._users.setdefault(self.real(value), set()).add(node)
        return kept

    def _direct(self, node: CNode) -> list[Value]:
        """What a node itself takes, rather than the graphs that it has; notes what their parameters stand for."""
        uses = list(node.uses)
        if node.op == "Switch":
            for graph in node.graphs:
                for parameter, feed in zip(graph.parameters, graph.feeds, strict=True):
                    self._alias[parameter, 0] = uses[feed]
            return uses[:1]
        if node.op == "While":
            test, body = node.graphs
            for graph in node.graphs:
                for parameter, feed in zip(graph.parameters[: graph.free], graph.feeds, strict=False):
                    self._alias[parameter, 0] = uses[feed]
            for mine, theirs in zip(test.parameters[test.free :], body.parameters[body.free :], strict=True):
                self._alias[mine, 0] = theirs, 0
            return [uses[feed] for feed in body.feeds[body.free :]]
        return uses

    def _common(self, nodes: Sequence[CNode]) -> Any:
        """How many scopes around all nodes are the network itself, as a training Cell calls it."""
        names = [p.name for p in self.graph.parameters if p.is_weight]
        for depth in itertools.count():
            found = {self._parts[node][depth] if len(self._parts[node]) > depth else "" for node in nodes}
            part = found.pop() if len(found) == 1 else ""
            if not part or any(name.startswith(f"{attribute_of(part)}.") for name in names):
                return depth
            if "-" in part:
                self.root.part = part

    # ------------------------------------------------------------------ Cells
    def _fill(self, block: Block, nodes: list[CNode], depth: int, weights: set[ParameterNode]) -> None:
        """Give a Block its steps; `weights` are Parameters that only it uses."""
        calls: list[Call] = []
        block.steps = list(self._steps(nodes, depth, calls))
        held = set()
        for mates in self._same(calls):
            first = mates[0]
            child = Block(first.part, (*block.path, attribute_of(first.part)))
            inside = {n for node in first.nodes for n in self._within[node]}
            own = {w for w in weights if (users := self._users_of(w)) and users <= inside}
            held |= own
            self._join(child, mates, own)
            self._fill(child, first.nodes, depth + 1, own)
        rest = weights - held
        block.weights = [p for p in self.graph.parameters if p in rest and self._users.get((p, 0))]

    def _users_of(self, weight):
        return {self._first(user) for user in self._users.get((weight, 0), ())}

    def _first(self, node):
        while node in self._twin:
            node = self._twin[node]
        return node

    def _steps(self, nodes: Iterable[CNode], depth: int, calls: list[Call]) -> Iterator[Any]:
        def part(node):
            parts = self._parts[node]
            return parts[depth] if len(parts) > depth else None

        for name, run in itertools.groupby(nodes, key=part):
            if name is None:
                for node in run:
                    yield Op(
                        node,
                        [
                            Body(g, list(self._steps(kept, depth, calls)), [self.real(v) for v in g.outputs])
                            for g, kept in zip(node.graphs, self._kept[node], strict=True)
                        ],
                    )
            else:
                calls.append(Call(name, list(run)))
                yield calls[-1]

    def _same(self, calls: Iterable[Call]) -> Iterator[list[Call]]:
        """Calls of one Cell together, in the order of their first ones."""
        groups: dict[Any, list[Call]] = {}
        for call in calls:
            print_, call.inputs, made = self._print(call.nodes)
            groups.setdefault((call.part, print_), []).append(call)
            call.outputs = made
        for mates in groups.values():
            for call in mates[1:]:
                for mine, first in zip(call.nodes, mates[0].nodes, strict=True):
                    self._twin.update(zip(self._within[mine], self._within[first], strict=True))
            yield mates

    def _print(self, nodes: Sequence[CNode]) -> tuple[Any, list[Value], list[Value]]:
        """(what nodes compute, the values from outside that they take, all that they make), the Parameters by name."""
        places: dict[Value, int] = {}
        outside: list[Value] = []

        def told(value):
            value = self.real(value)
            node = value[0]
            if isinstance(node, ValueNode):
                return "constant", type(node.value).__name__, _key(node.value), node.types and node.types[0]
            if value not in places:
                places[value] = -1 - len(outside)
                outside.append(value)
            if isinstance(node, ParameterNode) and node.is_weight:
                return "weight", node.name
            return places[value]

        def look(nodes):
            for node in nodes:
                found = [told(value) for value in self._direct(node)]
                for slot in range(len(node.types)):
                    places[node, slot] = len(places)
                inner = []
                if node.op == "While":  # the condition, which stands first, asks for what the body carries
                    body = node.graphs[1]
                    for parameter in body.parameters[body.free :]:
                        places.setdefault((parameter, 0), len(places))
                for graph, kept in zip(node.graphs, self._kept[node], strict=True):
                    inner.append((tuple(look(kept)), tuple(told(value) for value in graph.outputs)))
                settings = tuple((name, _key(value)) for name, value in node.attrs.items())
                yield node.op, settings, node.layout, tuple(found), tuple(inner), node.types

        print_ = tuple(look(nodes))
        return print_, outside, [(node, slot) for node in nodes for slot in range(len(node.types))]

    def _join(self, child: Block, mates: list[Call], own: set[ParameterNode]) -> None:
        """Say which values the calls of a Cell take and give."""
        kept = [i for i, (node, _) in enumerate(mates[0].inputs) if node not in own]
        used = set()
        for call in mates:
            inside = {n for node in call.nodes for n in self._within[node]}
            used |= {i for i, value in enumerate(call.outputs) if not self.users(value) <= inside}
        for call in mates:
            call.block = child
            call.inputs = [call.inputs[i] for i in kept]
            call.outputs = [call.outputs[i] for i in sorted(used)]
        child.inputs, child.outputs = mates[0].inputs, mates[0].outputs


def _key(value):
    """Something equal for equal settings alone."""
    if isinstance(value, np.generic):
        value = np.asarray(value)
    try:
        found = hashable(np.asarray(value) if hasattr(value, "__array__") else value)
        hash(found)
    except TypeError:
        return repr(value)
    return type(value).__name__, found
