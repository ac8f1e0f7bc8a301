"""HTML display of a data set: size, columns, pipeline steps, and the first rows as pictures, texts and numbers."""

import io
from typing import Any

import numpy as np

from msnb.notebook.display.html import escape, framed, number
from msnb.notebook.display.tensor_html import as_images, png

_ROWS = 5
_COLUMNS = 16  # maximum columns of the table; more columns are only listed by name
_NUMBERS = 4  # displayed elements of an array
_LETTERS = 72  # displayed characters of a text
_SIDE = 72  # width and height of a displayed picture in pixels
_ENCODED = {b"\xff\xd8\xff": "JPEG", b"\x89PNG": "PNG", b"BM": "BMP", b"GIF8": "GIF"}
# Long descriptions wrap. The pictures and texts of a row are centred vertically.
STYLE: str = (
    "<style>.msnb .steps{max-width:96ch;overflow-wrap:anywhere;margin:2px 0}"
    ".msnb .rows td,.msnb .rows th{text-align:left!important;vertical-align:middle;padding:2px 9px!important}"
    ".msnb .rows th b{font-weight:600}.msnb .rows th span{display:block}"
    ".msnb .rows td{max-width:40ch;white-space:normal;overflow-wrap:anywhere}</style>"
)


def dataset_bundle(dataset: Any) -> dict[str, str]:
    """Return a data set as text and as HTML, from one preview of it."""
    from msnb.dataset.engine.preview import preview  # lazy, to spare other sessions the data engine

    preview_rows = preview(dataset, _ROWS)
    return {"text/plain": str(preview_rows), "text/html": _format_preview(preview_rows)}


def _format_preview(preview_rows):
    head = f'<div class="head"><b>{escape(preview_rows.kind)}</b><span>{preview_rows.count()}</span></div>'
    steps = f'<div class="mono steps">{escape(preview_rows.steps)}</div>' if preview_rows.steps else ""
    note = f'<div class="dim steps">{escape(_format_note(preview_rows))}</div>' if _format_note(preview_rows) else ""
    label = ", ".join(filter(None, (preview_rows.kind, preview_rows.count())))
    return framed(STYLE + head + steps + _format_table(preview_rows) + note, label)


def _format_note(preview_rows):
    left = preview_rows.columns[_COLUMNS:]
    more = f"Further columns: {', '.join(left)}." if left else ""
    which = "These are rows of the first batch. " if preview_rows.batched and preview_rows.rows else ""
    return f"{which}{preview_rows.note} {more}".strip()


def _format_table(preview_rows):
    columns = preview_rows.columns[:_COLUMNS]
    if not columns:
        return ""
    heads = "".join(
        f'<th scope="col"><b>{escape(name)}</b>{_describe_column(preview_rows, i)}</th>'
        for i, name in enumerate(columns)
    )
    rows = "".join(
        f"<tr>{''.join(f'<td>{_format_cell(value, at)}</td>' for value in row[: len(columns)])}</tr>"
        for at, row in enumerate(preview_rows.rows)
    )
    return f'<table class="rows"><tr>{heads}</tr>{rows}</table>'


def _describe_column(preview_rows, number):
    return (
        f"<span>{escape(' '.join(filter(None, preview_rows.described(number))))}</span>" if preview_rows.types else ""
    )


def _format_cell(value, position):
    value = np.asarray(value)
    if value.dtype.kind in "SU":
        return escape(_format_value(value))
    if not value.ndim:
        return escape(number(value[()]))
    picture = _to_image(value)
    if picture is not None:
        return png(picture, max(1, 56 // max(picture.shape[:2])), position, _SIDE)
    flat = value.reshape(-1)
    few = " ".join(number(x) for x in flat[:_NUMBERS])
    return f"[{escape(few)}{' …' if flat.size > _NUMBERS else ''}]"


def _format_value(value):
    if value.ndim:
        few = ", ".join(_format_value(one) for one in value.reshape(-1)[:_NUMBERS])
        return f"[{few}{', …' if value.size > _NUMBERS else ''}]"
    text = value[()]
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _to_image(value):
    """Return a uint8 image if the value is an image, encoded or decoded; else None."""
    if value.ndim == 1 and value.dtype == np.uint8:
        return _decode_image(value)
    if value.ndim not in (2, 3):
        return None
    if value.dtype.kind == "f":
        value = _rescale_floats(value)
    images = as_images(value)
    return None if images is None else images[0]


def _rescale_floats(value):
    """Rescale a float image to [0, 1], because the values of a normalized image have another range."""
    low, high = float(value.min(initial=np.inf)), float(value.max(initial=-np.inf))
    if not np.isfinite([low, high]).all() or low >= high or low >= 0 and high <= 1:
        return value
    return (value.astype(np.float32) - low) / (high - low)


def _decode_image(octets):
    from PIL import Image

    begin = octets[:4].tobytes()
    kind = next((name for magic, name in _ENCODED.items() if begin.startswith(magic)), None)
    if kind is None:
        return None
    try:
        with Image.open(io.BytesIO(octets.tobytes()), formats=[kind]) as picture:
            picture.draft("RGB", (2 * _SIDE, 2 * _SIDE))  # decode a JPEG at a reduced size, which is faster
            picture.thumbnail((_SIDE, _SIDE))
            return np.asarray(picture.convert("RGB"))
    except Exception:  # bytes that only begin like an image are shown as numbers
        return None
