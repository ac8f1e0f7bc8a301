"""Hits of watchpoints, and the list that shows them as a table."""

import dataclasses
import html
import linecache
from collections.abc import Iterable
from typing import Any

from msnb.core.errors.source_location import format_location
from msnb.insight.debugger.table import html_table
from msnb.insight.watchpoints.advice import advise
from msnb.insight.watchpoints.conditions import describe_error

_SHOWN = 100  # rows of a table
_CHANNELS = 6  # channels that a hit lists


@dataclasses.dataclass(frozen=True)
class Hit:
    """A condition that was met, or that could not be checked, at one value of one step.

    Attributes:
        step (int): number of the step, from 1.
        node (Union[int, None]): number of the node in the graph; None for a Parameter and in a step without a graph.
        slot (int): index of the node's result.
        name (str): full name of the node; for a Parameter its name, and for its gradient "gradient of" and the name.
        kind (str): ``"weight"``, ``"gradient"``, ``"activation"`` or ``"tensor"``.
        op (str): the operator.
        cell (str): attribute path of the operator's Cell.
        source (Union[tuple, None]): (file, line, function) of the user's code.
        lane (str): ``"forward"``, ``"backward"`` or ``"update"``.
        condition (str): id of the condition.
        parameter (str): parameter of the condition that was met; "" if it has none.
        preset (Union[float, None]): value of the parameter.
        actual (Union[float, None]): number that was compared with it; the count of NaN and infinities for an overflow.
        error_code (int): not 0 if the condition could not be checked: bits 1 NaN, 2 infinity, 4 no previous value.
        channels (tuple[int]): channels that meet the condition, if each channel is checked by itself; else ().
        round (Union[int, None]): iteration of the loop around the node; None outside of loops.
        order (float): position in the order of execution.
    """

    step: int
    node: int | None
    slot: int
    name: str
    kind: str
    op: str
    cell: str
    source: tuple[Any, ...] | None
    lane: str
    condition: str
    parameter: str = ""
    preset: Any = None
    actual: Any = None
    error_code: int = 0
    channels: tuple[int, ...] = ()
    round: int | None = None
    order: float = 0

    @property
    def is_checked(self) -> bool:
        """Return True if the condition was met, False if it could not be checked."""
        return not self.error_code

    @property
    def line(self) -> int | None:
        """Return the line of the user's code; None if it is unknown."""
        return None if self.source is None else self.source[1]

    @property
    def title(self) -> str:
        """Return the Parameter, or the Cell and the operator, such as ``fc1/MatMul-op3``."""
        if self.kind in ("weight", "gradient"):
            return self.name
        operator = self.name.rpartition("/")[2]
        return f"{self.cell}/{operator}" if self.cell else operator

    @property
    def advice(self) -> str:
        """Return the usual reasons of the condition and the change to try first; "" if there is no advice."""
        return advise(self.condition) if self.is_checked else ""

    def describe(self) -> str:
        """Return the hit as a sentence."""
        where = f"step {self.step}, {self.title}"
        if self.round is not None:
            where += f", round {self.round} of its loop"
        if self.channels:
            where += f", {_format_channels(self.channels)}"
        if self.source is not None:
            where += f", {format_location(*self.source[:2])}"
            text = linecache.getline(*self.source[:2]).strip()
            where += f" `{text}`" if text else ""
        return f"{self.condition}: {self._describe_outcome()} ({where})."

    def _describe_outcome(self):
        if self.error_code:
            return f"it can't be checked: {describe_error(self.error_code)}"
        if not self.parameter:
            if self.actual is None:
                return "it holds"
            count = int(self.actual)
            return f"{count} value{'' if count == 1 else 's'} {'is' if count == 1 else 'are'} NaN or infinite"
        return f"{self.parameter} is {format_number(self.preset)}, and the value is {format_number(self.actual)}"

    def row(self) -> dict[str, Any]:
        """Return the hit as a dict of the columns of a table."""
        where = "" if self.source is None else format_location(*self.source[:2])
        parameter = self.parameter or ("count" if self.actual is not None else "")
        details = [f"round {self.round}"] if self.round is not None else []
        details += [_format_channels(self.channels)] if self.channels else []
        return {
            "step": self.step,
            "node": f"{self.title} ({', '.join(details)})" if details else self.title,
            "lane": self.lane,
            "line": where,
            "condition": self.condition,
            "parameter": describe_error(self.error_code) if self.error_code else parameter,
            "preset": format_number(self.preset),
            "actual": format_number(self.actual),
        }


def _format_channels(channels):
    names = ", ".join(map(str, channels[:_CHANNELS]))
    more = f" and {len(channels) - _CHANNELS} more" if len(channels) > _CHANNELS else ""
    return f"channel{'s' if len(channels) > 1 else ''} {names}{more}"


def format_number(value: Any) -> str:
    """Return a number as short text; "" for None."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class HitTable:
    """Hits as a table with advice for their conditions: text in a console, HTML in a notebook.

    Args:
        hits (Iterable[Hit]): the hits.
        notes (Iterable[str]): sentences below the table.
    """

    COLUMNS = ("step", "node", "lane", "line", "condition", "parameter", "preset", "actual")

    def __init__(self, hits: Iterable[Hit], notes: Iterable[str] = ()) -> None:
        self.hits = list(hits)
        self.notes = list(notes)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as dicts."""
        return [hit.row() for hit in self.hits]

    def _format_shown_rows(self):
        rows = [[str(row[column]) for column in self.COLUMNS] for row in self.rows()[:_SHOWN]]
        left = len(self.hits) - len(rows)
        advice = {hit.condition: hit.advice for hit in self.hits if hit.advice}
        return rows, [
            *([f"{left} more hits are not shown."] if left else []),
            *(f"{condition}: {text}" for condition, text in advice.items()),
            *self.notes,
        ]

    def __repr__(self) -> str:
        rows, notes = self._format_shown_rows()
        lines = []
        if rows:
            widths = [max(len(row[i]) for row in [self.COLUMNS, *rows]) for i in range(len(self.COLUMNS))]
            for row in [self.COLUMNS, *rows]:
                lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        else:
            lines.append("No hits.")
        return "\n".join([*lines, *notes])

    def _repr_html_(self) -> str:
        rows, notes = self._format_shown_rows()
        table = html_table(self.COLUMNS, rows) if rows else "<p>No hits.</p>"
        return table + "".join(f"<p>{html.escape(note)}</p>" for note in notes)
