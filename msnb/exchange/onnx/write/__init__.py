"""Export networks as ONNX models: each operator by its lowering, or by the JAX primitives of its kernel."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb._version import __version__
from msnb.exchange import dynamic_axes
from msnb.exchange.onnx.write.cleanup import names_read, optimize_nodes, rename_nodes
from msnb.exchange.tracing import traced
from msnb.formats import onnx
from msnb.formats.encryption import Cipher, CustomCipher
from msnb.ir.anf import FuncGraph

from . import (  # noqa: F401 - importing them registers their lowerings
    activations,
    arithmetic,
    bits,
    bounds,
    convolutions,
    indexing,
    norms,
    recurrent,
    selections,
    shapes,
    spectra,
)
from .builder import IR_VERSION, OPSET, Builder, Extent, File, Refused, Value, lowerings, primitives, type_of
from .graphs import Missing, write_nodes

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell

__all__ = ["OPSET", "Builder", "Refused", "lowerings", "model_of", "primitives", "write"]


def write(
    net: "Cell | Callable[..., Any]",
    inputs: Sequence[Any],
    path: str | os.PathLike[str],
    cipher: Cipher | CustomCipher | None = None,
) -> None:
    """Write a network as an ONNX model.

    Args:
        net (Union[Cell, Callable]): The network, which is written in evaluation mode.
        inputs (Sequence): Inputs of the network. An axis of a Tensor that is None, as of
            ``Tensor(shape=[None, 3], dtype=mindspore.float32)``, is of any length.
        path (str): The file. Weights of more than 2 GB are written to a separate file next to it.
        cipher (CustomCipher): The cipher of an encrypted file. Default: None.

    Raises:
        NotImplementedError: If ONNX can't express operators of the network; all of them are named.
    """
    onnx.save(model_of(graph_of(net, inputs)), path, cipher)


def graph_of(net: Any, inputs: Sequence[Any]) -> FuncGraph:
    """Return the graph of a network in evaluation. Its types have an `Extent` where a length is None."""
    return dynamic_axes.graph_of(net, inputs) if dynamic_axes.open_axes(inputs) else traced(net, *inputs)


def model_of(graph: FuncGraph) -> dict[str, Any]:
    """Return the Model message of a graph.

    Raises:
        NotImplementedError: If ONNX can't express operators of the graph; all of them are named.
    """
    file, missing = File(), Missing()
    b = Builder(file)
    env, inputs, weights = {}, [], []
    for node in graph.parameters:
        name = file.name(node.name if node.is_weight else node.name.replace(".", "_"))  # a name in MindSpore may be x.0
        value = file.values[name] = Value(name, *type_of(node.types[0]))
        env[node] = (value,)
        if node.is_weight:
            weights.append((node.name, value))
        else:
            file.inputs[node.name] = name
            inputs.append(value)
    results = write_nodes(b, graph, env, missing)
    count = len(results) - graph.written
    missing.raise_any(graph)
    outputs = []
    for number, value in enumerate(results[:count]):
        kind = type_of(graph.outputs[number][0].types[graph.outputs[number][1]]) if value.constant is None else None
        name = file.name("output" if count == 1 else f"output_{number}")
        b.nodes.append({"input": [value.name], "output": [name], "name": name, "op_type": "Identity", "attribute": []})
        outputs.append(Value(name, *(kind or (value.dtype, value.shape))))
    nodes = optimize_nodes(b.nodes, {v.name for v in outputs}, file.values, file.constants)
    rename_nodes(nodes, {v.name for v in outputs}, file.calls)
    needed = names_read(nodes)
    constants = {name: value for name, value in file.constants.items() if name in needed}
    constant_nodes = [  # written as Constant nodes, because readers turn initializers into Parameters
        {"input": [], "output": [name], "name": name, "op_type": "Constant", "attribute": [onnx.attribute("value", v)]}
        for name, v in constants.items()
    ]
    initializers = []
    for name, value in weights:
        if value.name in needed:
            initializers.append(onnx.tensor(np.asarray(graph.weights[name]), value.name))
    return {
        "ir_version": IR_VERSION,
        "producer_name": "msnb",
        "producer_version": __version__,
        "graph": {
            "node": constant_nodes + nodes,
            "name": graph.name,
            "initializer": initializers,
            "input": [_make_value_info(value) for value in inputs],
            "output": [_make_value_info(value) for value in outputs],
        },
        "opset_import": [{"domain": "", "version": OPSET}],
    }


def _make_value_info(value):
    shape = [str(n) if isinstance(n, Extent) else n for n in value.shape]
    return onnx.value_info(value.name, value.dtype, shape)
