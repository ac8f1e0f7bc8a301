"""What a table of runs says of one: its settings, dataset operations and metrics, read no further than needed."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from msnb.formats.protobuf import WireError
from msnb.insight.runs import events
from msnb.insight.runs.lineage import Lineage
from msnb.insight.runs.run import Run
from msnb.insight.runs.tail import Tail

_LINEAGE = "_lineage"
_RESULTS = ("loss", "size", "path")  # what MindSpore's message of a training says besides its settings
_PLUMBING = ("connector_queue_size", "num_parallel_workers", "op_type")  # arguments that change no sample
_LONG = 1_000_000  # bytes of one operation's arguments in words


class Facts(NamedTuple):
    """Dicts of plain values, by name."""

    settings: dict[str, Any]
    operations: dict[str, Any]
    metrics: dict[str, Any]


def facts(run: Run) -> Facts:
    """Settings, dataset operations and metrics of a run; what it says of itself goes before MindSpore's lineage.

    Of a run with a `run.json` nothing else is read but the lineage, a file of a few hundred bytes.
    """
    lineage = _lineage(run.folder)
    train, judged = lineage.get("train", {}), lineage.get("eval", {})
    said = {**{k: _plain(v) for k, v in train.items() if k not in _RESULTS}, **lineage.get("custom", {})}
    settings = {**said, **(run.config if run.meta else {})}
    metrics = {"loss": train["loss"]} if "loss" in train else {}
    if "valid_dataset_size" in judged:
        settings.setdefault("valid_dataset_size", judged["valid_dataset_size"])
    metrics.update(_judged(judged.get("metric", "")))
    metrics.update(run.meta.get("summary") or {})  # of one that runs, what its files say is newer
    metrics.update(run.summary)
    return Facts(settings, _operations(lineage.get("dataset")), {k: _plain(v) for k, v in metrics.items()})


def _lineage(folder: Path) -> dict[str, Any]:
    made = Lineage()
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_LINEAGE))
    except OSError:  # gone in the meantime
        return {}
    for name in names:
        try:
            for records in Tail(folder / name).news():
                for start, end in records.spans:
                    made.take(records.data, events.event(records.data, start, end))
        except (OSError, WireError):  # who opens the run is told
            continue
    return made.found


def _judged(text: str) -> dict[str, Any]:
    """The metrics of an evaluation, which MindSpore writes as JSON."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _operations(pipeline: dict[str, Any] | None) -> dict[str, Any]:
    """{operation.argument: value} of a pipeline; operations of the same kind are counted."""
    found: dict[str, Any] = {}
    todo = [pipeline] if pipeline else []
    while todo:
        one = todo.pop()
        name = one["op"]
        if any(key == name or key.startswith(f"{name}.") for key in found):
            at = 2
            while any(key.startswith(f"{name} {at}.") or key == f"{name} {at}" for key in found):
                at += 1
            name = f"{name} {at}"
        arguments = {k: v for k, v in one["arguments"].items() if k not in _PLUMBING}
        inner = arguments.pop("operations", [])
        if inner:
            arguments["operations"] = ", ".join(_named(each) for each in inner)[:_LONG]
        found.update({f"{name}.{key}": value for key, value in arguments.items()} or {name: "yes"})
        todo += one["children"]
    return found


def _named(operation: dict[str, Any]) -> str:
    """`Resize(size=[32, 32])` of an operation within a map."""
    rest = {key: value for key, value in operation.items() if key not in _PLUMBING}
    name = str(rest.pop("tensor_op_name", operation.get("op_type", "operation")))
    return f"{name}({', '.join(f'{key}={value}' for key, value in rest.items())})" if rest else name


def _plain(value: Any) -> Any:
    """A number that went through float32 as it was meant: 0.1, not 0.10000000149011612."""
    if isinstance(value, float) and np.isfinite(value) and float(np.float32(value)) == value:
        return float(str(np.float32(value)))
    return value
