"""What is kept of an array: a number, a histogram or a picture, as MindSpore's event files have them.

All of this runs in the thread that writes, while the next step is computed.
"""

import io
import math
from typing import Any

import numpy as np

from msnb import log
from msnb.formats.summary_events import Histogram, Image

_IN_A_ROW = 8  # pictures of a batch


def content_of(kind: str, tag: str, value: Any) -> Any:
    """What `summary_events.summary_event` takes for a value; None, and a line in the log, where it cannot be kept."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.name == "bfloat16":
        value = value.astype(np.float32)
    if kind == "scalar":
        if value.size == 1:
            return float(value.item())
        return float(value.astype(np.float64).mean()) if value.size else math.nan
    if kind == "histogram":
        return histogram(value)
    if kind == "image":
        return image(tag, value)
    return value


def histogram(array: np.ndarray) -> Histogram:
    """How the finite numbers of an array spread over equal parts of what lies between the least and the largest.

    There are 2 parts for up to 5 numbers, 3 for up to 10, then one more for each 10, at most 90.
    """
    flat = array.ravel()
    if flat.dtype.kind == "f":
        finite = flat if np.isfinite(flat).all() else flat[np.isfinite(flat)]
        finite = finite if finite.dtype.itemsize >= 4 else finite.astype(np.float32)
    else:
        finite = flat.astype(np.float64)
    odd = {}
    if finite.size != flat.size:
        odd = {
            "nan_count": int(np.isnan(flat).sum()),
            "pos_inf_count": int(np.isposinf(flat).sum()),
            "neg_inf_count": int(np.isneginf(flat).sum()),
        }
    if not finite.size:
        return Histogram(np.zeros(0), np.zeros(0, np.int64), 0.0, 0.0, 0.0, flat.size, **odd)
    least, largest = float(finite.min()), float(finite.max())
    first, last = (least, largest) if least < largest else (least - 0.5, largest + 0.5)
    parts = _parts(finite.size)
    edges = first + np.arange(parts + 1) * ((last / 2 - first / 2) / parts * 2)
    edges[-1] = last
    place = finite / 2 - finite.dtype.type(first / 2)  # halves, since the distance of two floats may be no float
    place = np.minimum(place * finite.dtype.type(parts / max(last / 2 - first / 2, _TINY)), parts - 1)
    counts = np.bincount(place.astype(np.int64), minlength=parts)
    total = float(finite.sum(dtype=np.float64))
    return Histogram(edges, counts, least, largest, total, flat.size, **odd)


_TINY = 1e-37  # no histogram is finer than that


def _parts(count):
    if count <= 10:
        return 2 if count <= 5 else 3
    return min(count // 10 + 1, 90)


def image(tag: str, array: np.ndarray) -> Image | None:
    """One picture of the pictures of a batch, (N, C, H, W) with 1 or 3 colours, 8 in a row.

    Bytes are taken as they are, numbers between 0 and 1 as parts of 255, and any others are spread over what there is.
    """
    if array.ndim != 4 or array.shape[1] not in (1, 3) or 0 in array.shape:
        log.warning("%s is no image, as its shape is %s and not (N, 1 or 3, H, W): it is left out.", tag, array.shape)
        return None
    n, colours, height, width = array.shape
    columns = min(n, _IN_A_ROW)
    rows = -(-n // columns)
    canvas = np.zeros((rows * columns, colours, height, width), array.dtype)
    canvas[:n] = array
    canvas = canvas.reshape(rows, columns, colours, height, width).transpose(0, 3, 1, 4, 2)
    canvas = _bytes(canvas.reshape(rows * height, columns * width, colours))
    canvas = np.repeat(canvas, 3, axis=2) if colours == 1 else canvas
    return Image(canvas.shape[0], canvas.shape[1], 3, _png(canvas))


def _bytes(array):
    if array.dtype == np.uint8:
        return array
    array = array.astype(np.float32)
    finite = array[np.isfinite(array)]
    least, largest = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if 0 <= least and largest <= 1:
        array = array * 255
    else:
        array = (array - least) * (255 / (largest - least + 1) if largest != least else 1)
    return np.clip(np.nan_to_num(array), 0, 255).astype(np.uint8)


def _png(canvas):
    from PIL import Image as pictures  # spares it to who records no images

    file = io.BytesIO()
    pictures.fromarray(np.ascontiguousarray(canvas)).save(file, format="PNG", compress_level=1)
    return file.getvalue()
