"""The graphs of a run as the graph view draws them."""

from typing import Any

import numpy as np

from msnb.formats import summary_graphs
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode

_BACKWARD = "Gradients"  # MindSpore's scope of the backward pass
_NAMED = ("op_type", "tensor_op_name")  # how settings of a dataset or an operation say what it is


def network_graph(made: summary_graphs.Graph, name: str = "network") -> FuncGraph:
    """A graph of an event file.

    Args:
        made (Graph): what the file says.
        name (str): of the graph, where the file has none. Default: "network".

    Returns:
        FuncGraph.
    """
    values: dict[str, Any] = {key: ParameterNode(key, _types(kind)) for key, kind in made.parameters.items()}
    parameters = list(values.values())
    values |= {key: ValueNode(_plain(value), ()) for key, value in made.constants.items()}
    nodes: list[CNode] = []
    for one in made.nodes:
        for key in one.inputs:
            values.setdefault(key, ValueNode(key, ()))  # what a file names and does not tell
        node = CNode(
            one.op,
            tuple(values[key] for key in one.inputs),
            (0,) * len(one.inputs),
            _types(one.type),
            attrs={key: _plain(value) for key, value in one.attributes.items()},
            scope=one.scope,
            direction="backward" if one.scope.startswith(_BACKWARD) else "forward",
            id=len(nodes),
        )
        values[one.name] = node
        nodes.append(node)
    outputs = [(values[key], 0) for key in made.outputs if key in values]
    return FuncGraph(made.name or name, parameters, nodes, outputs or [(node, 0) for node in nodes[-1:]])


def dataset_graph(made: dict[str, Any]) -> FuncGraph:
    """The data pipeline of a lineage file, sources first.

    Args:
        made (dict): {"parameter", "children", "operations", "sampler"}, as `msnb.formats.lineage_events` has it.

    Returns:
        FuncGraph.
    """
    nodes: list[CNode] = []
    last = _added(nodes, made)
    return FuncGraph("data pipeline", [], nodes, [(last, 0)])


def _added(nodes, made):
    """The last node of what a part of a pipeline becomes."""
    inputs = tuple(_added(nodes, child) for child in made.get("children", ()))
    name, settings = _named(made.get("parameter", {}), "Dataset")
    if "sampler" in made:
        settings["sampler"] = ", ".join(f"{key}={value}" for key, value in made["sampler"].items())
    for operation in made.get("operations", ()):
        label, rest = _named(operation, "operation")
        inputs = (_appended(nodes, label, inputs, rest, f"Default/{name}"),)
    return _appended(nodes, name, inputs, settings, "Default")


def _named(settings, otherwise):
    name = next((settings[key] for key in _NAMED if key in settings), otherwise)
    return str(name), {key: value for key, value in settings.items() if key not in _NAMED}


def _appended(nodes, op, inputs, attrs, scope):
    node = CNode(op, inputs, (0,) * len(inputs), (), attrs=attrs, scope=scope, id=len(nodes))
    nodes.append(node)
    return node


def _types(kind):
    if isinstance(kind, summary_graphs.TensorType):
        try:
            size = np.dtype(kind.dtype).itemsize
        except TypeError:  # bfloat16, and types that this file names and nobody knows
            size = 2 if kind.dtype == "bfloat16" else 0
        return (TensorType(_spelt(kind.dtype), kind.shape, size),)
    return tuple(each for one in kind for each in _types(one)) if isinstance(kind, tuple) else ()


def _spelt(dtype):
    """float32 as MindSpore spells it: Float32, UInt8."""
    return dtype.replace("uint", "UInt") if dtype.startswith("uint") else dtype[:1].upper() + dtype[1:]


def _plain(value):
    if isinstance(value, np.ndarray):
        return (
            f"Tensor[{_spelt(str(value.dtype))}][{', '.join(map(str, value.shape))}]"
            if value.size > 8
            else value.tolist()
        )
    return value
