"""Conversion of arrays to the contents of event files: a number, a histogram or an image.

All of this runs in the thread that writes, during the next step.
"""

import io
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from msnb import log
from msnb.formats.summary_events import Image
from msnb.train.summary._histograms import histograms

_IMAGES_PER_ROW = 8  # images of a batch in one row of the recorded image


def contents_of(kind: str, values: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """Return a list of (tag, kind, content) for `values`, {tag: array}, as `summary_events.summary_event` takes it.

    Values that cannot be written are dropped, with a line in the log.
    """
    plain = {tag: _to_native_dtype(value) for tag, value in values.items()}
    if kind == "histogram":
        contents = histograms(list(plain.values()))
    else:
        contents = [_build_event_content(kind, tag, value) for tag, value in plain.items()]
    return [(tag, kind, content) for tag, content in zip(plain, contents, strict=True) if content is not None]


def _to_native_dtype(value):
    """Return an array of a dtype that numpy supports natively."""
    bfloat16 = isinstance(value, np.ndarray) and value.dtype.name == "bfloat16"
    return value.astype(np.float32) if bfloat16 else value


def _build_event_content(kind, tag, value):
    if not isinstance(value, np.ndarray):
        return value
    if kind == "scalar":
        if value.size == 1:
            return float(value.item())
        return float(value.astype(np.float64).mean()) if value.size else math.nan
    return image(tag, value) if kind == "image" else value


def image(tag: str, array: np.ndarray) -> Image | None:
    """Return one image that shows the images of a batch, (N, C, H, W) with 1 or 3 channels, 8 in each row.

    Bytes are used directly, numbers between 0 and 1 are multiplied by 255, and others are scaled to their range.
    """
    if array.ndim != 4 or array.shape[1] not in (1, 3) or 0 in array.shape:
        log.warning("%s is no image, as its shape is %s and not (N, 1 or 3, H, W): it is left out.", tag, array.shape)
        return None
    n, colours, height, width = array.shape
    columns = min(n, _IMAGES_PER_ROW)
    rows = -(-n // columns)
    canvas = np.zeros((rows * columns, colours, height, width), array.dtype)
    canvas[:n] = array
    canvas = canvas.reshape(rows, columns, colours, height, width).transpose(0, 3, 1, 4, 2)
    canvas = _to_uint8_pixels(canvas.reshape(rows * height, columns * width, colours))
    return Image(canvas.shape[0], canvas.shape[1], colours, _encode_png(canvas))


def _encode_png(canvas):
    """Return the PNG file of a uint8 image of 1 or 3 channels."""
    from PIL import Image  # a lazy import: only images need Pillow

    file = io.BytesIO()
    # Level 1 is the fastest: this thread competes with the training for the CPU.
    Image.fromarray(canvas.squeeze(2) if canvas.shape[2] == 1 else canvas).save(file, "PNG", compress_level=1)
    return file.getvalue()


def _to_uint8_pixels(array):
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
