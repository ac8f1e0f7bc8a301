"""Import of ONNX models as graphs of MindSpore's operators."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from msnb.formats import onnx
from msnb.ir.anf import FuncGraph, ParameterNode, TensorType
from msnb.nn.graph_cell import prune

from . import (  # noqa: F401 - importing them registers their handlers
    activations,
    attention,
    control,
    convolutions,
    data_dependent,
    elements,
    indexing,
    normal,
    pooling,
    products,
    quantised,
    recurrent,
    reductions,
    regions,
    resizing,
    sampling,
    spectra,
    state,
)
from . import shapes as _shapes  # noqa: F401 - likewise
from .cell import OnnxCell
from .reader import Reader, Stop
from .shared import Shared
from .subgraph_weights import lift_weights
from .values import HANDLERS, InconsistentModel, NeedsValue, Ref, UnsupportedOperator, numpy_type, type_of

__all__ = [
    "HANDLERS",
    "NeedsValue",
    "OnnxCell",
    "UnsupportedOperator",
    "cell_of",
    "graph_of",
    "load_onnx",
    "look",
    "open_cell",
    "read_values",
]

# lengths to try for open axes; the first one is used with which the model can be read
_TRIAL_LENGTHS = (1, 2, 8, 32, 48, 64, 224, 320, 512)
_MIN_OPSET = 7


def open_cell(path: str) -> OnnxCell:
    """Return a Cell that runs the model in an ONNX file; see `load_onnx`."""
    return load_onnx(path)


def load_onnx(path: str | os.PathLike[str], shapes: Mapping[str, Any] | None = None) -> OnnxCell:
    """Load an ONNX model as a Cell, which can be shown, differentiated and trained like any other.

    Its Parameters are the floating-point initializers, by their names, also those in branches of `If`. Axes that the
    model leaves open get the length of the input: each set of shapes has its own graph. Where shapes depend on values
    of an input, such as the number of boxes of a detector, each call builds a graph and runs operator by operator. Its
    attribute `metadata` has the texts of the file by name.

    Args:
        path (str): The file. External weights have to be in its folder or a subfolder.
        shapes (dict): Shapes of inputs by name, for a model that leaves axes open; `graph` is then the graph for these.
            Default: None, open axes are as short as the network allows.

    Returns:
        OnnxCell.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not an ONNX model, or is damaged.
        NotImplementedError: If it has operators that msnb does not read; all of them are named.
    """
    return cell_of(onnx.load(path), os.path.dirname(os.path.abspath(path)), shapes)


def look(path: str | os.PathLike[str]) -> FuncGraph:
    """Return the graph of an ONNX model for inspection; see `load_onnx`."""
    return _build_graph_by_trial_lengths(onnx.load(path), os.path.dirname(os.path.abspath(path)), None)[0]


def cell_of(model: dict[str, Any], folder: Any = None, shapes: Mapping[str, Any] | None = None) -> OnnxCell:
    """Return the Cell of a Model message; see `load_onnx`."""

    def build(kinds, samples):
        return graph_of(model, folder, kinds, samples, needs_all_branches=False)

    metadata = {pair.get("key", ""): pair.get("value", "") for pair in model.get("metadata_props", ())}
    graph, shape_inputs = _build_graph_by_trial_lengths(model, folder, shapes)
    return OnnxCell(graph, build, input_types(model, {}, 1), metadata, shape_inputs)


def _build_graph_by_trial_lengths(model, folder, shapes):
    """Return the graph for the given shapes, and the names of inputs whose values decide on shapes.

    Axes without a length get the shortest one with which the model can be read. Such inputs get random numbers in
    [0, 1), or the same length.
    """
    shapes = dict(shapes or {})
    input_names = input_types(model, shapes, 1)
    for name in shapes:
        if name not in input_names:
            raise ValueError(f"The model has no input '{name}'; it takes {', '.join(input_names) or 'none'}.")
    error, has_open_axes, samples = None, _has_open_axes(model, shapes), {}
    for length, needs_all_branches in [(n, every) for every in (True, False) for n in _TRIAL_LENGTHS]:
        if length != _TRIAL_LENGTHS[0] and not (has_open_axes or samples):
            continue
        kinds = input_types(model, shapes, length)
        samples.clear()
        try:
            return _build_graph_with_samples(model, folder, kinds, samples, length, needs_all_branches), set(samples)
        except (ValueError, TypeError, IndexError, ZeroDivisionError) as raised:
            error = error or raised
    if samples:
        raise UnsupportedOperator(
            f"The input '{next(iter(samples))}' of the model decides on shapes; make it an initializer of the model. "
            f"With trial values: {error}"
        )
    if not has_open_axes:
        raise error
    example = {name: kind.shape for name, kind in input_types(model, shapes, 64).items()}
    raise InconsistentModel(
        f"The model leaves axes open, and cannot be read with the lengths {', '.join(map(str, _TRIAL_LENGTHS))}; pass "
        f"the shapes of your inputs: load_onnx(path, shapes={example}). With length {_TRIAL_LENGTHS[0]}: {error}"
    ) from error


def _build_graph_with_samples(model, folder, kinds, samples, length, needs_all_branches):
    """Return the graph for inputs of these types. Inputs whose values decide on shapes get a value in `samples`."""
    while True:
        try:
            return graph_of(model, folder, kinds, samples, needs_all_branches)
        except NeedsValue as error:
            shape, dtype = kinds[error.name].shape, numpy_type(kinds[error.name].dtype)
            is_float = "float" in dtype.name
            value = np.random.default_rng(0).random(shape) if is_float else np.full(shape, length)
            samples[error.name] = value.astype(dtype)


def _has_open_axes(model, shapes):
    return input_types(model, shapes, 1) != input_types(model, shapes, 2)


def input_types(model: dict[str, Any], shapes: Mapping[str, Any], length: int) -> dict[str, TensorType]:
    """Return {name: type} of the inputs of a Model message. Axes of any length get the length `length`."""
    graph = model["graph"]
    weights = {tensor.get("name", "") for tensor in graph.get("initializer", [])}
    types = {}
    for info in graph.get("input", []):
        name = info.get("name", "")
        if name in weights:
            continue
        kind = info.get("type", {}).get("tensor_type")
        if kind is None or kind.get("elem_type") not in onnx.DTYPES:
            raise UnsupportedOperator(f"The input '{name}' of the model is no Tensor of numbers.")
        dims = kind.get("shape", {}).get("dim", [])
        shape = tuple(shapes.get(name) or (length if _is_open(d) else d["dim_value"] for d in dims))
        types[name] = type_of(shape, onnx.DTYPES[kind["elem_type"]])
    return types


def _is_open(dim):
    """Return True if a model leaves the length of an axis open. Some exporters write -1."""
    return bool(dim.get("dim_param")) or dim.get("dim_value", -1) < 0


def graph_of(
    model: dict[str, Any],
    folder: Any,
    kinds: Mapping[str, TensorType],
    samples: Mapping[str, np.ndarray] | None = None,
    needs_all_branches: bool = True,
) -> FuncGraph:
    """Return the graph of a Model message for inputs of these types; see `read_values`."""
    return read_values(model, folder, kinds, samples, needs_all_branches)[0]


def read_values(
    model: dict[str, Any],
    folder: Any,
    kinds: Mapping[str, TensorType],
    samples: Mapping[str, np.ndarray] | None = None,
    needs_all_branches: bool = True,
) -> tuple[FuncGraph, dict[str, Ref]]:
    """Return the graph of a Model message for inputs of these types, and {name in the model: value in the graph}.

    Args:
        model (dict): The message.
        folder (str): Folder of external weights; None if there is none.
        kinds (dict): {name: TensorType} of its inputs.
        samples (dict): Values of inputs that shapes may depend on. Default: None.
        needs_all_branches (bool): If False, a branch of `If` that does not fit inputs of these shapes gives NaN.
            Default: True.

    Raises:
        NotImplementedError: If it has operators that msnb does not read; all of them are named.
        NeedsValue: If a shape depends on an input that is not in `samples`.
        ValueError: If the model is inconsistent.
    """
    model = lift_weights(model)
    shared = Shared(model, folder, samples, needs_all_branches)
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
    _raise_if_operators_missing(message, shared.missing)
    used = {source for node in reader.nodes for source in node.inputs} | {ref.node for ref in outputs}
    parameters = [node for node in weights if node in used or node.name in shared.unread] + parameters
    graph = FuncGraph(
        message.get("name") or "onnx", parameters, reader.nodes, [(ref.node, ref.slot) for ref in outputs]
    )
    prune(graph)
    graph.weights = shared.weights
    return graph, reader.names


def _check_operators(model, shared):
    """Raise an error that names all operators without a handler, before any node is read."""
    if shared.version < _MIN_OPSET:
        raise UnsupportedOperator(
            f"The model has the operators of ONNX {shared.version}, msnb reads those from {_MIN_OPSET} on; "
            "onnx.version_converter makes newer ones of them."
        )

    def check_nodes(nodes):
        for node in nodes:
            op, domain = node.get("op_type", ""), node.get("domain", "")
            key = op if domain in ("", "ai.onnx") else f"{domain}.{op}"
            if key not in HANDLERS and (domain, op) not in shared.functions:
                shared.missing.setdefault((key, "msnb has no operator for it"), node.get("name", ""))
            if op == "BatchNormalization":
                shared.statistics.update(node.get("input", [])[3:5])
            for attribute in node.get("attribute", []):
                if "g" in attribute:
                    check_nodes(attribute["g"].get("node", []))

    shared.statistics = set()
    check_nodes(model["graph"].get("node", []))
    for function in shared.functions.values():
        check_nodes(function.get("node", []))
    _raise_if_operators_missing(model["graph"], shared.missing)


def _raise_if_operators_missing(graph, missing):
    if missing:
        lines = [f"{op} ({location}): {why}" if location else f"{op}: {why}" for (op, why), location in missing.items()]
        raise UnsupportedOperator(
            f"The ONNX model '{graph.get('name', '')}' cannot be read because of {len(lines)} operator(s):\n  "
            + "\n  ".join(lines)
        )
