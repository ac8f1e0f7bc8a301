"""The runs of a folder: found, read no further than asked for, marked, deleted."""

import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msnb.insight.runs.difference import Difference
from msnb.insight.runs.facts import Facts, facts
from msnb.insight.runs.importance import Importance, importance
from msnb.insight.runs.marks import Marks
from msnb.insight.runs.run import Run, is_record
from msnb.insight.runs.table import Table

HEADER = "run.json"
_DEEP = 5  # folders within folders
_OTHERS = frozenset(("checkpoints", "node_modules", "__pycache__"))  # no runs in there


class Runs:
    """All runs below a folder; a study's trials, which stand in a folder of their own, too.

    Args:
        folder (Union[str, Path]): The folder. What is no run in it is passed over.

    Attributes:
        folder (Path): The folder.
        marks (Marks): Stars, notes and what is hidden.
        changes (int): How often `refresh` has found something: who shows the runs is not alone in asking.
        lock (RLock): Held while the folder is looked at, by a tuning and by the thread of the view that shows it; hold
            it where two answers have to be of the same runs.

    Raises:
        FileNotFoundError: If there is no such folder.
        NotADirectoryError: If it is none.

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
        """Look for what is new, what has grown and what is gone; True if something was.

        Of a run that has ended its `run.json` alone is read; where nothing happened, the price is a look at each
        folder.
        """
        with self.lock:
            found = dict(_runs_below(self.folder))
            changed = self.marks.refresh()
            for name in self._runs.keys() - found.keys():
                self._forget(name)
                changed = True
            for name, path in found.items():
                run, stamp = self._runs.get(name), _stamp(path)
                if run is None or stamp != self._stamps[name]:
                    try:
                        run = Run(path) if run is None or stamp else run
                    except FileNotFoundError:  # it went away in the meantime
                        continue
                    self._runs[name], self._stamps[name] = run, stamp
                    new = True
                else:
                    new = False
                if (run.state == "running" or not run.meta) and run.refresh():
                    new = True
                if new:
                    self._facts.pop(name, None)
                    changed = True
            if changed:
                self._table = None
                self.changes += 1
            return changed

    def _forget(self, name):
        for known in (self._runs, self._stamps, self._facts):
            known.pop(name, None)
        self._table = None

    @property
    def runs(self) -> list[Run]:
        """The runs, in the order in which they began."""
        return [self._runs[name] for name in self.names]

    @property
    def names(self) -> list[str]:
        """What the runs are called: their place below the folder, in the order in which they began."""
        with self.lock:
            return sorted(self._runs, key=lambda name: (self._runs[name].started or 0.0, name))

    def table(self) -> Table:
        """Settings, dataset operations and metrics of all runs."""
        with self.lock:
            if self._table is None:
                names = self.names
                for name in names:
                    if name not in self._facts:
                        self._facts[name] = facts(self._runs[name])
                known = [self._facts[name] for name in names]
                self._table = Table.of(
                    names, [f.settings for f in known], [f.operations for f in known], [f.metrics for f in known]
                )
            return self._table

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __contains__(self, name: str) -> bool:
        return name in self._runs

    def __getitem__(self, name: str) -> Run:
        """The run of a name.

        Raises:
            KeyError: If there is none.
        """
        if name not in self._runs:
            raise KeyError(f"there is no run {name!r} in {self.folder}")
        return self._runs[name]

    def importance(self, target: str | None = None, among: Sequence[str] | None = None) -> Importance:
        """How much each setting matters for a metric; see `msnb.insight.runs.importance`.

        Args:
            target (str): The metric. Default: None, the one that most runs have.
            among (Sequence[str]): Names of the runs to look at. Default: None, all.
        """
        return importance(self.table(), target, among)

    def difference(self, first: str, second: str) -> Difference:
        """How two runs differ; see `msnb.insight.runs.difference`.

        Args:
            first (str): The one.
            second (str): The other.

        Raises:
            KeyError: If there is no such run.
        """
        return Difference(self[first], self[second], (first, second))

    def delete(self, *names: str) -> None:
        """Delete runs, with all their files. It is not asked whether that is meant.

        Args:
            names (str): The runs.

        Raises:
            KeyError: If there is no such run; then none is deleted.
            ValueError: If one is still running, holds other runs, or is not a folder of its own; then none is deleted.
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
            self._forget(name)
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
        said = ", ".join(f"{many} {state}" for state, many in sorted(states.items()))
        return f"{len(self)} run{'' if len(self) == 1 else 's'} in {self.folder}{f': {said}' if said else ''}"


def _runs_below(folder: Path) -> Iterator[tuple[str, Path]]:
    """(name, folder) of each run; a link to a folder is a run too, but nothing below it is looked at."""
    todo: list[tuple[str, int]] = [(os.fspath(folder), 0)]
    while todo:
        here, depth = todo.pop()
        is_run, inner = False, []
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    name = entry.name
                    if is_record(name):
                        is_run = True
                    elif depth < _DEEP and name[0] != "." and name not in _OTHERS and _is_folder(entry):
                        inner.append((entry.path, depth + 1 if not entry.is_symlink() else _DEEP))
        except OSError:  # gone in the meantime, or not ours to read
            continue
        if is_run:
            yield os.path.relpath(here, folder).replace(os.sep, "/"), Path(here)
        todo += inner


def _is_folder(entry: Any) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when a run's header does, or a file comes; empty for one without a header."""
    try:
        header, folder = (path / HEADER).stat(), path.stat()
    except OSError:
        return ()
    return header.st_mtime_ns, header.st_size, header.st_ino, folder.st_mtime_ns
