"""``serialize``, ``deserialize``, ``show`` and ``compare``: pipelines as JSON."""

import inspect
import json
import os
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb import log
from msnb._util.atomic_file import writing
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.engine.deserialize import (
    DATASETS,
    SAMPLERS,
    construct_pipeline,
    construct_sampler,
    construct_tensor_ops,
    register_function,
)
from msnb.dataset.engine.schema import Schema
from msnb.formats import text_files

if TYPE_CHECKING:  # used only in annotations
    from msnb.dataset.engine.dataset import Dataset

__all__ = [
    "compare",
    "construct_pipeline",
    "construct_sampler",
    "construct_tensor_ops",
    "deserialize",
    "register_function",
    "serialize",
    "show",
]

_CHILDREN = {"input_dataset", "datasets", "children"}
_PATHS = {"dataset_dir", "dataset_file", "dataset_files", "schema", "annotation_file"}


def _collect_constructor_arguments(instance):
    """Return every argument of the object's constructor, with defaults."""
    args, kwargs = instance.__dict__.get("_made_with", ((), {}))
    bound = inspect.signature(type(instance)).bind(*args, **kwargs)
    bound.apply_defaults()
    flat = {}
    for name, parameter in inspect.signature(type(instance)).parameters.items():
        if name in bound.arguments:
            if parameter.kind is parameter.VAR_KEYWORD:
                flat.update(bound.arguments[name])
            else:
                flat[name] = bound.arguments[name]
    return flat


def _encode_value(value):
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, TensorOp) or (callable(value) and not isinstance(value, type)):
        return _encode_op(value)
    if isinstance(value, dict):
        return {str(k): _encode_value(v) for k, v in value.items() if not isinstance(v, bytes)}
    if isinstance(value, list | tuple):
        return [_encode_value(v) for v in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Schema):
        return value.to_json()
    return str(value)


def _encode_op(op):
    if not isinstance(op, TensorOp) and "_made_with" not in getattr(op, "__dict__", {}):
        return {
            "tensor_op_name": getattr(op, "__qualname__", type(op).__name__),
            "tensor_op_module": getattr(op, "__module__", ""),
        }
    entry = {name: _encode_value(value) for name, value in _collect_constructor_arguments(op).items()}
    entry["tensor_op_name"] = type(op).__name__
    entry["tensor_op_module"] = type(op).__module__.replace("msnb.", "mindspore.", 1)
    return entry


def _encode_sampler(sampler):
    if sampler is None:
        return None
    entry = {name: _encode_value(value) for name, value in _collect_constructor_arguments(sampler).items()}
    child = sampler.get_child()
    if child is not None:
        entry["child_sampler"] = _encode_sampler(child)
    builtin = type(sampler).__module__.startswith("msnb.")
    entry["sampler_module"] = SAMPLERS if builtin else type(sampler).__module__
    entry["sampler_name"] = type(sampler).__name__
    return entry


def traverse(node: Any) -> Any:
    """Return the pipeline that ends in `node` as a dict."""
    entry = {
        "op_type": type(node).__name__,
        "op_module": DATASETS,
        "children": [traverse(child) for child in node.children],
    }
    arguments = _collect_constructor_arguments(node)
    for name, value in arguments.items():
        if name in _CHILDREN or name in ("cache", "callbacks"):
            continue
        if name == "operations":
            entry[name] = [_encode_op(op) for op in node.operations]
        elif name == "sampler":
            entry[name] = None
            if value is not None:
                sampler = getattr(node, "sampler", None) or value
                entry[name] = _encode_sampler(sampler) if hasattr(sampler, "get_child") else _encode_value(value)
        elif name in _PATHS and isinstance(value, str | list):
            entry[name] = [os.path.abspath(v) for v in value] if isinstance(value, list) else os.path.abspath(value)
        elif name == "num_parallel_workers":
            entry[name] = node.num_parallel_workers
        else:
            entry[name] = _encode_value(value)
    return entry


def serialize(dataset: "Dataset", json_filepath: str = "") -> dict[Any, Any]:
    """Describe a pipeline as a dict, and as a JSON file.

    Args:
        dataset (Dataset): The pipeline.
        json_filepath (str, optional): File to write it to. Default: "", no file.

    Returns:
        dict.

    Raises:
        OSError: If the file cannot be written.

    Examples:
        >>> import mindspore.dataset as ds
        >>> description = ds.serialize(dataset, "pipeline.json")
    """
    pipeline = traverse(dataset)
    if json_filepath:
        with writing(json_filepath, "w", encoding="utf-8") as stream:
            json.dump(pipeline, stream, indent=2)
    return pipeline


def deserialize(input_dict: dict[Any, Any] | str | None = None, json_filepath: str | None = None) -> "Dataset":
    """Build a pipeline from a description by :func:`serialize`.

    A description can only name data sets, samplers and transforms of the library, and functions and classes that this
    program passed to :func:`register_function`. An untrusted description cannot run any other code.

    Args:
        input_dict (Union[dict, str], optional): The description, or the path of its JSON file. Default: None.
        json_filepath (str, optional): JSON file with the description. Default: None.

    Returns:
        Dataset; None when neither is given.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not a description of a pipeline, or an argument in it is out of range.
        TypeError: If an argument in it has the wrong type.
        RuntimeError: If it names a function that was not registered.
    """
    if isinstance(input_dict, str):
        json_filepath = input_dict
    if json_filepath:
        return construct_pipeline(text_files.json_file(json_filepath), repr(os.fspath(json_filepath)))
    return construct_pipeline(input_dict, "input_dict") if input_dict else None


def show(dataset: "Dataset", indentation: int = 2) -> None:
    """Write the description of a pipeline to the log, at level INFO.

    Args:
        dataset (Dataset): The pipeline.
        indentation (int, optional): Number of spaces per level of the JSON. Default: 2.
    """
    log.info(json.dumps(traverse(dataset), indent=indentation))


def compare(pipeline1: "Dataset", pipeline2: "Dataset") -> bool:
    """Return True if two pipelines have the same operators with the same arguments.

    Args:
        pipeline1 (Dataset): First pipeline.
        pipeline2 (Dataset): Second pipeline.

    Returns:
        bool.
    """
    return traverse(pipeline1) == traverse(pipeline2)
