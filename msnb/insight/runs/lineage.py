"""MindSpore's lineage: with what a network was trained, how it was judged, what its data went through."""

from typing import Any

from msnb.formats.protobuf import decode
from msnb.insight.runs.events import Event
from msnb.insight.runs.messages import SCHEMA

_TRAIN, _EVAL, _DATASET, _CUSTOM = 6, 7, 9, 10  # fields of a LineageEvent


class Lineage:
    """Lineage events, the last of each kind; custom data of all of them together.

    Attributes:
        found (dict): "train", "eval", "dataset" and "custom", those that were recorded, as plain values.
    """

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def take(self, data: bytes, event: Event) -> None:
        """Read one event.

        Raises:
            WireError: If it holds something else.
        """
        for number, start, end in event.parts:
            if number == _TRAIN:
                made = decode(SCHEMA, "TrainLineage", data, start, end)
                self.found["train"] = {key: value for part in made.values() for key, value in part.items()}
            elif number == _EVAL:
                made = decode(SCHEMA, "EvaluationLineage", data, start, end)
                self.found["eval"] = {"metric": made.get("metric", ""), **made.get("valid_dataset", {})}
            elif number == _DATASET:
                self.found["dataset"] = _operations(decode(SCHEMA, "DatasetGraph", data, start, end))
            elif number == _CUSTOM:
                made = decode(SCHEMA, "UserDefinedInfo", data, start, end)
                for part in made.get("user_info", []) or [made]:
                    self.found.setdefault("custom", {}).update(_plain(part))

    @property
    def hyper_parameters(self) -> dict[str, Any]:
        """Those of the training, dict."""
        return {**self.found.get("train", {}), **self.found.get("custom", {})}


def _plain(made):
    """The dict that a UserDefinedInfo message tells."""
    found = {}
    for name in ("map_int32", "map_str", "map_double"):
        found |= {entry.get("key", ""): entry.get("value") for entry in made.get(name, [])}
    for entry in made.get("map_dict", []):
        found[entry.get("key", "")] = _plain(entry.get("value", {}))
    return found


def _operations(made):
    """{"op", "arguments", "children"} of a DatasetGraph; the operations of a map are in its arguments."""
    arguments = _arguments(made.get("parameter", {}))
    inner = [_arguments(one.get("operationParam", {})) for one in made.get("operations", [])]
    if inner:
        arguments["operations"] = inner
    if "sampler" in made:
        arguments["sampler"] = _arguments(made["sampler"].get("operationParam", {}))
    name = next((arguments.pop(key) for key in ("op_type", "tensor_op_name") if key in arguments), "Dataset")
    return {"op": str(name), "arguments": arguments, "children": [_operations(one) for one in made.get("children", [])]}


def _arguments(made):
    found = {}
    for name in ("mapStr", "mapBool", "mapInt", "mapDouble"):
        of = bool if name == "mapBool" else lambda value: value
        found |= {entry.get("key", ""): of(entry.get("value", 0)) for entry in made.get(name, [])}
    for entry in made.get("mapStrList", []):
        found[entry.get("key", "")] = entry.get("value", {}).get("strValue", [])
    return found
