"""Plans side by side, as text and as a small table of HTML."""

import html
import math
from typing import Any

_HEAD = (
    "strategy",
    "step, ms",
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
        *(f"{1e3 * seconds:,.2f}" for seconds in one.time),
        f"{one.bytes / 1e6:,.2f}",
        "" if made is None else f"{made.bytes / 1e6:,.2f}",
        f"{one.operations / 1e9:,.1f}",
        f"{one.memory / gib:,.3f}",
        "" if made is None else f"{made.memory / gib:,.3f}",
        "yes" if one.fits else "no",
    )


def _title(around: Any) -> str:
    mesh = " x ".join(f"{size} {axis}" for axis, size in around.mesh.items())
    of = f"{math.prod(around.mesh.values())} {around.hardware.name} ({mesh})"
    return f"{around.title} on {of}, {around.memory / 2**30:,.1f} GiB each; all figures are those of one device"


def text_table(plans: list[Any], around: Any) -> str:
    """Plans as lines."""
    rows = [_HEAD, *map(_row, plans)]
    wide = [max(len(row[k]) for row in rows) for k in range(len(_HEAD))]
    lines = ["  ".join([row[0].ljust(wide[0]), *(c.rjust(w) for c, w in zip(row[1:], wide[1:]))]) for row in rows]
    return "\n".join([_title(around), *lines])


def html_table(plans: list[Any], around: Any) -> str:
    """The same as HTML, without script."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in _HEAD)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in _row(one)) + "</tr>" for one in plans)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><p>{html.escape(_title(around))}</p>{table}</div>"
