"""Draw a profile as a still picture, for pages without scripts."""

import textwrap
from html import escape
from typing import TYPE_CHECKING

from msnb.insight.ellipsize import middle
from msnb.insight.profile.text import format_seconds
from msnb.ir.source import show

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.result import Profile

_WIDTH, _ROW = 860, 20
_SPAN = _WIDTH - 32  # width between the margins
_COLOURS = {
    "compute": "#0072b2",
    "gaps": "#8fb6d0",
    "data": "#009e73",
    "host": "#a9b4be",
    "unknown": "#a9b4be",
    "forward": "#0072b2",
    "backward": "#d55e00",
    "update": "#009e73",
}
_COLUMNS = {"operator": (320, 212), "cell": (540, 172), "line": (720, 132)}  # x position and width in pixels
_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,sans-serif;fill:#24303b}.s{fill:#5f6b76}"
    ".b{font-weight:600}.n{text-anchor:end;font-variant-numeric:tabular-nums}"
    ".bg{fill:#fff;stroke:#d5dbe1}.card{fill:#f6f8fa}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ee}.s{fill:#9aa5b1}.bg{fill:#16191d;stroke:#353c44}"
    ".card{fill:#1c2025}}"
)


def _estimate_width(text):
    """Estimate the width in pixels of a text at 12 px in a wide sans-serif font. The estimate is an upper bound."""
    return sum(11.8 if c in "MWmw@%" else 8.6 if c.isupper() else 5 if c in "iljtfr.,:;'|()[] " else 7.7 for c in text)


def _fit_text(column, text, y, style=""):
    """Return a text element, shortened to end before the next column."""
    x, room = _COLUMNS[column]
    fitted, most = text, len(text)
    while most > 2 and _estimate_width(fitted) > room:
        most -= 1
        fitted = middle(text, most)
    return f'<text x="{x}" y="{y}" class="{style}">{escape(fitted)}</text>'


def to_svg(profile: "Profile", rows: int = 10) -> str:
    """Return an SVG of the headline, the parts of a step, the advice and the slowest operators.

    Args:
        profile (Profile): the profile.
        rows (int): number of operators. Default: 10.
    """
    out, total = [_draw_headline(profile)], sum(profile.parts.values()) or 1.0
    y = _draw_parts(out, profile, total, 56)
    y = _draw_advice(out, profile, y + 12)
    y = _draw_rows(out, profile.rows[:rows], total, y + 16)
    label = escape(f"Profile of {profile.name}: {format_seconds(profile.step_seconds)} a step", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" height="{y}" '
        f'role="img" aria-label="{label}"><style>{_STYLE}</style><rect x=".5" y=".5" rx="6" class="bg" '
        f'width="{_WIDTH - 1}" height="{y - 1}"/>{"".join(out)}</svg>'
    )


def _draw_headline(profile):
    low, high = profile.spread
    return (
        f'<text x="16" y="34" class="b" style="font-size:24px">{format_seconds(profile.step_seconds)}</text>'
        f'<text x="130" y="26">a step of <tspan class="b">{escape(profile.name)}</tspan></text>'
        f'<text x="130" y="42" class="s">{profile.mode}, {len(profile.steps)} steps between {format_seconds(low)} '
        f"and {format_seconds(high)}; compiling took {format_seconds(profile.compile_seconds)}</text>"
    )


def _draw_parts(out, profile, total, y):
    """Append the bar of the parts of a step and its legend to `out`. Return the y position of the legend."""
    x, legend = 16.0, []
    for name, part in profile.parts.items():
        if part > 0:
            wide = _SPAN * part / total
            out.append(
                f'<rect x="{x:.1f}" y="{y}" width="{max(wide - 1.5, 1):.1f}" height="14" rx="2" '
                f'fill="{_COLOURS[name]}"/>'
            )
            legend.append(f"{name} {100 * part / total:.0f} %")
            x += wide
    y += 30
    out.append(f'<text x="16" y="{y}" class="s">{escape(" · ".join(legend))}</text>')
    return y


def _draw_advice(out, profile, y):
    """Append a box per piece of advice to `out`. Return the y position below them."""
    for finding in profile.advice[:3]:
        lines = textwrap.wrap(finding.text, 128)
        high_box = 16 * len(lines) + 10
        out.append(
            f'<rect x="16" y="{y}" width="{_SPAN}" height="{high_box}" class="card"/>'
            f'<rect x="16" y="{y}" width="3" height="{high_box}" fill="#d55e00"/>'
        )
        out += [f'<text x="28" y="{y + 18 + 16 * at}">{escape(line)}</text>' for at, line in enumerate(lines)]
        y += high_box + 6
    return y


def _draw_rows(out, rows, total, y):
    """Append a line per operator to `out`. Return the y position below them."""
    most = max((row.seconds for row in rows), default=1.0) or 1.0
    for row in rows:
        name = row.name + {"fused": " (fused)", "inferred": " (inferred)"}.get(row.how, "")
        out.append(
            f'<text x="84" y="{y}" class="n">{format_seconds(row.seconds)}</text>'
            f'<text x="138" y="{y}" class="n s">{100 * row.seconds / total:.1f} %</text>'
            f'<rect x="150" y="{y - 10}" width="{max(160 * row.seconds / most, 1):.1f}" height="11" rx="2" '
            f'fill="{_COLOURS[row.direction]}"/>'
            + _fit_text("operator", name, y)
            + _fit_text("cell", row.cell, y, "s")
            + _fit_text("line", show(row.source), y, "s")
        )
        y += _ROW
    return y
