"""Comparison tables of plans, as text and as HTML."""

import html
import math
from collections.abc import Sequence
from typing import Any

_COLUMN_TITLES = (
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


def _format_plan(plan: Any) -> tuple[str, ...]:
    compiled, gib = plan.compiled, 2.0**30
    return (
        plan.name,
        "" if plan.pipeline is None else f"{plan.pipeline.bubble:.0%}",
        f"{1e3 * plan.time.step:,.2f}",
        f"{plan.rate:,.0f}",
        f"{plan.utilisation:.1%}",
        f"{plan.device_hours:,.3g}",
        *(f"{1e3 * seconds:,.2f}" for seconds in plan.time[1:]),
        f"{plan.bytes / 1e6:,.2f}",
        "" if compiled is None else f"{compiled.bytes / 1e6:,.2f}",
        f"{plan.operations / 1e9:,.1f}",
        f"{plan.memory / gib:,.3f}",
        "" if compiled is None else f"{compiled.memory / gib:,.3f}",
        "yes" if plan.fits else "no",
    )


def _format_plans(plans: list[Any], unit: str) -> list[tuple[str, ...]]:
    """Return the titles and one row for each plan. The bubble column is omitted if no plan is a pipeline."""
    rows = [tuple(head.format(unit=unit) for head in _COLUMN_TITLES), *map(_format_plan, plans)]
    if any(one.pipeline is not None for one in plans):
        return rows
    return [(row[0], *row[2:]) for row in rows]


def _format_title(owner: Any) -> str:
    mesh = " x ".join(f"{size} {axis}" for axis, size in owner.mesh.items())
    machine = f"{math.prod(owner.mesh.values())} {owner.hardware.name} ({mesh})"
    return f"{owner.title} on {machine}, {owner.memory / 2**30:,.1f} GiB each; all figures are those of one device"


def text_table(plans: list[Any], owner: Any, refused: Sequence[Any] = ()) -> str:
    """Return plans as lines of text, followed by the refused strategies with their reasons.

    Args:
        plans (list[Plan]): The plans.
        owner (Plans): The comparison that they belong to.
        refused (Sequence[Refused]): The strategies that are not possible.
    """
    rows = _format_plans(plans, owner.unit)
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]) for row in rows]
    lines += [f"{one.name.ljust(widths[0])}  none: {one.reason}" for one in refused]
    return "\n".join([_format_title(owner), *owner.notes, *lines])


def html_table(plans: list[Any], owner: Any, refused: Sequence[Any] = ()) -> str:
    """Return the same table as `text_table` as HTML, without script."""
    names, *rows = _format_plans(plans, owner.unit)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    for one in refused:
        reason = f'<td colspan="{len(names) - 1}" style="text-align:left">none: {html.escape(one.reason)}</td>'
        body += f"<tr><td>{html.escape(one.name)}</td>{reason}</tr>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    notes = "".join(f"<p><b>{html.escape(note)}</b></p>" for note in owner.notes)
    return f"<div><p>{html.escape(_format_title(owner))}</p>{notes}{table}</div>"
