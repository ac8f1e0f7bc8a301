"""A data set as a notebook shows it: size, columns, steps, and its first rows: pictures, texts, numbers."""

import io
from typing import Any

import numpy as np

from msnb.notebook.display.html import escape, framed, number
from msnb.notebook.display.tensor_html import as_images, png

_ROWS = 5
_COLUMNS = 16  # of a data set; further ones are named only
_NUMBERS = 4  # of an array
_LETTERS = 72  # of a text
_SIDE = 72  # pixels of a picture
_ENCODED = {b"\xff\xd8\xff": "JPEG", b"\x89PNG": "PNG", b"BM": "BMP", b"GIF8": "GIF"}
# What is said of a data set may be long, and pictures stand beside texts.
STYLE: str = (
    "<style>.msnb .steps{max-width:96ch;overflow-wrap:anywhere;margin:2px 0}"
    ".msnb .rows td,.msnb .rows th{text-align:left!important;vertical-align:middle;padding:2px 9px!important}"
    ".msnb .rows th b{font-weight:600}.msnb .rows th span{display:block}"
    ".msnb .rows td{max-width:40ch;white-space:normal;overflow-wrap:anywhere}</style>"
)


def dataset_bundle(dataset: Any) -> dict[str, str]:
    """A data set as text and as HTML, out of one look at it."""
    from msnb.dataset.engine.preview import preview  # spares the engine to sessions without data sets

    found = preview(dataset, _ROWS)
    return {"text/plain": str(found), "text/html": _html(found)}


def _html(found):
    head = f'<div class="head"><b>{escape(found.kind)}</b><span>{found.count()}</span></div>'
    steps = f'<div class="mono steps">{escape(found.steps)}</div>' if found.steps else ""
    note = f'<div class="dim steps">{escape(_note(found))}</div>' if _note(found) else ""
    label = ", ".join(filter(None, (found.kind, found.count())))
    return framed(STYLE + head + steps + _table(found) + note, label)


def _note(found):
    left = found.columns[_COLUMNS:]
    more = f"Further columns: {', '.join(left)}." if left else ""
    which = "These are rows of the first batch. " if found.batched and found.rows else ""
    return f"{which}{found.note} {more}".strip()


def _table(found):
    columns = found.columns[:_COLUMNS]
    if not columns:
        return ""
    heads = "".join(f'<th scope="col"><b>{escape(name)}</b>{_about(found, i)}</th>' for i, name in enumerate(columns))
    rows = "".join(
        f"<tr>{''.join(f'<td>{_cell(value, at)}</td>' for value in row[: len(columns)])}</tr>"
        for at, row in enumerate(found.rows)
    )
    return f'<table class="rows"><tr>{heads}</tr>{rows}</table>'


def _about(found, number):
    return f"<span>{escape(' '.join(filter(None, found.described(number))))}</span>" if found.types else ""


def _cell(value, position):
    """One value of a row."""
    value = np.asarray(value)
    if value.dtype.kind in "SU":
        return escape(_text(value))
    if not value.ndim:
        return escape(number(value[()]))
    picture = _picture(value)
    if picture is not None:
        return png(picture, max(1, 56 // max(picture.shape[:2])), position, _SIDE)
    flat = value.reshape(-1)
    few = " ".join(number(x) for x in flat[:_NUMBERS])
    return f"[{escape(few)}{' …' if flat.size > _NUMBERS else ''}]"


def _text(value):
    if value.ndim:
        few = ", ".join(_text(one) for one in value.reshape(-1)[:_NUMBERS])
        return f"[{few}{', …' if value.size > _NUMBERS else ''}]"
    text = value[()]
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _picture(value):
    """A uint8 image of a value that is one, encoded or not; None otherwise."""
    if value.ndim == 1 and value.dtype == np.uint8:
        return _decoded(value)
    if value.ndim not in (2, 3):
        return None
    if value.dtype.kind == "f":
        value = _stretched(value)
    images = as_images(value)
    return None if images is None else images[0]


def _stretched(value):
    """Floats of an image from 0 to 1: of one that was normalized only these can be shown."""
    low, high = float(value.min(initial=np.inf)), float(value.max(initial=-np.inf))
    if not np.isfinite([low, high]).all() or low >= high or low >= 0 and high <= 1:
        return value
    return (value.astype(np.float32) - low) / (high - low)


def _decoded(octets):
    from PIL import Image

    begin = octets[:4].tobytes()
    kind = next((name for magic, name in _ENCODED.items() if begin.startswith(magic)), None)
    if kind is None:
        return None
    try:
        with Image.open(io.BytesIO(octets.tobytes()), formats=[kind]) as picture:
            picture.draft("RGB", (2 * _SIDE, 2 * _SIDE))  # a JPEG need not be decoded in its full size
            picture.thumbnail((_SIDE, _SIDE))
            return np.asarray(picture.convert("RGB"))
    except Exception:  # a file that only begins like a picture is numbers
        return None
