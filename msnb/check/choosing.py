"""Infer the API generation that a program is written for from its text and from the local files that it imports.

`msnb run` and similar commands, the alias and `%%mindspore` use this module before a program runs. The files are
parsed, not run. A file that Python cannot parse is ignored.
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
_MAX_SIGNS = 3  # maximum number of names that a message lists
_MAX_FILES = 300  # maximum number of local files that are read
_MAX_FILE_BYTES = 1_000_000  # larger files are assumed to be generated and are not read
_INSTALLED = tuple({Path(path).resolve() for path in sysconfig.get_paths().values()})


class Judgement(NamedTuple):
    """The generation that the names of a program indicate.

    Attributes:
        generation (Union[int, None]): 1 or 2; None if the names indicate neither, or both equally often.
        signs (list[str]): The names that indicate it, the first with its location.
        is_of_mindspore (bool): Whether the program uses names of MindSpore.
    """

    generation: int | None
    signs: list[str]
    is_of_mindspore: bool

    def explained(self, program: str, way: str) -> str:
        """Return a text for the user: the generation, the names that indicate it, and the way to choose another one.

        Args:
            program (str): The name of the program, such as "train.py".
            way (str): The way to select a generation, with `{}` for its number.
        """
        other = 1 if self.generation == 2 else 2
        change = f"{way.format(other)} changes that"
        if self.generation is None:
            return f"{program} does not show its MindSpore: names mean what they mean in {_NAMES[1]}. {change}."
        return (
            f"{program} is written for {_NAMES[self.generation]} ({self._format_signs()}): names mean what they mean "
            f"there. {change}."
        )

    def contradicting(self, program: str, chosen: int, way: str) -> str:
        """Return a message that a program is written for a generation other than `chosen`, that of the session.

        Args:
            program (str): Name of the program.
            chosen (int): Generation of the session, 1 or 2.
            way (str): How to change it, with "{}" for the other generation.
        """
        return (
            f"{program} is written for {_NAMES[self.generation or 1]} ({self._format_signs()}), but names "
            "mean what they "
            f"mean in {_NAMES[chosen]}, for which the first program of this session is written. "
            f"{way.format(self.generation)} changes that."
        )

    def _format_signs(self):
        more = len(self.signs) - _MAX_SIGNS
        return ", ".join([*self.signs[:_MAX_SIGNS], *([f"{more} more"] if more > 0 else [])])


def judge_script(path: str | Path) -> Judgement:
    """Return the judgement of a Python file, together with the local files that it imports."""
    path = Path(path)
    return _judge_generation(
        _iterate_code_and_imports(read_piece(path, path.name), path.resolve(), path.resolve().parent)
    )


def judge_cell(tree: ast.Module, folder: str | Path, name: str = "this cell") -> Judgement:
    """Return the judgement of a notebook cell, together with the files in `folder` that it imports."""
    folder = Path(folder).resolve()
    return _judge_generation(_iterate_code_and_imports(Piece(name, tree, "", []), folder / "cell", folder))


def _judge_generation(pieces: Iterable[Piece]) -> Judgement:
    signs_of: dict[int, dict[str, str]] = {1: {}, 2: {}}
    count = 0
    for piece in pieces:
        piece_uses = _find_mindspore_uses(piece)
        count += len(piece_uses)
        for generation, sign_uses in evidence([use for use in piece_uses if not use.guarded]).items():
            for use in sign_uses:
                signs_of[generation].setdefault(use.name.replace("()", ""), piece.place(use.line))
    first, second = len(signs_of[1]), len(signs_of[2])
    generation = None if first == second else 1 if first > second else 2
    names = signs_of[generation] if generation else {}
    signs = [f"{name} at {location}" if i == 0 else name for i, (name, location) in enumerate(names.items())]
    return Judgement(generation, signs, count > 0)


def _find_mindspore_uses(piece: Piece) -> list[Use]:
    try:
        return uses(piece.tree) if piece.tree is not None else []
    except RecursionError:
        return []


def _iterate_code_and_imports(piece: Piece, path: Path, folder: Path) -> Iterator[Piece]:
    """Yield `piece`, the code of `path`, and the code of all files below `folder` that it imports, directly or
    indirectly.
    """
    waiting, visited = [(piece, path)], {path}
    while waiting:
        piece, path = waiting.pop(0)
        yield piece
        for file in _find_imported_files(piece.tree, path, folder) if piece.tree is not None else ():
            if file not in visited and len(visited) < _MAX_FILES:
                visited.add(file)
                waiting.append((read_piece(file, str(file.relative_to(folder))), file))


def _find_imported_files(tree: ast.Module, path: Path, folder: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _iterate_module_files(folder, alias.name.split("."), folder)
        elif isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if 0 < node.level <= len(path.parents) else folder
            parts = node.module.split(".") if node.module else []
            yield from _iterate_module_files(base, parts, folder)
            for alias in node.names:
                yield from _iterate_module_files(base, [*parts, alias.name], folder)


def _iterate_module_files(base: Path, parts: list[str], folder: Path) -> Iterator[Path]:
    """Yield the files that Python runs when it imports a module below `base`, including those of parent packages."""
    if not parts or parts[0] in (ROOT, "msnb") or parts[0] in sys.stdlib_module_names:
        return
    for count in range(1, len(parts) + 1):
        module_path = base.joinpath(*parts[:count])
        for file in (module_path.with_name(f"{module_path.name}.py"), module_path / "__init__.py"):
            if _is_readable_source(file, folder):
                yield file


def _is_readable_source(file: Path, folder: Path) -> bool:
    try:
        return file.is_file() and _is_users_file(file, folder) and file.stat().st_size <= _MAX_FILE_BYTES
    except (OSError, ValueError):
        return False


def _is_users_file(file: Path, folder: Path) -> bool:
    return file.is_relative_to(folder) and not is_installed(file, folder)


def is_installed(file: Path, folder: Path | None = None) -> bool:
    """Return whether a file is in an installation folder of Python, such as site-packages. Installation folders that
    also contain `folder` are ignored.
    """
    return any(
        file.is_relative_to(installed) and not (folder and folder.is_relative_to(installed)) for installed in _INSTALLED
    )
