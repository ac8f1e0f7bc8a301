"""A value of a node as data for the page: statistics, histogram, pictures and a table of numbers."""

import base64
import io
from typing import Any

import numpy as np

from msnb._util.byte_size import format_bytes
from msnb.notebook.display.html import number

BINS = 32
_TABLE = 24  # rows and columns of the table of numbers
_MAPS = 32  # pictures of one value
_PIXELS = 96  # width and height of a picture; larger arrays are reduced
_SAMPLE = 1 << 20  # elements that the statistics use
_ABOVE, _BELOW, _NOT_FINITE = (213, 94, 0), (0, 114, 178), (230, 40, 150)


def value_data(
    title: str,
    array: Any,
    sample: int | None = 0,
    labels: list[str] | None = None,
    op: str = "",
) -> dict[str, Any]:
    """Return a value as data that JSON can hold.

    Args:
        title (str): heading, such as ``"output"``.
        array (Any): the value: an array of any shape and dtype, or None if it can't be read.
        sample (int): index on the first axis for pictures and table; None for a value without examples, such as a
            Parameter. Default: 0.
        labels (list[str]): tokens for the axes of attention. Default: None.
        op (str): operator that computed the value. Default: "".

    Returns:
        dict with ``title``, ``type``, and ``stats``, ``histogram``, ``pictures`` and ``table`` as far as they apply.
    """
    if array is None:
        return {"title": title, "type": "", "note": "This value can't be read."}
    values = np.asarray(array)
    kind = f"{values.dtype.name.capitalize()}[{', '.join(map(str, values.shape))}]"
    data: dict[str, Any] = {"title": title, "type": kind, "size": format_bytes(values.nbytes)}
    if not values.size or values.dtype.kind not in "biufc" and values.dtype.name != "bfloat16":
        return {**data, "note": "It has no elements." if not values.size else "It has no numbers to show."}
    if not values.ndim:
        return {**data, "number": number(values[()])}
    wide = _sample_elements(values)
    data["stats"] = statistics(wide)
    data["histogram"] = histogram(wide)
    has_samples = sample is not None and values.ndim > 1
    row = values[min(sample, len(values) - 1)] if has_samples else values
    data["samples"] = len(values) if has_samples else 1
    if values.dtype.kind != "c":
        data["pictures"] = _draw_pictures(np.asarray(row, np.float32), op, labels)
    data["table"] = _number_table(row)
    return data


def _sample_elements(values):
    """Return the elements as float64; of a large array an evenly spaced sample."""
    flat = values.reshape(-1)
    flat = flat[:: -(-flat.size // _SAMPLE)]
    return np.abs(flat).astype(np.float64) if flat.dtype.kind == "c" else flat.astype(np.float64)


def statistics(wide: np.ndarray) -> list[list[str]]:
    """Return [name, text] of each statistic of real numbers. Fractions that are zero are left out."""
    finite = wide[np.isfinite(wide)]
    rows = []
    if finite.size:
        figures = (("min", finite.min()), ("max", finite.max()), ("mean", finite.mean()), ("std", finite.std()))
        rows += [[name, number(value)] for name, value in figures]
        rows.append(["mean |x|", number(np.abs(finite).mean())])
    tiny = float(np.finfo(np.float32).tiny)
    shares = (
        ("zeros", wide == 0),
        ("subnormal", (wide != 0) & (np.abs(wide) < tiny)),
        ("NaN", np.isnan(wide)),
        ("Inf", np.isinf(wide)),
    )
    rows += [[name, f"{100 * mask.mean():.3g} %"] for name, mask in shares if mask.any()]
    return rows


def histogram(wide: np.ndarray) -> dict[str, Any] | None:
    """Return {"low", "high", "counts"} of the finite numbers; None if all are equal."""
    finite = wide[np.isfinite(wide)]
    if finite.size < 2 or finite.min() == finite.max():
        return None
    counts, edges = np.histogram(finite, BINS)
    return {"low": number(edges[0]), "high": number(edges[-1]), "counts": counts.tolist()}


# ---------------------------------------------------------------------- pictures
def _draw_pictures(row, op, labels):
    """Return the pictures of one example: channels, filters, attention heads, an image, a line."""
    finite = np.isfinite(row)
    top = float(np.abs(row[finite]).max(initial=0.0))
    if row.ndim == 1:
        return {"kind": "line", "points": _downsample_line(row)} if row.size > 2 else None
    if is_attention(row, op):
        maps = row.reshape(-1, *row.shape[-2:])[:_MAPS]
        tokens = labels if labels and len(labels) >= max(row.shape[-2:]) else None
        images = [_encode_png(_heat_map_pixels(grid, 1.0)) for grid in maps]
        return {"kind": "attention", "images": images, "names": _numbered_labels("head", len(images)), "tokens": tokens}
    if row.ndim == 3 and row.shape[0] == 3 and min(row.shape[1:]) >= 8:
        low, high = float(row[finite].min(initial=0)), float(row[finite].max(initial=0))
        colours = np.clip((np.moveaxis(row, 0, -1) - low) / ((high - low) or 1.0), 0, 1)
        image = np.round(255 * np.nan_to_num(colours)).astype(np.uint8)
        return {"kind": "image", "images": [_encode_png(image)], "names": ["image"], "top": number(top)}
    grids = row.reshape(-1, *row.shape[-2:])
    if min(grids.shape[1:]) < 2 and len(grids) > 1:
        return None
    energy = np.nan_to_num(np.abs(grids)).mean((1, 2))
    order = np.argsort(-energy, kind="stable")[:_MAPS] if len(grids) > 1 else [0]
    name = "channel" if len(grids) > 1 else "values"
    names = [f"{name} {index}" if len(grids) > 1 else name for index in order]
    images = [_encode_png(_heat_map_pixels(grids[index], top)) for index in order]
    return {"kind": "maps", "images": images, "names": names, "top": number(top), "count": len(grids)}


def is_attention(row: np.ndarray, op: str) -> bool:
    """Return True for the weights of attention: softmax over the last of two sequence axes."""
    if row.ndim < 2 or "softmax" not in op.lower() and "attention" not in op.lower() or min(row.shape[-2:]) < 2:
        return False
    return bool(np.allclose(row.sum(-1), 1.0, atol=1e-2))


def _numbered_labels(name, count):
    return [f"{name} {index}" for index in range(count)]


def _heat_map_pixels(grid, top):
    """Return RGBA pixels: orange above zero, blue below, clear at zero, pink where a value is not finite."""
    grid = _downsample(grid)
    finite = np.isfinite(grid)
    pixels = np.zeros((*grid.shape, 4), np.uint8)
    pixels[..., :3] = np.where((grid < 0)[..., None], _BELOW, _ABOVE)
    pixels[..., 3] = np.round(255 * np.minimum(np.abs(np.where(finite, grid, 0.0)) / (top or 1.0), 1.0))
    pixels[~finite] = *_NOT_FINITE, 255
    return pixels


def _downsample(grid):
    """Reduce a grid to `_PIXELS` rows and columns. A block keeps its value farthest from zero, or NaN."""
    for axis in (0, 1):
        length = grid.shape[axis]
        if length > _PIXELS:
            starts = np.arange(_PIXELS) * length // _PIXELS
            high, low = np.maximum.reduceat(grid, starts, axis), np.minimum.reduceat(grid, starts, axis)
            grid = np.where(high < -low, low, high)
    return grid


def _downsample_line(row):
    step = -(-row.size // 256)
    return [None if not np.isfinite(value) else float(f"{value:.4g}") for value in row[::step]]


def _encode_png(pixels):
    """Return the base64 text of a PNG."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=4)
    return base64.b64encode(file.getvalue()).decode()


# ---------------------------------------------------------------------- numbers
def _number_table(row):
    """Return {"lead", "rows", "columns", "cells"} of the last two axes, at index 0 of the others."""
    lead = max(row.ndim - 2, 0)
    grid = row[(0,) * lead]
    grid = grid.reshape(1, -1) if grid.ndim < 2 else grid
    cells = [[number(value) for value in line[:_TABLE]] for line in grid[:_TABLE]]
    return {"lead": lead, "rows": grid.shape[0], "columns": grid.shape[1], "cells": cells, "flat": row.ndim < 2}
