"""Draw plans as a still picture, for pages without scripts."""

import textwrap
from html import escape
from typing import Any

from msnb._util.byte_size import format_bytes
from msnb.insight.ellipsize import middle

_WIDTH, _ROW = 900, 24
_STEP, _SENT, _MEMORY = 190, 530, 560  # x positions of the columns; the second is right-aligned
_LETTER = 6.3  # maximum width of a small letter in pixels
_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,sans-serif;fill:#24303b}.s{fill:#5f6b76;font-size:11px}"
    ".b{font-weight:600}.e{text-anchor:end}.bg{fill:#fff;stroke:#d5dbe1}.c{fill:#0072b2}.m{fill:#009e73}.no{fill:#d55e00}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ee}.s{fill:#9aa5b1}.bg{fill:#16191d;stroke:#353c44}"
    ".c{fill:#4aa3dc}.m{fill:#3dbf98}.no{fill:#f08a4b}}"
)


def headline(plans: dict[str, Any]) -> str:
    """Return a text with the name of the planned network and its devices."""
    mesh = " x ".join(f"{many} {axis}" for axis, many in plans["mesh"].items())
    devices = f"{plans['devices']} {plans['hardware']['name']} ({mesh})"
    return f"{plans['title']} on {devices}, {format_bytes(plans['memory'])} each"


def _format_pipeline_bubble(one):
    return f", bubble {one['bubble']:.0%}" if one.get("stages", 1) > 1 else ""


def to_svg(plan_data: dict[str, Any]) -> str:
    """Return an SVG of the strategies with step time, bytes sent per device, and memory per device.

    Args:
        plan_data (dict): the result of `Plans.as_dict`.
    """
    plans = plan_data["plans"]
    longest = max((one["seconds"] for one in plans), default=0) or 1
    most = max([plan_data["memory"], *(one["memory"] for one in plans)]) or 1
    out = [f'<text x="16" y="26" class="b">{escape(middle(headline(plan_data), 110))}</text>']
    heads = ((16, "strategy", ""), (_STEP, "step", ""), (_SENT, "sent", " e"), (_MEMORY, "memory", ""))
    out += [f'<text x="{x}" y="50" class="s{end}">{words}</text>' for x, words, end in heads]
    for number, one in enumerate(plans):
        y = 70 + number * _ROW
        step_time, sent = (
            f"{1e3 * one['seconds']:,.2f} ms{_format_pipeline_bubble(one)}",
            format_bytes(round(one["bytes"])),
        )
        room = _SENT - _STEP - _LETTER * (len(step_time) + len(sent)) - 24
        time, memory_width = min(130, room) * one["seconds"] / longest, 180 * one["memory"] / most
        fits = "m" if one["fits"] else "no"
        words = format_bytes(round(one["memory"])) + ("" if one["fits"] else ", too much")
        out.append(
            f'<text x="16" y="{y}">{escape(middle(one["name"], 24))}</text>'
            f'<rect x="{_STEP}" y="{y - 10}" width="{time:.1f}" height="12" class="c"/>'
            f'<text x="{_STEP + 6 + time:.1f}" y="{y}" class="s">{step_time}</text>'
            f'<text x="{_SENT}" y="{y}" class="s e">{sent}</text>'
            f'<rect x="{_MEMORY}" y="{y - 10}" width="{memory_width:.1f}" height="12" class="{fits}"/>'
            f'<text x="{_MEMORY + 6 + memory_width:.1f}" y="{y}" class="s">{words}</text>'
        )
    high = 70 + len(plans) * _ROW
    for note in plan_data.get("notes", ()):
        for line in textwrap.wrap(note, 130):
            out.append(f'<text x="16" y="{high}" class="b">{escape(line)}</text>')
            high += _ROW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {high}" width="{_WIDTH}" height="{high}" '
        f'role="img" aria-label="{escape(f"Plans: {headline(plan_data)}", quote=True)}"><style>{_STYLE}</style>'
        f'<rect x=".5" y=".5" rx="6" class="bg" width="{_WIDTH - 1}" height="{high - 1}"/>{"".join(out)}</svg>'
    )
