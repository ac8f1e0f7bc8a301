"""Serialize many runs for their table."""

import gzip
import json
import math
import time
from typing import TYPE_CHECKING, Any

from msnb.insight.runs.table import METRIC, Table, more_is_better

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.runs.collection import Runs

_COLUMNS = 400  # maximum columns of a view; trainings that log a scalar per layer have thousands


def of_runs(runs: "Runs", target: str | None = None, goal: str | None = None) -> dict[str, Any]:
    """Return the view's data for the runs of a folder.

    Args:
        runs (Runs): the runs.
        target (str): the metric that ranks them. Default: None, `Table.target`.
        goal (str): "minimize" or "maximize". Default: None, derived from the metric's name.

    Returns:
        dict that can be written as JSON.
    """
    with runs.lock:
        table, names, now = runs.table(), runs.names, time.time()
        each = [runs[name] for name in names]
        content = of_table(
            table,
            folder=str(runs.folder),
            states=[run.outcome for run in each],
            started=[run.started for run in each],
            seconds=[_compute_duration(run, now) for run in each],
            marks=[runs.marks.of(name) for name in names],
            notes=[runs.marks.problem] if runs.marks.problem else [],
            target=target,
            goal=goal,
        )
        return {**content, "ids": [run.id for run in each]}


def of_table(
    table: Table,
    folder: str,
    states: list[str],
    started: list[float | None],
    seconds: list[float | None],
    marks: list[dict[str, Any]],
    notes: list[str],
    target: str | None = None,
    goal: str | None = None,
) -> dict[str, Any]:
    """Return the view's data for a table, with the state, start, duration and marks of each row."""
    columns = table.columns
    if len(columns) > _COLUMNS:
        settled = sorted(columns, key=lambda c: (c.group == METRIC, not c.varies))  # settings first, varying ones first
        included = {id(column) for column in settled[:_COLUMNS]}
        included |= {id(column) for column in columns if column.name == target}
        columns = [column for column in columns if id(column) in included]
        notes = [*notes, f"The view shows {len(columns)} of {len(table.columns)} columns."]
    target = table.target() if target is None else target
    more = {column.name: more_is_better(column.name) for column in columns if column.group == METRIC}
    if target is not None and goal is not None:
        more[target] = goal == "maximize"
    return {
        "folder": folder,
        "names": table.names,
        "states": states,
        "started": [_round_for_json(value) for value in started],
        "seconds": [_round_for_json(value) for value in seconds],
        "marks": marks,
        "columns": [_pack_column(column) for column in columns],
        "target": target,
        "more": more,
        "notes": notes,
        "importance": None,
        "compared": None,
    }


def packed(content: dict[str, Any]) -> bytes:
    """Return the data as gzipped JSON. Equal data have equal bytes."""
    return gzip.compress(json.dumps(content, separators=(",", ":")).encode(), 6, mtime=0)


def _pack_column(column):
    # No column of a single run varies. All are marked as varying, so that the view shows them.
    varies = column.varies or len(column.values) < 2
    entry = {"key": column.key, "name": column.name, "group": column.group, "varies": varies}
    if column.number:
        return {
            **entry,
            "kind": "number",
            "log": column.logarithmic,
            "values": [_round_for_json(value) for value in column.values],
        }
    words = column.words
    at = {word: i for i, word in enumerate(words)}
    values = [None if value is None else at[value] for value in column.values]
    return {**entry, "kind": "words", "words": words, "values": values}


def _round_for_json(value):
    """Round to six digits. Non-finite numbers become their JavaScript names, because JSON does not allow them."""
    if value is None or isinstance(value, int):
        return value
    if math.isfinite(value):
        return value if abs(value) >= 1e6 else float(f"{value:.6g}")
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _compute_duration(run, now):
    if run.started is None:
        return None
    end = run.ended if run.ended is not None else now if run.state == "running" else None
    return None if end is None else max(0.0, end - run.started)
