"""Draw a labelling session as a still picture: answers per class, and the learning curve."""

from html import escape
from typing import Any

from msnb.insight.ellipsize import middle

_WIDTH, _ROW, _MOST = 760, 22, 20  # rows of classes
_LEFT, _TOP, _PLOT_WIDTH, _PLOT_HEIGHT = 440, 70, 290, 170
_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,sans-serif;fill:#24303b}.s{fill:#5f6b76;font-size:11px}"
    ".b{font-weight:600}.e{text-anchor:end}.bg{fill:#fff;stroke:#d5dbe1}.own{stroke:#0072b2}.random{stroke:#d55e00}"
    ".own,.random{fill:none;stroke-width:2}.random{stroke-dasharray:5 3}.bar{fill:#0072b2}.axis{stroke:#d5dbe1}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ee}.s{fill:#9aa5b1}.bg{fill:#16191d;stroke:#353c44}"
    ".own{stroke:#4aa3dc}.random{stroke:#f08a4b}.bar{fill:#4aa3dc}.axis{stroke:#353c44}}"
)


def to_svg(state: dict[str, Any]) -> str:
    """Return an SVG of a session.

    Args:
        state (dict): the result of `describe_state`.
    """
    classes = list(zip(state["classes"], state["counts"], strict=True))[:_MOST]
    most = max([1, *state["counts"]])
    height = max(_TOP + len(classes) * _ROW, _TOP + _PLOT_HEIGHT + 40) + 16
    head = f"{state['labelled']:,} of {state['total']:,} items labelled"
    out = [f'<text x="16" y="28" class="b">{head}</text>', f'<text x="16" y="50" class="s">{_advice(state)}</text>']
    for number, (name, count) in enumerate(classes):
        y = _TOP + 12 + number * _ROW
        out.append(
            f'<text x="16" y="{y}">{escape(middle(name, 22))}</text>'
            f'<rect x="170" y="{y - 10}" width="{170 * count / most:.1f}" height="12" class="bar"/>'
            f'<text x="{176 + 170 * count / most:.1f}" y="{y}" class="s">{count:,}</text>'
        )
    out += _draw_curves(state["curve"])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">'
        f'<style>{_STYLE}</style><rect class="bg" x=".5" y=".5" width="{_WIDTH - 1}" height="{height - 1}" rx="6"/>'
        f"{''.join(out)}</svg>"
    )


def _advice(state):
    return escape(middle(state["curve"]["advice"], 120))


def _draw_curves(curve):
    most = max((labels for labels, _ in [*curve["own"], *curve["random"]]), default=1)
    bottom, right = _TOP + _PLOT_HEIGHT, _LEFT + _PLOT_WIDTH
    out = [
        f'<path class="axis" d="M{_LEFT} {y}H{right}"/><text x="{_LEFT - 6}" y="{y + 4}" class="s e">{percent} %</text>'
        for percent, y in ((100, _TOP), (50, _TOP + _PLOT_HEIGHT // 2), (0, bottom))
    ]
    if most > 1:
        out.append(f'<text x="{right}" y="{bottom + 18}" class="s e">{most} labels</text>')
    for name in ("random", "own"):
        points = [
            f"{_LEFT + labels / most * _PLOT_WIDTH:.1f},{bottom - accuracy * _PLOT_HEIGHT:.1f}"
            for labels, accuracy in curve[name]
        ]
        out.append(f'<polyline class="{name}" points="{" ".join(points)}"/>')
    words = f"accuracy on {curve['heldOut']} held-out answers; dashed: random labels"
    out.append(f'<text x="{_LEFT}" y="{bottom + 36}" class="s">{words}</text>')
    return out
