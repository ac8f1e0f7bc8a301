"""A graph as compact columns, which is what the graph view draws from.

A node costs a handful of small integers: its scope, its signature (operator, types, attributes, costs: shared by all
calls that look alike), its source line and where its inputs come from, each as the difference to the node before. That
compresses to a few bytes per node, and the same graph gives the same bytes in every run.
"""

import gzip
import json
import linecache
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msnb._util import gc_pause
from msnb.ir.labels import paths, step
from msnb.ir.scopes import LANE

from .anf import CNode, ParameterNode, ValueNode, show_constant
from .compare import CHANGED, FUSED, ONLY, SAME
from .folding import representatives
from .hierarchy import Hierarchy, main_results
from .overlay import over_scopes, packed
from .printer import show_value
from .read import is_library
from .source import label

if TYPE_CHECKING:  # named in annotations alone
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
    """The columns of one graph, ready for JSON.

    Args:
        graph (FuncGraph): what to show.
        name (str): name of the stage. Default: "traced".
        tree (Hierarchy): its scope tree, where one was made already. Default: None.
        columns (dict): further values per node, each as `msnb.ir.overlay.checked` returns it. Default: None.
        folded (bool): whether to leave out all but the first of repeated blocks; each node then says how many it
            stands for. Default: False.

    Returns:
        dict.
    """
    tree = tree or Hierarchy(graph)
    stands = representatives(tree) if folded else range(len(tree.nodes))
    kept = [node for node in tree.nodes if stands[node.id] == node.id]
    number = {node.id: index for index, node in enumerate(kept)}
    scopes = _scopes_of(tree, kept)
    paths_of = paths(tree)
    scope_number = {id(scope): index for index, scope in enumerate(scopes)}
    parameters = {node: index for index, node in enumerate(graph.parameters)}
    origin = _sub_graph_origins(graph)
    main = main_results(tree.nodes)
    signatures, sources = _Table(), _Table()
    lines = {source: sources.number(_source_row(source)) for source in dict.fromkeys(node.source for node in kept)}
    inputs, extra, rows = [], [], []
    for node in kept:
        here = number[node.id]
        taken = []
        for source, slot in node.uses:
            kind = source.types[slot].short() if source.types else ""
            if isinstance(source, ParameterNode) and source in origin:
                source = origin[source]
            if isinstance(source, CNode):
                taken.append(f"{kind}@{slot}" if len(source.types) > 1 else kind)
                inputs.append(here - number[stands[source.id]])
            elif source in parameters:
                taken.append(kind)
                inputs.append(-1 - parameters[source])
            else:
                taken.append(f"={show_constant(source) if isinstance(source, ValueNode) else kind}")
        for inner in node.graphs:
            for source, _ in inner.outputs:
                source = origin.get(source, source)
                if isinstance(source, CNode):
                    extra.append([number[stands[source.id]], here])
        attrs = [[key, show_value(value)] for key, value in node.attrs.items()]
        row = [node.name, taken, [kind.short() for kind in node.types], attrs, node.flops, node.nbytes, main[node.id]]
        rows.append((scope_number[id(tree.home[node.id])], signatures.number(row), lines[node.source]))
    made = {
        "name": name,
        "graph": graph.name,
        "compiled": int(any(node.instruction for node in tree.nodes)),
        "params": [_parameter(node) for node in graph.parameters],
        "scopes": {
            "name": [scope.name for scope in scopes],
            "parent": [scope_number[id(scope.parent)] if scope.parent else -1 for scope in scopes],
            "kind": [scope.kind for scope in scopes],
            "path": [step(scope, paths_of) for scope in scopes],
        },
        "sigs": signatures.rows,
        "srcs": sources.rows,
        "extra": extra,
        "nodes": {key: _differences(row[index] for row in rows) for index, key in enumerate(("scope", "sig", "src"))},
        "outputs": [_output(node, slot, parameters, lambda at: number[stands[at]]) for node, slot in graph.outputs],
        "written": graph.written,
        "columns": {key: packed(column, [node.id for node in kept]) for key, column in (columns or {}).items()},
    }
    made["nodes"]["ins"] = inputs
    problems = [[number[stands[node.id]], node.problem] for node in tree.nodes if node.problem is not None]
    if problems:
        made["problem"] = problems[0]
    if folded:
        times = [0] * len(tree.nodes)
        for stand in stands:
            times[stand] += 1
        made["nodes"]["id"] = _differences(node.id for node in kept)
        made["nodes"]["times"] = [times[node.id] for node in kept]
        made["scopes"]["count"] = [len(scope.children) for scope in scopes]
        for key, column in (columns or {}).items():  # what is left out counts too
            known = over_scopes(tree, column)
            made["columns"][key]["scopes"] = packed({"values": [known.get(scope.index) for scope in scopes]})["values"]
    return made


def _scopes_of(tree, kept):
    """Scopes that hold something, parents first; the root and its lanes always."""
    held = set()
    for node in kept:
        scope = tree.home[node.id]
        while scope is not None and id(scope) not in held:
            held.add(id(scope))
            scope = scope.parent
    return [scope for scope in tree.root.scopes() if id(scope) in held or scope.kind <= LANE]


def _differences(values):
    """Each value as the difference to the one before."""
    result, last = [], 0
    for value in values:
        result.append(value - last)
        last = value
    return result


def difference(first: Any, second: Any, comparison: "Comparison") -> dict[str, Any]:
    """The columns of a Comparison of stages number `first` and `second`."""
    letters = {SAME: "s", CHANGED: "c", FUSED: "f", ONLY: "o"}
    columns = [_differences(link[side] for link in comparison.links) for side in (0, 1)]
    return {
        "a": first,
        "b": second,
        "links": columns,
        "first": "".join(map(letters.get, comparison.first)),
        "second": "".join(map(letters.get, comparison.second)),
    }


def listings(graphs: Sequence[Any], most: int = 400) -> Any:
    """{name of a file: [number of its first line, [lines]]} of the source that the nodes of these graphs come from."""
    seen = {}
    for graph in graphs:
        for node in graph.all_nodes():
            if node.source is not None and not is_library(node.source[0]):
                seen.setdefault(node.source[0], set()).add(node.source[1])
    shown = {}
    for file, numbers in sorted(seen.items(), key=lambda item: label(item[0])):
        lines = linecache.getlines(file)
        start, end = (0, len(lines)) if len(lines) <= most else (max(0, min(numbers) - 6), max(numbers) + 5)
        if lines:
            shown[label(file)] = [start + 1, [line.rstrip() for line in lines[start:end][:most]]]
    return shown


def pack(stages: Any, **more: Any) -> bytes:
    """Stages as gzipped JSON bytes; the same stages give the same bytes."""
    return gzipped({"v": VERSION, **more, "stages": stages})


def gzipped(value: Any) -> bytes:
    """JSON as gzipped bytes; the same value gives the same bytes."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return gzip.compress(text.encode(), 9, mtime=0)


def _parameter(node):
    """[name, type, whether it is a Parameter, and has a gradient, and the shape that devices have of it together]."""
    type_ = node.types[0].short() if node.types else ""
    whole = [] if node.whole is None else [list(node.whole)]
    return [node.name, type_, int(node.is_weight), int(node.requires_grad), *whole]


def _output(node, slot, parameters, number):
    """[node or -1 - parameter, which of several results], or the text of a constant."""
    if isinstance(node, CNode):
        return [number(node.id), slot] if len(node.types) > 1 else [number(node.id)]
    return [-1 - parameters[node]] if node in parameters else [0, show_constant(node)]


class _Table:
    """Rows numbered in the order in which they first appear."""

    def __init__(self):
        self.rows = []
        self.numbers = {}

    def number(self, row):
        key = repr(row)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.rows)
            self.rows.append(row)
        return found


def _source_row(source):
    if source is None:
        return None
    file, line, function = source
    if "__msnb_" in function:  # a block of a function that was converted: the reader knows no such name
        function = ""
    return [label(file), line, function, linecache.getline(file, line).strip()]


def _sub_graph_origins(graph, known=None):
    """What the parameters of sub-graphs stand for, through any depth."""
    known = {} if known is None else known
    for node in graph.nodes:
        for inner in node.graphs:
            for parameter, feed in zip(inner.parameters, inner.feeds, strict=False):
                source = node.inputs[feed]
                known[parameter] = known.get(source, source)
            _sub_graph_origins(inner, known)
    return known
