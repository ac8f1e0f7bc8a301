"""The text form: parameters first, then one numbered line per CNode."""
from .anf import CNode, ParameterNode, ValueNode, show_constant
from .source import show


def to_text(graph):
    """The functional IR of a FuncGraph as text; the same graph always gives the same text."""
    names = {}
    lines = [_headline(graph), f"graph @{_identifier(graph.name)}("]
    lines += _parameters(graph, names, "  ")
    lines += [") {"]
    lines += _body(graph, names, "  ")
    lines += ["}"]
    return "\n".join(lines) + "\n"


def _headline(graph):
    weights = [node for node in graph.parameters if node.is_weight]
    directions = [node.direction for node in graph.all_nodes()]
    parts = [f"inputs: {len(graph.parameters) - len(weights)}", f"parameters: {len(weights)}"]
    parts += [f"{word}: {directions.count(word)}" for word in ("forward", "backward", "update") if word in directions]
    return f"# FuncGraph {graph.name}   {', '.join(parts)}"


def _identifier(name):
    return "".join(char if char.isalnum() or char in "._" else "_" for char in name)


def _parameters(graph, names, indent):
    lines, taken = [], set(names.values())
    for index, node in enumerate(graph.parameters):
        name = f"%para{index}_{node.name}" if node.is_weight else f"%{node.name}"
        if name in taken:
            name = f"{name}.{index}"
        taken.add(name)
        names[node] = name
    width = max((len(names[node]) for node in graph.parameters), default=0)
    for node in graph.parameters:
        kind = node.types[0] if node.types else "()"
        note = "  # Parameter" + ("" if node.requires_grad else ", no gradient") if node.is_weight else ""
        lines.append(f"{indent}{names[node]:<{width}} : {f'Ref[{kind}]' if node.is_weight else kind}{note}")
    return lines


def _body(graph, names, indent):
    lines = []
    for node in graph.nodes:
        names[node] = f"%{node.id}"
        lines.append(indent + _call(node, names))
        for inner in node.graphs:
            lines.append(f"{indent}  @{inner.name}.{node.id}(")
            lines += _parameters(inner, names, indent + "    ")
            lines.append(f"{indent}  ) {{")
            lines += _body(inner, names, indent + "    ")
            lines.append(f"{indent}  }}")
    lines.append(f"{indent}return({', '.join(_use(node, slot, names) for node, slot in graph.outputs)})")
    return lines


def _use(node, slot, names):
    if isinstance(node, ValueNode):
        return show_constant(node)
    name = names[node]
    return f"{name}[{slot}]" if isinstance(node, CNode) and len(node.types) > 1 else name


def _call(node, names):
    inputs = [f"@{graph.name}.{node.id}" for graph in node.graphs]
    inputs += [_use(source, slot, names) for source, slot in node.uses]
    text = f"{names[node]}([CNode]) = {node.name}({', '.join(inputs)})"
    if node.attrs:
        text += f" {{{', '.join(f'{key}: {show_value(value)}' for key, value in node.attrs.items())}}}"
    taken = ", ".join(str(source.types[slot]) for source, slot in node.uses
                      if source.types and not isinstance(source, ValueNode))  # a constant says its type itself
    given = ", ".join(map(str, node.types))
    text += f" : ({taken}) -> {given if len(node.types) == 1 else f'({given})'}"
    if node.scope:
        text += f"  # {node.scope}"
    if node.source:
        text += f"  # {show(node.source)}"
    return text


def show_value(value):
    """An attribute as text: never an address, so that it is the same in every run."""
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


def node_inputs(node):
    """(text, AnfNode) of each input, for a table."""
    return [(source.name if isinstance(source, ParameterNode) else
             show_constant(source) if isinstance(source, ValueNode) else source.fullname, source)
            for source in node.inputs]
