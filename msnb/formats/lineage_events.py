"""MindSpore's lineage files (``..._lineage``): the settings of trainings, for comparison.

Each record is a LineageEvent: a time and one of four messages. This module converts the message to a plain dict and
names its type by `kind`:

- "train_lineage": optimizer, learning_rate, loss_function, epoch, parallel_mode, device_num, batch_size,
  train_dataset_path, train_dataset_size, network, loss, model_path, model_size, if they are known;
- "eval_lineage": metric (JSON text), valid_dataset_path, valid_dataset_size;
- "custom_lineage_data": the user's numbers and strings by name;
- "dataset_graph": {"parameter": {...}, "children": [...], "operations": [...], "sampler": {...}}, each of the
  operations a dict of its settings.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from msnb.formats import protobuf
from msnb.formats.event_records import records
from msnb.formats.text_files import BadFileError


def _make_map_entry_schema(kind):
    return {"key": (1, "str", False), "value": (2, kind, False)}


_SCHEMA = {
    "LineageEvent": {
        "wall_time": (1, "double", False),
        "step": (2, "int", False),
        "version": (3, "str", False),
        "train_lineage": (6, "TrainLineage", False),
        "eval_lineage": (7, "EvaluationLineage", False),
        "dataset_graph": (9, "DatasetGraph", False),
        "custom_lineage_data": (10, "UserDefinedInfo", False),
    },
    "TrainLineage": {
        "hyper_parameters": (1, "HyperParameters", False),
        "train_dataset": (2, "TrainDataset", False),
        "algorithm": (3, "Algorithm", False),
        "model": (4, "Model", False),
    },
    "HyperParameters": {
        "optimizer": (1, "str", False),
        "learning_rate": (2, "float", False),
        "loss_function": (3, "str", False),
        "epoch": (4, "int", False),
        "parallel_mode": (5, "str", False),
        "device_num": (6, "int", False),
        "batch_size": (8, "int", False),
    },
    "TrainDataset": {"train_dataset_path": (1, "str", False), "train_dataset_size": (2, "int", False)},
    "Algorithm": {"network": (1, "str", False), "loss": (2, "float", False)},
    "Model": {"path": (3, "str", False), "size": (4, "int", False)},
    "EvaluationLineage": {"metric": (2, "str", False), "valid_dataset": (3, "ValidDataset", False)},
    "ValidDataset": {"valid_dataset_path": (1, "str", False), "valid_dataset_size": (2, "int", False)},
    "UserDefinedInfo": {
        "user_info": (1, "UserDefinedInfo", True),
        "map_dict": (2, "DictEntry", True),
        "map_int32": (3, "IntEntry", True),
        "map_str": (4, "StrEntry", True),
        "map_double": (5, "DoubleEntry", True),
    },
    "DictEntry": _make_map_entry_schema("UserDefinedInfo"),
    "IntEntry": _make_map_entry_schema("int"),
    "StrEntry": _make_map_entry_schema("str"),
    "DoubleEntry": _make_map_entry_schema("double"),
    "DatasetGraph": {
        "children": (1, "DatasetGraph", True),
        "parameter": (2, "OperationParameter", False),
        "operations": (3, "Operation", True),
        "sampler": (4, "Operation", False),
    },
    "Operation": {
        "operationParam": (1, "OperationParameter", False),
        "size": (2, "int", True),
        "weights": (3, "float", True),
    },
    "OperationParameter": {
        "mapStr": (1, "StrEntry", True),
        "mapStrList": (2, "StrListEntry", True),
        "mapBool": (3, "IntEntry", True),
        "mapInt": (4, "IntEntry", True),
        "mapDouble": (5, "DoubleEntry", True),
    },
    "StrListEntry": _make_map_entry_schema("StrList"),
    "StrList": {"strValue": (1, "str", True)},
}
KINDS: tuple[str, ...] = ("train_lineage", "eval_lineage", "dataset_graph", "custom_lineage_data")
# kind -> name of MindSpore's message
MESSAGES: dict[str, str] = dict(
    zip(KINDS, ("TrainLineage", "EvaluationLineage", "DatasetGraph", "UserDefinedInfo"), strict=True)
)
# Name in the plain dict -> (sub-message, field) in MindSpore's message.
_TRAIN = {
    **{name: ("hyper_parameters", name) for name in _SCHEMA["HyperParameters"]},
    **{name: ("train_dataset", name) for name in _SCHEMA["TrainDataset"]},
    **{name: ("algorithm", name) for name in _SCHEMA["Algorithm"]},
    "model_path": ("model", "path"),
    "model_size": ("model", "size"),
}
_EVAL = {
    "valid_dataset_path": ("valid_dataset", "valid_dataset_path"),
    "valid_dataset_size": ("valid_dataset", "valid_dataset_size"),
}
_INT32_LOW, _INT32_HIGH = -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class LineageEvent:
    """Record of a lineage file: its time in UNIX seconds, its kind (one of `KINDS`) and its content."""

    wall_time: float
    kind: str
    content: dict[str, Any]


def lineage_events(path: str | Path, start: int = 0) -> Iterator[tuple[LineageEvent, int]]:
    """Yield (LineageEvent, position of the next record) of the complete records of a file.

    Args:
        path (str): The file.
        start (int): Position to start from. Default: 0.

    Raises:
        OSError: If the file cannot be opened or read.
        BadFileError: If it is damaged. The events before the damage are yielded first.
    """
    for payload, behind in records(path, start):
        event = decoded(payload, path)
        if event is not None:
            yield event, behind


def decoded(payload: bytes, path: str | Path = "a lineage file") -> LineageEvent | None:
    """Decode a record. Return a LineageEvent, or None for a record of another kind, such as a version.

    Raises:
        BadFileError: If the bytes are damaged.
    """
    try:
        message = protobuf.decode(_SCHEMA, "LineageEvent", payload)
        for kind in KINDS:
            if kind in message:
                return LineageEvent(message.get("wall_time", 0.0), kind, _PLAIN[kind](message[kind]))
    except (protobuf.WireError, ValueError, KeyError, IndexError) as error:
        raise BadFileError(f"{os.fspath(path)!r} is no lineage file, or a damaged one: {error}.") from None
    return None


def lineage_event(wall_time: float, kind: str, content: dict[str, Any] | bytes) -> bytes:
    """Encode a record of a lineage file. Return its payload.

    Args:
        wall_time (float): UNIX seconds.
        kind (str): One of `KINDS`.
        content (Union[dict, bytes]): A dict as described in the module's docstring, or an encoded message of MindSpore.
    """
    header = protobuf.encode(_SCHEMA, "LineageEvent", {"wall_time": wall_time})
    if not isinstance(content, bytes):
        content = protobuf.encode(_SCHEMA, MESSAGES[kind], _MESSAGE[kind](content))
    number = _SCHEMA["LineageEvent"][kind][0]
    return header + protobuf.key(number, protobuf.LENGTH) + protobuf.varint(len(content)) + content


def _make_dict_converters(field_of):
    """Return two functions: from a nested message to a flat dict, and from the dict to the message. `field_of` maps
    names of the dict to (message, field)."""

    def plain(message):
        flat = {
            name: message[part][inner] for name, (part, inner) in field_of.items() if inner in message.get(part, ())
        }
        return {**{name: v for name, v in message.items() if not isinstance(v, dict)}, **flat}

    def messages(content):
        out: dict[str, Any] = {}
        for name, value in content.items():
            if value is None:
                continue
            if name in field_of:
                part, inner = field_of[name]
                out.setdefault(part, {})[inner] = value
            else:
                out[name] = value
        return out

    return plain, messages


def _entries_to_dict(message, *names):
    return {entry.get("key", ""): entry.get("value") for name in names for entry in message.get(name, ())}


def _custom_lineage_to_dict(message):
    out = {}
    for part in message.get("user_info", ()):
        out.update(_custom_lineage_to_dict(part))
    out.update(_entries_to_dict(message, "map_int32", "map_str", "map_double"))
    for entry in message.get("map_dict", ()):
        out[entry.get("key", "")] = _custom_lineage_to_dict(entry.get("value", {}))
    return out


def _make_custom_message(content):
    values = {name: _to_python_scalar(value) for name, value in content.items()}
    return {
        "user_info": [{_choose_map_field(value): [{"key": name, "value": value}]} for name, value in values.items()]
    }


def _to_python_scalar(value):
    return value.item() if isinstance(value, np.generic) else value


def _fits_int32(value):
    # Not `value in range(...)`: Python walks a range element by element for an IntEnum, such as Inter.LINEAR.
    return _INT32_LOW <= value <= _INT32_HIGH


def _choose_map_field(value):
    if isinstance(value, int):
        return "map_int32" if _fits_int32(value) else "map_double"
    return "map_double" if isinstance(value, float) else "map_str"


def _settings_to_dict(message):
    lists = {e.get("key", ""): e.get("value", {}).get("strValue", []) for e in message.get("mapStrList", ())}
    flags = {name: bool(value) for name, value in _entries_to_dict(message, "mapBool").items()}
    return {**_entries_to_dict(message, "mapStr", "mapInt", "mapDouble"), **lists, **flags}


def _make_settings_message(content):
    out: dict[str, list[Any]] = {}
    for name, value in content.items():
        value = _to_python_scalar(value)
        if isinstance(value, bool):
            field = "mapBool"
        elif isinstance(value, int) and _fits_int32(value):
            field = "mapInt"
        elif isinstance(value, (int, float)):
            field, value = "mapDouble", float(value)
        elif isinstance(value, (list, tuple)):
            field, value = "mapStrList", {"strValue": [str(item) for item in value]}
        else:
            field, value = "mapStr", str(value)
        out.setdefault(field, []).append({"key": name, "value": value})
    return out


def _operation_to_dict(message):
    operation = _settings_to_dict(message.get("operationParam", {}))
    return {**operation, **{name: message[name] for name in ("size", "weights") if name in message}}


def _make_operation_message(content):
    out: dict[str, Any] = {}
    rest = dict(content)
    for name, kind in (("size", int), ("weights", float)):
        value = rest.get(name)
        if isinstance(value, (list, tuple)) and all(isinstance(item, (int, kind)) for item in value):
            out[name] = rest.pop(name)
    return {"operationParam": _make_settings_message(rest), **out}


def _dataset_to_dict(message):
    out: dict[str, Any] = {"parameter": _settings_to_dict(message.get("parameter", {}))}
    if "operations" in message:
        out["operations"] = [_operation_to_dict(part) for part in message["operations"]]
    if "sampler" in message:
        out["sampler"] = _operation_to_dict(message["sampler"])
    return {**out, "children": [_dataset_to_dict(child) for child in message.get("children", ())]}


def _make_dataset_message(content):
    out: dict[str, Any] = {"children": [_make_dataset_message(child) for child in content.get("children", ())]}
    out["parameter"] = _make_settings_message(content.get("parameter", {}))
    if content.get("operations"):
        out["operations"] = [_make_operation_message(part) for part in content["operations"]]
    if content.get("sampler"):
        out["sampler"] = _make_operation_message(content["sampler"])
    return out


_plain_train, _train_message = _make_dict_converters(_TRAIN)
_plain_eval, _eval_message = _make_dict_converters(_EVAL)
_PLAIN: dict[str, Any] = dict(
    zip(KINDS, (_plain_train, _plain_eval, _dataset_to_dict, _custom_lineage_to_dict), strict=True)
)
_MESSAGE: dict[str, Any] = dict(
    zip(KINDS, (_train_message, _eval_message, _make_dataset_message, _make_custom_message), strict=True)
)
