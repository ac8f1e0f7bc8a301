"""Draw a recording as a still picture for pages without scripts: findings, gradients per layer, a table."""

import math
import textwrap
from html import escape
from typing import Any

import numpy as np

from msnb.insight.ellipsize import middle
from msnb.ir.source import show

_WIDTH = 900
_ROWS = 24
_STYLE = """
.bg{fill:#fff}.ink{fill:#24303b}.soft{fill:#5f6b76}.rule{stroke:#ccd3da}.line{fill:none;stroke:#1f6fb2;stroke-width:1.8}
.dot{fill:#1f6fb2}.past{fill:none;stroke:#1f6fb2;stroke-opacity:.25}.bad{fill:#c2410c}.warn{fill:#9a6700}.good{fill:#2e7d4f}
text{font:12px system-ui,Segoe UI,Roboto,Helvetica,Arial,sans-serif}.small{font-size:10.5px}
.mono{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:11px}.head{font-size:14px;font-weight:650}
@media(prefers-color-scheme:dark){.bg{fill:#16191d}.ink{fill:#e4e9ee}.soft{fill:#9aa5b1}.rule{stroke:#353c44}
.line,.past{stroke:#6cb2f0}.dot{fill:#6cb2f0}.bad{fill:#fb9a6b}.warn{fill:#f0c05a}.good{fill:#7fcf9f}}
"""


def to_svg(recording: Any, findings: Any) -> str:
    """Return a recording as an SVG document."""
    steps, parts, y = recording.steps, [], 26
    if not steps and not findings:
        return _wrap_in_svg_document(['<text class="ink" x="16" y="30">No gradients recorded yet.</text>'], 50)
    losses = [s.loss for s in steps if s.loss is not None]
    span = f"steps {steps[0].number} to {steps[-1].number}" if steps else "no steps"
    title = f"Gradients, {span} ({recording.mode})"
    if losses:
        title += f", loss {losses[0]:.4g} → {losses[-1]:.4g}"
    parts.append(f'<text class="ink head" x="16" y="{y}">{escape(title)}</text>')
    y += 8
    for finding in findings:
        mark, kind = ("✖", "bad") if finding.severity == "error" else ("▲", "warn")
        for number, line in enumerate(textwrap.wrap(finding.text, 125)):
            y += 17
            if not number:
                parts.append(f'<text class="{kind}" x="16" y="{y}">{mark}</text>')
            parts.append(f'<text class="ink" x="34" y="{y}">{escape(line)}</text>')
        y += 3
    if not findings:
        y += 17
        parts.append(
            f'<text class="good" x="16" y="{y}">✔</text>'
            f'<text class="ink" x="34" y="{y}">Nothing wrong was found.</text>'
        )
    rows = recording.rows("parameter") if steps else []
    weights = [r for r in rows if len(r.shape) > 1 and r.order < 10**6]
    if len(weights) > 1:
        y += 16
        parts.append(_draw_layer_gradients(recording, weights, y))
        y += 190
    if rows:
        y += 18
        body, y = _draw_table(recording, rows, y)
        parts.append(body)
    return _wrap_in_svg_document(parts, y + 14)


def _wrap_in_svg_document(parts, height):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" aria-label="gradients of a training"><style>{_STYLE}</style>'
        f'<rect class="bg" width="100%" height="100%"/>{"".join(parts)}</svg>'
    )


def _draw_layer_gradients(recording, rows, top):
    """Draw the RMS of each layer's weight gradient, from the input (left) to the output."""
    steps = recording.steps
    picked = [steps[i] for i in sorted({round(k * (len(steps) - 1) / 5) for k in range(6)})]
    rms = np.array([[recording.values(r, s)[0] / math.sqrt(r.size) for r in rows] for s in picked])
    good = rms[np.isfinite(rms) & (rms > 0)]
    parts = [
        f'<text class="soft" x="16" y="{top + 6}">gradient per element (RMS) of each layer\'s weight, input to '
        f"output</text>"
    ]
    if not len(good):
        return parts[0]
    low, high = math.floor(np.log10(good.min())), math.ceil(np.log10(good.max()))
    high = max(high, low + 1)
    left, width, y0, height = 70, _WIDTH - 100, top + 16, 140

    def place(i, v):
        x = left + width * i / max(1, len(rows) - 1)
        return x, y0 + height * (high - np.log10(max(v, 10.0**low))) / (high - low)

    for decade in range(low, high + 1, max(1, (high - low) // 5)):
        _, y = place(0, 10.0**decade)
        parts.append(
            f'<line class="rule" x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="soft small" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">1e{decade}</text>'
        )
    for line in rms[:-1]:
        points = " ".join("{:.1f},{:.1f}".format(*place(i, v)) for i, v in enumerate(line) if np.isfinite(v))
        parts.append(f'<polyline class="past" points="{points}"/>')
    ends = [place(i, v) for i, v in enumerate(rms[-1]) if np.isfinite(v)]
    parts.append(f'<polyline class="line" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in ends)}"/>')
    parts += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in ends]
    free = -math.inf  # x position of the right end of the previous label
    for i, row in enumerate(rows):
        x, _ = place(i, 10.0**low)
        text = middle(row.name, 20)
        wide = 6.2 * len(text)  # estimated width in pixels
        last = i == len(rows) - 1
        anchor, start = ("start", x) if i == 0 else ("end", x - wide) if last else ("middle", x - wide / 2)
        keep = left + width - 6.2 * len(middle(rows[-1].name, 20)) - 10  # space for the last label
        if start < free + 10 or not last and i and start + wide > keep:
            continue
        free = start + wide
        parts.append(
            f'<text class="soft small" x="{x:.1f}" y="{y0 + height + 18}" text-anchor="{anchor}">{escape(text)}</text>'
        )
    return "".join(parts)


def _draw_table(recording, rows, y):
    steps = recording.steps
    columns = (
        ("norm", 0, 440),
        ("mean", 1, 515),
        ("std", 2, 590),
        ("zeros", 5, 650),
        ("NaN", 6, 700),
        ("|Δw|/|w|", 9, 775),
    )
    parts = [f'<text class="soft small" x="16" y="{y}">parameter</text>']
    if len(steps) > 1:
        parts.append(f'<text class="soft small" x="250" y="{y}">norm over the steps</text>')
    parts += [f'<text class="soft small" x="{x}" y="{y}" text-anchor="end">{name}</text>' for name, _, x in columns]
    parts.append(f'<text class="soft small" x="790" y="{y}">line</text>')
    for row in rows[:_ROWS]:
        y += 19
        values = np.array([recording.values(row, s) for s in steps])
        parts.append(
            f'<line class="rule" x1="16" x2="{_WIDTH - 16}" y1="{y - 13}" y2="{y - 13}" stroke-width=".5"/>'
            f'<text class="ink mono" x="16" y="{y}">{escape(middle(row.name, 32))}</text>'
            f"{_draw_sparkline(values[:, 0], 250, y - 11, 120, 13) if len(steps) > 1 else ''}"
        )
        for name, place, x in columns:
            value = values[-1][place]
            text = "" if value != value else f"{value:.0%}" if name == "zeros" else f"{value:.3g}"
            kind = "bad" if name == "NaN" and value > 0 else "ink"
            parts.append(f'<text class="{kind} mono" x="{x}" y="{y}" text-anchor="end">{text}</text>')
        parts.append(f'<text class="soft mono" x="790" y="{y}">{escape(middle(show(row.source), 15))}</text>')
    if len(rows) > _ROWS:
        y += 19
        parts.append(f'<text class="soft" x="16" y="{y}">… {len(rows) - _ROWS} more</text>')
    return "".join(parts), y


def _draw_sparkline(values, x, y, width, height):
    good = values[np.isfinite(values) & (values > 0)]
    if not len(good):
        return ""
    low, high = np.log10(good.min()), np.log10(good.max())
    span = max(high - low, 0.3)
    last = max(1, len(values) - 1)
    points = [
        (x + width * i / last, y + height * (1 - (np.log10(v) - low) / span))
        for i, v in enumerate(values)
        if np.isfinite(v) and v > 0
    ]
    if len(points) == 1:
        return f'<circle class="dot" cx="{points[0][0]:.1f}" cy="{y + height / 2:.1f}" r="2"/>'
    return f'<polyline class="line" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>'
