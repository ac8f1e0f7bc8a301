"""Settings, dataset operations and metrics of one run for the table of runs, read lazily."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from msnb.formats.lineage_events import lineage_events
from msnb.formats.text_files import BadFileError
from msnb.insight.runs.contents import LINEAGE, LINEAGE_FILE
from msnb.insight.runs.graphs import dataset_graph
from msnb.insight.runs.run import Run

_TRAINING_RESULTS = ("loss", "model_size", "model_path")  # fields of MindSpore's training message that are not settings
# arguments without an effect on samples
_EXECUTION_ARGUMENTS = ("connector_queue_size", "num_parallel_workers", "op_type", "operations")


class Facts(NamedTuple):
    """Settings, dataset operations and metrics of one run. Each is a dict {name: plain value}."""

    settings: dict[str, Any]
    operations: dict[str, Any]
    metrics: dict[str, Any]


def facts(run: Run) -> Facts:
    """Return settings, dataset operations and metrics of a run. `run.json` takes precedence over MindSpore's lineage.

    If there is a `run.json`, only the lineage file is read in addition. It has a few hundred bytes.
    """
    lineage = _read_lineage(run.folder)
    train, evaluation = lineage.get("train", {}), lineage.get("eval", {})
    lineage_settings = {
        **{k: _undo_float32(v) for k, v in train.items() if k not in _TRAINING_RESULTS},
        **lineage.get("custom", {}),
    }
    settings = {**lineage_settings, **(run.config if run.meta else {})}
    metrics = {"loss": train["loss"]} if "loss" in train else {}
    if "valid_dataset_size" in evaluation:
        settings.setdefault("valid_dataset_size", evaluation["valid_dataset_size"])
    metrics.update(_parse_metrics(evaluation.get("metric", "")))
    metrics.update(run.meta.get("summary") or {})  # for a running training the event files are newer
    metrics.update(run.summary)
    return Facts(
        settings, _list_operation_arguments(lineage.get("dataset")), {k: _undo_float32(v) for k, v in metrics.items()}
    )


def _read_lineage(folder: Path) -> dict[str, Any]:
    """Return {"train", "eval", "dataset", "custom"} from the lineage files only."""
    lineage: dict[str, Any] = {}
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(LINEAGE_FILE))
    except OSError:  # deleted in the meantime
        return {}
    for name in names:
        with contextlib.suppress(OSError, BadFileError):  # the problem is reported when the run is opened
            for event, _ in lineage_events(folder / name):
                kind = LINEAGE[event.kind]
                lineage[kind] = {**lineage.get(kind, {}), **event.content} if kind == "custom" else event.content
    return lineage


def _parse_metrics(text: str) -> dict[str, Any]:
    """Parse the metrics of an evaluation, which MindSpore writes as JSON."""
    try:
        metrics = json.loads(text) if text else {}
    except ValueError:
        return {}
    return metrics if isinstance(metrics, dict) else {}


def _list_operation_arguments(pipeline: dict[str, Any] | None) -> dict[str, Any]:
    """Return {operation.argument: value} of a pipeline. Repeated operations are numbered."""
    arguments_by_name: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for node in dataset_graph(pipeline).nodes if pipeline else ():
        counts[node.op] = counts.get(node.op, 0) + 1
        name = node.op if counts[node.op] == 1 else f"{node.op} {counts[node.op]}"
        arguments = {
            f"{name}.{key}": _undo_float32(value)
            for key, value in node.attrs.items()
            if key not in _EXECUTION_ARGUMENTS
        }
        arguments_by_name.update(arguments or {name: "yes"})
    return arguments_by_name


def _undo_float32(value: Any) -> Any:
    """Return the shortest decimal of a number stored as float32: 0.1, not 0.10000000149011612."""
    if isinstance(value, float) and np.isfinite(value) and float(np.float32(value)) == value:
        return float(str(np.float32(value)))
    return value
