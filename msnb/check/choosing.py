"""The MindSpore that a program is written for, judged from its text and from the local files that it imports.

`msnb run` and its siblings, the alias and `%%mindspore` ask this before a program runs. Nothing is imported or run, and
a file that Python does not understand shows no sign.
"""

import ast
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from msnb.check.generation import evidence
from msnb.check.reading import Piece, read_piece
from msnb.check.uses import ROOT, Use, uses

_NAMES = {1: "MindSpore r1.1", 2: "MindSpore 2"}
_SHOWN = 3  # signs that a sentence names
_MOST_FILES = 300  # a program that imports more local files is judged by the first of them
_LARGEST_FILE = 1_000_000  # bytes; what is larger was not written by hand
_INSTALLED = tuple({Path(path).resolve() for path in sysconfig.get_paths().values()})


class Judgement(NamedTuple):
    """The generation that the names of a program show.

    Attributes:
        generation (Union[int, None]): 1 or 2; None where the names show neither, or both as often.
        signs (list[str]): The names that show it, the first with its place.
        is_of_mindspore (bool): Whether the program uses names of MindSpore at all.
    """

    generation: int | None
    signs: list[str]
    is_of_mindspore: bool

    def explained(self, program: str, way: str) -> str:
        """One sentence on the generation that follows from it.

        Args:
            program (str): The name of the program, such as "train.py".
            way (str): The way to ask for a generation, with `{}` in the place of its number.
        """
        other = 1 if self.generation == 2 else 2
        change = f"{way.format(other)} changes that"
        if self.generation is None:
            return f"{program} does not show its MindSpore: names mean what they mean in {_NAMES[1]}. {change}."
        return (
            f"{program} is written for {_NAMES[self.generation]} ({self._shown()}): names mean what they mean there. "
            f"{change}."
        )

    def contradicting(self, program: str, chosen: int, way: str) -> str:
        """One sentence on a program that shows another generation than the session has `chosen`; see `explained`."""
        return (
            f"{program} is written for {_NAMES[self.generation or 1]} ({self._shown()}), but names mean what they mean "
            f"in {_NAMES[chosen]}, for which the first program of this session is written. "
            f"{way.format(self.generation)} changes that."
        )

    def _shown(self):
        more = len(self.signs) - _SHOWN
        return ", ".join([*self.signs[:_SHOWN], *([f"{more} more"] if more > 0 else [])])


def judge_script(path: str | Path) -> Judgement:
    """The generation of a Python file, and of the files beside it that it imports."""
    path = Path(path)
    return _judged(_with_imports(read_piece(path, path.name), path.resolve(), path.resolve().parent))


def judge_cell(tree: ast.Module, folder: str | Path, name: str = "this cell") -> Judgement:
    """The generation of a cell, and of the files in `folder` that it imports."""
    folder = Path(folder).resolve()
    return _judged(_with_imports(Piece(name, tree, "", []), folder / "cell", folder))


def _judged(pieces: Iterable[Piece]) -> Judgement:
    places: dict[int, dict[str, str]] = {1: {}, 2: {}}
    count = 0
    for piece in pieces:
        found = _uses_in(piece)
        count += len(found)
        for generation, some in evidence([use for use in found if not use.guarded]).items():
            for use in some:
                places[generation].setdefault(use.name.replace("()", ""), piece.place(use.line))
    first, second = len(places[1]), len(places[2])
    generation = None if first == second else 1 if first > second else 2
    names = places[generation] if generation else {}
    signs = [f"{name} at {place}" if i == 0 else name for i, (name, place) in enumerate(names.items())]
    return Judgement(generation, signs, count > 0)


def _uses_in(piece: Piece) -> list[Use]:
    try:
        return uses(piece.tree) if piece.tree is not None else []
    except RecursionError:
        return []


def _with_imports(piece: Piece, path: Path, folder: Path) -> Iterator[Piece]:
    """The piece at `path`, and those of the files below `folder` that it imports, and that these import."""
    waiting, seen = [(piece, path)], {path}
    while waiting:
        piece, path = waiting.pop(0)
        yield piece
        for file in _imported_files(piece.tree, path, folder) if piece.tree is not None else ():
            if file not in seen and len(seen) < _MOST_FILES:
                seen.add(file)
                waiting.append((read_piece(file, str(file.relative_to(folder))), file))


def _imported_files(tree: ast.Module, path: Path, folder: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files_of(folder, alias.name.split("."), folder)
        elif isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if 0 < node.level <= len(path.parents) else folder
            parts = node.module.split(".") if node.module else []
            yield from _files_of(base, parts, folder)
            for alias in node.names:
                yield from _files_of(base, [*parts, alias.name], folder)


def _files_of(base: Path, parts: list[str], folder: Path) -> Iterator[Path]:
    """The files that Python runs when it imports a module below `base`, those of packages around it included."""
    if not parts or parts[0] in (ROOT, "msnb") or parts[0] in sys.stdlib_module_names:
        return
    for count in range(1, len(parts) + 1):
        place = base.joinpath(*parts[:count])
        for file in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
            if _is_read(file, folder):
                yield file


def _is_read(file: Path, folder: Path) -> bool:
    try:
        return file.is_file() and _is_own(file, folder) and file.stat().st_size <= _LARGEST_FILE
    except (OSError, ValueError):
        return False


def _is_own(file: Path, folder: Path) -> bool:
    return file.is_relative_to(folder) and not is_installed(file, folder)


def is_installed(file: Path, folder: Path | None = None) -> bool:
    """Return whether a file belongs to Python or to an installed package, unless `folder` does, too."""
    return any(file.is_relative_to(place) and not (folder and folder.is_relative_to(place)) for place in _INSTALLED)
