"""Pipelines as JSON: ``serialize``, ``deserialize``, ``show``, ``compare``."""

import inspect
import json
import os
from enum import Enum
from importlib import import_module

import numpy as np

from msnb import log
from msnb._atomic import writing
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.engine.dataset import Dataset
from msnb.dataset.engine.schema import Schema

_CHILDREN = {"input_dataset", "datasets", "children"}
_PATHS = {"dataset_dir", "dataset_file", "dataset_files", "schema", "annotation_file"}
_DATASETS = "mindspore.dataset.engine.datasets"
_SAMPLERS = "mindspore.dataset.engine.samplers"


def _module(path):
    """The module behind a name that begins with ``mindspore`` (or ``msnb``)."""
    head, _, rest = path.partition(".")
    if head not in ("mindspore", "msnb") or not rest.startswith("dataset"):
        raise ValueError(f"{path!r} is no module of mindspore.dataset.")
    return import_module(f"msnb.{rest}")


def _arguments(thing):
    """What the object was made with: every parameter of its constructor."""
    args, kwargs = thing.__dict__.get("_made_with", ((), {}))
    bound = inspect.signature(type(thing)).bind(*args, **kwargs)
    bound.apply_defaults()
    flat = {}
    for name, parameter in inspect.signature(type(thing)).parameters.items():
        if name in bound.arguments:
            if parameter.kind is parameter.VAR_KEYWORD:
                flat.update(bound.arguments[name])
            else:
                flat[name] = bound.arguments[name]
    return flat


def _encode(value):
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, TensorOp) or (callable(value) and not isinstance(value, type)):
        return _encode_op(value)
    if isinstance(value, dict):
        return {str(k): _encode(v) for k, v in value.items() if not isinstance(v, bytes)}
    if isinstance(value, list | tuple):
        return [_encode(v) for v in value]
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
    entry = {name: _encode(value) for name, value in _arguments(op).items()}
    entry["tensor_op_name"] = type(op).__name__
    entry["tensor_op_module"] = type(op).__module__.replace("msnb.", "mindspore.", 1)
    return entry


def _encode_sampler(sampler):
    if sampler is None:
        return None
    entry = {name: _encode(value) for name, value in _arguments(sampler).items()}
    child = sampler.get_child()
    if child is not None:
        entry["child_sampler"] = _encode_sampler(child)
    builtin = type(sampler).__module__.startswith("msnb.")
    entry["sampler_module"] = _SAMPLERS if builtin else type(sampler).__module__
    entry["sampler_name"] = type(sampler).__name__
    return entry


def traverse(node):
    """The pipeline that ends in `node`, as a dict."""
    entry = {
        "op_type": type(node).__name__,
        "op_module": _DATASETS,
        "children": [traverse(child) for child in node.children],
    }
    made = _arguments(node)
    for name, value in made.items():
        if name in _CHILDREN or name in ("cache", "callbacks"):
            continue
        if name == "operations":
            entry[name] = [_encode_op(op) for op in node.operations]
        elif name == "sampler":
            entry[name] = None
            if value is not None:
                sampler = getattr(node, "sampler", None) or value
                entry[name] = _encode_sampler(sampler) if hasattr(sampler, "get_child") else _encode(value)
        elif name in _PATHS and isinstance(value, str | list):
            entry[name] = [os.path.abspath(v) for v in value] if isinstance(value, list) else os.path.abspath(value)
        elif name == "num_parallel_workers":
            entry[name] = node.num_parallel_workers
        else:
            entry[name] = _encode(value)
    return entry


def serialize(dataset, json_filepath=""):
    """A pipeline as a dict, and as a JSON file.

    Args:
        dataset (Dataset): The pipeline.
        json_filepath (str, optional): Where to write it. Default: "", nowhere.

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


def deserialize(input_dict=None, json_filepath=None):
    """The pipeline that :func:`serialize` described.

    Args:
        input_dict (dict, optional): The description. Default: None.
        json_filepath (str, optional): A file with it. Default: None.

    Returns:
        Dataset; None when neither is given.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is no description of a pipeline.
        RuntimeError: If the pipeline holds functions that cannot be found by name.
    """
    if json_filepath:
        with open(json_filepath, encoding="utf-8") as stream:
            input_dict = json.load(stream)
    return construct_pipeline(input_dict) if input_dict else None


def show(dataset, indentation=2):
    """Write the description of a pipeline to the log, at level INFO.

    Args:
        dataset (Dataset): The pipeline.
        indentation (int, optional): Of the JSON. Default: 2.
    """
    log.info(json.dumps(traverse(dataset), indent=indentation))


def compare(pipeline1, pipeline2):
    """Whether two pipelines are made of the same operators with the same arguments.

    Args:
        pipeline1 (Dataset): One.
        pipeline2 (Dataset): The other.

    Returns:
        bool.
    """
    return traverse(pipeline1) == traverse(pipeline2)


def construct_pipeline(node):
    """The data set of a description, children first."""
    kind = node.get("op_type")
    if not kind:
        raise ValueError("op_type field in the json file can't be None.")
    found = getattr(_module(node.get("op_module", _DATASETS)), kind, None)
    if not (isinstance(found, type) and issubclass(found, Dataset)) or kind in (
        "GeneratorDataset",
        "NumpySlicesDataset",
        "PaddedDataset",
    ):
        raise RuntimeError(f"{kind} is not yet supported by ds.engine.deserialize().")
    children = [construct_pipeline(child) for child in node.get("children", [])]
    arguments = {}
    for name in inspect.signature(found).parameters:
        if name == "input_dataset":
            arguments[name] = children[0]
        elif name == "datasets":
            arguments[name] = tuple(children)
        elif name in node:
            arguments[name] = _decode(name, node[name])
    return found(**arguments)


def _decode(name, value):
    if name == "sampler":
        return construct_sampler(value)
    if name == "operations":
        return construct_tensor_ops(value)
    if name == "shuffle" and isinstance(value, str):
        from msnb.dataset.engine.sources.base import Shuffle

        return Shuffle(value)
    if name == "schema" and isinstance(value, str) and value.lstrip().startswith("{"):
        schema = Schema()
        schema.from_json(json.loads(value))
        return schema
    if name == "pad_info" and value:
        return {column: (entry[0], entry[1]) for column, entry in value.items()}
    return value


def construct_sampler(entry):
    """The sampler of a description."""
    if entry is None or not isinstance(entry, dict):
        return entry
    found = getattr(_module(entry.get("sampler_module", _SAMPLERS)), entry["sampler_name"], None)
    if found is None:
        raise ValueError(f"Sampler type is unknown: {entry['sampler_name']}.")
    sampler = found(**{name: entry[name] for name in inspect.signature(found).parameters if name in entry})
    if entry.get("child_sampler"):
        sampler.add_child(construct_sampler(entry["child_sampler"]))
    return sampler


def construct_tensor_ops(operations):
    """The transforms of a description."""
    return [_construct_op(entry) for entry in (operations if isinstance(operations, list) else [operations])]


def _construct_op(entry):
    module, name = entry["tensor_op_module"], entry["tensor_op_name"]
    try:
        found = _module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ValueError, AttributeError, ImportError):
        raise RuntimeError(
            f"The function {module}.{name} cannot be made from its name; only transforms of the library can."
        ) from None
    if not isinstance(found, type):
        return found
    arguments = {}
    for argument, parameter in inspect.signature(found).parameters.items():
        if argument in entry:
            value = _decode_argument(argument, entry[argument])
            if isinstance(parameter.default, Enum) and not isinstance(value, Enum):
                value = type(parameter.default)(value)
            arguments[argument] = value
    return found(**arguments)


def _decode_argument(name, value):
    from msnb.dataset.vision import utils

    enums = {
        "interpolation": utils.Inter,
        "resample": utils.Inter,
        "padding_mode": utils.Border,
        "image_batch_format": utils.ImageBatchFormat,
    }
    if name in enums and value is not None:
        return enums[name](value)
    if name in ("operator",):
        from msnb.dataset.transforms.c_transforms import Relational

        return Relational(value)
    if name in ("data_type", "dtype", "output_type") and isinstance(value, str):
        from msnb.common import dtype as mstype

        return getattr(mstype, value.lower().removeprefix("mindspore."), value)
    if isinstance(value, dict) and "tensor_op_name" in value:
        return _construct_op(value)
    if isinstance(value, list):
        tuples = name == "policy"
        items = [_decode_argument("policy" if tuples else "", v) if isinstance(v, list | dict) else v for v in value]
        return tuple(items) if tuples and items and isinstance(items[0], TensorOp) else items
    return value
