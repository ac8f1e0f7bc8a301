"""Slides of a notebook: a page in which one group of cells is shown at a time.

The page is the result of `notebook_page` with an additional script and style sheet. It needs no library and no network.
"""

import re
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "display"
_LETTERS = {"slide": "s", "subslide": "s", "fragment": "f", "skip": "n", "notes": "n"}
_HEADING = re.compile(r"\s*(#{1,6}\s|<h[1-6]\b)")


def slide_letters(cells: list[Any]) -> str:
    """Return a letter for each cell: "s" begins a slide, "f" appears at the next key press, "n" is not shown, "-"
    belongs to the previous cell's slide.

    The letters come from the slide types that Jupyter stores in the cells. If no cell has the type "slide", each
    heading begins a slide.
    """
    kinds = [_read_slide_type(cell) for cell in cells]
    is_planned = "slide" in kinds
    letters = []
    for cell, kind in zip(cells, kinds, strict=True):
        letter = _LETTERS.get(kind, "-")
        if not is_planned and letter == "-" and cell.get("cell_type") == "markdown":
            letter = "s" if _HEADING.match(str(cell.get("source", ""))) else "-"
        letters.append(letter)
    return "".join(letters)


def _read_slide_type(cell):
    settings = (cell.get("metadata") or {}).get("slideshow")
    kind = settings.get("slide_type") if isinstance(settings, dict) else None
    return kind if isinstance(kind, str) else ""


def add_slides(page: str, letters: str) -> str:
    """Add the script and the style of slides to a page; `letters` comes from `slide_letters`."""
    style, script = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("slides.css", "slides.js"))
    head = f'<meta name="msnb-slides" content="{letters}"><style>{style}</style>'
    page = page.replace("</head>", f"{head}</head>", 1)
    start, end, rest = page.rpartition("</body>")
    return f"{start}<script>{script}</script>{end}{rest}" if end else f"{rest}<script>{script}</script>"
