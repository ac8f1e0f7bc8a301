"""Formatting of a monitor's measurements as text for terminals."""

from typing import Any

_BAR_WIDTH = 20
_LABEL_WIDTH = 46


def rate(rows: float, seconds: float) -> str:
    """Format rows per second in a few characters."""
    if not seconds or not rows:
        return "-"
    value = rows / seconds
    for factor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g}{unit}/s"
    return f"{value:.3g}/s"


def table(snapshot: dict[str, Any]) -> str:
    """Format a monitor's measurements as a table of text."""
    filled, capacity = snapshot["queue"]
    state = "running" if snapshot["running"] else "done"
    head = (
        f"{state}, {snapshot['seconds']:.2f} s: {snapshot['rows']} {snapshot['unit']} out, "
        f"{rate(snapshot['rows'], snapshot['seconds'])}; consumer waited {snapshot['waited']:.2f} s, "
        f"worked {snapshot['used']:.2f} s" + (f"; queue {filled}/{capacity}" if capacity else "")
    )
    lines = [head, f"{'operator':{_LABEL_WIDTH}}{'rows':>9}{'alone':>10}{'time':>10}{'share':>7}"]
    for o in snapshot["operators"]:
        label = "  " * o["depth"] + o["label"]
        if len(label) > _LABEL_WIDTH - 2:
            label = label[: _LABEL_WIDTH - 3] + "…"
        lines.append(
            f"{label:{_LABEL_WIDTH}}{o['rows']:>9}{rate(o['rows'], o['seconds']):>10}{o['seconds']:>8.3f} s"
            f"{o['share']:>7.0%} {'█' * round(_BAR_WIDTH * o['share'])}{' <' if o['worst'] else ''}"
        )
    return "\n".join([*lines, snapshot["verdict"]])


def duration(seconds: float) -> str:
    """Format seconds in a suitable unit."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns" if seconds else "-"
