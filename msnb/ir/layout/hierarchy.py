"""The scope tree that a graph is drawn as: lanes (forward, backward, update), scopes, folds of repeated blocks, and
edges between siblings.

Every edge is lifted to the innermost scope that contains both its ends. A closed scope therefore hides all of its
content, and the layout of one scope never depends on another.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb._util import gc_pause
from msnb.ir.anf import CNode, ValueNode
from msnb.ir.calls import calls
from msnb.ir.layout.folding import Folding
from msnb.ir.layout.scopes import CONTROL, CROWD, FOLD, LANE, LANES, LONE, ROOT, SCOPE, Scope

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph

_MAX_COMPARED = 8  # elements of a constant that are compared


def signature(node: "CNode") -> Any:
    """Return a key that is equal for two nodes with the same operator, types, attributes and constant inputs.

    A Python number gives the same key as an array of that value with the dtype of the other operand: graphs from
    files have such arrays in place of numbers.
    """
    constants, input_types, operand_dtype = [], [], None
    for source, slot in node.uses:
        if not isinstance(source, ValueNode) and source.types:
            operand_dtype = source.types[slot].dtype.lower()
            break
    for source, slot in node.uses:
        kind = source.types[slot] if source.types else None
        is_constant = isinstance(source, ValueNode) and kind is not None and kind.size <= _MAX_COMPARED
        constants.append(_format_constant(source.value, operand_dtype) if is_constant else None)
        input_types.append(None if is_constant and not kind.shape else kind)
    return node.op, tuple(node.types), tuple(input_types), tuple(constants), repr(node.attrs) if node.attrs else ""


def _format_constant(value, operand_dtype):
    """Return a small constant as text, converted to the other operand's dtype `operand_dtype`."""
    try:
        array = np.asarray(value)
        if array.dtype.kind != "f" or array.ndim:
            return repr(array.tolist())
        number = (
            array.astype(operand_dtype) if operand_dtype is not None and "float" in operand_dtype else array
        ).item()
    except (TypeError, ValueError):  # a PRNG key, or an extended dtype of JAX
        return repr(value)
    return repr(int(number) if number.is_integer() and repr(number) != "-0.0" else number)


def main_results(nodes: Sequence[Any]) -> list[int]:
    """Return, per node id, the index of its main result: the first one that a node of the same lane reads.

    The other results are statistics that are written back, or residuals for the gradient.
    """
    main = [None] * len(nodes)
    for node in nodes:
        for source, slot in node.uses:
            if isinstance(source, CNode) and source.direction == node.direction and source.id < len(main):
                best = main[source.id]
                main[source.id] = slot if best is None else min(best, slot)
    return [slot or 0 for slot in main]


class Hierarchy:
    """The tree of scopes of a FuncGraph, as it is drawn.

    Args:
        graph (FuncGraph): the graph to draw.
        fold (bool): whether repeated blocks are folded. Default: True.
        states (Sequence[str]): per node its state in a `Comparison` with another graph: nodes of different states are
            not folded together. Default: None, there is no other graph.

    Attributes:
        root (Scope): root of the tree; its children are the lanes.
        nodes (list[CNode]): every node drawn; a node's `id` is its index here.
        home (list[Scope]): the scope that contains each node.
        edges (list[tuple[int, int]]): data flow between nodes, by id.
    """

    @gc_pause.without_gc
    def __init__(self, graph: "FuncGraph", fold: bool = True, states: Sequence[str] | None = None) -> None:
        self.graph = graph
        self.states = states
        self.root: Scope = Scope("", ROOT)
        self.nodes: list[CNode] = list(graph.all_nodes())
        self.edges: list[Any] = []
        self.feeders: list[list[int]] = [[] for _ in self.nodes]  # ids of the producers of each node's inputs
        self.signatures: dict[Any, Any] = {}
        self.signature_of: list[int] = [0] * len(self.nodes)
        for node in self.nodes:
            key = signature(node), states and states[node.id]
            self.signature_of[node.id] = self.signatures.setdefault(key, len(self.signatures))
        for lane in LANES:
            if any(node.direction == lane for node in self.nodes):
                self.root.child(lane, LANE)
        if not self.root.children:
            self.root.child("forward", LANE)
        self.home: list[Any] = [None] * len(self.nodes)
        # a compiled program runs its kernels in any order, so calls of one Cell cannot be distinguished
        self.calls: Any = {} if any(node.instruction for node in self.nodes) else calls(graph.nodes)
        self._add_nodes(graph, None, "", {})
        for lane in self.root.children:
            _merge_single_child_scopes(lane, self._find_opposite_lane(lane))
        self._measure_and_sort_scopes()
        if fold:
            Folding(self.root, self.signature_of, self.feeders, states).run()
            self._measure_and_sort_scopes()
            _mark_single_operator_boxes(self.root)
        self._record_scope_of_nodes()

    def _add_nodes(self, graph, base, skipped, origin):
        """Put each node into its scope and record its edges.

        `base` is the box of the loop or branch that contains `graph`, or None at the top. `skipped` is the scope of
        that loop or branch; it is removed from the scopes of the nodes inside. `origin` maps a sub-graph's parameter to
        the node that feeds it.
        """
        for node in graph.nodes:
            scope = base or self.root.named[node.direction]
            path = node.scope
            if base is not None and path.startswith(skipped):
                path = path[len(skipped) :]
            for part in self.calls[node.id] if base is None and self.calls else path.split("/"):
                if part:
                    scope = scope.child(part)
            if node.graphs:
                scope = scope.child(f"{node.op}-op{node.id}", CONTROL)
            for inner in node.graphs:
                inner_origin = dict(origin)
                for parameter, feed in zip(inner.parameters, inner.feeds, strict=False):
                    inner_origin[parameter] = origin.get(node.inputs[feed], node.inputs[feed])
                self._add_nodes(inner, scope.child(inner.name, CONTROL), node.scope, inner_origin)
                for source, _ in inner.outputs:
                    self._add_edge(inner_origin.get(source, source), node)
            scope.children.append(node)
            for source in node.inputs:
                self._add_edge(origin.get(source, source), node)

    def _add_edge(self, source, node):
        if isinstance(source, CNode) and source.id not in self.feeders[node.id]:
            self.edges.append((source.id, node.id))
            self.feeders[node.id].append(source.id)

    def _find_opposite_lane(self, lane):
        """Return the backward lane for the forward lane and vice versa, or None if there is none. Scopes in both must
        have the same names, since they are drawn side by side.
        """
        other = {"forward": "backward", "backward": "forward"}.get(lane.name)
        return self.root.named.get(other)

    def _measure_and_sort_scopes(self):
        """Set the number of nodes and the first node of every scope, and sort its children by their first nodes."""

        def visit(scope):
            scope.size, scope.start = 0, len(self.nodes)
            for child in scope.children:
                if isinstance(child, Scope):
                    visit(child)
                    scope.size += child.size
                    scope.start = min(scope.start, child.start)
                else:
                    scope.size += 1
                    scope.start = min(scope.start, child.id)
            if scope.kind not in (ROOT, CONTROL, FOLD):
                scope.children.sort(key=lambda child: child.start if isinstance(child, Scope) else child.id)

        visit(self.root)

    def _record_scope_of_nodes(self):
        for index, scope in enumerate(self.scopes):
            scope.index = index
            for child in scope.children:
                if isinstance(child, Scope):
                    child.parent = scope
                else:
                    self.home[child.id] = scope

    @functools.cached_property
    def lifted(self) -> Any:
        """{(child, child): number of edges} per scope index; a child is a Scope or a CNode.

        Each edge is lifted to the innermost scope that contains both ends.
        """
        chains = {}
        result = {}
        for source, target in self.edges:
            chains_down = []
            for number in (source, target):
                scope = self.home[number]
                if scope.index not in chains:
                    chains[scope.index] = scope.ancestors()
                chains_down.append([*chains[scope.index], self.nodes[number]])
            depth = shared(*chains_down)
            scope_edges = result.setdefault(chains_down[0][depth - 1].index, {})
            pair = chains_down[0][depth], chains_down[1][depth]
            scope_edges[pair] = scope_edges.get(pair, 0) + 1
        return result

    @functools.cached_property
    def scopes(self) -> list[Scope]:
        """All scopes by index."""
        return list(self.root.scopes())

    @functools.cached_property
    def main_results(self) -> list[int]:
        """Index of the main result of each node, by node id; see the function `main_results`."""
        return main_results(self.nodes)

    @functools.cached_property
    def crossings(self) -> list[tuple[list[Any], list[Any], int]]:
        """List of the edges between two scopes of one lane: (path from the root to the start, path to the end, number
        of scopes that both paths share).
        """
        paths, edges = {}, []
        for source, target in self.edges:
            home = self.home[source]
            if home is self.home[target] and home.kind not in (FOLD, LONE):
                continue  # no border between the two
            for number in (source, target):
                if number not in paths:
                    paths[number] = self.way(self.nodes[number])
            depth = shared(paths[source], paths[target])
            if depth > 1:
                edges.append((paths[source], paths[target], depth))
        return edges

    def way(self, node: CNode) -> list[Any]:
        """Return the boxes around a node, from the root to the box that shows the node."""
        chain = self.home[node.id].ancestors()
        return chain if chain[-1].kind == LONE else [*chain, node]

    @functools.cached_property
    def result_nodes(self) -> list[Any]:
        """The node whose result a closed scope shows, by scope index: the last node that another scope of the lane
        reads or that the program returns. If there is no such node, it is the last node of the scope.
        """
        last, last_read, home, chains = {}, {}, self.home, {}
        for node in self.nodes:
            scope = home[node.id]
            if scope.index not in chains:
                chains[scope.index] = scope.ancestors()
            for outer_chain in chains[scope.index]:
                last[outer_chain.index] = node
        ends = [(source.id, ()) for source, _ in self.graph.outputs if isinstance(source, CNode)]
        crossing = [(source, target) for source, target in self.edges if home[source] is not home[target]]
        ends += [(source, chains[home[target].index]) for source, target in crossing]
        for source, outer_chain in ends:
            chain = chains[home[source].index]
            depth = shared(chain, outer_chain)
            if outer_chain and depth < 2:
                continue  # another lane
            for scope in chain[depth:]:
                cached = last_read.get(scope.index)
                if cached is None or cached.id < source:
                    last_read[scope.index] = self.nodes[source]
        return [last_read.get(index, last.get(index)) for index in range(1 + max(last, default=0))]


def shared(chain: Sequence[Any], other: Sequence[Any]) -> int:
    """Return how many leading scopes two paths from the root have in common."""
    depth = 0
    for one, two in zip(chain, other, strict=False):
        if one is not two:
            break
        depth += 1
    return depth


def _mark_single_operator_boxes(scope):
    """Mark the boxes that contain a single operator: each is drawn as the operator."""
    for child in scope.children:
        if isinstance(child, Scope):
            if child.kind == SCOPE and len(child.children) == 1 and isinstance(child.children[0], CNode):
                child.kind = LONE
            else:
                _mark_single_operator_boxes(child)


def _merge_single_child_scopes(scope, twin):
    """Merge each scope that contains only one other scope with that scope: Default/network-LeNet5 is one box."""
    for child in list(scope.children):
        if not isinstance(child, Scope):
            continue
        mate = twin.named.get(child.name) if twin is not None else None
        while (
            child.kind == SCOPE
            and len(child.children) == 1
            and isinstance(child.children[0], Scope)
            and child.children[0].kind == SCOPE
            and _has_matching_only_child(mate, child.children[0].name)
        ):
            only = child.children[0]
            mate_only = mate.named.get(only.name) if mate is not None else None
            old = child.name
            child.name = f"{old}/{only.name}"
            child.children, child.named = only.children, only.named
            scope.named[child.name] = scope.named.pop(old, child)
            if mate is not None:  # the counterpart is renamed at the same time, so that both still match
                mate.name, mate.children, mate.named = child.name, mate_only.children, mate_only.named
                twin.named[mate.name] = twin.named.pop(old)
        _merge_single_child_scopes(child, mate)


def _has_matching_only_child(mate, name):
    """Return whether `mate`, the scope in the other lane, has a single child of this name too. True if there is no
    such scope.
    """
    if mate is None:
        return True
    return len(mate.children) == 1 and isinstance(mate.children[0], Scope) and mate.children[0].name == name


def representatives(tree: Hierarchy) -> list[int]:
    """Return a list that maps each node id to the id of the node that represents it when only the first of several
    equal blocks is drawn."""
    representative = list(range(len(tree.nodes)))

    def visit(scope):
        if scope.kind == FOLD and all(isinstance(child, Scope) for child in scope.children):
            first = [node.id for node in scope.children[0].leaves()]
            for other in scope.children[1:]:
                for position, node in enumerate(other.leaves()):
                    representative[node.id] = first[min(position, len(first) - 1)]
            visit(scope.children[0])
        elif scope.kind in (CROWD, FOLD):
            by_signature = {}  # one node of each signature, so that sums over the represented nodes stay exact
            for node in scope.children:
                representative[node.id] = by_signature.setdefault(tree.signature_of[node.id], node.id)
        else:
            for child in scope.children:
                if isinstance(child, Scope):
                    visit(child)

    visit(tree.root)
    for number, target in enumerate(representative):  # the first repeat may contain repeats
        while representative[target] != target:
            target = representative[target]
        representative[number] = target
    return representative
