"""Convert the recorded graphs of a run to graphs of `msnb.ir`."""

from typing import Any

import numpy as np

from msnb.formats import summary_graphs
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode

_BACKWARD = "Gradients"  # MindSpore's scope of the backward pass
_NAME_KEYS = ("op_type", "tensor_op_name")  # settings with the name of a dataset or an operation


def network_graph(graph: summary_graphs.Graph, name: str = "network") -> FuncGraph:
    """Convert the graph in an event file to a FuncGraph.

    Args:
        graph (Graph): the graph in the file.
        name (str): name of the graph if the file has none. Default: "network".

    Returns:
        FuncGraph.
    """
    values: dict[str, Any] = {
        key: ParameterNode(key, _convert_tensor_types(kind)) for key, kind in graph.parameters.items()
    }
    parameters = list(values.values())
    values |= {key: ValueNode(_to_plain_value(value), ()) for key, value in graph.constants.items()}
    nodes: list[CNode] = []
    for message in graph.nodes:
        for key in message.inputs:
            values.setdefault(key, ValueNode(key, ()))  # the file names this value without a definition
        node = CNode(
            message.op,
            tuple(values[key] for key in message.inputs),
            (0,) * len(message.inputs),
            _convert_tensor_types(message.type),
            attrs={key: _to_plain_value(value) for key, value in message.attributes.items()},
            scope=message.scope,
            direction="backward" if message.scope.startswith(_BACKWARD) else "forward",
            id=len(nodes),
        )
        values[message.name] = node
        nodes.append(node)
    outputs = [(values[key], 0) for key in graph.outputs if key in values]
    return FuncGraph(graph.name or name, parameters, nodes, outputs or [(node, 0) for node in nodes[-1:]])


def dataset_graph(pipeline: dict[str, Any]) -> FuncGraph:
    """Convert the data pipeline in a lineage file to a FuncGraph, sources first.

    Args:
        pipeline (dict): {"parameter", "children", "operations", "sampler"}, as `msnb.formats.lineage_events` has it.

    Returns:
        FuncGraph.
    """
    nodes: list[CNode] = []
    last = _add_pipeline(nodes, pipeline)
    return FuncGraph("data pipeline", [], nodes, [(last, 0)])


def _add_pipeline(nodes, pipeline):
    """Add the nodes of a pipeline and return the last one."""
    inputs = tuple(_add_pipeline(nodes, child) for child in pipeline.get("children", ()))
    name, settings = _split_name_from_settings(pipeline.get("parameter", {}), "Dataset")
    if "sampler" in pipeline:
        settings["sampler"] = ", ".join(f"{key}={value}" for key, value in pipeline["sampler"].items())
    for operation in pipeline.get("operations", ()):
        label, rest = _split_name_from_settings(operation, "operation")
        inputs = (_append_node(nodes, label, inputs, rest, f"Default/{name}"),)
    return _append_node(nodes, name, inputs, settings, "Default")


def _split_name_from_settings(settings, otherwise):
    name = next((settings[key] for key in _NAME_KEYS if key in settings), otherwise)
    return str(name), {key: value for key, value in settings.items() if key not in _NAME_KEYS}


def _append_node(nodes, op, inputs, attrs, scope):
    node = CNode(op, inputs, (0,) * len(inputs), (), attrs=attrs, scope=scope, id=len(nodes))
    nodes.append(node)
    return node


def _convert_tensor_types(kind):
    if isinstance(kind, summary_graphs.TensorType):
        try:
            size = np.dtype(kind.dtype).itemsize
        except TypeError:  # bfloat16, and types unknown to numpy
            size = 2 if kind.dtype == "bfloat16" else 0
        return (TensorType(_format_mindspore_dtype(kind.dtype), kind.shape, size),)
    return (
        tuple(tensor_type for item in kind for tensor_type in _convert_tensor_types(item))
        if isinstance(kind, tuple)
        else ()
    )


def _format_mindspore_dtype(dtype):
    """Return MindSpore's name of a dtype: Float32, UInt8."""
    return dtype.replace("uint", "UInt") if dtype.startswith("uint") else dtype[:1].upper() + dtype[1:]


def _to_plain_value(value):
    if isinstance(value, np.ndarray):
        return (
            f"Tensor[{_format_mindspore_dtype(str(value.dtype))}][{', '.join(map(str, value.shape))}]"
            if value.size > 8
            else value.tolist()
        )
    return value
