"""Convert a graph to a table: one row per node, or one per Cell."""

import re
from typing import TYPE_CHECKING, Any

from msnb.ir.layout.hierarchy import Hierarchy, main_results
from msnb.ir.layout.scopes import SCOPE, Scope

from .anf import CNode, ParameterNode
from .printer import show_value
from .source import show

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph

_ENDING = re.compile(r"-[^-/]*$")  # the class in a scope segment


def attributes_of(scope: str) -> str:
    """Return the attribute path of a scope: ``Default/body-SequentialCell/0-Block`` is ``body.0``."""
    parts = scope.split("/")
    return ".".join(_ENDING.sub("", part) for part in parts[parts[:1] == ["Default"] :])


def class_of(scope: str) -> str:
    """Return the class of the innermost Cell of a scope, "" if there is none."""
    match = _ENDING.search(scope)
    return match[0][1:] if match else ""


def of_nodes(graph: "FuncGraph") -> list[dict[str, Any]]:
    """Return one row per node, in the order of execution.

    Args:
        graph (FuncGraph): the graph.

    Returns:
        list[dict], each with ``node`` (int, its id), ``operator``, ``cell`` (the attribute path of its Cell), ``class``
        (of that), ``direction``, ``shape`` (tuple) and ``dtype`` of its main result (or None), ``inputs`` (list of node
        ids, names of Parameters and arguments), ``attributes`` (dict), ``parameters`` (int, number of elements that it
        reads), ``flops``, ``bytes`` and ``source`` (``"net.py:31"``).
    """
    nodes = list(graph.all_nodes())
    main = main_results(nodes)
    rows = []
    for node in nodes:
        result = node.types[main[node.id]] if node.types else None
        rows.append(
            {
                "node": node.id,
                "operator": node.name,
                "cell": attributes_of(node.scope),
                "class": class_of(node.scope),
                "direction": node.direction,
                "shape": None if result is None else result.shape,
                "dtype": None if result is None else result.dtype,
                "inputs": [
                    getattr(source, "name" if isinstance(source, ParameterNode) else "id")
                    for source in node.inputs
                    if isinstance(source, (CNode, ParameterNode))
                ],
                "attributes": {key: show_value(value) for key, value in node.attrs.items()},
                "parameters": _count_elements(_collect_read_parameters([node])),
                "flops": node.flops,
                "bytes": node.nbytes,
                "source": show(node.source),
            }
        )
    return rows


def of_cells(graph: "FuncGraph") -> list[dict[str, Any]]:
    """Return one row per Cell, inner Cells below it; consecutive equal Cells share a row.

    Args:
        graph (FuncGraph): the graph. For a program with a gradient, pass its forward part.

    Returns:
        list[dict], each with ``cell`` (the attribute path; of the first if equal Cells share a row), ``class`` (for the
        network itself the name of the graph), ``depth`` (int), ``repeats`` (int), ``shape`` (tuple) and ``dtype`` of
        the output (None if nothing reads it), and for one of the equal Cells ``nodes``, ``parameters`` (elements),
        ``parameter_bytes``, ``flops``.
    """
    return _Cells(graph).rows


class _Cells:
    def __init__(self, graph):
        tree = Hierarchy(graph, fold=False)
        self.name = graph.name
        self.main = tree.main_results
        self.readers = [[] for _ in tree.nodes]
        for source, target in tree.edges:
            self.readers[source].append(target)
        self.output_ids = {node.id for node, _ in graph.outputs if isinstance(node, CNode)}
        self.rows = []
        self.add(tree.root.named.get("forward") or tree.root.children[0], "", 0)

    def add(self, scope, path, depth):
        before = None  # (key of equal Cells, row) of the previous Cell
        for child in scope.children:
            if not isinstance(child, Scope):
                before = None
                continue
            inner = f"{path}/{child.name}" if path else child.name
            if child.kind != SCOPE:  # a loop or branch
                self.add(child, path, depth)
                continue
            nodes = list(child.leaves())
            common = self.common(child, nodes)
            if before is not None and before[0] == common:
                before[1]["repeats"] += 1
                continue
            before = common, self.row(inner, depth, nodes)
            self.rows.append(before[1])
            self.add(child, inner, depth + 1)

    def row(self, path, depth, nodes):
        result, weights = self.output(nodes), _collect_read_parameters(nodes)
        return {
            "cell": attributes_of(path),
            "class": class_of(path) or (self.name if path == "Default" else ""),
            "depth": depth,
            "repeats": 1,
            "shape": None if result is None else result.shape,
            "dtype": None if result is None else result.dtype,
            "nodes": len(nodes),
            "parameters": _count_elements(weights),
            "parameter_bytes": sum(p.types[0].nbytes for p in weights),
            "flops": sum(node.flops for node in nodes),
        }

    def result(self, node):
        return node.types[self.main[node.id]] if node.types else None

    def output(self, nodes):
        """Return the type of a Cell's output: the last result that is read outside the Cell."""
        inside = {node.id for node in nodes}
        for node in reversed(nodes):
            if node.types and (node.id in self.output_ids or not inside.issuperset(self.readers[node.id])):
                return self.result(node)
        return None

    def common(self, scope, nodes):
        """Return a key that is equal for equal Cells. The list of results is not part of it: the first of several
        equal Cells has fewer residuals for gradients than the others."""
        inside = [(node.op, self.result(node), show_value(list(node.attrs.items()))) for node in nodes]
        return class_of(scope.name), inside, [p.types for p in _collect_read_parameters(nodes)]


def _collect_read_parameters(nodes):
    """Return the Parameters that nodes read, without duplicates."""
    return list(dict.fromkeys(s for node in nodes for s in node.inputs if isinstance(s, ParameterNode) and s.is_weight))


def _count_elements(weights):
    return sum(p.types[0].size for p in weights)
