"""Draw a dashboard's curves as a still picture, for pages without scripts."""

import textwrap
from html import escape

import numpy as np

from msnb.insight.ellipsize import middle
from msnb.insight.runs import Run
from msnb.insight.runs.downsampling import thinned

_WIDTH, _WIDE, _HIGH, _GAP = 860, 270, 150, 12
_COLUMNS = 130  # maximum points of a curve
COLOURS = (  # the colours for light pages in src/palette.js
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#9870e8",
    "#683058",
    "#282088",
    "#b07898",
    "#880878",
    "#b05040",
    "#384008",
)
_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,sans-serif;fill:#24303b}.s{fill:#5f6b76;font-size:11px}"
    ".b{font-weight:600}.bad{fill:#c2410c}.bg{fill:#fff;stroke:#d5dbe1}.box{fill:none;stroke:#d5dbe1}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ee}.s{fill:#9aa5b1}.bad{fill:#f08a4b}.bg{fill:#16191d;stroke:#353c44}"
    ".box{stroke:#353c44}}"
)


def to_svg(runs: list[Run], title: str, waiting: str = "", charts: int = 9) -> str:
    """Return an SVG of the first curves of some runs, with a legend.

    Args:
        runs (list[Run]): the runs.
        title (str): the heading.
        waiting (str): the message if there is no run yet. Default: "".
        charts (int): maximum number of curves. Default: 9.
    """
    tags = list(dict.fromkeys(tag for run in runs for tag in run.tags["scalar"]))
    tags.sort(key=lambda tag: tag.startswith("system/"))  # system metrics come last
    out, y = [f'<text x="16" y="26" class="b">{escape(title)}</text>'], 46
    for number, run in enumerate(runs[:12]):
        x = 16 + 207 * (number % 4)
        out.append(
            f'<rect x="{x}" y="{y - 8}" width="14" height="4" fill="{COLOURS[number % len(COLOURS)]}"/>'
            f'<text x="{x + 20}" y="{y}" class="s">{escape(middle(run.name, 20))}, {_format_outcome(run)}</text>'
        )
        if number % 4 == 3 and number + 1 < len(runs[:12]):
            y += 18
    y += 12
    # a single curve is drawn over the area of all charts
    wide, high = (_WIDTH - 26, 2 * _HIGH) if len(tags) == 1 else (_WIDE, _HIGH)
    for number, tag in enumerate(tags[:charts]):
        out.append(
            _draw_chart(runs, tag, (13 + (wide + _GAP) * (number % 3), y + (high + _GAP) * (number // 3)), wide, high)
        )
    rows = -(-len(tags[:charts]) // 3)
    y += rows * (high + _GAP) + 8
    rest = [f"{len(tags) - charts} more curves"] if len(tags) > charts else []
    for kind in ("image", "histogram", "tensor", "graph"):
        n = len({tag for run in runs for tag in run.tags[kind]})
        rest += [f"{n} {kind}{'s' if n > 1 else ''}"] if n else []
    if rest or not tags:
        words = "and " + ", ".join(rest) if tags else ", ".join(rest) or waiting or "Nothing was recorded yet."
        for line in textwrap.wrap(words, 130):
            out.append(f'<text x="16" y="{y + 6}" class="s">{escape(line)}</text>')
            y += 18
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" height="{y}" role="img" '
        f'aria-label="{escape(f"Curves of {title}", quote=True)}"><style>{_STYLE}</style>'
        f'<rect x=".5" y=".5" rx="6" class="bg" width="{_WIDTH - 1}" height="{y - 1}"/>{"".join(out)}</svg>'
    )


def _format_outcome(run):
    """Return the outcome of a run, in red if its loss is not finite."""
    outcome = run.outcome
    return f'<tspan class="bad">{escape(outcome)}</tspan>' if "," in outcome else escape(outcome)


def _draw_chart(runs, tag, corner, width, height):
    left, top = corner
    curves = [
        (number, thinned(run.scalar(tag), _COLUMNS)) for number, run in enumerate(runs) if tag in run.tags["scalar"]
    ]
    finite_curves = [(number, one.steps, one.mean) for number, one in curves if np.isfinite(one.mean).any()]
    out = [
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="4" class="box"/>'
        f'<text x="{left + 8}" y="{top + 17}" class="b">{escape(middle(tag, width // 8))}</text>'
    ]
    if not finite_curves:
        return out[0] + f'<text x="{left + 8}" y="{top + 40}" class="s">no finite value</text>'
    low = min(float(np.nanmin(values[np.isfinite(values)])) for _, _, values in finite_curves)
    high = max(float(np.nanmax(values[np.isfinite(values)])) for _, _, values in finite_curves)
    first, last = (
        min(steps[0] for _, steps, _ in finite_curves),
        max(runs[at].scalar(tag).steps[-1] for at, _, _ in finite_curves),
    )
    if all(np.isfinite(values).sum() == 1 for _, _, values in finite_curves):
        return out[0] + _draw_single_values(finite_curves, first, last, (left, top), width, height)
    wide, tall = width - 20, height - 58
    flat = top + 32 + tall / 2  # vertical position of a constant curve
    for number, steps, values in finite_curves:
        good = np.isfinite(values)
        xs = left + 10 + (steps[good] - first) / ((last - first) or 1) * wide
        ys = top + 32 + (high - values[good]) / (high - low) * tall if high > low else np.full(good.sum(), flat)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))
        colour = COLOURS[number % len(COLOURS)]
        if good.sum() == 1:
            out.append(f'<circle cx="{xs[0]:.1f}" cy="{ys[0]:.1f}" r="3" fill="{colour}"/>')
        else:
            out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    out.append(
        f'<text x="{left + 8}" y="{top + height - 8}" class="s">{low:.4g} to {high:.4g}, step {first:,.0f} to '
        f"{last:,.0f}</text>"
    )
    return "".join(out)


def _draw_single_values(curves, first, last, corner, width, height):
    """Draw the values of series with one value each as numbers, because they have no curve."""
    left, top = corner
    rows = curves[: max(1, (height - 58) // 16)]
    row_height = (height - 58) / len(rows)
    size = min(28, max(13, int(row_height * 0.8)))
    texts = [f"{float(values[np.isfinite(values)][0]):.4g}" for _, _, values in rows]
    x = left + width / 2 - 0.3 * size * max(map(len, texts))
    out = []
    for position, ((number, _, _), text) in enumerate(zip(rows, texts, strict=True)):
        y = top + 32 + row_height * (position + 0.5)
        out.append(
            f'<circle cx="{x - 12:.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[number % len(COLOURS)]}"/>'
            f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" class="b" style="font-size:{size}px">{text}</text>'
        )
    where = f"step {first:,.0f}" + (f" to {last:,.0f}" if last > first else "")
    rest = f", {len(curves) - len(rows)} more runs" if len(curves) > len(rows) else ""
    return "".join(out) + f'<text x="{left + 8}" y="{top + height - 8}" class="s">{where}{rest}</text>'
