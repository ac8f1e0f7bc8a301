"""A graph as rows: one per node, or one per Cell, for those who read and compute rather than look."""

import re
from typing import TYPE_CHECKING, Any

from msnb.ir.scopes import SCOPE, Scope

from .anf import CNode, ParameterNode
from .hierarchy import Hierarchy, main_results
from .printer import show_value
from .source import show

if TYPE_CHECKING:  # named in annotations alone
    from msnb.ir.anf import FuncGraph

_ENDING = re.compile(r"-[^-/]*$")  # of a part of a scope: the class


def attributes_of(scope: str) -> str:
    """The attributes that lead to a scope: ``Default/body-SequentialCell/0-Block`` is ``body.0``."""
    parts = scope.split("/")
    return ".".join(_ENDING.sub("", part) for part in parts[parts[:1] == ["Default"] :])


def class_of(scope: str) -> str:
    """The class of the Cell that a scope is, "" for one without."""
    found = _ENDING.search(scope)
    return found[0][1:] if found else ""


def of_nodes(graph: "FuncGraph") -> list[dict[str, Any]]:
    """One row per node, in the order of execution.

    Args:
        graph (FuncGraph): what to list.

    Returns:
        list[dict], each with ``node`` (int, its id), ``operator``, ``cell`` (the attributes that lead to its Cell),
        ``class`` (of that), ``direction``, ``shape`` (tuple) and ``dtype`` of its main result (None where it has none),
        ``inputs`` (list of node ids, names of Parameters and arguments), ``attributes`` (dict), ``parameters`` (int,
        values that it reads), ``flops``, ``bytes`` and ``source`` (``"net.py:31"``).
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
                "parameters": _values(_weights([node])),
                "flops": node.flops,
                "bytes": node.nbytes,
                "source": show(node.source),
            }
        )
    return rows


def of_cells(graph: "FuncGraph") -> list[dict[str, Any]]:
    """One row per Cell, those inside below it; equal ones in a row after another are one.

    Args:
        graph (FuncGraph): what to list. Of a program with a gradient its forward part is.

    Returns:
        list[dict], each with ``cell`` (the attributes that lead to it, of the first where there are several),
        ``class`` (of the whole, the name of the graph), ``depth`` (int), ``repeats`` (int), ``shape`` (tuple) and
        ``dtype`` of its output (None where nobody reads it), and of one of them ``nodes``, ``parameters`` (values),
        ``parameter_bytes`` and ``flops``.
    """
    return _Cells(graph).rows


class _Cells:
    def __init__(self, graph):
        tree = Hierarchy(graph, fold=False)
        self.name = graph.name
        self.main = main_results(tree.nodes)
        self.readers = [[] for _ in tree.nodes]
        for source, target in tree.edges:
            self.readers[source].append(target)
        self.given = {node.id for node, _ in graph.outputs if isinstance(node, CNode)}
        self.rows = []
        self.add(tree.root.named.get("forward") or tree.root.children[0], "", 0)

    def add(self, scope, path, depth):
        before = None  # (what equal Cells have in common, row) of the Cell before
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
        result, weights = self.output(nodes), _weights(nodes)
        return {
            "cell": attributes_of(path),
            "class": class_of(path) or (self.name if path == "Default" else ""),
            "depth": depth,
            "repeats": 1,
            "shape": None if result is None else result.shape,
            "dtype": None if result is None else result.dtype,
            "nodes": len(nodes),
            "parameters": _values(weights),
            "parameter_bytes": sum(p.types[0].nbytes for p in weights),
            "flops": sum(node.flops for node in nodes),
        }

    def result(self, node):
        return node.types[self.main[node.id]] if node.types else None

    def output(self, nodes):
        """The type of what is read of a Cell outside: of the last, where that are several."""
        inside = {node.id for node in nodes}
        for node in reversed(nodes):
            if node.types and (node.id in self.given or not inside.issuperset(self.readers[node.id])):
                return self.result(node)
        return None

    def common(self, scope, nodes):
        """What equal Cells have in common. Which results there are is no part: the first of several keeps less for
        gradients than the others do."""
        inside = [(node.op, self.result(node), show_value(list(node.attrs.items()))) for node in nodes]
        return class_of(scope.name), inside, [p.types for p in _weights(nodes)]


def _weights(nodes):
    """The Parameters that nodes read, each once."""
    return list(dict.fromkeys(s for node in nodes for s in node.inputs if isinstance(s, ParameterNode) and s.is_weight))


def _values(weights):
    return sum(p.types[0].size for p in weights)
