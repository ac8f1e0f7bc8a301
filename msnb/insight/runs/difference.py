"""Comparison of two runs: settings, dataset operations, metrics, code, graph, curves."""

import difflib
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from msnb.insight.runs.run import Run
from msnb.insight.runs.run_metadata import facts
from msnb.insight.runs.table import METRIC, Table
from msnb.ir.anf import FuncGraph
from msnb.ir.compare import Comparison, compare

_MACHINE_PREFIX = "system/"  # prefix of tags about the machine
_CONTEXT_LINES = 3  # unchanged lines of code around a change


class Change(NamedTuple):
    """A value that differs between two runs; None if a run has none.

    name (str): the setting, operation or metric
    group (str): "setting", "data" or "metric"
    first, second: the values
    """

    name: str
    group: str
    first: Any
    second: Any


class Difference:
    """The differences between two runs.

    Args:
        first (Run): One run.
        second (Run): The other run.
        names (tuple[str]): Names of the two runs in the report. Default: None, the names of the Runs.

    Attributes:
        names (tuple[str]): The names of the two runs in the report.
        changes (list[Change]): Settings, dataset operations and metrics that differ.
        same (int): Number of equal settings and dataset operations.

    Examples:
        >>> import json, pathlib, tempfile
        >>> from msnb.insight.runs import Difference, Run
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, lr in (("a", 0.1), ("b", 0.01)):
        ...     (folder / name).mkdir()
        ...     content = {"format": 1, "config": {"lr": lr, "epochs": 3}}
        ...     _ = (folder / name / "run.json").write_text(json.dumps(content))
        >>> print(Difference(Run(folder / "a"), Run(folder / "b")))
        a and b: 1 difference, 1 the same
          setting lr: 0.1, 0.01
    """

    def __init__(self, first: Run, second: Run, names: Sequence[str] | None = None) -> None:
        self._runs: tuple[Run, Run] = first, second
        self.names: tuple[str, str] = tuple(names) if names else (first.name, second.name)
        run_facts = facts(first), facts(second)
        table = Table.of(
            self.names,
            [k.settings for k in run_facts],
            [k.operations for k in run_facts],
            [k.metrics for k in run_facts],
        )
        self.changes: list[Change] = [Change(c.name, c.group, *c.values) for c in table.columns if c.varies]
        self.same: int = sum(1 for c in table.columns if not c.varies and c.group != METRIC)

    @cached_property
    def code(self) -> list[str] | None:
        """Lines of a unified diff of the recorded code; None if one of the runs recorded none."""
        both = [run.meta.get("code") for run in self._runs]
        if not all(both):
            return None
        first, second = (_list_code_lines(code) for code in both)
        return list(difflib.unified_diff(first, second, *self.names, n=_CONTEXT_LINES, lineterm=""))

    @cached_property
    def graphs(self) -> dict[str, FuncGraph] | None:
        """{name: graph} of both runs, for `msnb.notebook.graph.GraphView`; None if one has no graph."""
        old, new = (run.graph() for run in self._runs)
        if old is None or new is None:
            return None
        first, second = self.names if self.names[0] != self.names[1] else ("first", "second")
        return {first: old, second: new}

    @cached_property
    def graph(self) -> Comparison | None:
        """The matching of nodes between the two graphs; None if one run has no graph."""
        return None if self.graphs is None else compare(*self.graphs.values())

    def __repr__(self) -> str:
        count = len(self.changes)
        lines = [f"{' and '.join(self.names)}: {count} difference{'' if count == 1 else 's'}, {self.same} the same"]
        for change in self.changes:
            both = ("–" if value is None else value for value in (change.first, change.second))
            lines.append(f"  {change.group} {change.name}: {', '.join(map(str, both))}")
        return "\n".join(lines)


def curves(runs: Sequence[Run], most: int = 300) -> dict[str, list[tuple[np.ndarray, np.ndarray] | None]]:
    """Return {tag: [(steps, values) of each run, or None]} of all scalars.

    Tags that most runs have come first, tags about the machine last.

    Args:
        runs (Sequence[Run]): The runs.
        most (int): Maximum number of points of a curve. A longer curve is reduced to the extremes of each segment.
            Default: 300.
    """
    tags = dict.fromkeys(tag for run in runs for tag in run.tags["scalar"])
    curves_of_tag: dict[str, list[tuple[np.ndarray, np.ndarray] | None]] = {}
    for tag in tags:
        series = [run.scalar(tag) for run in runs]
        curves_of_tag[tag] = [thinned(s.steps, s.values, most) if len(s.steps) else None for s in series]

    def sort_key(item):
        tag, curves_of_runs = item
        return tag.startswith(_MACHINE_PREFIX), -sum(curve is not None for curve in curves_of_runs)

    return dict(sorted(curves_of_tag.items(), key=sort_key))


def thinned(steps: np.ndarray, values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Reduce a curve to about `most` points with the same outline."""
    if len(steps) <= most:
        return steps, values
    edges = np.linspace(0, len(steps), most // 2 + 1).astype(int)
    indices = []
    for begin, end in zip(edges[:-1], edges[1:], strict=True):
        segment = values[begin:end]
        finite = np.flatnonzero(np.isfinite(segment))
        if not len(finite):
            indices.append(begin)
            continue
        ends = {int(finite[np.argmin(segment[finite])]), int(finite[np.argmax(segment[finite])])}
        indices += [begin + offset for offset in sorted(ends)]
    return steps[indices], values[indices]


def _list_code_lines(code: Any) -> list[str]:
    """Return the lines of recorded code: a text, a list of cells, or files by name."""
    if isinstance(code, str):
        return code.splitlines()
    named_texts = code.items() if isinstance(code, dict) else enumerate(code, 1) if isinstance(code, list) else ()
    lines: list[str] = []
    for name, text in named_texts:
        lines += [f"# {name}", *str(text).splitlines()]
    return lines


def plain(curve: tuple[np.ndarray, np.ndarray] | None) -> tuple[list[int], list[float | None]] | None:
    """Return a curve as JSON values, with None for NaN and infinity."""
    if curve is None:
        return None
    steps, values = curve
    return steps.tolist(), [float(f"{v:.5g}") if math.isfinite(v) else None for v in values.tolist()]
