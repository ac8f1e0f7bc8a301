"""Plans side by side, as text and as a small table of HTML."""

import html
import math
from collections.abc import Sequence
from typing import Any

_HEAD = (
    "strategy",
    "bubble",
    "step, ms",
    "{unit}/s",
    "MFU",
    "device h/1,000 steps",
    "computing",
    "sending",
    "sent, MB",
    "XLA: sent",
    "GFLOP",
    "memory, GiB",
    "XLA: memory",
    "fits",
)


def _row(one: Any) -> tuple[str, ...]:
    made, gib = one.compiled, 2.0**30
    return (
        one.name,
        "" if one.pipeline is None else f"{one.pipeline.bubble:.0%}",
        f"{1e3 * one.time.step:,.2f}",
        f"{one.rate:,.0f}",
        f"{one.utilisation:.1%}",
        f"{one.device_hours:,.3g}",
        *(f"{1e3 * seconds:,.2f}" for seconds in one.time[1:]),
        f"{one.bytes / 1e6:,.2f}",
        "" if made is None else f"{made.bytes / 1e6:,.2f}",
        f"{one.operations / 1e9:,.1f}",
        f"{one.memory / gib:,.3f}",
        "" if made is None else f"{made.memory / gib:,.3f}",
        "yes" if one.fits else "no",
    )


def _rows(plans: list[Any], unit: str) -> list[tuple[str, ...]]:
    """The head and a row for each plan; how long a stage idles is told where there are stages."""
    rows = [tuple(head.format(unit=unit) for head in _HEAD), *map(_row, plans)]
    if any(one.pipeline is not None for one in plans):
        return rows
    return [(row[0], *row[2:]) for row in rows]


def _title(around: Any) -> str:
    mesh = " x ".join(f"{size} {axis}" for axis, size in around.mesh.items())
    of = f"{math.prod(around.mesh.values())} {around.hardware.name} ({mesh})"
    return f"{around.title} on {of}, {around.memory / 2**30:,.1f} GiB each; all figures are those of one device"


def text_table(plans: list[Any], around: Any, refused: Sequence[Any] = ()) -> str:
    """Plans as lines; below them the ways that there are not, each with its reason."""
    rows = _rows(plans, around.unit)
    wide = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join([row[0].ljust(wide[0]), *(c.rjust(w) for c, w in zip(row[1:], wide[1:]))]) for row in rows]
    lines += [f"{one.name.ljust(wide[0])}  none: {one.reason}" for one in refused]
    return "\n".join([_title(around), *around.notes, *lines])


def html_table(plans: list[Any], around: Any, refused: Sequence[Any] = ()) -> str:
    """The same as HTML, without script."""
    names, *rows = _rows(plans, around.unit)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    for one in refused:
        reason = f'<td colspan="{len(names) - 1}" style="text-align:left">none: {html.escape(one.reason)}</td>'
        body += f"<tr><td>{html.escape(one.name)}</td>{reason}</tr>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    notes = "".join(f"<p><b>{html.escape(note)}</b></p>" for note in around.notes)
    return f"<div><p>{html.escape(_title(around))}</p>{notes}{table}</div>"
