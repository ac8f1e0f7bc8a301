"""The tutorial notebooks of this installation: those of the repository, or those in the wheel."""

import json
import shutil
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE.parent / "notebooks", _PACKAGE / "_data")


def tutorial_paths() -> dict[str, Path]:
    """Return the tutorials: {name of the file: its path}."""
    paths: dict[str, Path] = {}
    for folder in _FOLDERS:
        for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
            paths.setdefault(path.name, path)
    return paths


def read_title(path: Path) -> str:
    """Return the first heading of a notebook, or the name of its file."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for line in "".join(cell["source"]).splitlines() if cell["cell_type"] == "markdown" else ():
            if line.startswith("# "):
                return line[2:].strip()
    return path.stem


def copy_tutorials(folder: Path) -> list[str]:
    """Copy the tutorials into a folder, which is created. A file that is there already is not changed.

    Returns:
        list[str], the names of the new files.

    Raises:
        OSError: If the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = [name for name in tutorial_paths() if not (folder / name).exists()]
    for name in new:
        shutil.copyfile(tutorial_paths()[name], folder / name)
    return new
