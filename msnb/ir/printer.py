"""Write a graph as text: parameters first, then one numbered line per CNode."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .anf import CNode, ParameterNode, ValueNode, show_constant
from .source import show

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph


def to_text(graph: "FuncGraph", full_names: Mapping[int, str] | None = None) -> str:
    """Return the functional IR of a FuncGraph as text; the same graph always gives the same text.

    Args:
        graph (FuncGraph): the graph.
        full_names (Mapping[int, str]): maps a node's id to the text that its line shows in place of the scope. Default:
            None.
    """
    names = _Names(full_names)
    lines = [_format_headline(graph), f"graph @{_to_identifier(graph.name)}("]
    lines += _format_parameters(graph.parameters, names, "  ")
    lines += [") {"]
    lines += _format_body(graph, names, "  ")
    lines += ["}"]
    return "\n".join(lines) + "\n"


class _Names(dict):
    """The printed names of nodes. `full_names` is the argument of `to_text`."""

    def __init__(self, full_names, names=()):
        super().__init__(names)
        self.full_names = full_names

    def within(self):
        """Return a copy for an inner graph."""
        return _Names(self.full_names, self)


def _format_headline(graph):
    weights = [node for node in graph.parameters if node.is_weight]
    directions = [node.direction for node in graph.all_nodes()]
    parts = [f"inputs: {len(graph.parameters) - len(weights)}", f"parameters: {len(weights)}"]
    parts += [f"{word}: {directions.count(word)}" for word in ("forward", "backward", "update") if word in directions]
    return f"# FuncGraph {graph.name}   {', '.join(parts)}"


def _to_identifier(name):
    return "".join(char if char.isalnum() or char in "._" else "_" for char in name)


def _format_parameters(nodes, names, indent):
    lines, used_names = [], set(names.values())
    for index, node in enumerate(nodes):
        name = f"%para{index}_{node.name}" if node.is_weight else f"%{node.name}"
        if name in used_names:
            name = f"{name}.{index}"
        used_names.add(name)
        names[node] = name
    width = max((len(names[node]) for node in nodes), default=0)
    for node in nodes:
        kind = node.types[0] if node.types else "()"
        note = "  # Parameter" + ("" if node.requires_grad else ", no gradient") if node.is_weight else ""
        lines.append(f"{indent}{names[node]:<{width}} : {f'Ref[{kind}]' if node.is_weight else kind}{note}")
    return lines


def _format_body(graph, names, indent):
    lines = _format_statements(graph.nodes, names, indent, 0)
    lines.append(f"{indent}return({', '.join(_format_operand(node, slot, names) for node, slot in graph.outputs)})")
    return lines


def _format_statements(nodes, names, indent, depth):
    """Return the lines of nodes in order. Nodes of one call of a user's function form a block. `depth` is the number
    of leading scope segments that enclosing blocks have written.
    """
    lines, at = [], 0
    while at < len(nodes):
        function = _find_user_function_scope(nodes[at], depth)
        if function is None:
            lines += _format_statement(nodes[at], names, indent)
            at += 1
            continue
        end = at
        while end < len(nodes) and _find_user_function_scope(nodes[end], depth) == function:
            end += 1
        called = nodes[at:end]
        captured = _list_captured_values(called, names)
        inner = _format_statements(called, names, indent + "  ", len(function))
        lines += [f"{indent}@{function[-1].replace('()', '', 1)}({', '.join(captured)}) {{", *inner, f"{indent}}}"]
        at = end
    return lines


def _find_user_function_scope(node, depth):
    """Return the scope segments of `node` up to the first user function after index `depth`, or None."""
    path = node.scope.split("/")
    for end in range(depth, len(path)):
        if path[end].partition(" ")[0].endswith("()"):
            return path[: end + 1]
    return None


def _list_captured_values(nodes, names):
    """Return the printed names of the values that a block captures, in the order of first use."""
    inside = set(nodes)
    return list(
        dict.fromkeys(
            _format_operand(source, slot, names)
            for node in nodes
            for source, slot in node.uses
            if source not in inside and not isinstance(source, ValueNode)
        )
    )


def _format_statement(node, names, indent):
    names[node] = f"%{node.id}"
    lines = [indent + _format_call(node, names)]
    uses, outer_names = list(node.uses), names
    for inner in reversed(node.graphs) if node.op == "Switch" else node.graphs:
        names = outer_names.within()
        # a free variable keeps its outer name
        for parameter, feed in zip(inner.parameters[: inner.free], inner.feeds, strict=False):
            names[parameter] = _format_operand(*uses[feed], names)
        parameter_lines = _format_parameters(inner.parameters[inner.free :], names, indent + "    ")
        lines += (
            [f"{indent}  @{inner.name}.{node.id}(", *parameter_lines, f"{indent}  ) {{"]
            if parameter_lines
            else [f"{indent}  @{inner.name}.{node.id}() {{"]
        )
        lines += _format_body(inner, names, indent + "    ")
        lines.append(f"{indent}  }}")
    return lines


def _format_operand(node, slot, names):
    if isinstance(node, ValueNode):
        return show_constant(node)
    name = names[node]
    return f"{name}[{slot}]" if isinstance(node, CNode) and len(node.types) > 1 else name


def _format_call(node, names):
    graphs = [f"@{graph.name}.{node.id}" for graph in node.graphs]
    uses = [_format_operand(source, slot, names) for source, slot in node.uses]
    if node.op == "Switch":  # the Switch returns a branch, which is then called
        called = f"Switch({', '.join([uses[0], *reversed(graphs)])})({', '.join(uses[1:])})"
    else:
        called = f"{node.name}({', '.join(graphs + uses)})"
    text = f"{names[node]}([CNode]) = {called}"
    if node.attrs:
        text += f" {{{', '.join(f'{key}: {show_value(value)}' for key, value in node.attrs.items())}}}"
    # the text of a constant includes its type
    input_types = ", ".join(
        str(source.types[slot]) for source, slot in node.uses if source.types and not isinstance(source, ValueNode)
    )
    output_types = ", ".join(map(str, node.types))
    text += f" : ({input_types}) -> {output_types if len(node.types) == 1 else f'({output_types})'}"
    scope = node.scope if names.full_names is None else names.full_names[node.id]
    if scope:
        text += f"  # {scope}"
    if node.source:
        text += f"  # {show(node.source)}"
    return text if node.problem is None else f"{text}  # {node.problem}"


def show_value(value: Any) -> str:
    """Return an attribute as text without memory addresses, so that it is the same in every run."""
    if isinstance(value, str):
        return f'"{value}"'
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(show_value, value))
        return f"({inside},)" if len(value) == 1 and isinstance(value, tuple) else f"({inside})"
    name = getattr(value, "__name__", None)
    if name:
        return name
    text = str(value)
    return type(value).__name__ if " at 0x" in text else text


def node_inputs(node: Any) -> Any:
    """Return (text, AnfNode) for each input of a node, for a table."""
    return [
        (
            source.name
            if isinstance(source, ParameterNode)
            else show_constant(source)
            if isinstance(source, ValueNode)
            else source.fullname,
            source,
        )
        for source in node.inputs
    ]
