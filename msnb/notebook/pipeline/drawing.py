"""Format a monitor's snapshot as HTML: one bar per operator, in the order of the data flow."""

import functools
import pathlib
from collections.abc import Sequence
from html import escape
from typing import Any

from msnb.dataset.engine.execution.monitor_text import duration, rate

_STYLE = pathlib.Path(__file__).with_name("style.css")
_KINDS = {
    "source": "source",
    "map": "transform",
    "function": "Python",
    "cache": "memory",
    "batch": "batch",
    "device": "device",
    "operator": "operator",
}
_QUIET = 0.05  # a map operator whose transforms are listed is omitted below this share of the total time


@functools.cache
def style():
    """Return the style sheet."""
    return _STYLE.read_text(encoding="utf-8")


def page(snapshot: dict[str, Any], history: Any = ()) -> str:
    """Return `picture` with its style sheet, for a notebook file and for pages."""
    return f"<style>{style()}</style>{picture(snapshot, history)}"


def picture(snapshot: dict[Any, Any], history: Sequence[Any] = ()) -> str:
    """Return a snapshot as HTML.

    Args:
        snapshot (dict): The result of ``Monitor.snapshot``.
        history (list): (seconds, rows so far, queue fill from 0 to 1), one entry per snapshot. Default: ().
    """
    running = snapshot["running"]
    state = "running" if running else "finished"
    head = (
        f'<div class="top"><span class="dot{" on" if running else ""}"></span><b>{state}</b>'
        f"<span>{duration(snapshot['seconds'])}</span><span>{snapshot['rows']:,} {snapshot['unit']} out</span>"
        f"<span>{rate(snapshot['rows'], snapshot['seconds'])}</span>{_draw_sparkline(history)}</div>"
    )
    lines = "".join(_format_operator(o) for o in reversed(_select_significant_operators(snapshot["operators"])))
    label = escape(f"Pipeline, {state}. {snapshot['verdict']}", quote=True)
    return (
        f'<div class="msnb-pipe" role="group" aria-label="{label}">{head}'
        f'<p class="verdict">{_highlight_verdict(snapshot["verdict"])}</p>'
        '<div class="lines" role="table"><div class="line names" role="row"><span role="columnheader">operator</span>'
        '<span role="columnheader">share of the time</span><span role="columnheader">per row</span>'
        '<span role="columnheader">alone</span><span role="columnheader">rows</span></div>'
        f"{lines}</div>{_format_consumer(snapshot)}</div>"
    )


def _select_significant_operators(operators):
    """Return the operators without `map` operators that take little time. The transforms of a map are listed instead,
    as separate operators.
    """
    significant = []
    for number, o in enumerate(operators):
        holds = number + 1 < len(operators) and operators[number + 1]["depth"] > o["depth"]
        if o["kind"] == "map" and o["label"] == "map" and holds and o["share"] < _QUIET:
            continue
        significant.append(o)
    return significant


def _format_operator(o):
    share = o["share"]
    worst = " worst" if o["worst"] else ""
    what, on, column = o["label"].partition(" on ")
    name = f"{escape(what)}" + (f"<i>{escape(column)}</i>" if on else "")
    return (
        f'<div class="line {o["kind"]}{worst}" role="row" title="{escape(o["label"], quote=True)}">'
        f'<span class="name" role="cell"><em>{_KINDS[o["kind"]]}</em><span>{name}</span></span>'
        f'<span class="bar" role="cell"><span style="width:{100 * share:.1f}%"></span><small>{share:.0%}</small></span>'
        f'<span class="num" role="cell">{duration(o["seconds"] / max(o["rows"], 1))}</span>'
        f'<span class="num" role="cell">{rate(o["rows"], o["seconds"])}</span>'
        f'<span class="num" role="cell">{o["rows"]:,}</span></div>'
    )


def _format_consumer(snapshot):
    total = snapshot["waited"] + snapshot["used"]
    if not total:
        return ""
    waits = snapshot["waited"] / total
    filled, places = snapshot["queue"]
    times = "" if snapshot["running"] else " on average"
    cells = "".join(f'<u class="{"full" if i < filled else ""}"></u>' for i in range(places))
    queue = (
        f'<span class="queue" title="{filled} of {places} places of the queue are filled{times}">queue {cells}</span>'
        if places
        else '<span class="queue">no queue: a thread of its own would gain nothing</span>'
    )
    return (
        f'<div class="consumer">{queue}<span class="who">consumer</span>'
        f'<span class="split" title="waited {duration(snapshot["waited"])}, worked {duration(snapshot["used"])}">'
        f'<span class="waits" style="width:{100 * waits:.1f}%"></span></span>'
        f'<span class="num">waits {waits:.0%}, works {1 - waits:.0%}</span></div>'
    )


def _draw_sparkline(history):
    """Draw rows per second over time as a small plot."""
    rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(history, history[1:], strict=False) if b[0] > a[0]]
    if len(rates) < 3:
        return ""
    top = max(rates) or 1.0
    width, height = 120, 22
    points = " ".join(
        f"{i * width / (len(rates) - 1):.1f},{height - 1 - (height - 3) * r / top:.1f}" for i, r in enumerate(rates)
    )
    return (
        f'<svg class="spark" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="rows per second over time, at most {rate(top, 1)}">'
        f'<polyline points="{points}"/></svg>'
    )


def _highlight_verdict(verdict):
    """Return the sentence with its first words in bold, coloured as good news or as a bottleneck."""
    text = escape(verdict)
    for words, kind in (("The pipeline keeps up", "good"), ("Fast enough", "good"), ("Bottleneck", "bad")):
        text = text.replace(words, f'<b class="{kind}">{words}</b>', 1)
    return text
