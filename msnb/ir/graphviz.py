"""Write a graph in the dot language, with one cluster per scope."""

from typing import TYPE_CHECKING

from .anf import CNode, ParameterNode, ValueNode
from .printer import show_value

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph

_FILL = {"forward": "#dbe9f6", "backward": "#f7dfd4", "update": "#dff0de"}


def to_dot(graph: "FuncGraph") -> str:
    """Return a FuncGraph as a dot document: clusters are scopes, ellipses parameters, boxes CNodes."""
    lines = [
        f"digraph {_quote(graph.name)} {{",
        "  rankdir=TB; compound=true;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=10];',
        '  edge [color="#7a8794", arrowsize=0.6];',
    ]
    edges, scopes = [], {}
    _collect_dot_lines(graph, "", {}, scopes, edges, lines)
    lines += _format_dot_clusters(scopes, 1)
    lines += edges + ["}"]
    return "\n".join(lines) + "\n"


def _collect_dot_lines(graph, prefix, names, scopes, edges, lines, feeding=None):
    for index, node in enumerate(graph.parameters):
        if feeding is not None and index < len(feeding):
            names[node] = feeding[index]
            continue
        # XLA does not record the arguments of a called computation: the parameters are drawn inside the computation
        name = f"p{index}" if feeding is None else f"p{len(names)}_{index}"
        names[node] = name
        label = f"{node.name}\\n{node.types[0].short() if node.types else ''}"
        shade = "#efe6f7" if node.is_weight else "#eeeeee"
        text = f"{name} [shape=ellipse, fillcolor={_quote(shade)}, label={_quote(label)}];"
        if feeding is None:
            lines.append(f"  {text}")
        else:
            _add_line_to_cluster(scopes, _split_scope(prefix), text)
    for node in graph.nodes:
        names[node] = f"n{node.id}"
        label = f"{node.name}\\n{node.types[0].short() if node.types else ''}"
        tip = ", ".join(f"{key}: {show_value(value)}" for key, value in node.attrs.items())
        path = _split_scope(f"{prefix}{node.scope}")
        text = f"n{node.id} [fillcolor={_quote(_FILL[node.direction])}, label={_quote(label)}, tooltip={_quote(tip)}];"
        _add_line_to_cluster(scopes, path, text)
        for source in node.inputs:
            start = names.get(source)
            if start is not None and not isinstance(source, ValueNode):
                edges.append(f"  {start} -> n{node.id};")
        for inner in node.graphs:
            inner_feeds = [names.get(node.inputs[feed]) if feed < len(node.inputs) else None for feed in inner.feeds]
            _collect_dot_lines(
                inner,
                f"{prefix}{node.scope}/{node.op}-op{node.id}/{inner.name}/",
                names,
                scopes,
                edges,
                lines,
                inner_feeds,
            )
    if feeding is None:
        for index, (node, _) in enumerate(graph.outputs):
            if isinstance(node, (CNode, ParameterNode)):
                lines.append(f'  out{index} [shape=ellipse, fillcolor="#eeeeee", label="output {index}"];')
                edges.append(f"  {names[node]} -> out{index};")


def _split_scope(scope):
    return tuple(part for part in scope.split("/") if part)


def _add_line_to_cluster(scopes, path, text):
    for part in path:
        scopes = scopes.setdefault(part, {})
    scopes.setdefault("", []).append(text)


def _format_dot_clusters(scopes, depth, counter=None):
    counter = counter if counter is not None else [0]
    indent, lines = "  " * depth, []
    for name, inner in scopes.items():
        if name == "":
            lines += [indent + text for text in inner]
            continue
        counter[0] += 1
        lines += [
            f"{indent}subgraph cluster_{counter[0]} {{",
            f'{indent}  label={_quote(name)}; color="#b8c2cf";',
            *_format_dot_clusters(inner, depth + 1, counter),
            f"{indent}}}",
        ]
    return lines


def _quote(text):
    return '"' + text.replace('"', '\\"') + '"'
