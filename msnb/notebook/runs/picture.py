"""Draw runs as a still picture, for pages without scripts: parallel coordinates, and the best runs as a table."""

import math
from html import escape
from typing import Any

from msnb.insight.ellipsize import middle
from msnb.notebook.display.html import number

_WIDTH, _ROW, _TOP, _HIGH = 860, 20, 84, 200
_AXES, _RUNS, _COLUMNS = 7, 14, 5
_LINES = 400  # maximum drawn runs; more would make the picture larger but not clearer
_RAMP = ((0x2C, 0x5A, 0xA0), (0x3F, 0x97, 0xB7), (0x6F, 0xB3, 0x91), (0xDC, 0xAB, 0x34), (0xD4, 0x54, 0x1B))
_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,sans-serif;fill:#24303b}.s{fill:#5f6b76}.t{font-size:11px}"
    ".b{font-weight:600}.n{text-anchor:end;font-variant-numeric:tabular-nums}.m{text-anchor:middle}"
    ".bg{fill:#fff;stroke:#d5dbe1}.r{stroke:#d5dbe1}.a{stroke:#24303b}path{fill:none;stroke-opacity:.6}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ee}.s{fill:#9aa5b1}.bg{fill:#16191d;stroke:#353c44}"
    ".r{stroke:#353c44}.a{stroke:#e4e9ee}}"
)


def to_svg(content: dict[str, Any]) -> str:
    """Return an SVG of the result of `payload.of_runs`.

    Args:
        content (dict): the runs.

    Returns:
        str, SVG.
    """
    visible = [i for i, mark in enumerate(content["marks"]) if not mark["hidden"]]
    target = next((c for c in content["columns"] if c["name"] == content["target"] and c["group"] == "metric"), None)
    order = _rank_runs(visible, target, content["more"].get(content["target"], False))
    settings = [c for c in content["columns"] if c["group"] != "metric" and c["varies"]]
    out = [_draw_headline(content, visible, target, order)]
    axes = [c for c in settings if c["kind"] == "number" or len(c["words"]) <= 12][: _AXES - (target is not None)]
    axes += [target] if target else []
    y = 48.0
    if len(axes) > 1 and visible:
        out.append(_draw_parallel_coordinates(axes, order, target))
        y = _TOP + _HIGH + 44.0
    rows, bottom = _draw_table(content, order[:_RUNS], [*([target] if target else []), *settings][: _COLUMNS + 1], y)
    out.append(rows)
    label = escape(_format_title(content), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {bottom:.0f}" width="{_WIDTH}" '
        f'height="{bottom:.0f}" role="img" aria-label="{label}"><style>{_STYLE}</style><rect x=".5" y=".5" rx="6" '
        f'class="bg" width="{_WIDTH - 1}" height="{bottom - 1:.0f}"/>{"".join(out)}</svg>'
    )


def to_text(content: dict[str, Any]) -> str:
    """Return the runs as text, for a terminal."""
    target = next((c for c in content["columns"] if c["name"] == content["target"] and c["group"] == "metric"), None)
    visible = [i for i, mark in enumerate(content["marks"]) if not mark["hidden"]]
    order = _rank_runs(visible, target, content["more"].get(content["target"], False))[:20]
    settings = [c for c in content["columns"] if c["group"] != "metric" and c["varies"]]
    columns = [*([target] if target else []), *settings][:6]
    table = [["run", "state", *(c["name"] for c in columns)]]
    table += [[content["names"][i], content["states"][i], *(_format_value(c, i) for c in columns)] for i in order]
    wide = [max(len(row[at][:30]) for row in table) for at in range(len(table[0]))]
    lines = ["  ".join(cell[:30].ljust(wide[at]) for at, cell in enumerate(row)).rstrip() for row in table]
    rest = [f"and {len(visible) - len(order)} more"] if len(visible) > len(order) else []
    return "\n".join([_format_title(content), *(lines if order else []), *rest])


def _format_title(content):
    many = len(content["names"])
    return f"{many} run{'' if many == 1 else 's'} in {content['folder']}"


def _get_value_as_float(column, i):
    """Return a cell as a float, NaN for an empty one."""
    value = column["values"][i]
    return math.nan if value is None else float(value)


def _format_value(column, i):
    value = column["values"][i]
    if value is None:
        return "–"
    return str(column["words"][value]) if column["kind"] == "words" else number(float(value))


def _rank_runs(visible, target, up):
    """Return the runs, best first; runs without a value come last."""
    if target is None:
        return visible

    def place(i):
        value = _get_value_as_float(target, i)
        return (not math.isfinite(value), -value if up else value, i) if math.isfinite(value) else (True, 0.0, i)

    return sorted(visible, key=place)


def _draw_headline(content, visible, target, order):
    best = ""
    if target is not None and order and math.isfinite(_get_value_as_float(target, order[0])):
        best = f"best {target['name']} {_format_value(target, order[0])} in {content['names'][order[0]]}"
    states = {state: content["states"].count(state) for state in sorted(set(content["states"])) if state != "finished"}
    parts = [f"{many} {state}" for state, many in states.items()]
    hidden = len(content["names"]) - len(visible)
    parts += [f"{hidden} hidden"] if hidden else []
    return (
        f'<text x="16" y="28"><tspan class="b">{escape(_format_title(content))}</tspan>'
        f'<tspan class="s">{escape("".join(f" · {part}" for part in (*parts, best) if part))}</tspan></text>'
    )


def _make_axis_scale(column, low, high):
    """Return (scale, labels of both ends). `scale` maps the index of a run to a position from 0 to 1, or to None if the
    run has no value.
    """
    if column["kind"] == "words":
        many = max(len(column["words"]), 1)
        ends = [(0.5 / many, column["words"][0]), (1 - 0.5 / many, column["words"][-1])] if column["words"] else []
        return lambda value: (value + 0.5) / many, ends
    log = column["log"]
    a, b = (math.log10(low), math.log10(high)) if log else (low, high)
    width = (b - a) or 1.0
    return lambda value: ((math.log10(value) if log else value) - a) / width, [(0.0, number(low)), (1.0, number(high))]


def _draw_parallel_coordinates(axes, order, target):
    content, places = [], []
    span = (_WIDTH - 140) / (len(axes) - 1)
    for at, column in enumerate(axes):
        finite = [v for v in (_get_value_as_float(column, i) for i in order) if math.isfinite(v)]
        to, ends = _make_axis_scale(column, min(finite, default=0.0), max(finite, default=1.0))
        x = 70 + span * at
        content.append(
            f'<line class="a" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + _HIGH}"/>'
            f'<text class="b m" x="{x:.1f}" y="{_TOP - 18}">{escape(middle(column["name"], int(span / 7.5)))}</text>'
        )
        for t, text in ends:
            y = _TOP + _HIGH * (1 - t) + (14 if t == 0 else -5)
            content.append(f'<text class="s t m" x="{x:.1f}" y="{y:.1f}">{escape(middle(str(text), 16))}</text>')
        places.append((x, to, column))
    lines = []
    for i in reversed(order[:_LINES]):  # the best runs are drawn last, on top of the others
        points = []
        for x, to, column in places:
            value = _get_value_as_float(column, i)
            if math.isfinite(value):
                points.append(f"{x:.0f} {_TOP + _HIGH * (1 - to(value)):.1f}")
        if len(points) > 1:
            colour = "#0072b2"
            if target is not None and math.isfinite(_get_value_as_float(target, i)):
                colour = _interpolate_ramp_colour(places[-1][1](_get_value_as_float(target, i)))
            lines.append(f'<path stroke="{colour}" d="M{"L".join(points)}"/>')
    return "".join([*lines, *content])


def _interpolate_ramp_colour(t):
    place = min(max(t, 0.0), 1.0) * (len(_RAMP) - 1)
    at = min(int(place), len(_RAMP) - 2)
    return "#" + "".join(
        f"{round(a + (b - a) * (place - at)):02x}" for a, b in zip(_RAMP[at], _RAMP[at + 1], strict=True)
    )


def _draw_table(content, order, columns, y):
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
        name = ("★ " if content["marks"][i]["star"] else "") + middle(content["names"][i], 30)
        out += [
            f'<line class="r" x1="16" x2="{_WIDTH - 16}" y1="{y - 14:.0f}" y2="{y - 14:.0f}"/>',
            f'<text x="16" y="{y:.0f}">{escape(name)}</text>',
            cells((_format_value(c, i) for c in columns), "n"),
        ]
    return "".join(out), y + 16
