"""Simplify the nodes of a model: remove unused ones, fold biases and padding into layers, shorten names."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from msnb.formats import onnx

from .builder import Value

Message = dict[str, Any]
Values = Mapping[str, Value]
Constants = Mapping[str, np.ndarray]


def optimize_nodes(nodes: list[Message], outputs: set[str], values: Values, constants: Constants) -> list[Message]:
    """Return the nodes that the outputs depend on, with Identity nodes, biases and padding folded.

    Args:
        nodes (list[dict]): Node messages in order.
        outputs (set[str]): Names of the outputs.
        values (dict): Types of the named values.
        constants (dict): Arrays of the named constants.
    """
    nodes = _fold_identities(_remove_unused_nodes(nodes, outputs), outputs)
    return _fold_pads(_fold_biases(nodes, outputs, values), outputs, constants)


def names_read(nodes: list[Message]) -> set[str]:
    """Return the names that nodes read, including nodes of subgraphs."""
    names: set[str] = set()
    for node in nodes:
        names.update(node["input"])
        for graph in _list_subgraphs(node):
            names |= names_read(graph["node"]) | _collect_output_names(graph)
    return names


def _list_subgraphs(node):
    return [a["g"] for a in node["attribute"] if "g" in a]


def _collect_output_names(graph):
    return {value["name"] for value in graph["output"]}


def _remove_unused_nodes(nodes, needed):
    """Remove nodes without a used result."""
    live_nodes = []
    for node in reversed(nodes):
        if needed.isdisjoint(node["output"]):
            continue
        for graph in _list_subgraphs(node):
            graph["node"] = _remove_unused_nodes(graph["node"], _collect_output_names(graph))
        needed = needed | names_read([node])
        live_nodes.append(node)
    return live_nodes[::-1]


def _count_readers(nodes, outputs):
    """Return {name: number of its readers}."""
    counts = Counter(outputs)
    for node in nodes:
        counts.update(node["input"])
        for graph in _list_subgraphs(node):
            counts.update(names_read(graph["node"]) | _collect_output_names(graph))
    return counts


def _fold_identities(nodes, outputs):
    """Remove each Identity node that only gives an output of the graph its name. The producer's result gets that
    name.
    """
    by_result = {name: node for node in nodes for name in node["output"]}
    readers = _count_readers(nodes, ())
    nodes_left = []
    for node in nodes:
        nodes_left.append(node)
        if node["op_type"] != "Identity" or node["output"][0] not in outputs:
            continue
        source = node["input"][0]
        producer = by_result.get(source)
        if producer is None or readers[source] != 1:
            continue
        producer["output"] = [node["output"][0] if name == source else name for name in producer["output"]]
        nodes_left.pop()
    return nodes_left


# ---------------------------------------------------------------------- biases
def _fold_biases(nodes, outputs, values):
    """Fold the addition of a bias into the convolution or matrix product before it, which gets the bias as an input.

    The merged node takes the position of the sum, because the bias may be computed after the product.
    """
    readers = _count_readers(nodes, outputs)
    by_result = {name: node for node in nodes for name in node["output"]}
    merged_names, nodes_left = set(), []
    for node in nodes:
        for graph in _list_subgraphs(node):
            graph["node"] = _fold_biases(graph["node"], _collect_output_names(graph), values)
        nodes_left.append(node)
        if node["op_type"] != "Add":
            continue
        for x, bias in (node["input"], node["input"][::-1]):
            product = by_result.get(x)
            if product is None or readers[x] != 1 or len(product["input"]) != 2:
                continue
            vector = _match_bias(product, bias, by_result, values)
            if vector is not None:
                merged = _merge_bias(product, vector, node["output"])
                by_result[node["output"][0]] = merged
                merged_names.add(product["name"])
                nodes_left[-1] = merged
                break
    if not merged_names:
        return nodes
    nodes_left = [node for node in nodes_left if node["name"] not in merged_names or len(node["input"]) == 3]
    return _remove_unused_nodes(nodes_left, set(outputs))  # removes the Reshape nodes of biases


def _merge_bias(product, vector, output):
    op = "Gemm" if product["op_type"] == "MatMul" else product["op_type"]
    return {**product, "op_type": op, "input": [*product["input"], vector], "output": output}


def _match_bias(product, name, by_result, values):
    """Return the name of the vector that can become the bias input of `product`, or None. `name` is the summand: the
    vector, or the result of the Reshape of a vector.
    """
    shapes = [_get_shape_or_none(values, n) for n in (*product["input"], name)]
    if None in shapes or "float" not in values[name].dtype:
        return None
    x, w, bias = shapes
    if product["op_type"] in ("MatMul", "Gemm"):
        is_transposed = any(a["name"] == "transB" and a.get("i") for a in product["attribute"])
        return name if len(x) == len(w) == 2 and bias == (w[0 if is_transposed else 1],) else None
    if product["op_type"] == "Conv":
        channels = w[0]
    elif product["op_type"] == "ConvTranspose":
        channels = w[1] * next((a.get("i", 1) for a in product["attribute"] if a["name"] == "group"), 1)
    else:
        return None
    channel_shape = (channels, *[1] * (len(w) - 2))
    source = by_result.get(name)
    if bias not in (channel_shape, (1, *channel_shape)) or source is None or source["op_type"] != "Reshape":
        return None
    return source["input"][0] if _get_shape_or_none(values, source["input"][0]) == (channels,) else None


def _get_shape_or_none(values, name):
    """Return the dimensions of a value, or None if they are unknown."""
    value = values.get(name)
    return None if value is None else value.shape


# ---------------------------------------------------------------------- padding
_NON_NEGATIVE = frozenset(("Abs", "HardSigmoid", "Relu", "Sigmoid", "Softmax"))


def _fold_pads(nodes, outputs, constants):
    """Fold padding with zeros into the convolution or max pooling that reads it: some engines have no other padding.

    Max pooling pads with minus infinity. The result is the same if no element of the image is negative and each window
    has an element of the image.
    """
    readers = _count_readers(nodes, outputs)
    by_result = {name: node for node in nodes for name in node["output"]}
    nodes_left = []
    for node in nodes:
        for graph in _list_subgraphs(node):
            graph["node"] = _fold_pads(graph["node"], _collect_output_names(graph), constants)
        pad = by_result.get(node["input"][0]) if node["op_type"] in ("Conv", "MaxPool") else None
        amounts = _get_zero_padding(pad, constants) if pad and readers[pad["output"][0]] == 1 else None
        if amounts is not None:
            folded = _add_padding(node, amounts, _is_non_negative(by_result.get(pad["input"][0]), constants))
            if folded is not None:
                node = {**node, "input": [pad["input"][0], *node["input"][1:]], "attribute": folded}
        nodes_left.append(node)
    return _remove_unused_nodes(nodes_left, set(outputs))


def _get_zero_padding(pad, constants):
    """Return the numbers of zeros that a Pad adds before and after each axis of an image, or None."""
    if pad["op_type"] != "Pad" or len(pad["input"]) != 2 or onnx.attributes(pad).get("mode", "constant") != "constant":
        return None
    amounts = constants.get(pad["input"][1])
    if amounts is None or amounts.min() < 0:
        return None
    low, high = (half.tolist() for half in np.split(amounts, 2))
    return None if any(low[:2] + high[:2]) else low[2:] + high[2:]


def _add_padding(node, amounts, is_non_negative):
    """Return the attributes of a convolution or pooling that pads by further amounts, or None if it cannot."""
    attributes = onnx.attributes(node)
    pads = [p + q for p, q in zip(attributes.get("pads") or [0] * len(amounts), amounts, strict=True)]
    if "auto_pad" in attributes:
        return None
    if node["op_type"] == "MaxPool":
        fits = all(p < k for p, k in zip(pads, attributes["kernel_shape"] * 2, strict=True))
        is_plain = set(attributes.get("dilations", [1])) == {1} and not attributes.get("ceil_mode")
        if not (is_non_negative and fits and is_plain and len(node["output"]) == 1):
            return None
    others = [attribute for attribute in node["attribute"] if attribute["name"] != "pads"]
    return [*others, onnx.attribute("pads", pads)]


def _is_non_negative(node, constants):
    """Return True if no element of a node's result is negative."""
    if node is None or node["op_type"] != "Clip":
        return node is not None and node["op_type"] in _NON_NEGATIVE
    lowest = constants.get(node["input"][1]) if len(node["input"]) > 1 else None
    return lowest is not None and lowest >= 0


# ---------------------------------------------------------------------- names
def rename_nodes(nodes: list[Message], fixed_names: set[str], calls: Mapping[str, str]) -> None:
    """Name each node after its operator call if it is the call's only node, and results after their nodes.

    A branch or a loop is a node of its call; nodes of its subgraphs are in the scope of that call.

    Args:
        nodes (list[dict]): Node messages; they get their names.
        fixed_names (set[str]): Results whose names do not change.
        calls (dict): {name of a node: name of the call}.
    """
    nodes_and_calls = [(node, calls.get(node["name"])) for node in _walk_nodes(nodes)]
    inner_ids = {
        id(inner)
        for node, call in nodes_and_calls
        for inner in _walk_subgraphs(node)
        if calls.get(inner["name"]) == call
    }
    counts = Counter(call for node, call in nodes_and_calls if id(node) not in inner_ids)
    new = {}
    for node, call in nodes_and_calls:
        node["name"] = call if call and counts[call] == 1 and id(node) not in inner_ids else node["name"]
        for number, name in enumerate(node["output"]):
            if name and name not in fixed_names:
                new[name] = f"{node['name']}.{number}" if number else node["name"]
    for node, _ in nodes_and_calls:
        node["input"] = [new.get(name, name) for name in node["input"]]
        node["output"] = [new.get(name, name) for name in node["output"]]
        for graph in _list_subgraphs(node):
            for value in graph["output"]:
                value["name"] = new.get(value["name"], value["name"])


def _walk_nodes(nodes):
    """Yield all nodes, including the nodes of subgraphs at any depth."""
    for node in nodes:
        yield node
        yield from _walk_subgraphs(node)


def _walk_subgraphs(node):
    """Yield the nodes of all subgraphs of a node."""
    for graph in _list_subgraphs(node):
        yield from _walk_nodes(graph["node"])
