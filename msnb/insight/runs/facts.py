"""What a table of runs says of one: its settings, dataset operations and metrics, read no further than needed."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from msnb.formats.lineage_events import lineage_events
from msnb.formats.reading import BadFileError
from msnb.insight.runs.contents import LINEAGE, LINEAGE_FILE
from msnb.insight.runs.graphs import dataset_graph
from msnb.insight.runs.run import Run

_RESULTS = ("loss", "model_size", "model_path")  # what MindSpore's message of a training says besides its settings
_PLUMBING = ("connector_queue_size", "num_parallel_workers", "op_type", "operations")  # arguments that change no sample


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
    """{"train", "eval", "dataset", "custom"} of the lineage files alone."""
    found: dict[str, Any] = {}
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(LINEAGE_FILE))
    except OSError:  # gone in the meantime
        return {}
    for name in names:
        with contextlib.suppress(OSError, BadFileError):  # who opens the run is told
            for event, _ in lineage_events(folder / name):
                kind = LINEAGE[event.kind]
                found[kind] = {**found.get(kind, {}), **event.content} if kind == "custom" else event.content
    return found


def _judged(text: str) -> dict[str, Any]:
    """The metrics of an evaluation, which MindSpore writes as JSON."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _operations(pipeline: dict[str, Any] | None) -> dict[str, Any]:
    """{operation.argument: value} of a pipeline; a second operation of the same kind is a second name."""
    found: dict[str, Any] = {}
    many: dict[str, int] = {}
    for node in dataset_graph(pipeline).nodes if pipeline else ():
        many[node.op] = many.get(node.op, 0) + 1
        name = node.op if many[node.op] == 1 else f"{node.op} {many[node.op]}"
        arguments = {f"{name}.{key}": _plain(value) for key, value in node.attrs.items() if key not in _PLUMBING}
        found.update(arguments or {name: "yes"})
    return found


def _plain(value: Any) -> Any:
    """A number that went through float32 as it was meant: 0.1, not 0.10000000149011612."""
    if isinstance(value, float) and np.isfinite(value) and float(np.float32(value)) == value:
        return float(str(np.float32(value)))
    return value
