"""The runs that a dashboard shows, and those that come into its folders later."""

import os
from collections.abc import Sequence
from pathlib import Path

from msnb.insight.runs import Run, is_run


class Sources:
    """Runs, folders of runs, folders of one run, in whatever mixture.

    Args:
        source (Union[str, Path, Run, Sequence]): one of these, or several.

    Attributes:
        runs (list[Run]): what was found, the oldest first; what comes later stands behind them.

    Raises:
        FileNotFoundError: If there is no such folder, or no run in it.
        TypeError: If `source` is none of these.
    """

    def __init__(self, source: "str | Path | Run | Sequence[str | Path | Run]") -> None:
        self._folders: list[Path] = []
        runs = self._found(source)
        self.runs: list[Run] = sorted(runs, key=lambda run: run.started or 0.0) if len(runs) > 1 else runs
        self._known: set[Path] = {run.folder for run in self.runs}

    def look(self) -> bool:
        """Look for runs that have come into the folders since; True if there is one."""
        came = []
        for folder in self._folders:
            try:
                came += [Run(inner) for inner in _inner(folder) if inner not in self._known and is_run(inner)]
            except OSError:  # the folder, or what was in it, is gone in the meantime
                continue
        self._known.update(run.folder for run in came)
        self.runs += came
        return bool(came)

    def _found(self, source):
        if isinstance(source, Run):
            return [source]
        if isinstance(source, str | Path):
            return self._in_folder(Path(source))
        if isinstance(source, Sequence):
            return [run for one in source for run in self._found(one)]
        raise TypeError(
            f"For 'dashboard', 'source' should be a folder, a Run or a list of these, but got {type(source).__name__}."
        )

    def _in_folder(self, folder):
        """The run that a folder is, or else the runs that stand in it."""
        if not folder.is_dir():
            raise FileNotFoundError(f"For 'dashboard', there is no folder '{folder}'.")
        if is_run(folder):
            return [Run(folder)]
        found = [Run(inner) for inner in _inner(folder) if is_run(inner)]
        if not found:
            raise FileNotFoundError(
                f"For 'dashboard', '{folder}' holds no run: neither a run.json nor an event file of MindSpore's, and "
                f"no folder with one."
            )
        self._folders.append(folder)
        return found


def _inner(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return sorted(folder / entry.name for entry in entries if entry.is_dir())
