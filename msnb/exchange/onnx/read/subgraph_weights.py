"""Weights in the branches of a model: they become initializers of the model, which are Parameters."""

from collections import Counter
from typing import Any

from msnb.formats import onnx


def lift_weights(model: dict[str, Any]) -> dict[str, Any]:
    """Return a Model message whose graph has the floating-point weights of its subgraphs.

    These are the initializers of subgraphs, and their constants of several elements: exporters that inline functions
    into the branches of an `If` write weights so. A name that several graphs have stays in its place.
    """
    graph = model["graph"]
    names = Counter(_list_names(graph))
    weights: list[dict[str, Any]] = []
    nodes = [_lift_from_node(node, names, weights) for node in graph.get("node", [])]
    if not weights:
        return model
    return {**model, "graph": {**graph, "node": nodes, "initializer": [*graph.get("initializer", []), *weights]}}


def _list_names(graph):
    """Yield the names of values in a graph and its subgraphs."""
    for message in (*graph.get("initializer", []), *graph.get("input", [])):
        yield message.get("name", "")
    for node in graph.get("node", []):
        yield from node.get("output", [])
        for subgraph in _list_subgraphs(node):
            yield from _list_names(subgraph)


def _list_subgraphs(node):
    for attribute in node.get("attribute", []):
        yield from (attribute["g"],) if "g" in attribute else attribute.get("graphs", [])


def _lift_from_node(node, names, weights):
    """Return a node without the weights of its subgraphs, and append these to `weights`."""
    if not any(True for _ in _list_subgraphs(node)):
        return node
    attributes = []
    for attribute in node["attribute"]:
        if "g" in attribute:
            attribute = {**attribute, "g": _lift_from_graph(attribute["g"], names, weights)}
        attributes.append(attribute)
    return {**node, "attribute": attributes}


def _lift_from_graph(graph, names, weights):
    initializers, nodes = [], []
    for tensor in graph.get("initializer", []):
        (weights if _is_weight(tensor, tensor.get("name", ""), names) else initializers).append(tensor)
    for node in graph.get("node", []):
        tensor = _get_constant(node)
        if tensor is not None and tensor.get("dims") not in (None, [], [1]):
            name = node["output"][0]
            if _is_weight(tensor, name, names):
                weights.append({**tensor, "name": name})
                continue
        nodes.append(_lift_from_node(node, names, weights))
    return {**graph, "initializer": initializers, "node": nodes}


def _get_constant(node):
    """Return the Tensor message of a constant, or None."""
    if node.get("op_type") != "Constant" or node.get("domain"):
        return None
    return next((attribute["t"] for attribute in node.get("attribute", []) if "t" in attribute), None)


def _is_weight(tensor, name, names):
    dtype = onnx.DTYPES.get(tensor.get("data_type", 0))
    return dtype is not None and "float" in dtype.name and names[name] == 1
