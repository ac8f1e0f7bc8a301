"""Runs as a still picture, for pages where no script runs: parallel coordinates, and the best of them as a table."""

import math
from html import escape
from typing import Any

from msnb.insight.ellipsize import middle
from msnb.notebook.display.html import number

_WIDTH, _ROW, _TOP, _HIGH = 860, 20, 84, 200
_AXES, _RUNS, _COLUMNS = 7, 14, 5
_LINES = 400  # of runs that are drawn; more of them make a picture larger and not clearer
_RAMP = ((0x2C, 0x5A, 0xA0), (0x3F, 0x97, 0xB7), (0x6F, 0xB3, 0x91), (0xDC, 0xAB, 0x34), (0xD4, 0x54, 0x1B))
_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,sans-serif;fill:#24303b}.s{fill:#5f6b76}.t{font-size:11px}"
    ".b{font-weight:600}.n{text-anchor:end;font-variant-numeric:tabular-nums}.m{text-anchor:middle}"
    ".bg{fill:#fff;stroke:#d5dbe1}.r{stroke:#d5dbe1}.a{stroke:#24303b}path{fill:none;stroke-opacity:.6}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ee}.s{fill:#9aa5b1}.bg{fill:#16191d;stroke:#353c44}"
    ".r{stroke:#353c44}.a{stroke:#e4e9ee}}"
)


def to_svg(made: dict[str, Any]) -> str:
    """The picture of what `payload.of_runs` says.

    Args:
        made (dict): the runs.

    Returns:
        str, SVG.
    """
    shown = [i for i, mark in enumerate(made["marks"]) if not mark["hidden"]]
    target = next((c for c in made["columns"] if c["name"] == made["target"] and c["group"] == "metric"), None)
    order = _ordered(shown, target, made["more"].get(made["target"], False))
    settings = [c for c in made["columns"] if c["group"] != "metric" and c["varies"]]
    out = [_head(made, shown, target, order)]
    axes = [c for c in settings if c["kind"] == "number" or len(c["words"]) <= 12][: _AXES - (target is not None)]
    axes += [target] if target else []
    y = 48.0
    if len(axes) > 1 and shown:
        out.append(_parallel(axes, order, target))
        y = _TOP + _HIGH + 44.0
    rows, bottom = _table(made, order[:_RUNS], [*([target] if target else []), *settings][: _COLUMNS + 1], y)
    out.append(rows)
    label = escape(_label(made), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {bottom:.0f}" width="{_WIDTH}" '
        f'height="{bottom:.0f}" role="img" aria-label="{label}"><style>{_STYLE}</style><rect x=".5" y=".5" rx="6" '
        f'class="bg" width="{_WIDTH - 1}" height="{bottom - 1:.0f}"/>{"".join(out)}</svg>'
    )


def to_text(made: dict[str, Any]) -> str:
    """The same as text, for a terminal."""
    target = next((c for c in made["columns"] if c["name"] == made["target"] and c["group"] == "metric"), None)
    shown = [i for i, mark in enumerate(made["marks"]) if not mark["hidden"]]
    order = _ordered(shown, target, made["more"].get(made["target"], False))[:20]
    settings = [c for c in made["columns"] if c["group"] != "metric" and c["varies"]]
    columns = [*([target] if target else []), *settings][:6]
    table = [["run", "state", *(c["name"] for c in columns)]]
    table += [[made["names"][i], made["states"][i], *(_said(c, i) for c in columns)] for i in order]
    wide = [max(len(row[at][:30]) for row in table) for at in range(len(table[0]))]
    lines = ["  ".join(cell[:30].ljust(wide[at]) for at, cell in enumerate(row)).rstrip() for row in table]
    rest = [f"and {len(shown) - len(order)} more"] if len(shown) > len(order) else []
    return "\n".join([_label(made), *(lines if order else []), *rest])


def _label(made):
    many = len(made["names"])
    return f"{many} run{'' if many == 1 else 's'} in {made['folder']}"


def _value(column, i):
    """A float of what stands there, NaN for nothing."""
    value = column["values"][i]
    return math.nan if value is None else float(value)


def _said(column, i):
    value = column["values"][i]
    if value is None:
        return "–"
    return str(column["words"][value]) if column["kind"] == "words" else number(float(value))


def _ordered(shown, target, up):
    """The best first; what has no number comes last."""
    if target is None:
        return shown

    def place(i):
        value = _value(target, i)
        return (not math.isfinite(value), -value if up else value, i) if math.isfinite(value) else (True, 0.0, i)

    return sorted(shown, key=place)


def _head(made, shown, target, order):
    best = ""
    if target is not None and order and math.isfinite(_value(target, order[0])):
        best = f"best {target['name']} {_said(target, order[0])} in {made['names'][order[0]]}"
    states = {state: made["states"].count(state) for state in sorted(set(made["states"])) if state != "finished"}
    parts = [f"{many} {state}" for state, many in states.items()]
    hidden = len(made["names"]) - len(shown)
    parts += [f"{hidden} hidden"] if hidden else []
    return (
        f'<text x="16" y="28"><tspan class="b">{escape(_label(made))}</tspan>'
        f'<tspan class="s">{escape("".join(f" · {part}" for part in (*parts, best) if part))}</tspan></text>'
    )


def _axis(column, low, high):
    """A function from a number of run to a place from 0 to 1, None for none; and what stands at both ends."""
    if column["kind"] == "words":
        many = max(len(column["words"]), 1)
        ends = [(0.5 / many, column["words"][0]), (1 - 0.5 / many, column["words"][-1])] if column["words"] else []
        return lambda value: (value + 0.5) / many, ends
    log = column["log"]
    a, b = (math.log10(low), math.log10(high)) if log else (low, high)
    width = (b - a) or 1.0
    return lambda value: ((math.log10(value) if log else value) - a) / width, [(0.0, number(low)), (1.0, number(high))]


def _parallel(axes, order, target):
    made, places = [], []
    span = (_WIDTH - 140) / (len(axes) - 1)
    for at, column in enumerate(axes):
        finite = [v for v in (_value(column, i) for i in order) if math.isfinite(v)]
        to, ends = _axis(column, min(finite, default=0.0), max(finite, default=1.0))
        x = 70 + span * at
        made.append(
            f'<line class="a" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + _HIGH}"/>'
            f'<text class="b m" x="{x:.1f}" y="{_TOP - 18}">{escape(middle(column["name"], int(span / 7.5)))}</text>'
        )
        for t, text in ends:
            y = _TOP + _HIGH * (1 - t) + (14 if t == 0 else -5)
            made.append(f'<text class="s t m" x="{x:.1f}" y="{y:.1f}">{escape(middle(str(text), 16))}</text>')
        places.append((x, to, column))
    lines = []
    for i in reversed(order[:_LINES]):  # the best stand before the others
        points = []
        for x, to, column in places:
            value = _value(column, i)
            if math.isfinite(value):
                points.append(f"{x:.0f} {_TOP + _HIGH * (1 - to(value)):.1f}")
        if len(points) > 1:
            colour = "#0072b2"
            if target is not None and math.isfinite(_value(target, i)):
                colour = _colour(places[-1][1](_value(target, i)))
            lines.append(f'<path stroke="{colour}" d="M{"L".join(points)}"/>')
    return "".join([*lines, *made])


def _colour(t):
    place = min(max(t, 0.0), 1.0) * (len(_RAMP) - 1)
    at = min(int(place), len(_RAMP) - 2)
    return "#" + "".join(
        f"{round(a + (b - a) * (place - at)):02x}" for a, b in zip(_RAMP[at], _RAMP[at + 1], strict=True)
    )


def _table(made, order, columns, y):
    x0, wide = 236, (_WIDTH - 250) / max(len(columns), 1)
    letters = int(wide / 7.2)

    def cells(texts, kind):
        return "".join(
            f'<text class="{kind}" x="{x0 + wide * at:.0f}" y="{y:.0f}">{escape(middle(text, letters))}</text>'
            for at, text in enumerate(texts, 1)
        )

    out = [f'<text class="s" x="16" y="{y:.0f}">run</text>', cells((c["name"] for c in columns), "s n")]
    for i in order:
        y += _ROW
        name = ("★ " if made["marks"][i]["star"] else "") + middle(made["names"][i], 30)
        out += [
            f'<line class="r" x1="16" x2="{_WIDTH - 16}" y1="{y - 14:.0f}" y2="{y - 14:.0f}"/>',
            f'<text x="16" y="{y:.0f}">{escape(name)}</text>',
            cells((_said(c, i) for c in columns), "n"),
        ]
    return "".join(out), y + 16
