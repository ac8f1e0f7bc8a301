"""Match the nodes of two graphs: two stages of a program, two networks, or two versions of a Cell."""

import difflib
import re
from typing import TYPE_CHECKING, Any

from msnb.ir.layout.hierarchy import Hierarchy, signature

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph

_CLASS = re.compile(r"(?<=.)-\w+")
_SHARED_NAMES = frozenset(("Switch", "While", "Scan", "AddN"))  # names that graphs of primitives have too
SAME, CHANGED, ONLY, FUSED = "same", "changed", "only", "fused"


class Comparison:
    """The correspondence between the nodes of two graphs.

    Attributes:
        links (list[tuple[int, int]]): pairs of node ids, (of the first graph, of the second).
        first (list[str]): per node of the first graph ``"same"``, ``"changed"`` (other attributes, shapes or dtypes),
            ``"fused"`` (into a kernel with others) or ``"only"`` (removed).
        second (list[str]): the same for the second graph, where ``"only"`` means added.
    """

    __slots__ = ("links", "first", "second")

    def __init__(self, links: Any, first: Any, second: Any) -> None:
        self.links: Any = links
        self.first: Any = first
        self.second: Any = second

    def counts(self) -> dict[str, int]:
        """Return the number of nodes in each state: {"same": n, "changed": n, "fused": n, "removed": n, "added": n}."""
        count = self.first.count
        return {
            SAME: count(SAME),
            CHANGED: count(CHANGED),
            FUSED: count(FUSED),
            "removed": count(ONLY),
            "added": self.second.count(ONLY),
        }

    def __repr__(self) -> str:
        return f"Comparison({', '.join(f'{key}: {value}' for key, value in self.counts().items() if value)})"


def compare(first: "FuncGraph", second: "FuncGraph") -> Comparison:
    """Match the nodes of two graphs.

    Nodes match first by scope and operator. The remaining nodes match by operator, in order of execution. A compiled
    program is matched by the origins that XLA records for each kernel. A graph of JAX's primitives is matched by the
    operator that each primitive came from.

    Args:
        first (FuncGraph): the earlier stage, or the old version.
        second (FuncGraph): the later stage, or the new version.

    Returns:
        Comparison.
    """
    old, new = list(first.all_nodes()), list(second.all_nodes())
    if any(node.instruction for node in new) and not any(node.instruction for node in old):
        return _match_kernels_by_origin(old, new)
    if any(node.instruction for node in old) and not any(node.instruction for node in new):
        return _swap_sides(_match_kernels_by_origin(new, old))
    if _is_expanded_to_primitives(first) != _is_expanded_to_primitives(second):
        return (
            _match_operators_to_primitives(old, new)
            if _is_expanded_to_primitives(second)
            else _swap_sides(_match_operators_to_primitives(new, old))
        )
    return _match_nodes_by_scope(first, second, old, new)


def _is_stablehlo_node(node):
    """Return whether a node is an operation of StableHLO, which records the primitive that it was lowered from."""
    return bool(node.origins) and not node.instruction


def _is_expanded_to_primitives(graph):
    """Return whether the operators of this graph were replaced by their primitives. Nodes of a graph from a file
    have no kernels, so names that begin with a capital letter count as operators too."""
    return len(graph) > 0 and not any(
        node.kernel is not None or node.op[:1].isupper() and node.op not in _SHARED_NAMES for node in graph.all_nodes()
    )


def _swap_sides(comparison):
    return Comparison([(b, a) for a, b in comparison.links], comparison.second, comparison.first)


def _build_scope_operator_keys(graph, classes):
    """Return a key for each node, by node id: (scope path, operator, number of the occurrence of this pair). `classes`
    is True if the path includes the classes of Cells.
    """
    tree, counts, keys = Hierarchy(graph, fold=False), {}, []
    for node in tree.nodes:
        names = [scope.name for scope in tree.home[node.id].ancestors()[1:]]
        path = "/".join(names if classes else (_CLASS.sub("", name) for name in names))
        key = (path, node.origins[0][1] if _is_stablehlo_node(node) else node.op)
        counts[key] = counts.get(key, 0) + 1
        keys.append((*key, counts[key]))
    return keys


def _match_nodes_by_scope(first, second, old, new):
    # a file of another framework has the attribute names of Cells, but not their classes
    classes = [any("-" in node.scope for node in nodes) for nodes in (old, new)]
    old_keys, new_keys = (
        _build_scope_operator_keys(graph, all(classes) or not any(classes)) for graph in (first, second)
    )
    new_index = {key: number for number, key in enumerate(new_keys)}
    links, partner = {}, {}
    for number, key in enumerate(old_keys):
        mate = new_index.get(key)
        if mate is not None:
            links[number], partner[mate] = mate, number
    # Match the remaining nodes in order, by operator. Two networks may have different names for their layers, so scopes
    # are ignored. Two stages of one program have the same names, so scopes must match.
    renamed = any(map(_is_stablehlo_node, old)) == any(map(_is_stablehlo_node, new))
    rest_old = [number for number in range(len(old)) if number not in links]
    rest_new = [number for number in range(len(new)) if number not in partner]
    tokens = [
        [(nodes[number].direction, keys[number][1], "" if renamed else keys[number][0]) for number in rest]
        for nodes, keys, rest in ((old, old_keys, rest_old), (new, new_keys, rest_new))
    ]
    matcher = difflib.SequenceMatcher(None, *tokens, autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            links[rest_old[block.a + step]] = rest_new[block.b + step]
            partner[rest_new[block.b + step]] = rest_old[block.a + step]
    states = ([ONLY] * len(old), [ONLY] * len(new))
    for number, mate in links.items():
        states[0][number] = states[1][mate] = SAME if _is_same_computation(old[number], new[mate]) else CHANGED
    return Comparison(sorted(links.items()), *states)


def _is_same_computation(old, new):
    """Return whether two nodes compute the same result. Additional residuals for the gradient are ignored. If one node
    is a StableHLO operation, only the types are compared, because its attributes are written differently.
    """
    if _is_stablehlo_node(old) != _is_stablehlo_node(new):
        return old.types == new.types
    first, second = signature(old), signature(new)
    if first[0] != second[0] or first[2:] != second[2:]:
        return False
    fewer, more = sorted((first[1], second[1]), key=len)
    rest = iter(more)
    return all(kind in rest for kind in fewer)


def _match_kernels_by_origin(old, new):
    opened = not any(node.kernel is not None for node in old)
    by_scope = {}
    for node in old:
        scope, _, last = node.scope.rpartition("/") if opened else (node.scope, "", "")
        line = node.source[:2] if node.source else None
        for path, op in {(scope, last), (node.scope, node.op)}:
            by_scope.setdefault((path, op, node.direction == "backward"), []).append((node.id, line))
    links, covers = set(), [set() for _ in new]
    for node in new:
        for scope, operator, backward, line in node.origins:
            mates = by_scope.get((scope, operator, backward), ())
            # a Cell called on several lines has several operators of that name: the line selects one
            same_line = [number for number, mate_line in mates if mate_line == line]
            for number in same_line or [number for number, _ in mates]:
                links.add((number, node.id))
                covers[node.id].add(number)
    states = ([ONLY] * len(old), [ONLY] * len(new))
    for number, kernel in links:
        fused = len(covers[kernel]) > 1
        states[1][kernel] = FUSED if fused else SAME
        if states[0][number] != SAME:
            states[0][number] = FUSED if fused else SAME
    return Comparison(sorted(links), *states)


def _match_operators_to_primitives(old, new):
    """Match operators with their primitives, which are in a scope with the operator's name."""
    by_scope = {}
    for node in old:
        key = "/".join(part for part in (node.scope, node.op) if part)
        line = node.source[:2] if node.source else None
        by_scope.setdefault((key, node.direction), []).append((node.id, line))
        by_scope.setdefault((node.scope, node.op, node.direction), []).append((node.id, line))
    links = set()
    for node in new:
        mates = by_scope.get((node.scope, node.direction)) or by_scope.get((node.scope, node.op, node.direction)) or ()
        # an operator called on several lines of one scope: the line selects the call
        on_line = [number for number, line in mates if node.source and line == node.source[:2]]
        links.update((number, node.id) for number in on_line or [number for number, _ in mates])
    states = ([ONLY] * len(old), [ONLY] * len(new))
    for number, primitive in links:
        states[0][number] = states[1][primitive] = SAME
    return Comparison(sorted(links), *states)
