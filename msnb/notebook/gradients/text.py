"""Format a recording for a terminal: findings, then a line per Parameter with its norm over the steps."""

from typing import Any

import numpy as np

from msnb.ir.source import show

_BARS = "▁▂▃▄▅▆▇█"
_MOST = 40
_WIDTH = 16


def to_text(recording: Any, findings: Any) -> str:
    """Return a recording as text."""
    steps = recording.steps
    if not steps:
        return "\n".join([f"✖ {finding.text}" for finding in findings] or ["No gradients recorded yet."])
    one = len(steps) == 1
    which = f"step {steps[0].number}" if one else f"steps {steps[0].number} to {steps[-1].number}"
    head = f"Gradients of {which}, {recording.mode} mode"
    losses = [s.loss for s in steps if s.loss is not None]
    if losses:
        head += f"; loss {losses[-1]:.4g}" if one else f"; loss {losses[0]:.4g} → {losses[-1]:.4g}"
    lines = [head]
    lines += [f"{'✖' if f.severity == 'error' else '▲'} {f.text}" for f in findings] or ["✔ Nothing wrong was found."]
    lines += [f"  {note}" for note in recording.notes()]
    rows = recording.rows("parameter")
    if not rows:
        return "\n".join(lines)
    wide = max(9, *(len(r.name) for r in rows[:_MOST]))
    over = "" if one else f" {'norm':<{_WIDTH}}"  # one step has no curve, so the column is omitted
    lines.append(
        f"{'parameter':<{wide}}{over} {'norm' if one else 'last':>9} {'mean':>9} {'std':>9} {'zeros':>6} "
        f"{'|Δw|/|w|':>9}  line"
    )
    for row in rows[:_MOST]:
        values = np.array([recording.values(row, s) for s in steps])
        last = values[-1]
        over = "" if one else f" {sparkline(values[:, 0]):<{_WIDTH}}"
        lines.append(
            f"{row.name:<{wide}}{over} {_format_number(last[0]):>9} {_format_number(last[1]):>9} "
            f"{_format_number(last[2]):>9} {_format_percentage(last[5]):>6} {_format_number(last[9]):>9}"
            f"  {show(row.source)}"
        )
    if len(rows) > _MOST:
        lines.append(f"… {len(rows) - _MOST} more")
    return "\n".join(line.rstrip() for line in lines)


def sparkline(values: Any, width: int = _WIDTH) -> str:
    """Return block characters for positive numbers on a logarithmic scale; ✖ for non-finite values, · for zero."""
    values = np.asarray(values, np.float64)
    if len(values) > width:
        values = values[np.linspace(0, len(values) - 1, width).round().astype(int)]
    good = values[np.isfinite(values) & (values > 0)]
    if not len(good):
        return "".join("·" if v == 0 else "✖" for v in values)
    low, high = np.log10(good.min()), np.log10(good.max())
    span = max(high - low, 0.3)  # at least a factor of two (10 ** 0.3), so that small changes look small
    return "".join(
        "·"
        if v == 0
        else "✖"
        if not np.isfinite(v)
        else _BARS[int(round((np.log10(v) - low) / span * (len(_BARS) - 1)))]
        for v in values
    )


def _format_number(value):
    return "" if value != value else f"{value:.3g}"


def _format_percentage(value):
    return "" if value != value else f"{value:.0%}"
