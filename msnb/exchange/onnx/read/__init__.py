"""ONNX models as graphs of MindSpore's operators."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from msnb.formats import onnx
from msnb.ir.anf import FuncGraph, ParameterNode, TensorType
from msnb.nn.graph_cell import prune

from . import (  # noqa: F401 - their handlers register
    activations,
    attention,
    chosen,
    control,
    convolutions,
    elements,
    indexing,
    normal,
    pooling,
    products,
    quantised,
    recurrent,
    reductions,
    resizing,
    sampling,
    spectra,
    state,
)
from . import shapes as _shapes  # noqa: F401 - so do these
from .cell import OnnxCell
from .reader import Reader, Stop
from .shared import Shared
from .values import HANDLERS, NeedsValue, Ref, Unread, type_of

__all__ = ["HANDLERS", "NeedsValue", "OnnxCell", "Unread", "cell_of", "graph_of", "load_onnx", "look"]

_LENGTHS = (1, 2, 8, 32, 224)  # for axes that a model leaves open: the first with which all windows fit
_OLDEST = 7


def load_onnx(path: str | os.PathLike[str], shapes: Mapping[str, Any] | None = None) -> OnnxCell:
    """A Cell that runs the network of an ONNX model; it shows itself, is differentiated and trained as any other.

    Its Parameters are the initializers of floating point, by their names. Axes that the model leaves open have the
    length that an input has: for each there is a graph of its own.

    Args:
        path (str): The file. Weights that are kept beside it have to be below its folder.
        shapes (dict): Shapes of inputs by name, for a model that leaves axes open; `graph` is then the graph for these.
            Default: None, open axes are as short as the network allows.

    Returns:
        OnnxCell.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is no ONNX model, or is damaged.
        NotImplementedError: If it has operators that msnb does not read; all of them are named.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return cell_of(onnx.load(path), os.path.dirname(os.path.abspath(path)), shapes)


def look(path: str | os.PathLike[str]) -> FuncGraph:
    """The graph of an ONNX model, to be looked at; see `load_onnx`."""
    return _first(onnx.load(path), os.path.dirname(os.path.abspath(path)), None)


def cell_of(model: dict[str, Any], folder: Any = None, shapes: Mapping[str, Any] | None = None) -> OnnxCell:
    """The Cell of a Model message; see `load_onnx`."""

    def build(kinds, samples):
        return graph_of(model, folder, kinds, samples)

    return OnnxCell(_first(model, folder, shapes), build, input_types(model, {}, 1))


def _first(model, folder, shapes):
    """The graph for the shapes that are given, or the shortest with which it can be read."""
    shapes = dict(shapes or {})
    known = input_types(model, shapes, 1)
    for name in shapes:
        if name not in known:
            raise ValueError(f"The model has no input '{name}'; it takes {', '.join(known) or 'none'}.")
    error = None
    for length in _LENGTHS:
        kinds = input_types(model, shapes, length)
        try:
            return graph_of(model, folder, kinds)
        except (NotImplementedError, NeedsValue) as raised:
            if isinstance(raised, NeedsValue):
                raise Unread(
                    f"The input '{raised.name}' of the model decides on shapes; make it an initializer of the model."
                ) from None
            raise
        except (ValueError, TypeError, IndexError, ZeroDivisionError) as raised:
            error = error or raised
            if not _is_open(model, shapes):
                break
    raise error


def _is_open(model, shapes):
    return input_types(model, shapes, 1) != input_types(model, shapes, 2)


def input_types(model: dict[str, Any], shapes: Mapping[str, Any], length: int) -> dict[str, TensorType]:
    """{name: type} of the inputs of a Model message, open axes with this length."""
    graph = model["graph"]
    weights = {tensor.get("name", "") for tensor in graph.get("initializer", [])}
    found = {}
    for info in graph.get("input", []):
        name = info.get("name", "")
        if name in weights:
            continue
        kind = info.get("type", {}).get("tensor_type")
        if kind is None or kind.get("elem_type") not in onnx.DTYPES:
            raise Unread(f"The input '{name}' of the model is no Tensor of numbers.")
        dims = kind.get("shape", {}).get("dim", [])
        shape = tuple(
            shapes.get(name) or (d.get("dim_value", length) if not d.get("dim_param") else length for d in dims)
        )
        found[name] = type_of(shape, onnx.DTYPES[kind["elem_type"]])
    return found


def graph_of(
    model: dict[str, Any],
    folder: Any,
    kinds: Mapping[str, TensorType],
    samples: Mapping[str, np.ndarray] | None = None,
) -> FuncGraph:
    """The graph of a Model message for inputs of these types.

    Args:
        model (dict): The message.
        folder (str): Where weights that are kept beside it are found; None for nowhere.
        kinds (dict): {name: TensorType} of its inputs.
        samples (dict): Values of inputs that may decide on shapes. Default: None.

    Raises:
        NotImplementedError: If it has operators that msnb does not read; all of them are named.
        NeedsValue: If an input that is not in `samples` decides on a shape.
        ValueError: If the model does not fit together.
    """
    shared = Shared(model, folder, samples)
    message = model["graph"]
    _check_operators(model, shared)
    reader = Reader(shared)
    parameters = []
    for name, kind in kinds.items():
        node = ParameterNode(name, (kind,))
        parameters.append(node)
        reader.names[name] = Ref(node)
    weights = []
    for name in shared.weights:
        tensor = shared.weights.message(name)
        dtype = onnx.DTYPES.get(tensor.get("data_type", 0))
        if dtype is None or "float" not in dtype.name:
            reader.names[name] = reader.const(shared.weights[name])
            continue
        node = ParameterNode(name, (type_of(tensor.get("dims", ()), dtype),), True, True)
        weights.append(node)
        reader.names[name] = Ref(node)
    for name in shared.statistics:
        for node in weights:
            node.requires_grad = node.requires_grad and node.name != name
    try:
        reader.run(message.get("node", []))
        outputs = [reader.find(info.get("name", "")) for info in message.get("output", [])]
    except Stop:
        outputs = []
    _raise_missing(message, shared.missing)
    used = {source for node in reader.nodes for source in node.inputs} | {ref.node for ref in outputs}
    parameters = [node for node in weights if node in used] + parameters
    graph = FuncGraph(
        message.get("name") or "onnx", parameters, reader.nodes, [(ref.node, ref.slot) for ref in outputs]
    )
    prune(graph)
    graph.weights = shared.weights
    return graph


def _check_operators(model, shared):
    """Name all that has no handler before anything is read."""
    if shared.version < _OLDEST:
        raise Unread(
            f"The model has the operators of ONNX {shared.version}, msnb reads those from {_OLDEST} on; "
            "onnx.version_converter makes newer ones of them."
        )

    def look(nodes):
        for node in nodes:
            op, domain = node.get("op_type", ""), node.get("domain", "")
            key = op if domain in ("", "ai.onnx") else f"{domain}.{op}"
            if key not in HANDLERS and (domain, op) not in shared.functions:
                shared.missing.setdefault((key, "msnb has no operator for it"), node.get("name", ""))
            if op == "BatchNormalization":
                shared.statistics.update(node.get("input", [])[3:5])
            for attribute in node.get("attribute", []):
                if "g" in attribute:
                    look(attribute["g"].get("node", []))

    shared.statistics = set()
    look(model["graph"].get("node", []))
    for function in shared.functions.values():
        look(function.get("node", []))
    _raise_missing(model["graph"], shared.missing)


def _raise_missing(graph, missing):
    if missing:
        told = [f"{op} ({where}): {why}" if where else f"{op}: {why}" for (op, why), where in missing.items()]
        raise Unread(
            f"The ONNX model '{graph.get('name', '')}' cannot be read because of {len(told)} operator(s):\n  "
            + "\n  ".join(told)
        )
