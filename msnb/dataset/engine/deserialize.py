"""Pipelines out of their descriptions. A description may come from anybody: it names what is to be made, and only names
that are in the tables here are made; nothing is imported, looked up or called because a description says so.
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
_DEEPEST = 250  # operators after each other, or transforms in each other

_TRANSFORMS = {  # package -> the modules that users take transforms from
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

# Where msnb 0.1 had what stands in a file now; its descriptions say so.
_STOOD = {
    "msnb.dataset.vision._crops": "msnb.dataset.vision._geometry",
    "msnb.dataset.vision._fixed_geometry": "msnb.dataset.vision._deterministic",
    "msnb.dataset.vision._fixed_pixels": "msnb.dataset.vision._deterministic",
}

# Operators are made by the methods of Dataset, which check what they are given.
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
    """A description of a pipeline that none can be made of; the message names the file and the operator in it."""


def register_function(function: Callable[..., Any] | type) -> Any:
    """Let :func:`deserialize` use a function (or class of transforms, or sampler) of your own (msnb only).

    A description holds the name of a function, with its module, and not its code. So a name is only taken for a
    function that this program has registered, under exactly that name.

    Args:
        function (Union[Callable, type]): A function with a name of its own, or a class.

    Returns:
        The same, so that it serves as a decorator.

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
    _registered[_public(function.__module__), function.__qualname__] = function
    return function


def _public(module):
    """The name that MindSpore has for a module of msnb."""
    return "mindspore." + module.removeprefix("msnb.") if module.startswith("msnb.") else module


@functools.cache
def _transforms(package):
    """The transforms of one package of the library: (module, name) -> class, by the module that users take it from and
    by the one it is defined in, now and in msnb 0.1.
    """
    found = {}
    for path in _TRANSFORMS.get(package, ()):
        module = import_module(path)  # spares the packages that no description names
        for name, thing in vars(module).items():
            ours = isinstance(thing, type) and thing.__module__.startswith("msnb.dataset.")
            if ours and "__call__" in dir(thing):
                own = thing.__module__
                found[_public(path), name] = thing
                found[_public(own), thing.__name__] = found[_public(_STOOD.get(own, own)), thing.__name__] = thing
    return found


@functools.cache
def _sampler_classes():
    """The samplers of the library: (module, name) -> class."""
    return {(SAMPLERS, name): getattr(samplers, name) for name in samplers.__all__ if "Sampler" in name}


class _Place:
    """Where in which description something stands, for messages."""

    def __init__(self, origin, path="", depth=0):
        self.origin, self.path, self.depth = origin, path, depth

    def below(self, name, number=None):
        """The place of a value in here."""
        if self.depth >= _DEEPEST:
            raise DescriptionError(f"{self.origin} is nested more than {_DEEPEST} deep, at operator {self.path[:80]}.")
        path = f"{self.path}.{name}" if self.path else name
        return _Place(self.origin, path if number is None else f"{path}[{number}]", self.depth + 1)

    def error(self, text):
        """A DescriptionError about what stands here."""
        return DescriptionError(f"{text} [{self}]")

    def __str__(self):
        return f"operator {self.path or 'at the end'} of {self.origin}"

    def need(self, value, kind, what):
        """`value`, if it is of the type `kind`."""
        if not isinstance(value, kind):
            raise self.error(f"{what}, but {value!r:.80} stands there.")
        return value

    def make(self, kind, function, arguments):
        """``function(**arguments)``; an error says where it stands."""
        try:
            return function(**arguments)
        except Exception as error:
            error.add_note(f"This is {kind!r:.80}, {self}.")
            raise


def construct_pipeline(node: dict[Any, Any], origin: str = "the description") -> Any:
    """The data set of a description, children first.

    Args:
        node (dict): The description, as :func:`serialize` makes it.
        origin (str): What messages call it. Default: "the description".

    Raises:
        DescriptionError: If it is no description of a pipeline.
    """
    return _dataset(node, _Place(origin))


def construct_sampler(entry: Any, origin: str = "the description") -> Any:
    """The sampler of a description. See :func:`construct_pipeline`."""
    return _sampler(entry, _Place(origin))


def construct_tensor_ops(operations: Any, origin: str = "the description") -> list[Any]:
    """The transforms of a description. See :func:`construct_pipeline`."""
    return _operations(operations, _Place(origin))


def _dataset(node, place):
    node = place.need(node, dict, "An operator should be an object with the field op_type")
    kind = node.get("op_type")
    if not kind:
        raise place.error("op_type field in the json file can't be None.")
    known = isinstance(kind, str) and (kind in _METHODS or kind in _SOURCES)
    module = node.get("op_module", DATASETS)
    if not known or not isinstance(module, str) or _public(module) != DATASETS:
        raise place.error(f"{kind!s:.80} is not yet supported by ds.engine.deserialize(): neither an operator nor a "
                          f"data set of {DATASETS} that a description can hold has this name.")  # fmt: skip
    entries = place.need(node.get("children", []), list, "children should be a list of operators")
    children = [_dataset(child, place.below("children", i)) for i, child in enumerate(entries)]
    joins = kind in ("ZipDataset", "ConcatDataset")
    wanted = 0 if kind in _SOURCES else 2 if joins else 1
    if len(children) < wanted or len(children) > wanted and not joins:
        raise place.error(f"{kind} reads from {wanted} data set(s), but there are {len(children)} children.")
    maker = getattr(datasets, kind) if kind in _SOURCES else getattr(children[0], _METHODS[kind])
    arguments = {
        name: _argument(name, node[name], place.below(name))
        for name in inspect.signature(maker).parameters
        if name in node and name not in ("cache", "callbacks")
    }
    if joins:
        arguments = {"datasets": (tuple if kind == "ZipDataset" else list)(children[1:])}
    return place.make(kind, maker, arguments)


def _argument(name, value, place):
    """An argument of a data set out of what stands for it."""
    if name == "sampler":
        return _sampler(value, place)
    if name == "operations":
        return _operations(value, place)
    if name in _FUNCTIONS and isinstance(value, dict):
        return _operation(value, place)
    if name == "shuffle" and isinstance(value, str):
        return place.make("shuffle", datasets.Shuffle, {"value": value})
    if name == "schema" and isinstance(value, str) and value.lstrip().startswith("{"):
        return _schema(value, place)
    if name == "pad_info" and value:
        entries = place.need(value, dict, "pad_info should be an object").items()
        return {c: tuple(place.need(e, list, f"pad_info of column {c!r:.80} should be a list")) for c, e in entries}
    return value


def _schema(text, place):
    schema = Schema()
    content = place.make("schema", text_files.parse_json, {"source": text, "path": place.path})
    place.make("schema", schema.from_json, {"json_obj": content})
    return schema


def _sampler(entry, place):
    if not isinstance(entry, dict):
        return entry
    found = _named(entry, "sampler", lambda package: _sampler_classes(), place)
    if not (isinstance(found, type) and issubclass(found, samplers.BuiltinSampler | samplers.Sampler)):
        raise place.error(f"Sampler type is unknown: {found!r} is no sampler.")
    sampler = place.make(entry["sampler_name"], found, _pick(found, entry, place))
    if entry.get("child_sampler"):
        child = place.below("child_sampler")
        below = _sampler(entry["child_sampler"], child)
        sampler.add_child(child.need(below, samplers.BuiltinSampler | samplers.Sampler, "Here should be a sampler"))
    return sampler


def _operations(entries, place):
    entries = entries if isinstance(entries, list) else [entries]
    return [_operation(entry, place.below("", i)) for i, entry in enumerate(entries)]


def _operation(entry, place):
    entry = place.need(entry, dict, "A transform should be an object with the fields tensor_op_name and _module")
    found = _named(entry, "tensor_op", _transforms, place)
    if not isinstance(found, type):
        return found
    arguments = _pick(found, entry, place)
    pairs = {name: _as_tuples(value) for name, value in arguments.items()}
    if pairs != arguments and found.__module__.startswith(
        "msnb.dataset."
    ):  # JSON has no tuples, which many transforms want
        try:
            return found(**pairs)
        except (TypeError, ValueError):
            pass
    return place.make(entry["tensor_op_name"], found, arguments)


def _as_tuples(value):
    """A list of numbers, or of such lists, as a tuple."""
    if not isinstance(value, list):
        return value
    parts = tuple(map(_as_tuples, value))
    return parts if parts and all(isinstance(p, int | float | tuple) for p in parts) else value


def _named(entry, what, table, place):
    """The class or function that an entry names, if a table has it: its package's, or that of what users registered."""
    module, name = entry.get(f"{what}_module", SAMPLERS if what == "sampler" else None), entry.get(f"{what}_name")
    key = _public(module) if isinstance(module, str) else "", name if isinstance(name, str) else ""
    package = (*key[0].split("."), "", "", "")[2]
    found = table(package).get(key) or _registered.get(key)
    if found is None:
        kind = "Sampler type" if what == "sampler" else "Function or transform"
        raise place.error(
            f"{kind} is unknown: {module!s:.80} has no {name!s:.80} that a description may use. For a function or "
            "class of your own, call ds.register_function(it) first."
        )
    return found


def _pick(found, entry, place):
    """The arguments of a class that an entry holds."""
    return {
        name: _value(name, entry[name], parameter, place.below(name))
        for name, parameter in inspect.signature(found).parameters.items()
        if name in entry
    }


@functools.cache
def _enums():
    """Which enumeration the argument of a transform holds, where its default does not tell."""
    return {
        "image_batch_format": utils.ImageBatchFormat,
        "interpolation": utils.Inter,
        "operator": Relational,
        "padding_mode": utils.Border,
        "resample": utils.Inter,
    }


def _value(name, value, parameter, place):
    """An argument of a transform out of what stands for it."""
    enum = _enums().get(name)
    if enum is None and parameter is not None and isinstance(parameter.default, Enum):
        enum = type(parameter.default)
    if enum is not None and value is not None:
        return place.make(name, enum, {"value": value})
    if name in ("data_type", "dtype", "output_type") and isinstance(value, str):
        type_ = getattr(mstype, value.lower().removeprefix("mindspore."), None)
        return type_ if isinstance(type_, mstype.Type) else value
    if isinstance(value, dict) and "tensor_op_name" in value:
        return _operation(value, place)
    if isinstance(value, list):
        pairs = name == "policy"  # lists of (transform, probability)
        items = [_value("policy" if pairs else "", v, None, place.below("", i)) for i, v in enumerate(value)]
        return tuple(items) if pairs and items and isinstance(items[0], TensorOp) else items
    return value
