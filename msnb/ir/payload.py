"""Encode a graph as compact columns, from which the graph view draws.

A node is stored as a few small integers: its scope, its signature, its source line and its producers. A signature
(operator, types, attributes, costs) is stored once for all similar calls. Scope, signature and source line are stored
as the difference to the previous node, a producer as its distance from the node. Compressed, a node takes a few bytes.
The same graph gives the same bytes in every run.
"""

import gzip
import json
import linecache
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msnb._util import gc_pause
from msnb.ir.layout.hierarchy import Hierarchy, representatives
from msnb.ir.layout.labels import paths, step
from msnb.ir.layout.scopes import LANE

from .anf import CNode, ParameterNode, ValueNode, show_constant
from .compare import CHANGED, FUSED, ONLY, SAME
from .overlay import fold_over_scopes, pack_column
from .printer import show_value
from .read import is_library
from .source import label

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph
    from msnb.ir.compare import Comparison

VERSION = 1


@gc_pause.without_gc
def stage(
    graph: "FuncGraph",
    name: str = "traced",
    tree: Hierarchy | None = None,
    columns: dict[Any, Any] | None = None,
    folded: bool = False,
) -> dict[Any, Any]:
    """Encode one graph as columns of data for JSON.

    Args:
        graph (FuncGraph): the graph.
        name (str): name of the stage. Default: "traced".
        tree (Hierarchy): its scope tree, if it exists already. Default: None.
        columns (dict): additional values per node, each from `msnb.ir.overlay.check_column`. Default: None.
        folded (bool): whether to omit all but the first of repeated blocks; each node then has the number of nodes that
            it represents. Default: False.

    Returns:
        dict.
    """
    tree = tree or Hierarchy(graph)
    representative = representatives(tree) if folded else range(len(tree.nodes))
    shown_nodes = [node for node in tree.nodes if representative[node.id] == node.id]
    number = {node.id: index for index, node in enumerate(shown_nodes)}
    scopes = _collect_scopes_of_nodes(tree, shown_nodes)
    paths_of = paths(tree)
    scope_number = {id(scope): index for index, scope in enumerate(scopes)}
    parameters = {node: index for index, node in enumerate(graph.parameters)}
    origin = _map_parameters_to_producers(graph)
    main = tree.main_results
    signatures, sources = _Table(), _Table()
    lines = {
        source: sources.number(_make_source_row(source))
        for source in dict.fromkeys(node.source for node in shown_nodes)
    }
    inputs, extra, rows = [], [], []
    for node in shown_nodes:
        position = number[node.id]
        input_texts = []
        for source, slot in node.uses:
            kind = source.types[slot].short() if source.types else ""
            if isinstance(source, ParameterNode) and source in origin:
                source = origin[source]
            if isinstance(source, CNode):
                input_texts.append(f"{kind}@{slot}" if len(source.types) > 1 else kind)
                inputs.append(position - number[representative[source.id]])
            elif source in parameters:
                input_texts.append(kind)
                inputs.append(-1 - parameters[source])
            else:
                input_texts.append(f"={show_constant(source) if isinstance(source, ValueNode) else kind}")
        for inner in node.graphs:
            sources_of_results = [origin.get(source, source) for source, _ in inner.outputs]
            extra += [[number[representative[s.id]], position] for s in sources_of_results if isinstance(s, CNode)]
        attrs = [[key, show_value(value)] for key, value in node.attrs.items()]
        types = [kind.short() for kind in node.types]
        signature = [node.name, input_texts, types, attrs, node.flops, node.nbytes, main[node.id]]
        rows.append((scope_number[id(tree.home[node.id])], signatures.number(signature), lines[node.source]))
    payload = {
        "name": name,
        "graph": graph.name,
        "compiled": int(any(node.instruction for node in tree.nodes)),
        "params": [_make_parameter_row(node) for node in graph.parameters],
        "scopes": {
            "name": [scope.name for scope in scopes],
            "parent": [scope_number[id(scope.parent)] if scope.parent else -1 for scope in scopes],
            "kind": [scope.kind for scope in scopes],
            "path": [step(scope, paths_of) for scope in scopes],
        },
        "sigs": signatures.rows,
        "srcs": sources.rows,
        "extra": extra,
        "nodes": {key: _encode_deltas(row[index] for row in rows) for index, key in enumerate(("scope", "sig", "src"))},
        "outputs": [
            _make_output_row(node, slot, parameters, lambda at: number[representative[at]])
            for node, slot in graph.outputs
        ],
        "written": graph.written,
        "results": list(graph.result_names),
        "columns": {
            key: pack_column(column, [node.id for node in shown_nodes]) for key, column in (columns or {}).items()
        },
    }
    payload["nodes"]["ins"] = inputs
    problems = [[number[representative[node.id]], node.problem] for node in tree.nodes if node.problem is not None]
    if problems:
        payload["problem"] = problems[0]
    if folded:
        _add_counts_of_folds(payload, tree, representative, shown_nodes, scopes, columns or {})
    return payload


def _add_counts_of_folds(payload, tree, representative, shown_nodes, scopes, columns):
    """Add to `payload` how many nodes each shown node represents, and totals of scopes with the omitted nodes."""
    times = Counter(representative)
    payload["nodes"]["id"] = _encode_deltas(node.id for node in shown_nodes)
    payload["nodes"]["times"] = [times[node.id] for node in shown_nodes]
    payload["scopes"]["count"] = [len(scope.children) for scope in scopes]
    for key, column in columns.items():
        totals = fold_over_scopes(tree, column)
        values = [totals.get(scope.index) for scope in scopes]
        payload["columns"][key]["scopes"] = pack_column({"values": values})["values"]


def _collect_scopes_of_nodes(tree, nodes):
    """Return the scopes that contain at least one of the nodes, parents first; the root and its lanes are always
    included.
    """
    scope_ids = set()
    for node in nodes:
        scope = tree.home[node.id]
        while scope is not None and id(scope) not in scope_ids:
            scope_ids.add(id(scope))
            scope = scope.parent
    return [scope for scope in tree.root.scopes() if id(scope) in scope_ids or scope.kind <= LANE]


def _encode_deltas(values):
    """Return each value minus the previous one."""
    result, last = [], 0
    for value in values:
        result.append(value - last)
        last = value
    return result


def difference(first: Any, second: Any, comparison: "Comparison") -> dict[str, Any]:
    """Encode a Comparison as columns. `first` and `second` are the numbers of its stages."""
    letters = {SAME: "s", CHANGED: "c", FUSED: "f", ONLY: "o"}
    columns = [_encode_deltas(link[side] for link in comparison.links) for side in (0, 1)]
    return {
        "a": first,
        "b": second,
        "links": columns,
        "first": "".join(map(letters.get, comparison.first)),
        "second": "".join(map(letters.get, comparison.second)),
    }


def listings(graphs: Sequence[Any], most: int = 400) -> Any:
    """Return the source lines of the nodes of these graphs: {file name: [number of the first line, [lines]]}."""
    lines_of = {}
    for graph in graphs:
        for node in graph.all_nodes():
            if node.source is not None and not is_library(node.source[0]):
                lines_of.setdefault(node.source[0], set()).add(node.source[1])
    listing = {}
    for file, numbers in sorted(lines_of.items(), key=lambda item: label(item[0])):
        lines = linecache.getlines(file)
        start, end = (0, len(lines)) if len(lines) <= most else (max(0, min(numbers) - 6), max(numbers) + 5)
        if lines:
            listing[label(file)] = [start + 1, [line.rstrip() for line in lines[start:end][:most]]]
    return listing


def pack(stages: Any, **more: Any) -> bytes:
    """Encode stages as gzipped JSON; the same stages give the same bytes."""
    return gzipped({"v": VERSION, **more, "stages": stages})


def gzipped(value: Any) -> bytes:
    """Encode a value as gzipped JSON; the same value gives the same bytes."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return gzip.compress(text.encode(), 9, mtime=0)


def _make_parameter_row(node):
    """Return [name, type, True for a Parameter, True if it has a gradient], and the shape before sharding if it
    differs.
    """
    type_ = node.types[0].short() if node.types else ""
    global_shape = [] if node.global_shape is None else [list(node.global_shape)]
    return [node.name, type_, int(node.is_weight), int(node.requires_grad), *global_shape]


def _make_output_row(node, slot, parameters, number):
    """Return the row of an output: [node id, index of the result], or [node id] for a node with one result;
    [-1 - parameter index] for a parameter; [0, text] for a constant."""
    if isinstance(node, CNode):
        return [number(node.id), slot] if len(node.types) > 1 else [number(node.id)]
    return [-1 - parameters[node]] if node in parameters else [0, show_constant(node)]


class _Table:
    """Numbers rows in the order of their first appearance; equal rows get the same number."""

    def __init__(self):
        self.rows = []
        self.numbers = {}

    def number(self, row):
        key = repr(row)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.rows)
            self.rows.append(row)
        return number


def _make_source_row(source):
    if source is None:
        return None
    file, line, function = source
    if "__msnb_" in function:  # a block of a converted function has a name that msnb generated
        function = ""
    return [label(file), line, function, linecache.getline(file, line).strip()]


def _map_parameters_to_producers(graph, origins=None):
    """Return {parameter of a sub-graph: node that computes its value}, for sub-graphs at any depth."""
    origins = {} if origins is None else origins
    for node in graph.nodes:
        for inner in node.graphs:
            for parameter, feed in zip(inner.parameters, inner.feeds, strict=False):
                source = node.inputs[feed]
                origins[parameter] = origins.get(source, source)
            _map_parameters_to_producers(inner, origins)
    return origins
