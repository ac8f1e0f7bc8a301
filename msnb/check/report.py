"""What a check found, as text for a terminal and a table for a notebook."""

import html
import os
from typing import NamedTuple

from msnb.check.generation import different, evidence
from msnb.check.judging import judge
from msnb.check.reading import Piece, pieces
from msnb.check.uses import Use, uses

_SOME = 3  # names that are told as evidence


class Line(NamedTuple):
    """One line of a report.

    Attributes:
        place (str): Where in the program.
        kind (str): ``"name"``, ``"later"`` and ``"argument"``, which stop it, see `Finding`; ``"meaning"`` for what
            means another thing in MindSpore 2; ``"text"`` for what is no Python.
        name (str): What is used there.
        text (str): What is to be said of it.
    """

    place: str
    kind: str
    name: str
    text: str


class Report:
    """What `check` found. It is false where nothing was.

    Args:
        pieces (list[Piece]): What was read.

    Attributes:
        lines (list[Line]): In the order of files and lines.
        generation (Union[int, None]): 1 where names of r1.1 alone are used, 2 for names of later versions alone, None
            where the names do not tell.
        count (int): How many uses of MindSpore's names there are.
    """

    def __init__(self, pieces: list[Piece]) -> None:
        found = [(piece, uses(piece.tree) if piece.tree is not None else []) for piece in pieces]
        every = [use for _, some in found for use in some]
        self.files = len(found)
        self.count = len(every)
        self._evidence = evidence(every)
        self.generation: int | None = _generation(self._evidence)
        self.lines: list[Line] = [line for piece, some in found for line in self._lines(piece, some)]

    def __bool__(self) -> bool:
        return bool(self.stops)

    @property
    def stops(self) -> list[Line]:
        """The lines of what stops the program."""
        return [line for line in self.lines if line.kind != "meaning"]

    def _lines(self, piece, some):
        if piece.tree is None:
            return [Line(piece.file, "text", "", piece.error)]
        places: dict[tuple[str, str], list[Use]] = {}  # what is told -> what for; each is told once
        for use in some:
            finding = judge(use, self.generation)
            if finding is not None:
                places.setdefault((finding.kind, finding.text), []).append(use)
        for why, meant in different(some).items() if self.generation == 2 else ():
            places["meaning", f"in MindSpore 2 {why}; msnb does the same under --api 2."] = meant
        lines = []
        for (kind, text), found in sorted(places.items(), key=lambda item: item[1][0].line):
            more = len({use.line for use in found}) - 1
            text += f" (and {more} more line{'s' if more > 1 else ''})" if more else ""
            lines.append(Line(piece.place(found[0].line), kind, found[0].name, text))
        return lines

    def __str__(self) -> str:
        lines = [f"{line.place}: {_sentence(line)}" for line in self.lines]
        return "\n".join([*lines, "", self._summary()] if lines else [self._summary()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(line.place)}</td><td style='text-align: left'>{html.escape(said)}</td></tr>"
            for line, said in ((line, _sentence(line)) for line in self.lines)
        )
        table = (
            f"<table><thead><tr><th>where</th><th>what</th></tr></thead><tbody>{rows}</tbody></table>" if rows else ""
        )
        return f"<div>{table}<p>{html.escape(self._summary())}</p></div>"

    def _summary(self):
        read = f"{self.files} file{'s' if self.files != 1 else ''}, {self.count} uses of MindSpore"
        stops = self.stops
        if not self.count and not stops:
            return f"{read}: there is nothing to check."
        names = sorted({line.name for line in stops if line.kind in ("name", "later")})
        arguments = sum(line.kind == "argument" for line in stops)
        broken = sum(line.kind == "text" for line in stops)
        parts = [
            f"{len(names)} name{'s' if len(names) != 1 else ''} that msnb lacks" if names else "",
            f"{arguments} call{'s' if arguments != 1 else ''} with arguments that it does not take"
            if arguments
            else "",
            f"{broken} file{'s' if broken != 1 else ''} that could not be read" if broken else "",
        ]
        told = ", ".join(filter(None, parts)) or "msnb has every name and argument that can be seen"
        return f"{read}: {told}.{self._written_for()}"

    def _written_for(self):
        if self.generation is None:
            return " By its names it may be of any year."
        shown = list(dict.fromkeys(use.name.replace("()", "") for use in self._evidence[self.generation]))[:_SOME]
        which, how = ("r1.1", "") if self.generation == 1 else ("MindSpore 1.2 or later", "; run it with --api 2")
        return f" It was written for {which}: {', '.join(shown)}{how}."


def check(path: str | os.PathLike[str]) -> Report:
    """What a program uses of MindSpore that msnb does not have. It is read, not run.

    Names are followed through imports and assignments as far as the text tells what they are; what a function is given
    is not known, so that methods of Tensors that come from elsewhere are not looked at, but for those that MindSpore's
    own functions give. What a program is prepared to miss (``except ImportError``, ``hasattr``, a test of the version)
    is not told.

    Args:
        path (str): A Python file, a notebook, or a folder, of which every such file is read.

    Returns:
        Report.

    Raises:
        FileNotFoundError: If there is no such path.
        ValueError: If a file is neither Python nor a notebook.
    """
    return Report(list(pieces(path)))


def _sentence(line):
    return f"{line.name.removeprefix('mindspore.')}: {line.text}" if line.kind == "meaning" else line.text


def _generation(found: dict[int, list[Use]]) -> int | None:
    first, second = (len({use.name for use in found[g]}) for g in (1, 2))
    return None if first == second else 1 if first > second else 2
