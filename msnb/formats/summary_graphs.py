"""Decoder and encoder of the GraphProto in MindSpore's event files: nodes with scopes, attributes and types."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from msnb.formats.summary_tensors import CODES, NAMES, array_from
from msnb.formats.summary_tensors import SCHEMA as TENSORS

_TENSOR, _TUPLE, _LIST, _DICT, _NONE, _TYPE = 14, 31, 32, 33, 34, 39
_BOOL, _INT, _FLOAT, _STRING = 1, 5, 11, 13

SCHEMA = {
    **TENSORS,
    "GraphProto": {
        "node": (1, "NodeProto", True),
        "name": (2, "str", False),
        "parameters": (3, "ParameterProto", True),
        "outputs": (4, "OutputProto", True),
        "const_vals": (5, "NamedValueProto", True),
    },
    "NodeProto": {
        "input": (1, "InputProto", True),
        "name": (2, "str", False),
        "op_type": (3, "str", False),
        "scope": (4, "str", False),
        "attribute": (5, "AttributeProto", True),
        "output_type": (6, "TypeProto", False),
        "output_i": (7, "int", False),
        "full_name": (8, "str", False),
        "instance_name": (10, "str", False),
    },
    "InputProto": {"name": (1, "str", False), "type": (2, "int", False)},
    "ParameterProto": {
        "name": (1, "str", False),
        "type": (2, "TypeProto", False),
        "default_val": (3, "ValueProto", False),
    },
    "OutputProto": {"name": (1, "str", False), "type": (2, "TypeProto", False)},
    "AttributeProto": {"name": (1, "str", False), "value": (2, "ValueProto", False)},
    "NamedValueProto": {"key": (1, "str", False), "value": (2, "ValueProto", False)},
    "ValueProto": {
        "dtype": (1, "int", False),
        "bool_val": (2, "int", False),
        "int_val": (3, "int", False),
        "uint_val": (4, "int", False),
        "float_val": (5, "float", False),
        "double_val": (6, "double", False),
        "str_val": (7, "str", False),
        "tensor_val": (8, "TensorProto", False),
        "bool_vals": (10, "int", True),
        "int_vals": (11, "int", True),
        "uint_vals": (12, "int", True),
        "float_vals": (13, "float", True),
        "double_vals": (14, "double", True),
        "str_vals": (15, "str", True),
        "tensor_vals": (16, "TensorProto", True),
        "values": (18, "ValueProto", True),
        "dict_val": (19, "NamedValueProto", True),
        "type_val": (20, "TypeProto", False),
    },
    "TypeProto": {
        "data_type": (1, "int", False),
        "tensor_type": (2, "TensorType", False),
        "sequence_type": (3, "SequenceType", False),
    },
    "TensorType": {"elem_type": (1, "int", False), "shape": (2, "Shape", False)},
    "SequenceType": {"elem_types": (1, "TypeProto", True)},
    "Shape": {"dim": (1, "Dimension", True)},
    "Dimension": {"size": (1, "int", False), "name": (2, "str", False)},
}


@dataclass(frozen=True, slots=True)
class TensorType:
    """Type of a Tensor: its element type, such as "float32", and its shape, with -1 for unknown axes."""

    dtype: str
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphNode:
    """Node of a graph: an operator.

    Attributes:
        name (str): Name by which other nodes refer to it. In MindSpore's files it is a number.
        op (str): The operator, such as "MatMul".
        scope (str): The scope of its Cells, such as "Default/network-WithLossCell/fc-Dense".
        full_name (str): Scope and name, as in MindSpore's other files.
        inputs (tuple[str]): Names of nodes, Parameters and constants.
        controls (tuple[str]): Names of nodes that must run before this node and whose results it does not use.
        attributes (dict): {name: plain value}.
        type: Type of the result: a TensorType, a tuple of types, the name of another type, or None.
    """

    name: str
    op: str
    scope: str = ""
    full_name: str = ""
    inputs: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    type: Any = None


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph of operators.

    Attributes:
        name (str): Its name.
        nodes (tuple[GraphNode]): In a valid order of execution.
        parameters (dict): {name: type} of the inputs, including the network's Parameters.
        outputs (dict): {name of a node: type of its result}.
        constants (dict): {name: plain value}.
    """

    name: str
    nodes: tuple[GraphNode, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)


def graph_from(message: dict[str, Any]) -> Graph:
    """Convert a decoded GraphProto to a Graph."""
    return Graph(
        message.get("name", ""),
        tuple(_parse_node(node) for node in message.get("node", ())),
        {p.get("name", ""): _parse_type(p.get("type")) for p in message.get("parameters", ())},
        {o.get("name", ""): _parse_type(o.get("type")) for o in message.get("outputs", ())},
        {c.get("key", ""): _parse_value(c.get("value")) for c in message.get("const_vals", ())},
    )


def _parse_node(node):
    edges = [(edge.get("name", ""), edge.get("type", 0)) for edge in node.get("input", ())]
    return GraphNode(
        node.get("name", ""),
        node.get("op_type", ""),
        node.get("scope", ""),
        node.get("full_name", ""),
        tuple(name for name, kind in edges if not kind),
        tuple(name for name, kind in edges if kind),
        {a.get("name", ""): _parse_value(a.get("value")) for a in node.get("attribute", ())},
        _parse_type(node.get("output_type")),
    )


def _parse_type(message):
    if not message:
        return None
    if "sequence_type" in message:
        return tuple(_parse_type(part) for part in message["sequence_type"].get("elem_types", ()))
    if "tensor_type" in message:
        tensor = message["tensor_type"]
        shape = tuple(dim.get("size", -1) for dim in tensor.get("shape", {}).get("dim", ()))
        return TensorType(NAMES.get(tensor.get("elem_type", 0), "unknown"), shape)
    code = message.get("data_type", 0)
    return {_TUPLE: (), _LIST: (), _STRING: "str"}.get(code, NAMES.get(code, "unknown"))


def _parse_value(message):
    if not message:
        return None
    if "tensor_val" in message:
        return _parse_array(message["tensor_val"])
    if "type_val" in message:
        return _parse_type(message["type_val"])
    if "bool_val" in message:
        return bool(message["bool_val"])
    for name in ("int_val", "uint_val", "float_val", "double_val", "str_val"):
        if name in message:
            return message[name]
    if "bool_vals" in message:
        return tuple(map(bool, message["bool_vals"]))
    for name in ("int_vals", "uint_vals", "float_vals", "double_vals", "str_vals"):
        if name in message:
            return tuple(message[name])
    if "tensor_vals" in message:
        return tuple(_parse_array(tensor) for tensor in message["tensor_vals"])
    if "dict_val" in message:
        return {part.get("key", ""): _parse_value(part.get("value")) for part in message["dict_val"]}
    parts = [_parse_value(part) for part in message.get("values", ())]
    code = message.get("dtype", 0)
    return {_LIST: parts, _DICT: {}}.get(code, tuple(parts) if parts or code == _TUPLE else None)


def _parse_array(message):
    """Return the array of a constant, or its TensorType: MindSpore does not write the elements of a large constant."""
    try:
        return array_from(message)
    except (KeyError, ValueError):
        return TensorType(NAMES.get(message.get("data_type", 0), "unknown"), tuple(message.get("dims", ())))


def graph_message(graph: Graph) -> dict[str, Any]:
    """Convert a Graph to a GraphProto, for `protobuf.encode`. Values of unsupported types become text."""
    return {
        "node": [_make_node_message(node) for node in graph.nodes],
        "name": graph.name,
        "parameters": [{"name": name, **_make_type_field(type_)} for name, type_ in graph.parameters.items()],
        "outputs": [{"name": name, **_make_type_field(type_)} for name, type_ in graph.outputs.items()],
        "const_vals": [{"key": name, "value": _make_value_message(value)} for name, value in graph.constants.items()],
    }


def _make_node_message(node):
    edges = [{"name": name, "type": 0} for name in node.inputs] + [{"name": name, "type": 1} for name in node.controls]
    return {
        "input": edges,
        "name": node.name,
        "op_type": node.op,
        "scope": node.scope,
        "attribute": [{"name": name, "value": _make_value_message(value)} for name, value in node.attributes.items()],
        **_make_type_field(node.type, "output_type"),
        "full_name": node.full_name,
    }


def _make_type_field(type_, name="type"):
    return {} if type_ is None else {name: _make_type_message(type_)}


def _make_type_message(type_):
    if isinstance(type_, TensorType):
        shape = {"dim": [{"size": size} for size in type_.shape]}
        return {"data_type": _TENSOR, "tensor_type": {"elem_type": CODES.get(type_.dtype, 0), "shape": shape}}
    if isinstance(type_, tuple):
        parts = [_make_type_message(part) for part in type_ if part is not None]
        return {"data_type": _TUPLE, "sequence_type": {"elem_types": parts}}
    return {"data_type": _STRING if type_ == "str" else CODES.get(type_, 0)}


def _make_value_message(value):
    if value is None:
        return {"dtype": _NONE}
    if isinstance(value, (bool, np.bool_)):
        return {"dtype": _BOOL, "bool_val": value}
    if isinstance(value, (int, np.integer)) and -(1 << 63) <= value < 1 << 63:
        return {"dtype": _INT, "int_val": value}
    if isinstance(value, (float, np.floating)) and (value != value or abs(value) <= _LARGEST or np.isinf(value)):
        return {"dtype": _FLOAT, "float_val": value}
    if isinstance(value, TensorType):
        return {"dtype": _TYPE, "type_val": _make_type_message(value)}
    if isinstance(value, (tuple, list)):
        return {
            "dtype": _TUPLE if isinstance(value, tuple) else _LIST,
            "values": [_make_value_message(v) for v in value],
        }
    if isinstance(value, dict):
        return {
            "dtype": _DICT,
            "dict_val": [{"key": str(k), "value": _make_value_message(v)} for k, v in value.items()],
        }
    return {"dtype": _STRING, "str_val": str(value)}


_LARGEST = float(np.finfo(np.float32).max)
