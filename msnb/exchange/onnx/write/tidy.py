"""What is done to the nodes of a graph when all are written: unused ones go, biases go into layers, names get short."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from .builder import Value

Message = dict[str, Any]
Values = Mapping[str, Value]


def tidied(nodes: list[Message], outputs: set[str], values: Values) -> list[Message]:
    """The nodes of a graph that its outputs depend on, as few as ONNX has for them.

    Args:
        nodes (list[dict]): Node messages in order.
        outputs (set[str]): Names that have to be there.
        values (dict): Types of what is named in them.
    """
    nodes = _renamed(_used(nodes, outputs), outputs)
    return _biased(nodes, outputs, values)


def read_of(nodes: list[Message]) -> set[str]:
    """Names that nodes read, those within included."""
    found: set[str] = set()
    for node in nodes:
        found.update(node["input"])
        for graph in _graphs(node):
            found |= read_of(graph["node"]) | _outputs(graph)
    return found


def _graphs(node):
    return [a["g"] for a in node["attribute"] if "g" in a]


def _outputs(graph):
    return {value["name"] for value in graph["output"]}


def _used(nodes, wanted):
    """The nodes that something depends on."""
    kept = []
    for node in reversed(nodes):
        if wanted.isdisjoint(node["output"]):
            continue
        for graph in _graphs(node):
            graph["node"] = _used(graph["node"], _outputs(graph))
        wanted = wanted | read_of([node])
        kept.append(node)
    return kept[::-1]


def _readers(nodes, outputs):
    """How many read each name."""
    found = Counter(outputs)
    for node in nodes:
        found.update(node["input"])
        for graph in _graphs(node):
            found.update(read_of(graph["node"]) | _outputs(graph))
    return found


def _renamed(nodes, outputs):
    """The nodes with what only renames a result left out: it has the output's name at once."""
    by_result = {name: node for node in nodes for name in node["output"]}
    readers = _readers(nodes, ())
    kept = []
    for node in nodes:
        kept.append(node)
        if node["op_type"] != "Identity" or node["output"][0] not in outputs:
            continue
        source = node["input"][0]
        made = by_result.get(source)
        if made is None or readers[source] != 1:
            continue
        made["output"] = [node["output"][0] if name == source else name for name in made["output"]]
        kept.pop()
    return kept


# ---------------------------------------------------------------------- biases
def _biased(nodes, outputs, values):
    """The nodes, with a bias as an input of the convolution or the product of matrices that it is added to.

    That node moves to where the sum stood, since the bias may be made after it.
    """
    readers = _readers(nodes, outputs)
    by_result = {name: node for node in nodes for name in node["output"]}
    gone, kept = set(), []
    for node in nodes:
        for graph in _graphs(node):
            graph["node"] = _biased(graph["node"], _outputs(graph), values)
        kept.append(node)
        if node["op_type"] != "Add":
            continue
        for x, bias in (node["input"], node["input"][::-1]):
            made = by_result.get(x)
            if made is None or readers[x] != 1 or len(made["input"]) != 2:
                continue
            vector = _bias_of(made, bias, by_result, values)
            if vector is not None:
                whole = _with_bias(made, vector, node["output"])
                by_result[node["output"][0]] = whole
                gone.add(made["name"])
                kept[-1] = whole
                break
    if not gone:
        return nodes
    kept = [node for node in kept if node["name"] not in gone or len(node["input"]) == 3]
    return _used(kept, set(outputs))  # reshaped biases are not asked for any more


def _with_bias(made, vector, output):
    op = "Gemm" if made["op_type"] == "MatMul" else made["op_type"]
    return {**made, "op_type": op, "input": [*made["input"], vector], "output": output}


def _bias_of(made, name, by_result, values):
    """The name of the vector that is added, where a node takes one: a number for each channel or column."""
    shapes = [_shape(values, n) for n in (*made["input"], name)]
    if None in shapes or "float" not in values[name].dtype:
        return None
    x, w, bias = shapes
    if made["op_type"] in ("MatMul", "Gemm"):
        turned = any(a["name"] == "transB" and a.get("i") for a in made["attribute"])
        return name if len(x) == len(w) == 2 and bias == (w[0 if turned else 1],) else None
    if made["op_type"] == "Conv":
        channels = w[0]
    elif made["op_type"] == "ConvTranspose":
        channels = w[1] * next((a.get("i", 1) for a in made["attribute"] if a["name"] == "group"), 1)
    else:
        return None
    lined = (channels, *[1] * (len(w) - 2))
    source = by_result.get(name)
    if bias not in (lined, (1, *lined)) or source is None or source["op_type"] != "Reshape":
        return None
    return source["input"][0] if _shape(values, source["input"][0]) == (channels,) else None


def _shape(values, name):
    """Dimensions of a value; None where they are not known."""
    value = values.get(name)
    return None if value is None else value.shape


# ---------------------------------------------------------------------- names
def named(nodes: list[Message], kept: set[str], calls: Mapping[str, str]) -> None:
    """Call a node that is the only one of an operator's call as the call, and results as their nodes. A branch or
    a loop is a node of its call, and what is within it stands in the scope of that.

    Args:
        nodes (list[dict]): Node messages; they get their names.
        kept (set[str]): Results that have a name already.
        calls (dict): {name of a node: name of the call}.
    """
    own = [(node, calls.get(node["name"])) for node in _every(nodes)]
    within = {id(inner) for node, call in own for inner in _within(node) if calls.get(inner["name"]) == call}
    counts = Counter(call for node, call in own if id(node) not in within)
    new = {}
    for node, call in own:
        node["name"] = call if call and counts[call] == 1 and id(node) not in within else node["name"]
        for number, name in enumerate(node["output"]):
            if name and name not in kept:
                new[name] = f"{node['name']}.{number}" if number else node["name"]
    for node, _ in own:
        node["input"] = [new.get(name, name) for name in node["input"]]
        node["output"] = [new.get(name, name) for name in node["output"]]
        for graph in _graphs(node):
            for value in graph["output"]:
                value["name"] = new.get(value["name"], value["name"])


def _every(nodes):
    """The nodes, and those of graphs within."""
    for node in nodes:
        yield node
        yield from _within(node)


def _within(node):
    """The nodes of graphs that a node has, and of those within."""
    for graph in _graphs(node):
        yield from _every(graph["node"])
