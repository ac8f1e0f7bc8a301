"""How two runs differ: settings, dataset operations, metrics, code, graph, curves."""

import difflib
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from msnb.insight.runs.facts import facts
from msnb.insight.runs.run import Run
from msnb.insight.runs.table import METRIC, Table
from msnb.ir.anf import FuncGraph
from msnb.ir.compare import Comparison, compare

_MACHINE = "system/"  # how the tags begin that say what the machine did
_AROUND = 3  # lines of code that stay around a change


class Change(NamedTuple):
    """One value that two runs do not share; None where a run has none.

    name (str): the setting, operation or metric
    group (str): "setting", "data" or "metric"
    first, second: the values
    """

    name: str
    group: str
    first: Any
    second: Any


class Difference:
    """Two runs side by side.

    Args:
        first (Run): The one.
        second (Run): The other.
        names (tuple[str]): What to call them. Default: None, by their own names.

    Attributes:
        names (tuple[str]): What they are called.
        changes (list[Change]): Settings, dataset operations and metrics that differ.
        same (int): How many settings and dataset operations do not.

    Examples:
        >>> import json, pathlib, tempfile
        >>> from msnb.insight.runs import Difference, Run
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, lr in (("a", 0.1), ("b", 0.01)):
        ...     (folder / name).mkdir()
        ...     told = {"format": 1, "config": {"lr": lr, "epochs": 3}}
        ...     _ = (folder / name / "run.json").write_text(json.dumps(told))
        >>> print(Difference(Run(folder / "a"), Run(folder / "b")))
        a and b: 1 difference, 1 the same
          setting lr: 0.1, 0.01
    """

    def __init__(self, first: Run, second: Run, names: Sequence[str] | None = None) -> None:
        self._runs: tuple[Run, Run] = first, second
        self.names: tuple[str, str] = tuple(names) if names else (first.name, second.name)
        known = facts(first), facts(second)
        table = Table.of(
            self.names, [k.settings for k in known], [k.operations for k in known], [k.metrics for k in known]
        )
        self.changes: list[Change] = [Change(c.name, c.group, *c.values) for c in table.columns if c.varies]
        self.same: int = sum(1 for c in table.columns if not c.varies and c.group != METRIC)

    @cached_property
    def code(self) -> list[str] | None:
        """Lines of a unified diff of the code that the runs kept; None where one of them kept none."""
        both = [run.meta.get("code") for run in self._runs]
        if not all(both):
            return None
        first, second = (_lines(code) for code in both)
        return list(difflib.unified_diff(first, second, *self.names, n=_AROUND, lineterm=""))

    @cached_property
    def graphs(self) -> dict[str, FuncGraph] | None:
        """{name: graph} of both, as `msnb.notebook.graph.GraphView` compares them; None where one has none."""
        old, new = (run.graph() for run in self._runs)
        if old is None or new is None:
            return None
        first, second = self.names if self.names[0] != self.names[1] else ("first", "second")
        return {first: old, second: new}

    @cached_property
    def graph(self) -> Comparison | None:
        """Which nodes of the two graphs belong together; None where one has none."""
        return None if self.graphs is None else compare(*self.graphs.values())

    def __repr__(self) -> str:
        many = len(self.changes)
        lines = [f"{' and '.join(self.names)}: {many} difference{'' if many == 1 else 's'}, {self.same} the same"]
        for change in self.changes:
            both = ("–" if value is None else value for value in (change.first, change.second))
            lines.append(f"  {change.group} {change.name}: {', '.join(map(str, both))}")
        return "\n".join(lines)


def curves(runs: Sequence[Run], most: int = 300) -> dict[str, list[tuple[np.ndarray, np.ndarray] | None]]:
    """{tag: [(steps, values) of each run, or None]} of all scalars, those first that most of the runs have, and
    last what is told of the machine.

    Args:
        runs (Sequence[Run]): The runs.
        most (int): Points of a curve; a longer one keeps the least and the largest of each part. Default: 300.
    """
    tags = dict.fromkeys(tag for run in runs for tag in run.tags["scalar"])
    made: dict[str, list[tuple[np.ndarray, np.ndarray] | None]] = {}
    for tag in tags:
        series = [run.scalar(tag) for run in runs]
        made[tag] = [thinned(s.steps, s.values, most) if len(s.steps) else None for s in series]

    def place(item):
        tag, of = item
        return tag.startswith(_MACHINE), -sum(curve is not None for curve in of)

    return dict(sorted(made.items(), key=place))


def thinned(steps: np.ndarray, values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """A curve of at most about `most` points that has the same outline."""
    if len(steps) <= most:
        return steps, values
    edges = np.linspace(0, len(steps), most // 2 + 1).astype(int)
    kept = []
    for begin, end in zip(edges[:-1], edges[1:], strict=True):
        part = values[begin:end]
        finite = np.flatnonzero(np.isfinite(part))
        if not len(finite):
            kept.append(begin)
            continue
        ends = {int(finite[np.argmin(part[finite])]), int(finite[np.argmax(part[finite])])}
        kept += [begin + at for at in sorted(ends)]
    return steps[kept], values[kept]


def _lines(code: Any) -> list[str]:
    """Lines of what a run kept: text, a list of cells, or files by name."""
    if isinstance(code, str):
        return code.splitlines()
    parts = code.items() if isinstance(code, dict) else enumerate(code, 1) if isinstance(code, list) else ()
    found: list[str] = []
    for name, text in parts:
        found += [f"# {name}", *str(text).splitlines()]
    return found


def plain(curve: tuple[np.ndarray, np.ndarray] | None) -> tuple[list[int], list[float | None]] | None:
    """A curve as JSON can say it, with None for what is no number."""
    if curve is None:
        return None
    steps, values = curve
    return steps.tolist(), [float(f"{v:.5g}") if math.isfinite(v) else None for v in values.tolist()]
