"""Builds pipelines from their descriptions.

A description may come from an untrusted source. Only the names in the tables of this module are built. A description
cannot cause any other import, lookup or call.
"""

import functools
import inspect
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any

from msnb.common import dtype as mstype
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.engine import datasets, samplers
from msnb.dataset.engine.schema import Schema
from msnb.dataset.engine.sources.names import PUBLIC_SETS
from msnb.dataset.transforms.c_transforms import Relational
from msnb.dataset.vision import utils
from msnb.formats import text_files

DATASETS = "mindspore.dataset.engine.datasets"
SAMPLERS = "mindspore.dataset.engine.samplers"
_MAX_DEPTH = 250  # limit for consecutive operators and for nested transforms

_TRANSFORMS = {  # package -> modules from which users import transforms
    "audio": ("msnb.dataset.audio.transforms",),
    "text": ("msnb.dataset.text.transforms",),
    "transforms": (
        "msnb.dataset.transforms.c_transforms",
        "msnb.dataset.transforms.py_transforms",
        "msnb.dataset.transforms.transforms",
    ),
    "vision": (
        "msnb.dataset.vision.c_transforms",
        "msnb.dataset.vision.py_transforms",
        "msnb.dataset.vision.transforms",
    ),
}

# {current module: module in descriptions by msnb 0.1}, for transforms that have moved since.
_OLD_MODULES = {
    "msnb.dataset.vision._crops": "msnb.dataset.vision._geometry",
    "msnb.dataset.vision._fixed_geometry": "msnb.dataset.vision._deterministic",
    "msnb.dataset.vision._fixed_pixels": "msnb.dataset.vision._deterministic",
}

# Operators are built by the methods of Dataset, which check their arguments.
_METHODS = {
    "BatchDataset": "batch",
    "BucketBatchByLengthDataset": "bucket_batch_by_length",
    "ConcatDataset": "concat",
    "FilterDataset": "filter",
    "MapDataset": "map",
    "ProjectDataset": "project",
    "RenameDataset": "rename",
    "RepeatDataset": "repeat",
    "ShuffleDataset": "shuffle",
    "SkipDataset": "skip",
    "SyncWaitDataset": "sync_wait",
    "TakeDataset": "take",
    "TransferDataset": "to_device",
    "ZipDataset": "zip",
}
_SOURCES = (
    "CLUEDataset", "CSVDataset", "CelebADataset", "Cifar100Dataset", "Cifar10Dataset", "CocoDataset",
    "ImageFolderDataset", "ManifestDataset", "MindDataset", "MnistDataset", "RandomDataset", "RangeDataset",
    "TFRecordDataset", "TextFileDataset", "VOCDataset", *PUBLIC_SETS,
)  # fmt: skip
_FUNCTIONS = {"predicate", "per_batch_map", "element_length_function", "callback", "batch_size"}

_registered = {}


class DescriptionError(RuntimeError, ValueError):
    """A description of a pipeline is invalid. The message names the file and the operator in it."""


def register_function(function: Callable[..., Any] | type) -> Any:
    """Let :func:`deserialize` use your own function, class of transforms or sampler (msnb only).

    A description contains the module and name of a function, not its code. A name is only resolved if this program has
    registered a function with exactly this name.

    Args:
        function (Union[Callable, type]): A function with a name, or a class.

    Returns:
        `function`, so that this can be used as a decorator.

    Raises:
        TypeError: If it is neither a function nor a class.
        ValueError: If it is a lambda.

    Examples:
        >>> import mindspore.dataset as ds
        >>> @ds.register_function
        ... def double(x):
        ...     return x * 2
        >>> described = ds.serialize(ds.MnistDataset("mnist").map(double, "image"), "pipeline.json")
        >>> again = ds.deserialize(json_filepath="pipeline.json")
    """
    if not callable(function) or not hasattr(function, "__qualname__"):
        raise TypeError(f"register_function needs a function or a class, but got {function!r}.")
    if function.__name__ == "<lambda>":
        raise ValueError("register_function needs a function with a name: write `def name(...)` instead of a lambda.")
    _registered[_to_public_module_name(function.__module__), function.__qualname__] = function
    return function


def _to_public_module_name(module):
    """Return MindSpore's name of a module of msnb."""
    return "mindspore." + module.removeprefix("msnb.") if module.startswith("msnb.") else module


@functools.cache
def _list_transform_classes(package):
    """Return {(module, name): class} of the library's transforms in one package.

    A class is listed under several modules: the one from which users import it, and the modules that define it in this
    version and in msnb 0.1.
    """
    classes = {}
    for path in _TRANSFORMS.get(package, ()):
        module = import_module(path)  # avoids importing unused packages
        for name, member in vars(module).items():
            is_transform = isinstance(member, type) and member.__module__.startswith("msnb.dataset.")
            if is_transform and "__call__" in dir(member):
                defining_module = member.__module__
                classes[_to_public_module_name(path), name] = member
                classes[_to_public_module_name(defining_module), member.__name__] = classes[
                    _to_public_module_name(_OLD_MODULES.get(defining_module, defining_module)), member.__name__
                ] = member
    return classes


@functools.cache
def _list_sampler_classes():
    """Return {(module, name): class} of the library's samplers."""
    return {(SAMPLERS, name): getattr(samplers, name) for name in samplers.__all__ if "Sampler" in name}


class _DescriptionPath:
    """Position of a value in a description of a pipeline, for error messages."""

    def __init__(self, origin, path="", depth=0):
        self.origin, self.path, self.depth = origin, path, depth

    def child(self, name, number=None):
        """Return the path of the value `name` (or its item `number`) inside the value at this path."""
        if self.depth >= _MAX_DEPTH:
            raise DescriptionError(
                f"{self.origin} is nested more than {_MAX_DEPTH} deep, at operator {self.path[:80]}."
            )
        path = f"{self.path}.{name}" if self.path else name
        return _DescriptionPath(self.origin, path if number is None else f"{path}[{number}]", self.depth + 1)

    def error(self, text):
        """Return a DescriptionError about the value at this path."""
        return DescriptionError(f"{text} [{self}]")

    def __str__(self):
        return f"operator {self.path or 'at the end'} of {self.origin}"

    def need(self, value, kind, requirement):
        """Return `value` if it is of the type `kind`, or raise an error."""
        if not isinstance(value, kind):
            raise self.error(f"{requirement}, but {value!r:.80} stands there.")
        return value

    def make(self, kind, function, arguments):
        """Return ``function(**arguments)``. An error gets a note with this path."""
        try:
            return function(**arguments)
        except Exception as error:
            error.add_note(f"This is {kind!r:.80}, {self}.")
            raise


def construct_pipeline(node: dict[Any, Any], origin: str = "the description") -> Any:
    """Build the data set of a description, children first.

    Args:
        node (dict): The description, as :func:`serialize` returns it.
        origin (str): Name of the description in messages. Default: "the description".

    Raises:
        DescriptionError: If it is not a description of a pipeline.
    """
    return _build_dataset(node, _DescriptionPath(origin))


def construct_sampler(entry: Any, origin: str = "the description") -> Any:
    """Build the sampler of a description. See :func:`construct_pipeline`."""
    return _build_sampler(entry, _DescriptionPath(origin))


def construct_tensor_ops(operations: Any, origin: str = "the description") -> list[Any]:
    """Build the transforms of a description. See :func:`construct_pipeline`."""
    return _build_operations(operations, _DescriptionPath(origin))


def _build_dataset(node, path):
    node = path.need(node, dict, "An operator should be an object with the field op_type")
    kind = node.get("op_type")
    if not kind:
        raise path.error("op_type field in the json file can't be None.")
    is_supported = isinstance(kind, str) and (kind in _METHODS or kind in _SOURCES)
    module = node.get("op_module", DATASETS)
    if not is_supported or not isinstance(module, str) or _to_public_module_name(module) != DATASETS:
        raise path.error(f"{kind!s:.80} is not yet supported by ds.engine.deserialize(): neither an operator nor a "
                          f"data set of {DATASETS} that a description can hold has this name.")  # fmt: skip
    entries = path.need(node.get("children", []), list, "children should be a list of operators")
    children = [_build_dataset(child, path.child("children", i)) for i, child in enumerate(entries)]
    joins = kind in ("ZipDataset", "ConcatDataset")
    child_count = 0 if kind in _SOURCES else 2 if joins else 1
    if len(children) < child_count or len(children) > child_count and not joins:
        raise path.error(f"{kind} reads from {child_count} data set(s), but there are {len(children)} children.")
    maker = getattr(datasets, kind) if kind in _SOURCES else getattr(children[0], _METHODS[kind])
    arguments = {
        name: _build_dataset_argument(name, node[name], path.child(name))
        for name in inspect.signature(maker).parameters
        if name in node and name not in ("cache", "callbacks")
    }
    if joins:
        arguments = {"datasets": (tuple if kind == "ZipDataset" else list)(children[1:])}
    return path.make(kind, maker, arguments)


def _build_dataset_argument(name, value, path):
    """Build an argument of a data set from its JSON value."""
    if name == "sampler":
        return _build_sampler(value, path)
    if name == "operations":
        return _build_operations(value, path)
    if name in _FUNCTIONS and isinstance(value, dict):
        return _build_operation(value, path)
    if name == "shuffle" and isinstance(value, str):
        return path.make("shuffle", datasets.Shuffle, {"value": value})
    if name == "schema" and isinstance(value, str) and value.lstrip().startswith("{"):
        return _build_schema(value, path)
    if name == "pad_info" and value:
        entries = path.need(value, dict, "pad_info should be an object").items()
        return {c: tuple(path.need(e, list, f"pad_info of column {c!r:.80} should be a list")) for c, e in entries}
    return value


def _build_schema(text, path):
    schema = Schema()
    content = path.make("schema", text_files.parse_json, {"source": text, "path": path.path})
    path.make("schema", schema.from_json, {"json_obj": content})
    return schema


def _build_sampler(entry, path):
    if not isinstance(entry, dict):
        return entry
    sampler_class = _look_up_named_object(entry, "sampler", lambda package: _list_sampler_classes(), path)
    if not (isinstance(sampler_class, type) and issubclass(sampler_class, samplers.BuiltinSampler | samplers.Sampler)):
        raise path.error(f"Sampler type is unknown: {sampler_class!r} is no sampler.")
    sampler = path.make(entry["sampler_name"], sampler_class, _build_constructor_arguments(sampler_class, entry, path))
    if entry.get("child_sampler"):
        child_path = path.child("child_sampler")
        child = _build_sampler(entry["child_sampler"], child_path)
        sampler.add_child(
            child_path.need(child, samplers.BuiltinSampler | samplers.Sampler, "Here should be a sampler")
        )
    return sampler


def _build_operations(entries, path):
    entries = entries if isinstance(entries, list) else [entries]
    return [_build_operation(entry, path.child("", i)) for i, entry in enumerate(entries)]


def _build_operation(entry, path):
    entry = path.need(entry, dict, "A transform should be an object with the fields tensor_op_name and _module")
    factory = _look_up_named_object(entry, "tensor_op", _list_transform_classes, path)
    if not isinstance(factory, type):
        return factory
    arguments = _build_constructor_arguments(factory, entry, path)
    with_tuples = {name: _convert_lists_to_tuples(value) for name, value in arguments.items()}
    # JSON has no tuples, which many transforms require
    if with_tuples != arguments and factory.__module__.startswith("msnb.dataset."):
        try:
            return factory(**with_tuples)
        except (TypeError, ValueError):
            pass
    return path.make(entry["tensor_op_name"], factory, arguments)


def _convert_lists_to_tuples(value):
    """Convert a list of numbers, or of such lists, to a tuple."""
    if not isinstance(value, list):
        return value
    items = tuple(map(_convert_lists_to_tuples, value))
    return items if items and all(isinstance(p, int | float | tuple) for p in items) else value


def _look_up_named_object(entry, prefix, table, path):
    """Return the class or function that an entry names, from a table of the library or from the registered ones."""
    module, name = entry.get(f"{prefix}_module", SAMPLERS if prefix == "sampler" else None), entry.get(f"{prefix}_name")
    key = _to_public_module_name(module) if isinstance(module, str) else "", name if isinstance(name, str) else ""
    package = (*key[0].split("."), "", "", "")[2]
    match = table(package).get(key) or _registered.get(key)
    if match is None:
        kind = "Sampler type" if prefix == "sampler" else "Function or transform"
        raise path.error(
            f"{kind} is unknown: {module!s:.80} has no {name!s:.80} that a description may use. For a function or "
            "class of your own, call ds.register_function(it) first."
        )
    return match


def _build_constructor_arguments(factory, entry, path):
    """Return the constructor arguments of `factory` that the dict `entry` of a description contains."""
    return {
        name: _build_transform_argument(name, entry[name], parameter, path.child(name))
        for name, parameter in inspect.signature(factory).parameters.items()
        if name in entry
    }


@functools.cache
def _list_enum_arguments():
    """Return {argument name: enumeration} of the transforms' arguments whose default does not show their
    enumeration."""
    return {
        "image_batch_format": utils.ImageBatchFormat,
        "interpolation": utils.Inter,
        "operator": Relational,
        "padding_mode": utils.Border,
        "resample": utils.Inter,
    }


def _build_transform_argument(name, value, parameter, path):
    """Build an argument of a transform from its JSON value."""
    enum = _list_enum_arguments().get(name)
    if enum is None and parameter is not None and isinstance(parameter.default, Enum):
        enum = type(parameter.default)
    if enum is not None and value is not None:
        return path.make(name, enum, {"value": value})
    if name in ("data_type", "dtype", "output_type") and isinstance(value, str):
        type_ = getattr(mstype, value.lower().removeprefix("mindspore."), None)
        return type_ if isinstance(type_, mstype.Type) else value
    if isinstance(value, dict) and "tensor_op_name" in value:
        return _build_operation(value, path)
    if isinstance(value, list):
        is_policy = name == "policy"  # lists of (transform, probability)
        items = [
            _build_transform_argument("policy" if is_policy else "", v, None, path.child("", i))
            for i, v in enumerate(value)
        ]
        return tuple(items) if is_policy and items and isinstance(items[0], TensorOp) else items
    return value
