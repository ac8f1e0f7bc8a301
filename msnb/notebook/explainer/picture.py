"""Draw explanations as a still picture, for pages without scripts."""

import base64
import textwrap
from html import escape
from typing import Any

from msnb.insight.ellipsize import middle

_WIDTH, _SIDE, _GAP, _LEFT = 900, 108, 10, 16
_ROWS = 4  # samples in the picture
_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,sans-serif;fill:#24303b}.s{fill:#5f6b76;font-size:11px}"
    ".b{font-weight:600}.bg{fill:#fff;stroke:#d5dbe1}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ee}.s{fill:#9aa5b1}.bg{fill:#16191d;stroke:#353c44}}"
)


def to_svg(content: dict[str, Any], images: dict[str, bytes]) -> str:
    """Return an SVG of the first samples: picture, prediction, and the map of each method for the first label.

    Args:
        content (dict): the result of `payload.build_content`, with the sentence `waiting` for an empty folder.
        images (dict[str, bytes]): JPEG by path.
    """
    methods = content["methods"][: (_WIDTH - _LEFT - 200) // (_SIDE + _GAP) - 1]
    samples = content["samples"]
    heading = f"{content['title']}: {len(samples)} samples, {len(content['methods'])} methods"
    out = [f'<text x="{_LEFT}" y="26" class="b">{escape(middle(heading, 110))}</text>']
    for number, method in enumerate(["picture", *methods] if samples else []):
        x = _LEFT + 200 + number * (_SIDE + _GAP)
        out.append(f'<text x="{x}" y="50" class="s">{escape(middle(method, 17))}</text>')
    y = 60
    for sample in samples[:_ROWS]:
        out += _draw_sample(sample, content["labels"], methods, images, y)
        y += _SIDE + _GAP
    for score in content["scores"][:12]:
        total = "NaN" if score["total"] is None else f"{score['total']:.4g}"
        line = f"{score['benchmark']} of {score['method']}: {total}"
        out.append(f'<text x="{_LEFT}" y="{y + 12}" class="s">{escape(middle(line, 110))}</text>')
        y += 18
    for line in textwrap.wrap(content["waiting"], 130):
        out.append(f'<text x="{_LEFT}" y="{y + 12}">{escape(line)}</text>')
        y += 18
    high = y + 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {high}" width="{_WIDTH}" height="{high}" '
        f'role="img" aria-label="{escape(f"Explanations: {heading}", quote=True)}"><style>{_STYLE}</style>'
        f'<rect x=".5" y=".5" rx="6" class="bg" width="{_WIDTH - 1}" height="{high - 1}"/>{"".join(out)}</svg>'
    )


def _draw_sample(sample, labels, methods, images, y):
    out = [f'<text x="{_LEFT}" y="{y + 16}" class="b">sample {sample["id"]}</text>']
    for number, row in enumerate(sample["labels"][:4]):
        probability = "NaN" if row["probability"] is None else f"{row['probability']:.3f}"
        text = f"{name_label(labels, row['label'])} {probability} {row['kind'] or ''}"
        out.append(f'<text x="{_LEFT}" y="{y + 36 + 18 * number}" class="s">{escape(middle(text, 31))}</text>')
    label = str(sample["labels"][0]["label"]) if sample["labels"] else ""
    paths = [sample["image"], *(sample["maps"].get(method, {}).get(label, "") for method in methods)]
    for number, path in enumerate(paths):
        if path in images:
            source = base64.b64encode(images[path]).decode()
            x = _LEFT + 200 + number * (_SIDE + _GAP)
            out.append(
                f'<image x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" href="data:image/jpeg;base64,{source}"/>'
            )
    return out


def name_label(labels: list[str], label: int) -> str:
    """Return the name of a label, or its number if it has no name."""
    return labels[label] if 0 <= label < len(labels) else f"label {label}"
