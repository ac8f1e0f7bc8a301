"""Find the runs of a dashboard, and runs that appear in its folders later."""

import os
from collections.abc import Sequence
from pathlib import Path

from msnb.insight.runs import Run, is_run


class Sources:
    """Runs, folders of runs, and folders of one run, in any combination.

    Args:
        source (Union[str, Path, Run, Sequence]): a folder or a Run, or a sequence of these.

    Attributes:
        runs (list[Run]): the runs, oldest first; later ones are appended.

    Raises:
        FileNotFoundError: If there is no such folder.
        TypeError: If `source` is of another type.
        ValueError: If `source` is an empty list.
    """

    def __init__(self, source: "str | Path | Run | Sequence[str | Path | Run]") -> None:
        self._folders: list[Path] = []
        runs = self._find_runs(source)
        if not runs and not self._folders:
            raise ValueError("For 'dashboard', 'source' should name a run or a folder, but got an empty list.")
        self.runs: list[Run] = sorted(runs, key=lambda run: run.started or 0.0) if len(runs) > 1 else runs
        self._run_folders: set[Path] = {run.folder for run in self.runs}

    def look(self) -> bool:
        """Append runs that have appeared in the folders. Return True if there are any."""
        came = []
        for folder in self._folders:
            try:
                there = _list_run_folders(folder)
                came += [Run(one) for one in there if one not in self._run_folders]
            except OSError:  # another process has removed the folder or a file
                continue
        self._run_folders.update(run.folder for run in came)
        self.runs += came
        return bool(came)

    @property
    def waiting(self) -> str:
        """Return a message about missing runs, "" if there are runs."""
        if self.runs:
            return ""
        folders = " or ".join(f"'{folder}'" for folder in self._folders)
        return (
            f"No run in {folders} yet: what msnb.record, Model.train(record=...), SummaryCollector or SummaryRecord "
            f"write there appears here by itself."
        )

    def _find_runs(self, source):
        if isinstance(source, Run):
            return [source]
        if isinstance(source, str | Path):
            return self._list_runs_and_watch_folder(Path(source))
        if isinstance(source, Sequence):
            return [run for one in source for run in self._find_runs(one)]
        raise TypeError(
            f"For 'dashboard', 'source' should be a folder, a Run or a list of these, but got {type(source).__name__}."
        )

    def _list_runs_and_watch_folder(self, folder):
        """Return the folder as a run, or the runs in it. The folder is watched for later runs."""
        if not folder.is_dir():
            raise FileNotFoundError(f"For 'dashboard', there is no folder '{folder}'.")
        there = _list_run_folders(folder)
        if there != [folder]:
            self._folders.append(folder)
        return [Run(one) for one in there]


def _list_run_folders(folder: Path) -> list[Path]:
    """Return the folder itself if it is a run, else the runs in it."""
    if is_run(folder):
        return [folder]
    with os.scandir(folder) as entries:
        inner = sorted(folder / entry.name for entry in entries if entry.is_dir())
    return [one for one in inner if is_run(one)]
