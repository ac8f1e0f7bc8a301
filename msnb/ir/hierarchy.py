"""The scope tree that a graph is drawn as: lanes, scopes, repeated blocks folded into one, and edges between siblings.

Every edge is lifted to the innermost scope that holds both its ends, so a closed scope hides everything inside it, and
the layout of one scope never depends on another.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb._util import gc_pause
from msnb.ir.scopes import CONTROL, FOLD, LANE, LANES, LONE, ROOT, SCOPE, Scope

from .anf import CNode, ValueNode
from .calls import calls
from .folding import Folding

if TYPE_CHECKING:  # named in annotations alone
    from msnb.ir.anf import FuncGraph

_FEW = 8  # elements of a constant that are looked at


def signature(node: "CNode") -> Any:
    """What makes two calls the same but for their place: operator, types, attributes, constant inputs.

    A number is the same whether it stands in a graph as Python's, which has no type of its own, or as an array that
    was given the type of what it meets, as files have it.
    """
    constants, taken, met = [], [], None
    for source, slot in node.uses:
        if not isinstance(source, ValueNode) and source.types:
            met = source.types[slot].dtype.lower()
            break
    for source, slot in node.uses:
        kind = source.types[slot] if source.types else None
        is_constant = isinstance(source, ValueNode) and kind is not None and kind.size <= _FEW
        constants.append(_told(source.value, met) if is_constant else None)
        taken.append(None if is_constant and not kind.shape else kind)
    return node.op, tuple(node.types), tuple(taken), tuple(constants), repr(node.attrs) if node.attrs else ""


def _told(value, met):
    """A small constant as text, beside a value of the type `met`."""
    try:
        array = np.asarray(value)
        if array.dtype.kind != "f" or array.ndim:
            return repr(array.tolist())
        number = (array.astype(met) if met is not None and "float" in met else array).item()
    except (TypeError, ValueError):  # a key, or a type of JAX's own
        return repr(value)
    return repr(int(number) if number.is_integer() and repr(number) != "-0.0" else number)


def main_results(nodes: Sequence[Any]) -> list[int]:
    """Per node id, which result is the one its operator is there for: the first that the same lane reads.

    The others are statistics that are written back, or what the gradient will need.
    """
    main = [None] * len(nodes)
    for node in nodes:
        for source, slot in node.uses:
            if isinstance(source, CNode) and source.direction == node.direction and source.id < len(main):
                best = main[source.id]
                main[source.id] = slot if best is None else min(best, slot)
    return [slot or 0 for slot in main]


class Hierarchy:
    """The tree of a FuncGraph.

    Args:
        graph (FuncGraph): what to draw.
        fold (bool): whether repeated blocks become one. Default: True.
        states (Sequence[str]): per node how it differs from another graph, as `Comparison` has it: nodes of different
            states are not folded into one. Default: None, there is no other graph.

    Attributes:
        root (Scope): its children are lanes.
        nodes (list[CNode]): every node drawn; a node's `id` is its place here.
        home (list[Scope]): the scope that holds each node.
        edges (list[tuple[int, int]]): data flow between nodes, by id.
    """

    @gc_pause.without_gc
    def __init__(self, graph: "FuncGraph", fold: bool = True, states: Sequence[str] | None = None) -> None:
        self.graph = graph
        self.states = states
        self.root: Scope = Scope("", ROOT)
        self.nodes: list[CNode] = list(graph.all_nodes())
        self.edges: list[Any] = []
        self.feeders: list[list[Any]] = [[] for _ in self.nodes]  # ids each node takes its inputs from
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
        # a compiled program runs its kernels in any order, so there calls of one Cell cannot be told apart
        self.calls: Any = {} if any(node.instruction for node in self.nodes) else calls(graph.nodes)
        self._place(graph, None, "", {})
        for lane in self.root.children:
            _merge_single(lane, self._twin(lane))
        self._measure()
        if fold:
            Folding(self).run()
            self._measure()
            _mark_lone(self.root)
        self._rehome()

    def _place(self, graph, base, skipped, origin):
        """Put each node into its scope and note its edges.

        `base` is the box of the loop or branch that holds `graph` (None at the top), `skipped` the scope it stands in,
        which its nodes repeat; `origin` says which node a sub-graph's parameter stands for.
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
                within = dict(origin)
                for parameter, feed in zip(inner.parameters, inner.feeds, strict=False):
                    within[parameter] = origin.get(node.inputs[feed], node.inputs[feed])
                self._place(inner, scope.child(inner.name, CONTROL), node.scope, within)
                for source, _ in inner.outputs:
                    self._edge(within.get(source, source), node)
            scope.children.append(node)
            for source in node.inputs:
                self._edge(origin.get(source, source), node)

    def _edge(self, source, node):
        if isinstance(source, CNode) and source.id not in self.feeders[node.id]:
            self.edges.append((source.id, node.id))
            self.feeders[node.id].append(source.id)

    def _twin(self, lane):
        """The lane whose scopes must keep the same names: forward and backward are drawn side by side."""
        other = {"forward": "backward", "backward": "forward"}.get(lane.name)
        return self.root.named.get(other)

    def _measure(self):
        """Number of nodes and first node of every scope; children in the order of their first node."""

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

    def _rehome(self):
        for index, scope in enumerate(self.root.scopes()):
            scope.index = index
            for child in scope.children:
                if isinstance(child, Scope):
                    child.parent = scope
                else:
                    self.home[child.id] = scope

    def lifted(self) -> Any:
        """Per scope index: {(child, child): number of edges}; a child is a Scope or a CNode."""
        chains = {}
        result = {}
        for source, target in self.edges:
            ways = []
            for number in (source, target):
                scope = self.home[number]
                if scope.index not in chains:
                    chains[scope.index] = scope.ancestors()
                ways.append([*chains[scope.index], self.nodes[number]])
            depth = shared(*ways)
            within = result.setdefault(ways[0][depth - 1].index, {})
            pair = ways[0][depth], ways[1][depth]
            within[pair] = within.get(pair, 0) + 1
        return result

    def way(self, node: CNode) -> list[Any]:
        """Everything that is drawn around a node, from the root down to its own box."""
        chain = self.home[node.id].ancestors()
        return chain if chain[-1].kind == LONE else [*chain, node]

    def given(self) -> list[Any]:
        """Per scope index, the node whose result a closed scope shows: the last one that something outside of it reads
        in the same lane, or that the program returns; else its last."""
        last, leaving, home, chains = {}, {}, self.home, {}
        for node in self.nodes:
            scope = home[node.id]
            if scope.index not in chains:
                chains[scope.index] = scope.ancestors()
            for around in chains[scope.index]:
                last[around.index] = node
        ends = [(source.id, ()) for source, _ in self.graph.outputs if isinstance(source, CNode)]
        apart = [(source, target) for source, target in self.edges if home[source] is not home[target]]
        ends += [(source, chains[home[target].index]) for source, target in apart]
        for source, around in ends:
            chain = chains[home[source].index]
            depth = shared(chain, around)
            if around and depth < 2:
                continue  # another lane
            for scope in chain[depth:]:
                known = leaving.get(scope.index)
                if known is None or known.id < source:
                    leaving[scope.index] = self.nodes[source]
        return [leaving.get(index, last.get(index)) for index in range(1 + max(last, default=0))]


def shared(chain: Sequence[Any], other: Sequence[Any]) -> int:
    """How many scopes two ways down from the root have in common."""
    depth = 0
    for one, two in zip(chain, other, strict=False):
        if one is not two:
            break
        depth += 1
    return depth


def _mark_lone(scope):
    """A box around a single operator says nothing that the operator's own could not."""
    for child in scope.children:
        if isinstance(child, Scope):
            if child.kind == SCOPE and len(child.children) == 1 and isinstance(child.children[0], CNode):
                child.kind = LONE
            else:
                _mark_lone(child)


def _merge_single(scope, twin):
    """Join a scope that holds nothing but one other scope with it: Default/network-LeNet5 is one box."""
    for child in list(scope.children):
        if not isinstance(child, Scope):
            continue
        mate = twin.named.get(child.name) if twin is not None else None
        while (
            child.kind == SCOPE
            and len(child.children) == 1
            and isinstance(child.children[0], Scope)
            and child.children[0].kind == SCOPE
            and _agrees(mate, child.children[0].name)
        ):
            only = child.children[0]
            mate_only = mate.named.get(only.name) if mate is not None else None
            old = child.name
            child.name = f"{old}/{only.name}"
            child.children, child.named = only.children, only.named
            scope.named[child.name] = scope.named.pop(old, child)
            if mate is not None:  # the twin is renamed in the same breath, so that both still match
                mate.name, mate.children, mate.named = child.name, mate_only.children, mate_only.named
                twin.named[mate.name] = twin.named.pop(old)
        _merge_single(child, mate)


def _agrees(mate, name):
    """Return whether the scope in the other lane, if there is one, has that single child too."""
    if mate is None:
        return True
    return len(mate.children) == 1 and isinstance(mate.children[0], Scope) and mate.children[0].name == name
