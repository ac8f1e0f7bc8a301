"""The tutorial notebooks of this installation, and their index.

The table of docs/tutorials.md is the only list of titles, levels and minutes.
"""

import base64
import json
import re
import shutil
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import NamedTuple

from msnb._util.atomic_file import writing

_PACKAGE = Path(__file__).parents[1]
_ROOT, _DATA = _PACKAGE.parent, _PACKAGE / "_data"
_FOLDERS = (_ROOT / "notebooks", _DATA)
_TABLES = (_ROOT / "docs" / "tutorials.md", _DATA / "tutorials.md")
_ROW = re.compile(r"^\| \[(.+?)\]\(\S*?([^/()\s]+\.ipynb)\) \| (.+?) \| (\w+) \| (\d+) \|$", re.M)
INDEX = "index.ipynb"


class Tutorial(NamedTuple):
    """One row of the table of tutorials."""

    name: str  # of the file
    title: str
    content: str
    level: str
    minutes: int


def tutorial_paths() -> dict[str, Path]:
    """Return the tutorials: {name of the file: its path}."""
    paths: dict[str, Path] = {}
    for folder in _FOLDERS:
        for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
            paths.setdefault(path.name, path)
    return paths


def list_tutorials() -> list[Tutorial]:
    """Return the rows of the table of tutorials, in its order. A notebook that the table lacks is not listed."""
    table = next(path for path in _TABLES if path.is_file())
    rows = _ROW.findall(table.read_text(encoding="utf-8"))
    return [Tutorial(name, title, content, level, int(minutes)) for title, name, content, level, minutes in rows]


def read_thumbnail(name: str) -> bytes | None:
    """Return the small picture (WebP) of a tutorial, or None. `docs/make_thumbnails.py` draws them."""
    path = _DATA / "thumbnails" / f"{name[:2]}.webp"
    return path.read_bytes() if path.is_file() else None


def format_index(link: Callable[[Tutorial], str]) -> str:
    """Return the index as an HTML table: picture, title, content, level, minutes.

    Args:
        link (Callable): Returns the attributes of the link to a tutorial.
    """
    rows = []
    for tutorial in list_tutorials():
        picture, target = read_thumbnail(tutorial.name), link(tutorial)
        image = ""
        if picture:
            source = f"data:image/webp;base64,{base64.b64encode(picture).decode()}"
            image = f'<a {target}><img alt="" width="160" src="{source}"></a>'
        rows.append(
            f'<tr><td align="left" width="170">{image}</td><td align="left"><a {target}><b>{escape(tutorial.title)}</b>'
            f"</a><br>{escape(tutorial.content)}<br><i>{tutorial.level}, {tutorial.minutes} minutes</i></td></tr>"
        )
    return f"<table>{''.join(rows)}</table>"


def write_index(folder: Path) -> Path:
    """Write the index as a notebook, with links to the copies in the same folder. Return its path."""
    text = (
        "# Tutorials\n\nA click on a title opens the notebook. Start with the first one, or with the one that answers "
        "your question. The files are copies in this folder, so you can change them.\n\n"
        + format_index(lambda tutorial: f'href="{tutorial.name}"')
    )
    cell = {"cell_type": "markdown", "id": "index", "metadata": {}, "source": text}
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    page = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    with writing(folder / INDEX, "w", encoding="utf-8") as file:
        json.dump(page, file, indent=1)
    return folder / INDEX


def copy_tutorials(folder: Path) -> list[str]:
    """Copy the tutorials into a folder, which is created, and write their index there. A notebook that is there
    already is not changed.

    Returns:
        list[str], the names of the new notebooks.

    Raises:
        OSError: If the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = [name for name in tutorial_paths() if not (folder / name).exists()]
    for name in new:
        shutil.copyfile(tutorial_paths()[name], folder / name)
    write_index(folder)
    return new
