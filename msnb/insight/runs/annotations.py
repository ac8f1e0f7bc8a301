"""Annotations of runs by the user: stars, notes, hidden runs. They are stored in the folder of the runs, outside of
each run.
"""

import json
from pathlib import Path
from typing import Any

from msnb._util.atomic_file import writing

FILE = ".msnb_runs.json"
_FORMAT = 1
_KINDS = {"star": bool, "hidden": bool, "note": str}
_MAX_NOTE = 2000  # characters of a note


class Marks:
    """The annotations in a folder of runs. They are read again when another process has written them.

    Args:
        folder (Union[str, Path]): The folder of the runs.

    Attributes:
        problem (Union[str, None]): The reason why the file cannot be read. Such a file is not overwritten.
    """

    def __init__(self, folder: str | Path) -> None:
        self._path = Path(folder) / FILE
        self._marks_of_run: dict[str, dict[str, Any]] = {}
        self._stamp = None
        self.problem: str | None = None

    def refresh(self) -> bool:
        """Read the file if it has changed; return True if it has."""
        try:
            state = self._path.stat()
        except OSError:
            stamp = None
        else:
            stamp = state.st_mtime_ns, state.st_size, state.st_ino
        if stamp == self._stamp:
            return False
        self._stamp, self.problem = stamp, None
        if stamp is None:
            self._marks_of_run = {}
            return True
        try:
            read = json.loads(self._path.read_text(encoding="utf-8"))
            if read["format"] != _FORMAT:
                raise ValueError(f"its format is {read['format']!r}")
            self._marks_of_run = {str(name): _filter_valid_marks(marks) for name, marks in read["runs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.problem = f"{self._path} does not hold marks of runs that msnb can read: {error}"
        return True

    def of(self, name: str) -> dict[str, Any]:
        """Return the annotations {"star": bool, "hidden": bool, "note": str} of a run."""
        return {**{kind: default() for kind, default in _KINDS.items()}, **self._marks_of_run.get(name, {})}

    def set(self, name: str, **marks: Any) -> None:
        """Annotate a run.

        Args:
            name (str): The run.
            marks: ``star=True``, ``hidden=True`` or ``note="text"``.

        Raises:
            TypeError: If a keyword is unknown or its value has another type.
            OSError: If the file cannot be written, or the existing file cannot be read.
        """
        self.change({name: marks})

    def change(self, marks: dict[str, dict[str, Any]]) -> None:
        """Annotate several runs in one step; see `set`."""
        for new_marks in marks.values():
            for kind, value in new_marks.items():
                if kind not in _KINDS or not isinstance(value, _KINDS[kind]):
                    kinds = ", ".join(f"{name} ({updated.__name__})" for name, updated in _KINDS.items())
                    raise TypeError(f"A run is marked with {kinds}, but got {kind}={value!r}.")
        self.refresh()  # keeps the annotations of other readers
        if self.problem:
            raise OSError(f"{self.problem}. Rename it, and mark anew.")
        updated = dict(self._marks_of_run)
        for name, new_marks in marks.items():
            set_marks = {kind: value for kind, value in {**updated.get(name, {}), **new_marks}.items() if value}
            updated.pop(name, None)
            if set_marks:
                updated[name] = {
                    **set_marks,
                    **({"note": set_marks["note"][:_MAX_NOTE]} if "note" in set_marks else {}),
                }
        text = json.dumps({"format": _FORMAT, "runs": updated}, ensure_ascii=False, indent=1, sort_keys=True)
        with writing(self._path) as file:
            file.write(text.encode())
        self._marks_of_run = updated
        self.refresh()


def _filter_valid_marks(marks):
    return {kind: value for kind, value in marks.items() if isinstance(value, _KINDS.get(kind, ()))}
