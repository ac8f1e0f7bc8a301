"""Select nodes of a graph by the query language of the graph view.

All words must occur in the operator, its scope or its Parameters. A word that is the path of a Cell, such as ``fc1`` or
``layer1.0``, selects the nodes of this Cell only. A word with a prefix searches one field:
``op:Conv2D``, ``scope:layer1.0``, ``shape:64x128`` (of a result or Parameter, * for any number), ``dtype:Float16``,
``param:weight``, ``line:12``, ``source:relu`` and ``lane:backward``. ``node:7`` selects the node with this number.
"""

import difflib
import linecache
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from msnb.core.errors.cell_path import attribute_path
from msnb.insight.debugger.names import place_of_node
from msnb.ir.anf import CNode, ParameterNode

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph


def select_nodes(graph: "FuncGraph", query: Any) -> list[CNode]:
    """Return the nodes that a query selects, in the order of execution.

    Args:
        graph (FuncGraph): the graph.
        query (Union[str, int, CNode]): words, as in the search of the graph view; the number of a node; or a node.

    Returns:
        list[CNode], at least one.

    Raises:
        ValueError: If no node matches, or if `query` is a node of another graph. The message lists similar names.
        TypeError: If `query` has another type.

    Examples:
        >>> from msnb import Tensor, ir, nn
        >>> graph = ir.graph(nn.Dense(3, 4), Tensor([[1.0, 2.0, 3.0]]))
        >>> [node.op for node in select_nodes(graph, "op:MatMul")]
        ['MatMul']
    """
    nodes = list(graph.all_nodes())
    if isinstance(query, CNode):
        return [_find_equal_node(nodes, query)]
    if isinstance(query, bool) or not isinstance(query, (str, int)):
        raise TypeError(f"A node should be a query such as 'op:ReLU line:12' or a number, but got {query!r}.")
    if isinstance(query, int):
        query = f"node:{query}"
    words = query.lower().split()
    paths = {node.id: attribute_path(node.scope, graph.name).lower() for node in nodes}
    exact = [_make_path_predicate(word, paths) or _make_word_predicate(word) for word in words]
    for tests in (exact, [_make_word_predicate(word) for word in words]) if words else ():
        matches = [node for node in nodes if all(test(node) for test in tests)]
        if matches:
            return matches
    raise ValueError(_explain_no_match(nodes, query, words))


def matches_query(node: CNode, query: Any, root: str, cells: Collection[str]) -> bool:
    """Return True if a query, as for `select_nodes`, selects a node of a network without a graph.

    Args:
        node (CNode): the node.
        query (Union[str, int, CNode]): the query.
        root (str): class of the outermost Cell.
        cells (Collection[str]): paths of all Cells of the network in lower case. A word that is one of them selects the
            nodes of this Cell only.
    """
    path = attribute_path(node.scope, root).lower()
    for word in query.lower().split() if isinstance(query, str) else ():
        if word in cells and _make_path_predicate(word, {node.id: path}) is None:
            return False
    try:
        return bool(select_nodes(_OneNode(node, root), query))
    except ValueError:
        return False


class _OneNode:
    def __init__(self, node, root):
        self._node, self.name = node, root

    def all_nodes(self):
        return iter((self._node,))


def _find_equal_node(nodes, query):
    """Return the node of `nodes` that equals `query`, a node that may come from another graph of the same program."""
    for node in nodes:
        if node.id == query.id and (node.op, node.scope, node.direction) == (query.op, query.scope, query.direction):
            return node
    raise ValueError(
        f"{place_of_node(query)} is a node of another graph. Select it by a query, such as 'op:{query.op}'."
    )


def _make_path_predicate(word, paths):
    """Return a predicate for the nodes of the Cell whose path is `word`; None if no Cell has this path."""
    ids = {number for number, path in paths.items() if path == word or path.startswith((f"{word}.", f"{word} ("))}
    return (lambda node: node.id in ids) if ids else None


def _make_word_predicate(word) -> Callable[[CNode], bool]:
    field, _, value = word.partition(":")
    if not value or field not in _FIELDS:
        return lambda node: any(word in name for name in _list_searchable_names(node))
    return lambda node: _FIELDS[field](node, value)


def _list_searchable_names(node):
    return [node.op.lower(), node.scope.lower(), _get_attribute_path(node).lower(), *_list_parameter_names(node)]


def _get_attribute_path(node):
    """Return the attribute path of the Cell of a node, such as ``network.layer1.0.conv``."""
    steps = [step.rpartition("-")[0] or step for step in node.scope.split("/")]
    return ".".join(steps[1:] if steps[:1] == ["Default"] else steps)


def _list_parameter_names(node):
    return [source.name.lower() for source in node.inputs if isinstance(source, ParameterNode)]


def _is_in_scope(node, value):
    wanted = f".{value.replace('/', '.')}."
    classes = ".".join(step.rpartition("-")[2] for step in node.scope.split("/"))
    paths = (_get_attribute_path(node), node.scope.replace("/", "."), classes)
    return any(wanted in f".{path}.".lower() for path in paths)


def _has_shape(node, value):
    sizes = re.split("[x×,]", value)
    weights = [source for source in node.inputs if isinstance(source, ParameterNode) and source.is_weight]
    shapes = [kind.shape for value_node in (node, *weights) for kind in value_node.types]
    return any(
        len(shape) == len(sizes) and all(size in ("*", str(own)) for size, own in zip(sizes, shape, strict=True))
        for shape in shapes
    )


def _is_on_line(node, value):
    if not value.isdigit():
        return _matches_source_text(node, value)
    return node.source is not None and node.source[1] == int(value)


def _matches_source_text(node, value):
    if node.source is None:
        return False
    file, line, function = node.source[:3]
    return value in f"{file}:{line} {function} {linecache.getline(file, line)}".lower()


_FIELDS: dict[str, Callable[[CNode, str], bool]] = {
    "op": lambda node, value: value in (node.op.lower(), node.op.lower().removeprefix("grad")),
    "scope": _is_in_scope,
    "shape": _has_shape,
    "dtype": lambda node, value: any(kind.dtype.lower() == value for kind in node.types),
    "param": lambda node, value: any(value in name for name in _list_parameter_names(node)),
    "line": _is_on_line,
    "source": _matches_source_text,
    "node": lambda node, value: str(node.id) == value,
    "lane": lambda node, value: node.direction == value,
}


def _explain_no_match(nodes, query, words):
    operators = list(dict.fromkeys(node.op for node in nodes))
    by_lower = {name.lower(): name for name in operators}
    similar = [
        by_lower[match]
        for word in words
        for match in difflib.get_close_matches(word.rpartition(":")[2], by_lower, n=3, cutoff=0.5)
    ]
    listed = similar or operators[:12]
    kind = "Similar operators" if similar else "Its operators"
    lines = sorted({node.source[1] for node in nodes if node.source is not None})
    unknown = next((w for w in words if w.partition(":")[2] and w.partition(":")[0] not in _FIELDS), None)
    if unknown is not None and ":" not in unknown.partition(":")[2]:
        field = unknown.partition(":")[0]
        nearest = difflib.get_close_matches(field, _FIELDS, n=1)
        fields = ", ".join(f"{name}:" for name in _FIELDS)
        meant = f" Did you mean '{nearest[0]}:'?" if nearest else ""
        return f"No node of the graph matches {query!r}, and '{field}:' is no field.{meant} The fields: {fields}."
    at = f" Its lines are {lines[0]} to {lines[-1]}." if lines and any(w.startswith("line:") for w in words) else ""
    return f"No node of the graph matches {query!r}. {kind}: {', '.join(listed)}.{at}"
