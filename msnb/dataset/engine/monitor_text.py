"""A monitor's figures as text, for terminals."""

from typing import Any

_BAR = 20
_LABEL = 46


def rate(rows: float, seconds: float) -> str:
    """Rows per second in a few characters."""
    if not seconds or not rows:
        return "-"
    value = rows / seconds
    for factor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g}{unit}/s"
    return f"{value:.3g}/s"


def table(snapshot: dict[str, Any]) -> str:
    """The figures as lines of text."""
    filled, places = snapshot["queue"]
    state = "running" if snapshot["running"] else "done"
    head = (
        f"{state}, {snapshot['seconds']:.2f} s: {snapshot['rows']} {snapshot['unit']} out, "
        f"{rate(snapshot['rows'], snapshot['seconds'])}; consumer waited {snapshot['waited']:.2f} s, "
        f"worked {snapshot['used']:.2f} s" + (f"; queue {filled}/{places}" if places else "")
    )
    lines = [head, f"{'operator':{_LABEL}}{'rows':>9}{'alone':>10}{'time':>10}{'share':>7}"]
    for o in snapshot["operators"]:
        label = "  " * o["depth"] + o["label"]
        if len(label) > _LABEL - 2:
            label = label[: _LABEL - 3] + "…"
        lines.append(
            f"{label:{_LABEL}}{o['rows']:>9}{rate(o['rows'], o['seconds']):>10}{o['seconds']:>8.3f} s"
            f"{o['share']:>7.0%} {'█' * round(_BAR * o['share'])}{' <' if o['worst'] else ''}"
        )
    return "\n".join([*lines, snapshot["verdict"]])


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns" if seconds else "-"
