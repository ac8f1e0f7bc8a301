"""HTML helpers of the rich displays. Colours derive from the page, so light and dark themes both work."""

import math
from html import escape
from typing import Any

__all__ = ["STYLE", "alone", "escape", "framed", "number", "two_numbers", "count"]

# Dim text has the page's own text colour at a lower opacity, which suits light and dark backgrounds. The two hues are
# of the palette of Okabe and Ito (2008), which colour-blind people can distinguish.
STYLE: str = """<style>
.msnb{font:13px/1.45 var(--jp-ui-font-family,system-ui,sans-serif);color:inherit;max-width:100%;overflow-x:auto}
.msnb .mono,.msnb table{font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px}
.msnb .head{display:flex;flex-wrap:wrap;gap:2px 12px;align-items:baseline;margin:2px 0 4px}
.msnb .head b{font-weight:600}
.msnb .dim{opacity:.68}
.msnb .bad{color:#d55e00;font-weight:600}
.msnb table{border-collapse:collapse;margin:4px 0;border:0}
.msnb th,.msnb td{border:1px solid rgba(128,128,128,.28)!important;padding:1px 7px!important;
 text-align:right!important;white-space:nowrap;background:transparent;color:inherit}
.msnb th{font-weight:400;opacity:.6;border-color:transparent!important}
.msnb tr{background:transparent!important}
.msnb svg,.msnb img{vertical-align:top;max-width:100%}
.msnb img{image-rendering:pixelated;border:1px solid rgba(128,128,128,.35)}
.msnb .beside{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:center}
.msnb details{margin:0}
.msnb details>div,.msnb .leaf{margin-left:18px}
.msnb details>div{border-left:1px solid rgba(128,128,128,.28);padding-left:2px}
.msnb summary{cursor:pointer;padding:1px 0}
.msnb summary:focus-visible{outline:2px solid #0072b2;outline-offset:1px}
.msnb .leaf{padding:1px 0}
.msnb .num{opacity:.68;font-variant-numeric:tabular-nums}
</style>"""


def framed(body: str, label: str) -> str:
    """Return `body` as a group with msnb's style sheet. Screen readers announce the group as `label`."""
    return f'{STYLE}<div class="msnb" role="group" aria-label="{escape(label, quote=True)}">{body}</div>'


def alone(body: str, title: str) -> str:
    """Return a standalone page with `body` as its only content, in the browser's light or dark scheme."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><title>{escape(title)}</title><body><main>{body}</main></body></html>'
    )


def number(value: Any) -> str:
    """Format a number in at most about eight characters."""
    kind = getattr(getattr(value, "dtype", None), "kind", {bool: "b", int: "i", complex: "c"}.get(type(value), "f"))
    if kind == "b":
        return str(bool(value))
    if kind == "c":
        return f"{number(value.real)}{'-' if value.imag < 0 else '+'}{number(abs(value.imag))}j"
    if kind in "iu":
        return str(int(value))
    return f"{float(value):.5g}"


def two_numbers(first: Any, second: Any) -> tuple[str, str]:
    """Format two numbers with enough digits to look different. Equal numbers are formatted by `number`."""
    texts = number(first), number(second)
    digits = 6
    while texts[0] == texts[1] and first != second and math.isfinite(first) and digits < 18:
        texts, digits = (f"{float(first):.{digits}g}", f"{float(second):.{digits}g}"), digits + 1
    return texts


def count(many: int) -> str:
    """Format a count: 1234567 is 1.23 M; below 10,000 all digits are shown."""
    if many < 10_000:
        return f"{many:,}"
    unit, factor = next((u, f) for u, f in (("G", 1e9), ("M", 1e6), ("k", 1e3)) if many >= 0.9995 * f)
    return f"{many / factor:.3g} {unit}"
