"""Divide a graph into Cells by the scopes of its nodes, and find the inputs and outputs of each Cell.

Consecutive nodes with the same scope form a call of a Cell. Two such calls belong to the same Cell if they have the
same scope, operators and Parameters. A Parameter belongs to the innermost Cell that contains all its uses.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from msnb.common.kinds import hashable
from msnb.ir.anf import AnfNode, CNode, FuncGraph, ParameterNode, ValueNode

Value = tuple[AnfNode, int]  # a node, and the index of its result

_FUNCTION = re.compile(r"\w+\(\)( \d+)?$|while\(.*\)$")  # scopes of functions and loops, not of Cells


class Op:
    """Step of `construct`: a call of an operator, or a branch or loop with the graphs `bodies`."""

    __slots__ = ("node", "bodies")

    def __init__(self, node: CNode, bodies: Sequence["Body"] = ()) -> None:
        self.node: CNode = node
        self.bodies: Sequence[Body] = bodies


class Body:
    """The steps of a branch or of a loop's condition or body."""

    __slots__ = ("graph", "steps", "outputs")

    def __init__(self, graph: FuncGraph, steps: list[Any], outputs: list[Value]) -> None:
        self.graph: FuncGraph = graph
        self.steps: list[Any] = steps
        self.outputs: list[Value] = outputs


class Call:
    """Step of `construct`: a call of a Cell, with the values of its inputs and results in the order of the Cell."""

    __slots__ = ("block", "segment", "nodes", "inputs", "outputs")

    def __init__(self, segment: str, nodes: list[CNode]) -> None:
        self.segment: str = segment
        self.nodes: list[CNode] = nodes
        self.block: Any = None
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []


class Block:
    """A Cell to be written.

    Attributes:
        segment (str): The Cell's segment of the scope, such as ``"conv1-Conv2d"`` or ``"conv1"``.
        path (tuple[str]): Attribute names that lead to the Cell in the original network.
        steps (list): Statements of `construct`: `Op`, `Call` and `LayerCall`.
        inputs (list[Value]), outputs (list[Value]): Inputs and results of the Cell.
        weights (list[ParameterNode]): Parameters that the Cell itself defines, without those of its child Cells.
        layer (Layer): The layer of `mindspore.nn` that replaces the Cell, or None.
    """

    def __init__(self, segment: str, path: tuple[str, ...]) -> None:
        self.segment: str = segment
        self.path: tuple[str, ...] = path
        self.steps: list[Any] = []
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.weights: list[ParameterNode] = []
        self.layer: Any = None

    @property
    def attribute(self) -> str:
        """The attribute name in the parent Cell: ``"conv1"``, ``"layers.0"``; "" if the scope has none."""
        return attribute_of(self.segment)

    @property
    def kind(self) -> str:
        """The class name, "" if the scope has none."""
        return self.segment.rpartition("-")[2] if "-" in self.segment else ""


def attribute_of(segment: str) -> str:
    """Return the attribute name that a segment of a scope contains."""
    return segment.rpartition("-")[0] if "-" in segment else segment


def scope_segments(scope: str) -> list[str]:
    """Return the segments of a scope, one per Cell, outermost first. If a segment begins with the name of its parent,
    that prefix is removed: ``layer1/layer1.0`` gives ``layer1`` and ``0``.
    """
    segments, previous = [], ""
    for segment in scope.split("/"):
        if not segment or (segment == "Default" and not segments) or _FUNCTION.match(segment):
            continue
        segments.append(segment.removeprefix(f"{previous}.") if previous else segment)
        previous = segment
    return segments


class Blocks:
    """Divides a graph into Blocks; `root` is the Block of the network.

    Args:
        graph (FuncGraph): The graph.

    Attributes:
        missing (dict): {(operator, reason): node} of operators without a Python form, filled while writing.
    """

    def __init__(self, graph: FuncGraph) -> None:
        self.graph: FuncGraph = graph
        self.missing: dict[tuple[str, str], CNode] = {}
        self._alias: dict[Value, Value] = {}  # parameter of a subgraph -> the value passed to it
        self._users: dict[Value, set[CNode | None]] = {}
        self._subtree: dict[CNode, list[CNode]] = {}  # a node and all nodes of its subgraphs
        self._first_call_node: dict[CNode, CNode] = {}  # node of a repeated call of a Cell -> node of its first call
        self._segments: dict[CNode, list[str]] = {}
        self._subgraph_nodes: dict[CNode, list[list[CNode]]] = {}  # nodes of each subgraph
        self.outputs: list[Value] = graph.outputs[: len(graph.outputs) - graph.written]
        nodes = self._record_uses(graph, self.outputs)
        for value in self.outputs:
            self._users.setdefault(self.real(value), set()).add(None)
        self.root: Block = Block(graph.name, ())
        depth = self._count_wrapper_scopes(nodes)
        self._set_block_steps(self.root, nodes, depth, {p for p in graph.parameters if p.is_weight})
        self.root.inputs = [(p, 0) for p in graph.parameters if not p.is_weight]
        self.root.outputs = [self.real(value) for value in self.outputs]

    # ------------------------------------------------------------------ uses of values
    def real(self, value: Value) -> Value:
        """Return the outer value that is passed to a parameter of a subgraph. Any other value is returned unchanged."""
        while value in self._alias:
            value = self._alias[value]
        return value

    def users(self, value: Value) -> set[CNode | None]:
        """Return the nodes that use a value; None in the result represents the outputs of the graph. A use inside a
        subgraph also counts for the branch or loop node.
        """
        return self._users.get(value, set())

    def uses(self, node: CNode) -> list[Value]:
        """Return the inputs of a node."""
        return [self.real(value) for value in node.uses]

    def _record_uses(self, graph: FuncGraph, outputs: Iterable[Value]) -> list[CNode]:
        """Record the users of all values in a graph. Return its nodes that the outputs depend on."""
        needed, live_nodes = {node for node, _ in outputs}, []
        for node in reversed(graph.nodes):
            if node in needed:
                needed.update(node.inputs)
                live_nodes.append(node)
        live_nodes.reverse()
        for node in live_nodes:
            self._segments[node] = scope_segments(node.scope)
            self._subtree[node] = [node]
            for value in self._collect_direct_inputs(node):
                self._users.setdefault(self.real(value), set()).add(node)
            self._subgraph_nodes[node] = []
            for inner in node.graphs:
                self._subgraph_nodes[node].append(self._record_uses(inner, inner.outputs))
                for inner_node in self._subgraph_nodes[node][-1]:
                    self._subtree[node] += self._subtree[inner_node]
                for value in inner.outputs:
                    self._users.setdefault(self.real(value), set()).add(node)
        return live_nodes

    def _collect_direct_inputs(self, node: CNode) -> list[Value]:
        """Return the inputs of a node without the inputs of its subgraphs. Record the value that is passed to each
        parameter of the subgraphs.
        """
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
            for test_parameter, body_parameter in zip(
                test.parameters[test.free :], body.parameters[body.free :], strict=True
            ):
                self._alias[test_parameter, 0] = body_parameter, 0
            return [uses[feed] for feed in body.feeds[body.free :]]
        return uses

    def _count_wrapper_scopes(self, nodes: Sequence[CNode]) -> Any:
        """Return the number of outer scopes that all nodes share and that are not part of the Parameters' names, such
        as the scope of a training Cell.
        """
        names = [p.name for p in self.graph.parameters if p.is_weight]
        for depth in itertools.count():
            segments = {self._segments[node][depth] if len(self._segments[node]) > depth else "" for node in nodes}
            segment = segments.pop() if len(segments) == 1 else ""
            if not segment or any(name.startswith(f"{attribute_of(segment)}.") for name in names):
                return depth
            if "-" in segment:
                self.root.segment = segment

    # ------------------------------------------------------------------ Cells
    def _set_block_steps(self, block: Block, nodes: list[CNode], depth: int, weights: set[ParameterNode]) -> None:
        """Set the steps and Parameters of a Block and its children. `weights` are the Parameters that only this Block
        uses.
        """
        calls: list[Call] = []
        block.steps = list(self._iterate_steps(nodes, depth, calls))
        child_weights = set()
        for same_cell_calls in self._group_calls_by_cell(calls):
            first = same_cell_calls[0]
            child = Block(first.segment, (*block.path, attribute_of(first.segment)))
            inner_nodes = {n for node in first.nodes for n in self._subtree[node]}
            own_weights = {w for w in weights if (users := self._find_weight_users(w)) and users <= inner_nodes}
            child_weights |= own_weights
            self._set_signature(child, same_cell_calls, own_weights)
            self._set_block_steps(child, first.nodes, depth + 1, own_weights)
        rest = weights - child_weights
        block.weights = [p for p in self.graph.parameters if p in rest and self._users.get((p, 0))]

    def _find_weight_users(self, weight):
        return {self._find_first_call_node(user) for user in self._users.get((weight, 0), ())}

    def _find_first_call_node(self, node):
        while node in self._first_call_node:
            node = self._first_call_node[node]
        return node

    def _iterate_steps(self, nodes: Iterable[CNode], depth: int, calls: list[Call]) -> Iterator[Any]:
        def segment_of(node):
            segments = self._segments[node]
            return segments[depth] if len(segments) > depth else None

        for name, run in itertools.groupby(nodes, key=segment_of):
            if name is None:
                for node in run:
                    yield Op(
                        node,
                        [
                            Body(
                                g,
                                list(self._iterate_steps(body_nodes, depth, calls)),
                                [self.real(v) for v in g.outputs],
                            )
                            for g, body_nodes in zip(node.graphs, self._subgraph_nodes[node], strict=True)
                        ],
                    )
            else:
                calls.append(Call(name, list(run)))
                yield calls[-1]

    def _group_calls_by_cell(self, calls: Iterable[Call]) -> Iterator[list[Call]]:
        """Yield the list of calls of each Cell, in the order of the first calls."""
        groups: dict[Any, list[Call]] = {}
        for call in calls:
            fingerprint, call.inputs, outputs = self._fingerprint(call.nodes)
            groups.setdefault((call.segment, fingerprint), []).append(call)
            call.outputs = outputs
        for same_cell_calls in groups.values():
            for call in same_cell_calls[1:]:
                for node, first_node in zip(call.nodes, same_cell_calls[0].nodes, strict=True):
                    self._first_call_node.update(zip(self._subtree[node], self._subtree[first_node], strict=True))
            yield same_cell_calls

    def _fingerprint(self, nodes: Sequence[CNode]) -> tuple[Any, list[Value], list[Value]]:
        """Return (key, external inputs, results) of nodes. The hashable key is equal for equal computations. Parameters
        are identified by name.
        """
        numbers: dict[Value, int] = {}
        external: list[Value] = []

        def describe_value(value):
            value = self.real(value)
            node = value[0]
            if isinstance(node, ValueNode):
                return (
                    "constant",
                    type(node.value).__name__,
                    _make_hashable_key(node.value),
                    node.types and node.types[0],
                )
            if value not in numbers:
                numbers[value] = -1 - len(external)
                external.append(value)
            if isinstance(node, ParameterNode) and node.is_weight:
                return "weight", node.name
            return numbers[value]

        def describe_nodes(nodes):
            for node in nodes:
                inputs = [describe_value(value) for value in self._collect_direct_inputs(node)]
                for slot in range(len(node.types)):
                    numbers[node, slot] = len(numbers)
                inner = []
                if node.op == "While":  # the condition comes first and uses the state of the body
                    body = node.graphs[1]
                    for parameter in body.parameters[body.free :]:
                        numbers.setdefault((parameter, 0), len(numbers))
                for graph, body_nodes in zip(node.graphs, self._subgraph_nodes[node], strict=True):
                    inner.append(
                        (tuple(describe_nodes(body_nodes)), tuple(describe_value(value) for value in graph.outputs))
                    )
                settings = tuple((name, _make_hashable_key(value)) for name, value in node.attrs.items())
                yield node.op, settings, node.layout, tuple(inputs), tuple(inner), node.types

        fingerprint = tuple(describe_nodes(nodes))
        return fingerprint, external, [(node, slot) for node in nodes for slot in range(len(node.types))]

    def _set_signature(self, child: Block, same_cell_calls: list[Call], own_weights: set[ParameterNode]) -> None:
        """Set the inputs and outputs of a Cell, and those of each call of it."""
        input_indices = [i for i, (node, _) in enumerate(same_cell_calls[0].inputs) if node not in own_weights]
        output_indices = set()
        for call in same_cell_calls:
            inner_nodes = {n for node in call.nodes for n in self._subtree[node]}
            output_indices |= {i for i, value in enumerate(call.outputs) if not self.users(value) <= inner_nodes}
        for call in same_cell_calls:
            call.block = child
            call.inputs = [call.inputs[i] for i in input_indices]
            call.outputs = [call.outputs[i] for i in sorted(output_indices)]
        child.inputs, child.outputs = same_cell_calls[0].inputs, same_cell_calls[0].outputs


def _make_hashable_key(value):
    """Return a hashable key of a constant or an attribute. Two keys are equal only if type and value are equal."""
    if isinstance(value, np.generic):
        value = np.asarray(value)
    try:
        key = hashable(np.asarray(value) if hasattr(value, "__array__") else value)
        hash(key)
    except TypeError:
        return repr(value)
    return type(value).__name__, key
