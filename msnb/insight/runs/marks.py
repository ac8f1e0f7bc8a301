"""What a reader marks runs with: stars, notes, and which are out of sight. It stands beside the runs, never in one."""

import json
from pathlib import Path
from typing import Any

from msnb._atomic import writing

FILE = ".msnb_runs.json"
_FORMAT = 1
_KINDS = {"star": bool, "hidden": bool, "note": str}
_LONG = 2000  # characters of a note


class Marks:
    """The marks of a folder of runs; read anew when somebody else has written them.

    Args:
        folder (Union[str, Path]): Where the runs are.

    Attributes:
        problem (Union[str, None]): Why what stands there cannot be read; it is left alone then.
    """

    def __init__(self, folder: str | Path) -> None:
        self._path = Path(folder) / FILE
        self._of: dict[str, dict[str, Any]] = {}
        self._stamp = None
        self.problem: str | None = None

    def refresh(self) -> bool:
        """Read what was written since; True if something was."""
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
            self._of = {}
            return True
        try:
            read = json.loads(self._path.read_text(encoding="utf-8"))
            if read["format"] != _FORMAT:
                raise ValueError(f"its format is {read['format']!r}")
            self._of = {str(name): _checked(marks) for name, marks in read["runs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.problem = f"{self._path} does not hold marks of runs that msnb can read: {error}"
        return True

    def of(self, name: str) -> dict[str, Any]:
        """{"star": bool, "hidden": bool, "note": str} of a run."""
        return {**{kind: made() for kind, made in _KINDS.items()}, **self._of.get(name, {})}

    def set(self, name: str, **marks: Any) -> None:
        """Mark a run.

        Args:
            name (str): The run.
            marks: ``star=True``, ``hidden=True`` or ``note="text"``.

        Raises:
            TypeError: If a mark is none of these, or not of its type.
            OSError: If it cannot be written; and if what stands there cannot be read.
        """
        self.change({name: marks})

    def change(self, marks: dict[str, dict[str, Any]]) -> None:
        """Mark several runs, in one step; see `set`."""
        for given in marks.values():
            for kind, value in given.items():
                if kind not in _KINDS or not isinstance(value, _KINDS[kind]):
                    wanted = ", ".join(f"{name} ({made.__name__})" for name, made in _KINDS.items())
                    raise TypeError(f"A run is marked with {wanted}, but got {kind}={value!r}.")
        self.refresh()  # of two readers, the one keeps what the other has marked
        if self.problem:
            raise OSError(f"{self.problem}. Rename it, and mark anew.")
        made = dict(self._of)
        for name, given in marks.items():
            kept = {kind: value for kind, value in {**made.get(name, {}), **given}.items() if value}
            made.pop(name, None)
            if kept:
                made[name] = {**kept, **({"note": kept["note"][:_LONG]} if "note" in kept else {})}
        text = json.dumps({"format": _FORMAT, "runs": made}, ensure_ascii=False, indent=1, sort_keys=True)
        with writing(self._path) as file:
            file.write(text.encode())
        self._of = made
        self.refresh()


def _checked(marks):
    return {kind: value for kind, value in marks.items() if isinstance(value, _KINDS.get(kind, ()))}
