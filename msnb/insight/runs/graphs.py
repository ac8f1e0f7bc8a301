"""The graphs of a run as the graph view draws them."""

from typing import Any

from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode

_NAMES = {
    1: ("Bool", 1),
    2: ("Int8", 1),
    3: ("Int16", 2),
    4: ("Int32", 4),
    5: ("Int64", 8),
    6: ("UInt8", 1),
    7: ("UInt16", 2),
    8: ("UInt32", 4),
    9: ("UInt64", 8),
    10: ("Float16", 2),
    11: ("Float32", 4),
    12: ("Float64", 8),
}
_BACKWARD = "Gradients"  # MindSpore's scope of the backward pass


def network_graph(made: dict[str, Any], name: str = "network") -> FuncGraph:
    """The graph that `Run.graph` tells.

    Args:
        made (dict): a decoded GraphProto.
        name (str): of the graph. Default: "network".

    Returns:
        FuncGraph.
    """
    values: dict[str, Any] = {}
    parameters = []
    for one in made.get("parameters", []):
        values[one.get("name", "")] = node = ParameterNode(one.get("name", ""), _types(one.get("type", {})))
        parameters.append(node)
    for one in made.get("const_vals", []):
        values[one.get("key", "")] = ValueNode(_constant(one.get("value", {})), ())
    nodes = []
    for one in made.get("node", []):
        inputs = []
        for each in one.get("input", []):
            key = each.get("name", "")
            if key not in values:  # what a file names and does not tell
                values[key] = ValueNode(key, ())
            inputs.append(values[key])
        scope = one.get("scope", "")
        node = CNode(
            one.get("op_type", ""),
            tuple(inputs),
            (0,) * len(inputs),
            _types(one.get("output_type", {})),
            attrs={each.get("name", ""): _constant(each.get("value", {})) for each in one.get("attribute", [])},
            scope=scope,
            direction="backward" if scope.startswith(_BACKWARD) else "forward",
            id=len(nodes),
        )
        values[one.get("name", "")] = node
        nodes.append(node)
    outputs = [(values[one["name"]], 0) for one in made.get("outputs", []) if one.get("name") in values]
    return FuncGraph(made.get("name") or name, parameters, nodes, outputs or [(nodes[-1], 0)] if nodes else [])


def dataset_graph(made: dict[str, Any]) -> FuncGraph:
    """The data pipeline that `Run.dataset_graph` tells, sources first.

    Args:
        made (dict): {"op", "arguments", "children"}.

    Returns:
        FuncGraph.
    """
    nodes: list[CNode] = []

    def add(one):
        inputs = tuple(add(child) for child in one["children"])
        attrs = {key: value for key, value in one["arguments"].items() if key != "operations"}
        for each in one["arguments"].get("operations", []):
            rest = dict(each)
            label = rest.pop("tensor_op_name", rest.pop("op_type", "operation"))
            inputs = (_appended(nodes, str(label), inputs, rest, f"Default/{one['op']}"),)
        return _appended(nodes, one["op"], inputs, attrs, "Default")

    last = add(made)
    return FuncGraph("data pipeline", [], nodes, [(last, 0)])


def _appended(nodes, op, inputs, attrs, scope):
    node = CNode(op, inputs, (0,) * len(inputs), (), attrs=attrs, scope=scope, id=len(nodes))
    nodes.append(node)
    return node


def _types(made):
    if "tensor_type" in made:
        inner = made["tensor_type"]
        name, size = _NAMES.get(inner.get("elem_type", 0), ("Unknown", 0))
        return (TensorType(name, tuple(d.get("size", 0) for d in inner.get("shape", {}).get("dim", [])), size),)
    return tuple(each for one in made.get("sequence", {}).get("elem_types", []) for each in _types(one))


def _constant(made):
    if "values" in made:
        return tuple(_constant(one) for one in made["values"])
    if "tensor_val" in made:
        shape = ", ".join(map(str, made["tensor_val"].get("dims", [])))
        return f"Tensor[{_NAMES.get(made['tensor_val'].get('data_type', 0), ('Unknown', 0))[0]}][{shape}]"
    for key in ("str_val", "int_val", "uint_val", "float_val", "double_val"):
        if key in made:
            return made[key]
    return bool(made["bool_val"]) if "bool_val" in made else None
