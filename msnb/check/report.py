"""Findings of a check, as text for a terminal and a table for a notebook."""

import html
import os
from pathlib import Path
from typing import NamedTuple

from msnb.check.deprecation import deprecated
from msnb.check.generation import different, evidence
from msnb.check.import_stops import ImportStops
from msnb.check.judging import Finding, judge
from msnb.check.reading import Piece, pieces
from msnb.check.uses import Use, uses

_MAX_NAMES = 3  # maximum number of names that the summary cites


class Line(NamedTuple):
    """One line of a report.

    Attributes:
        place (str): Location in the program.
        kind (str): ``"name"``, ``"later"`` or ``"argument"``, as in `Finding`; ``"meaning"`` for a name with another
            meaning in MindSpore 2; ``"deprecated"`` for a name that MindSpore 2 calls so; ``"text"`` for code that
            cannot be parsed.
        name (str): The name that the program uses there.
        text (str): The message.
    """

    place: str
    kind: str
    name: str
    text: str


class Report:
    """Findings of `check`. A report is false if no finding stops the program.

    Args:
        pieces (list[Piece]): The code that was read.
        root (Union[Path, None]): The folder of the files. Default: None, the code is not a folder.

    Attributes:
        lines (list[Line]): In the order of files and lines.
        generation (Union[int, None]): 1 if more of the names indicate r1.1, 2 if more indicate MindSpore 2, None if
            both numbers are equal.
        count (int): Number of uses of MindSpore's names.
        import_stops (Union[ImportStops, None]): The modules of a folder that cannot be imported; None without a folder.
    """

    def __init__(self, pieces: list[Piece], root: Path | None = None) -> None:
        uses_of = [(piece, uses(piece.tree) if piece.tree is not None else []) for piece in pieces]
        all_uses = [use for _, piece_uses in uses_of for use in piece_uses]
        self.files = len(uses_of)
        self.count = len(all_uses)
        self._evidence = evidence(all_uses)
        self.generation: int | None = _infer_generation(self._evidence)
        self._findings: dict[tuple[str, Use], Finding] = {}
        self.lines: list[Line] = [
            line for piece, piece_uses in uses_of for line in self._make_report_lines(piece, piece_uses)
        ]
        self.import_stops: ImportStops | None = None if root is None else self._find_import_stops(uses_of, root)

    def __bool__(self) -> bool:
        return bool(self.stops)

    @property
    def stops(self) -> list[Line]:
        """Return the lines of findings that stop the program."""
        return [line for line in self.lines if line.kind not in ("meaning", "deprecated")]

    def _find_import_stops(self, uses_of, root):
        first_stops = {}
        for piece, piece_uses in uses_of:
            findings = ((use, self._findings.get((piece.file, use))) for use in piece_uses if use.at_import)
            stops = [use.line for use, finding in findings if finding is not None and finding.kind == "name"]
            if stops:
                first_stops[piece.file] = min(stops)
        return ImportStops(
            {piece.file: piece.tree for piece, _ in uses_of if piece.tree is not None}, root, first_stops
        )

    def _make_report_lines(self, piece, piece_uses):
        if piece.tree is None:
            return [Line(piece.file, "text", "", piece.error)]
        uses_of: dict[tuple[str, str], list[Use]] = {}  # message -> uses; each message is reported once
        for use in piece_uses:
            finding = judge(use, self.generation)
            if finding is not None:
                self._findings[piece.file, use] = finding
                uses_of.setdefault((finding.kind, finding.text), []).append(use)
        for why, differing in different(piece_uses).items() if self.generation == 2 else ():
            uses_of["meaning", f"in MindSpore 2 {why}; msnb does the same under --api 2."] = differing
        for text, old in deprecated(piece_uses).items() if self.generation == 2 else ():
            uses_of["deprecated", text] = old
        lines = []
        for (kind, text), line_uses in sorted(uses_of.items(), key=lambda item: item[1][0].line):
            more = len({use.line for use in line_uses}) - 1
            text += f" (and {more} more line{'s' if more > 1 else ''})" if more else ""
            lines.append(Line(piece.place(line_uses[0].line), kind, line_uses[0].name, text))
        return lines

    def __str__(self) -> str:
        lines = [f"{line.place}: {_format_line(line)}" for line in self.lines]
        return "\n".join([*lines, "", self._format_summary()] if lines else [self._format_summary()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(line.place)}</td><td style='text-align: left'>{html.escape(sentence)}</td></tr>"
            for line, sentence in ((line, _format_line(line)) for line in self.lines)
        )
        table = (
            f"<table><thead><tr><th>where</th><th>what</th></tr></thead><tbody>{rows}</tbody></table>" if rows else ""
        )
        return f"<div>{table}<p>{html.escape(self._format_summary())}</p></div>"

    def _format_summary(self):
        read = f"{self.files} file{'s' if self.files != 1 else ''}, {self.count} uses of MindSpore"
        stops = self.stops
        if not self.count and not stops:
            return f"{read}: there is nothing to check."
        names = sorted({line.name for line in stops if line.kind in ("name", "later")})
        arguments = sum(line.kind == "argument" for line in stops)
        broken = sum(line.kind == "text" for line in stops)
        counts = [
            f"{len(names)} name{'s' if len(names) != 1 else ''} that msnb lacks" if names else "",
            f"{arguments} call{'s' if arguments != 1 else ''} with arguments that it does not take"
            if arguments
            else "",
            f"{broken} file{'s' if broken != 1 else ''} that could not be read" if broken else "",
        ]
        findings = ", ".join(filter(None, counts)) or "msnb has every name and argument that can be seen"
        return f"{read}: {findings}.{self._format_import_stops()}{self._format_generation()}"

    def _format_import_stops(self):
        if self.import_stops is None or not self.import_stops.n_modules:
            return ""
        count, causes = self.import_stops.n_modules, self.import_stops.causes
        listed = ", ".join(f"{cause.file}:{cause.line} ({cause.n_modules})" for cause in causes[:_MAX_NAMES])
        more = f" and {len(causes) - _MAX_NAMES} more" if len(causes) > _MAX_NAMES else ""
        return f" Stops at import: {count} module{'s' if count != 1 else ''} (first: {listed}{more})."

    def _format_generation(self):
        if self.generation is None:
            return " By its names it may be of any year."
        names = list(dict.fromkeys(use.name.replace("()", "") for use in self._evidence[self.generation]))[:_MAX_NAMES]
        which, advice = ("r1.1", "") if self.generation == 1 else ("MindSpore 1.2 or later", "; run it with --api 2")
        return f" It was written for {which}: {', '.join(names)}{advice}."


def check(path: str | os.PathLike[str]) -> Report:
    """Report the names and arguments that a program uses and msnb does not have. The program is parsed, not run.

    Names are followed through imports and assignments, if the text determines their meaning. The types of function
    arguments are unknown, so methods of a Tensor are checked only if MindSpore's functions return it. Uses that the
    program guards (``except ImportError``, ``hasattr``, a test of the version) are not reported.

    For a folder, the report also counts the modules that cannot be imported: a missing name at the top of one module
    stops every module that imports it.

    Args:
        path (str): A Python file, a notebook, or a folder with such files.

    Returns:
        Report.

    Raises:
        FileNotFoundError: If there is no such path.
        ValueError: If a file is neither Python nor a notebook.
    """
    return Report(list(pieces(path)), Path(path) if os.path.isdir(path) else None)


def _format_line(line):
    return f"{line.name.removeprefix('mindspore.')}: {line.text}" if line.kind == "meaning" else line.text


def _infer_generation(uses_of: dict[int, list[Use]]) -> int | None:
    first, second = (len({use.name for use in uses_of[g]}) for g in (1, 2))
    return None if first == second else 1 if first > second else 2
