"""The runs in a folder: find, read lazily, annotate, delete."""

import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msnb.insight.runs.annotations import Marks
from msnb.insight.runs.condition_query import Match, find_first_match, list_tags
from msnb.insight.runs.difference import Difference
from msnb.insight.runs.importance import Importance, importance
from msnb.insight.runs.run import Run, is_record
from msnb.insight.runs.run_metadata import Facts, facts
from msnb.insight.runs.table import Table
from msnb.insight.watchpoints.conditions import as_watchpoint

HEADER = "run.json"
_MAX_DEPTH = 5  # folders are searched to this depth
_IGNORED_FOLDERS = frozenset(("checkpoints", "node_modules", "__pycache__"))  # folders without runs


class Runs:
    """All runs below a folder, including the trials of studies, which are in a subfolder.

    Args:
        folder (Union[str, Path]): The folder. Other contents are ignored.

    Attributes:
        folder (Path): The folder.
        marks (Marks): Stars, notes and hidden runs.
        changes (int): Number of calls of `refresh` that brought a change. Several views may call it.
        lock (RLock): Locked while the folder is read, because a tuning and the thread of a view may read it at the same
            time. Hold it to make several queries of the same state.

    Raises:
        FileNotFoundError: If there is no such folder.
        NotADirectoryError: If `folder` is a file.

    Examples:
        >>> import tempfile
        >>> from msnb.insight.runs import Runs
        >>> len(Runs(tempfile.mkdtemp()))
        0
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder: Path = Path(folder)
        if not self.folder.exists():
            raise FileNotFoundError(f"There is no folder {str(folder)!r} with runs in it.")
        if not self.folder.is_dir():
            raise NotADirectoryError(f"Runs are looked for in a folder, but {str(folder)!r} is a file.")
        self.marks: Marks = Marks(self.folder)
        self._runs: dict[str, Run] = {}
        self._stamps: dict[str, tuple[int, ...]] = {}
        self._facts: dict[str, Facts] = {}
        self._table: Table | None = None
        self.changes: int = 0
        self.lock: Any = threading.RLock()
        self.refresh()

    def refresh(self) -> bool:
        """Find new, changed and deleted runs; return True if there are any.

        Of a finished run only `run.json` is read. Without changes the cost is one `stat` per folder.
        """
        with self.lock:
            paths = dict(_find_runs(self.folder))
            has_changed = self.marks.refresh()
            for name in self._runs.keys() - paths.keys():
                self._remove_run(name)
                has_changed = True
            for name, path in paths.items():
                run, stamp = self._runs.get(name), _compute_change_stamp(path)
                if run is None or stamp != self._stamps[name]:
                    try:
                        run = Run(path) if run is None or stamp else run
                    except FileNotFoundError:  # deleted in the meantime
                        continue
                    self._runs[name], self._stamps[name] = run, stamp
                    is_new = True
                else:
                    is_new = False
                if (run.state == "running" or not run.meta) and run.refresh():
                    is_new = True
                if is_new:
                    self._facts.pop(name, None)
                    has_changed = True
            if has_changed:
                self._table = None
                self.changes += 1
            return has_changed

    def _remove_run(self, name):
        for cache in (self._runs, self._stamps, self._facts):
            cache.pop(name, None)
        self._table = None

    @property
    def runs(self) -> list[Run]:
        """The runs, by start time."""
        return [self._runs[name] for name in self.names]

    @property
    def names(self) -> list[str]:
        """Names of the runs, by start time: their paths relative to the folder."""
        with self.lock:
            return sorted(self._runs, key=lambda name: (self._runs[name].started or 0.0, name))

    def table(self) -> Table:
        """Return settings, dataset operations and metrics of all runs."""
        with self.lock:
            if self._table is None:
                names = self.names
                for name in names:
                    if name not in self._facts:
                        self._facts[name] = facts(self._runs[name])
                run_facts = [self._facts[name] for name in names]
                self._table = Table.of(
                    names,
                    [f.settings for f in run_facts],
                    [f.operations for f in run_facts],
                    [f.metrics for f in run_facts],
                )
            return self._table

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __contains__(self, name: str) -> bool:
        return name in self._runs

    def __getitem__(self, name: str) -> Run:
        """Return a run by name.

        Raises:
            KeyError: If there is no such run.
        """
        if name not in self._runs:
            raise KeyError(f"there is no run {name!r} in {self.folder}")
        return self._runs[name]

    def importance(self, target: str | None = None, among: Sequence[str] | None = None) -> Importance:
        """Estimate the influence of each setting on a metric; see `msnb.insight.runs.importance`.

        Args:
            target (str): The metric. Default: None, the one that most runs have.
            among (Sequence[str]): Names of the runs to use. Default: None, all.
        """
        return importance(self.table(), target, among)

    def difference(self, first: str, second: str) -> Difference:
        """Compare two runs; see `msnb.insight.runs.difference`.

        Args:
            first (str): Name of one run.
            second (str): Name of the other run.

        Raises:
            KeyError: If there is no such run.
        """
        return Difference(self[first], self[second], (first, second))

    def where(self, condition: Any, nodes: str | Sequence[str] = "*") -> list[Match]:
        """Return the first step of each run in which a condition is met by a recorded value.

        Args:
            condition (Union[str, tuple, Callable]): As in `msnb.watch`: a name such as "TO", a name with parameters
                such as ``("TL", {"max_gt": 10})``, or a function of a Tensor that returns a bool. Conditions of
                weights, gradients and activations check all values that `nodes` selects.
            nodes (Union[str, Sequence[str]]): Names of recorded numbers, tensors and histograms; ``*`` and ``?`` are
                wildcards. Default: "*".

        Returns:
            list[Match], in the order of the runs. A run without a match is left out.

        Raises:
            ValueError: If the condition is unknown, no run has a value of such a name, or a histogram lacks the number
                that the condition needs.

        Examples:
            >>> import tempfile
            >>> import msnb
            >>> folder = tempfile.mkdtemp()
            >>> with msnb.record("one", folder) as run:
            ...     for step, loss in enumerate((1.0, 5.0, float("nan"))):
            ...         run.log({"loss": loss}, step)
            >>> [(match.run, match.tag, match.step) for match in Runs(folder).where("TO", nodes="loss")]
            [('one', 'loss', 2)]
        """
        watchpoint = as_watchpoint(condition)
        if watchpoint.band is not None or watchpoint.condition.id == "dead":
            raise ValueError(f"For 'where', the condition {watchpoint.title} needs every step; use msnb.watch.")
        with self.lock:
            if not any(list_tags(run, nodes) for run in self):
                raise ValueError(f"For 'where', no run in {self.folder} has a recorded value named {nodes!r}.")
            matches = (find_first_match(name, self[name], watchpoint, nodes) for name in self.names)
            return [match for match in matches if match is not None]

    def delete(self, *names: str) -> None:
        """Delete runs with all their files, without confirmation.

        Args:
            names (str): The runs.

        Raises:
            KeyError: If there is no such run; then none is deleted.
            ValueError: If a run is still running, contains other runs, is a symbolic link or is `folder` itself; then
                none is deleted.
            OSError: If a file cannot be deleted.
        """
        for name in names:
            if self[name].state == "running":
                raise ValueError(f"The run {name!r} is still running; end it first.")
            inner = [other for other in self._runs if other != name and (name == "." or other.startswith(f"{name}/"))]
            if inner:
                raise ValueError(f"In the folder of the run {name!r} is another run, {inner[0]!r}; delete that first.")
            path = self.folder / name
            if name == "." or path.is_symlink():
                raise ValueError(f"The run {name!r} is no folder of its own below {self.folder}; remove it by hand.")
        for name in names:
            shutil.rmtree(self.folder / name)
            self._remove_run(name)
        self.marks.refresh()
        marked = {
            name: {"star": False, "hidden": False, "note": ""} for name in names if any(self.marks.of(name).values())
        }
        if marked:
            self.marks.change(marked)

    def __repr__(self) -> str:
        states: dict[str, int] = {}
        for run in self._runs.values():
            states[run.state] = states.get(run.state, 0) + 1
        summary = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        return f"{len(self)} run{'' if len(self) == 1 else 's'} in {self.folder}{f': {summary}' if summary else ''}"


def _find_runs(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield name and folder of each run. A symbolic link can be a run, but the folders below it are not searched."""
    todo: list[tuple[str, int]] = [(os.fspath(folder), 0)]
    while todo:
        path, depth = todo.pop()
        is_run, inner = False, []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    name = entry.name
                    if is_record(name):
                        is_run = True
                    elif depth < _MAX_DEPTH and name[0] != "." and name not in _IGNORED_FOLDERS and _is_folder(entry):
                        inner.append((entry.path, depth + 1 if not entry.is_symlink() else _MAX_DEPTH))
        except OSError:  # deleted in the meantime, or not readable
            continue
        if is_run:
            yield os.path.relpath(path, folder).replace(os.sep, "/"), Path(path)
        todo += inner


def _is_folder(entry: Any) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _compute_change_stamp(path: Path) -> tuple[int, ...]:
    """Return a value that changes if the run's header changes or a file is added; () without a header."""
    try:
        header, folder = (path / HEADER).stat(), path.stat()
    except OSError:
        return ()
    return header.st_mtime_ns, header.st_size, header.st_ino, folder.st_mtime_ns
