"""Compute the values of an ONNX model with onnxruntime, so that `msnb.diff` can compare them with another run.

The graph of the run is that of msnb for the same file. The model gets an output for each of its values, and is run
without optimizations. A node has a value if it computes a value that has a name in the model.
"""

import dataclasses
import importlib
import os
from typing import Any

import numpy as np

from msnb.exchange.onnx.read import read_values
from msnb.exchange.onnx.read.values import type_of
from msnb.formats import onnx, protobuf
from msnb.insight.debugger.runs_to_compare import ComparedRun, run_of
from msnb.ir.compare import compare

_EXTERNAL = 1  # data_location of a weight that is stored in another file


@dataclasses.dataclass(frozen=True)
class OnnxRuntimeModel:
    """An ONNX file whose values onnxruntime computes.

    Attributes:
        path (str): the file.
    """

    path: str


def in_onnxruntime(path: str | os.PathLike[str]) -> OnnxRuntimeModel:
    """Return an ONNX file to be run by onnxruntime, for `msnb.diff` with ``values=True``.

    Args:
        path (str): the file.

    Raises:
        ValueError: If the file name does not end in .onnx.
        FileNotFoundError: If there is no such file.
        ImportError: If onnxruntime is not installed.

    Examples:
        >>> msnb.diff(net, msnb.in_onnxruntime("net.onnx"), x, values=True)  # doctest: +SKIP
    """
    name = os.fspath(path)
    if not name.lower().endswith(".onnx"):
        raise ValueError(f"For 'in_onnxruntime', 'path' should end in .onnx, but got {name!r}.")
    if not os.path.exists(name):
        raise FileNotFoundError(f"For 'in_onnxruntime', {name!r} does not exist.")
    _import_onnxruntime()
    return OnnxRuntimeModel(name)


def _import_onnxruntime():
    try:
        return importlib.import_module("onnxruntime")
    except ImportError as error:
        raise ImportError("For 'in_onnxruntime', onnxruntime is not installed: pip install onnxruntime.") from error


def run_in_onnxruntime(source: OnnxRuntimeModel, inputs: tuple[Any, ...], name: str) -> ComparedRun:
    """Return the run of an ONNX file with the values that onnxruntime computes.

    Args:
        source (OnnxRuntimeModel): the file.
        inputs (tuple): the inputs of the model.
        name (str): name of the run in messages.

    Raises:
        NotImplementedError: If the weights are stored in further files, or msnb can't read an operator.
        ValueError: If onnxruntime can't run the model.
    """
    run = run_of(source.path, inputs, name, evaluates=True)
    model = onnx.load(source.path)
    if any(tensor.get("data_location") == _EXTERNAL for tensor in model["graph"].get("initializer", [])):
        raise NotImplementedError(f"{source.path!r} stores weights in further files: save it as one file first.")
    weights = {tensor.get("name", "") for tensor in model["graph"].get("initializer", [])}
    names = [info["name"] for info in model["graph"].get("input", []) if info["name"] not in weights]
    arrays = {each: np.asarray(value) for each, value in zip(names, inputs, strict=True)}
    kinds = {each: type_of(array.shape, array.dtype) for each, array in arrays.items()}
    graph, refs = read_values(model, None, kinds, arrays, needs_all_branches=False)
    computed = _compute_values(model, arrays, source.path)
    run.values, run.is_dumped = _assign_to_results(run, graph, refs, computed), True
    run.note = (
        f"{name} is {os.path.basename(source.path)} in onnxruntime {_import_onnxruntime().__version__}, which computes "
        f"{len(run.values)} of the values of its graph."
    )
    return run


def _compute_values(model, arrays, path):
    """Return {name: array} of all values that the operators of a model compute."""
    onnxruntime = _import_onnxruntime()
    message = model["graph"]
    names = [name for node in message.get("node", []) for name in node.get("output", []) if name]
    declared = {info["name"] for info in message.get("output", [])}
    outputs = [*message.get("output", []), *({"name": name} for name in names if name not in declared)]
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    encoded = protobuf.encode(onnx.SCHEMA, "Model", {**model, "graph": {**message, "output": outputs}})
    try:
        session = onnxruntime.InferenceSession(encoded, options, providers=["CPUExecutionProvider"])
        results = session.run([info["name"] for info in outputs], arrays)
    except Exception as error:  # the classes of onnxruntime's errors have no public base
        raise ValueError(f"onnxruntime can't run {path!r}: {error}") from error
    return {info["name"]: result for info, result in zip(outputs, results, strict=True)}


def _assign_to_results(run, graph, refs, computed):
    """Return {index: array} of the results in the traced graph that have a named value in the model's graph."""
    nodes, traced = list(graph.all_nodes()), list(run.graph.all_nodes())
    number = {node: index for index, node in enumerate(nodes)}
    mates = dict(compare(graph, run.graph).links)
    equations = run.equations.by_node()
    values = {}
    for name, ref in refs.items():
        mate = mates.get(number.get(ref.node, -1))
        equation = equations.get(traced[mate].id) if mate is not None else None
        array = computed.get(name)
        if equation is None or not isinstance(array, np.ndarray) or ref.slot >= len(equation.results):
            continue
        index, kinds = equation.results[ref.slot], traced[mate].types
        if index is not None and ref.slot < len(kinds) and tuple(kinds[ref.slot].shape) == array.shape:
            values[index] = array
    return values
