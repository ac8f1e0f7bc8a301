"""A value of a node as data for the page: statistics, histogram, pictures and a table of numbers."""

import base64
import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from msnb._util.byte_size import format_bytes
from msnb.notebook.display.html import number

BINS = 32
_TABLE = 24  # maximum rows and columns of the table of numbers
_MAPS = 32  # maximum pictures of one value
_PIXELS = 96  # maximum width and height of a picture; larger arrays are reduced
_SAMPLE = 1 << 20  # maximum elements that the statistics use
_TOKENS = 32  # maximum rows and columns of attention weights that are sent as numbers
_HEADS = 8  # maximum attention heads whose weights are sent as numbers
_EXTREMES = 4  # number of examples that excite a channel most, and of those that excite it least
_SLICE = re.compile(r"\s*(-?\d+|(-?\d+)?\s*:\s*(-?\d+)?\s*(:\s*(-?\d+)?)?|\.\.\.)\s*")
_ABOVE, _BELOW, _NOT_FINITE = (213, 94, 0), (0, 114, 178), (230, 40, 150)


def value_data(
    title: str,
    array: Any,
    sample: int | None = 0,
    labels: Any = None,
    op: str = "",
    order: str = "energy",
    part: str = "",
) -> dict[str, Any]:
    """Return a value as data that JSON can hold.

    Args:
        title (str): heading, such as ``"output"``.
        array (Any): the value: an array of any shape and dtype, or None if it can't be read.
        sample (int): index on the first axis for pictures and table; None for a value without examples, such as a
            Parameter. Default: 0.
        labels (Any): tokens for the axes of attention, see `tokens_of`. Default: None.
        op (str): operator that computed the value. Default: "".
        order (str): order of the maps: by ``"energy"``, the mean magnitude, or by ``"index"``. Default: "energy".
        part (str): slice of the value for the table, such as ``"0, :, 2:5"``. Default: "", the last two axes.

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
        is_filter = sample is None and values.ndim == 4 and values.shape[1] == 3
        tokens = tokens_of(labels, sample or 0)
        data["pictures"] = (
            _draw_filters(np.asarray(values, np.float32))
            if is_filter
            else draw_pictures(np.asarray(row, np.float32), op, tokens, order)
        )
    data["table"] = _make_number_table(row) if not part.strip() else _make_table_of_slice(values, part)
    return data


def tokens_of(labels: Any, sample: int) -> tuple[list[str], list[str]] | None:
    """Return the tokens of (rows, columns) of attention in one example; None if there are none.

    Args:
        labels (Any): a list of tokens for both axes; a list of such lists, one per example; or a tuple of two of
            these, for queries and keys.
        sample (int): index of the example.
    """
    if labels is None:
        return None
    if isinstance(labels, tuple) and len(labels) == 2 and not isinstance(labels[0], str):
        rows, columns = (tokens_of(axis, sample) for axis in labels)
        return None if rows is None or columns is None else (rows[0], columns[0])
    tokens = labels[min(sample, len(labels) - 1)] if labels and not isinstance(labels[0], str) else labels
    return list(map(str, tokens)), list(map(str, tokens))


def check_labels(labels: Any) -> None:
    """Raise TypeError if `labels` do not have the form that `tokens_of` reads."""

    def is_tokens(value):
        return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(t, str) for t in value)

    def is_axis(value):
        return is_tokens(value) or isinstance(value, Sequence) and len(value) and all(map(is_tokens, value))

    is_pair = isinstance(labels, tuple) and len(labels) == 2 and all(map(is_axis, labels))
    if labels is not None and not (is_axis(labels) or is_pair):
        raise TypeError(
            "'labels' should be a list of tokens, a list of such lists per example, or a tuple of two of these for "
            f"queries and keys, but got {labels!r}."
        )


def _sample_elements(values):
    """Return the elements as float64. For a large array, return an evenly spaced sample."""
    flat = values.reshape(-1)
    flat = flat[:: -(-flat.size // _SAMPLE)]
    return np.abs(flat).astype(np.float64) if flat.dtype.kind == "c" else flat.astype(np.float64)


def statistics(wide: np.ndarray) -> list[list[str]]:
    """Return [name, text] of each statistic of real numbers. Fractions that are zero are omitted."""
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
    for name, mask in shares:
        if mask.any():
            note = " (left out above)" if name in ("NaN", "Inf") and finite.size else ""
            rows.append([name, f"{100 * mask.mean():.3g} %{note}"])
    return rows


def histogram(wide: np.ndarray) -> dict[str, Any] | None:
    """Return {"low", "high", "counts"} of the finite numbers; None if all are equal."""
    finite = wide[np.isfinite(wide)]
    if finite.size < 2 or finite.min() == finite.max():
        return None
    counts, edges = np.histogram(finite, BINS)
    return {"low": number(edges[0]), "high": number(edges[-1]), "counts": counts.tolist()}


# ---------------------------------------------------------------------- pictures
def draw_pictures(
    row: np.ndarray, op: str = "", tokens: tuple[list[str], list[str]] | None = None, order: str = "energy"
) -> dict[str, Any] | None:
    """Return the pictures of one example: channels, attention heads, an image, a line."""
    finite = np.isfinite(row)
    top = float(np.abs(row[finite]).max(initial=0.0))
    if row.ndim == 1:
        return {"kind": "line", "points": _downsample_line(row)} if row.size > 2 else None
    if is_attention(row, op):
        maps = row.reshape(-1, *row.shape[-2:])[:_MAPS]
        images = list(map(_encode_png, _compute_heat_map_pixels(maps, 1.0)))
        shown = {
            "kind": "attention",
            "images": images,
            "names": _make_numbered_labels("head", len(images)),
            "tokens": None,
        }
        if max(maps.shape[1:]) <= _TOKENS:  # send the weights, because the page shows the one under the pointer
            shown["weights"] = np.round(100 * np.nan_to_num(maps[:_HEADS]), 1).tolist()
        if tokens and len(tokens[0]) >= maps.shape[1] and len(tokens[1]) >= maps.shape[2]:
            shown["tokens"] = [tokens[0][: maps.shape[1]], tokens[1][: maps.shape[2]]]
        return shown
    if row.ndim == 3 and row.shape[0] == 3 and min(row.shape[1:]) >= 8:
        low, high = float(row[finite].min(initial=0)), float(row[finite].max(initial=0))
        colours = np.clip((np.moveaxis(row, 0, -1) - low) / ((high - low) or 1.0), 0, 1)
        image = np.round(255 * np.nan_to_num(colours)).astype(np.uint8)
        return {"kind": "image", "images": [_encode_png(image)], "names": ["image"], "top": number(top)}
    grids = row.reshape(-1, *row.shape[-2:])
    if min(grids.shape[1:]) < 2 and len(grids) > 1:
        return None
    energy = np.nan_to_num(np.abs(grids)).mean((1, 2), np.float64)  # scores of masked keys are near the largest float32
    ranked = np.argsort(-energy, kind="stable") if order == "energy" else np.arange(len(grids))
    ranked = ranked[:_MAPS].tolist() if len(grids) > 1 else [0]
    name = "channel" if len(grids) > 1 else "values"
    names = [f"{name} {index}" if len(grids) > 1 else name for index in ranked]
    images = list(map(_encode_png, _compute_heat_map_pixels(grids[ranked], top)))
    shown = {"kind": "maps", "images": images, "names": names, "top": number(top), "count": len(grids), "order": order}
    return {**shown, "channels": ranked} if row.ndim == 3 and len(grids) > 1 else shown


def _draw_filters(filters):
    """Return the pictures of filters with three input channels, as colours."""
    span = np.abs(np.nan_to_num(filters)).max() or 1.0
    colours = np.round(127.5 * (1 + np.clip(np.nan_to_num(filters) / span, -1, 1))).astype(np.uint8)
    images = [_encode_png(np.moveaxis(one, 0, -1)) for one in colours[:_MAPS]]
    return {
        "kind": "filters",
        "images": images,
        "names": _make_numbered_labels("filter", len(images)),
        "count": len(filters),
    }


def extremes(values: np.ndarray, channel: int, images: np.ndarray | None) -> list[dict[str, Any]]:
    """Return the examples of a batch that excite a channel most, and those that excite it least.

    Args:
        values (np.ndarray): output of a node, ``[batch, channel, ...]``.
        channel (int): index of the channel.
        images (np.ndarray): one picture per example, the input of the network. Default: None, the channel itself.

    Returns:
        list of dict with ``sample``, ``value`` (mean of the channel), ``image`` and ``most``.
    """
    wide = np.asarray(values[:, channel], np.float64)
    scores = np.nan_to_num(wide.reshape(len(wide), -1).mean(1))
    ranked = np.argsort(-scores, kind="stable").tolist()
    count = min(_EXTREMES, len(ranked) // 2)
    entries = []
    for is_most, samples in ((True, ranked[:count]), (False, ranked[len(ranked) - count :][::-1])):
        for sample in samples:
            row = np.asarray(wide[sample] if images is None else images[sample], np.float32)
            shown = draw_pictures(row if row.ndim > 1 else row.reshape(1, -1))
            image = shown["images"][0] if shown and "images" in shown else ""
            entries.append({"sample": sample, "value": number(scores[sample]), "image": image, "most": is_most})
    return entries


def shows_attention(op: str) -> bool:
    """Return True if the result of an operator can be the weights of attention."""
    return "softmax" in op.lower() or "attention" in op.lower()


def is_attention(row: np.ndarray, op: str) -> bool:
    """Return True for the weights of attention: softmax over the last of two sequence axes."""
    if row.ndim < 2 or not shows_attention(op) or min(row.shape[-2:]) < 2:
        return False
    return bool(np.allclose(row.sum(-1), 1.0, atol=1e-2))


def _make_numbered_labels(name, count):
    return [f"{name} {index}" for index in range(count)]


def _compute_heat_map_pixels(grids, top):
    """Return RGBA pixels of each grid: orange above zero, blue below, transparent at zero, pink if not finite."""
    grids = _downsample(grids)
    finite = np.isfinite(grids)
    pixels = np.zeros((*grids.shape, 4), np.uint8)
    pixels[..., :3] = np.where((grids < 0)[..., None], np.uint8(_BELOW), np.uint8(_ABOVE))
    pixels[..., 3] = np.round(255 * np.minimum(np.abs(np.where(finite, grids, 0.0)) / (top or 1.0), 1.0))
    pixels[~finite] = *_NOT_FINITE, 255
    return pixels


def _downsample(grids):
    """Reduce grids to `_PIXELS` rows and columns. A block keeps its value farthest from zero, or NaN."""
    for axis in (-2, -1):
        length = grids.shape[axis]
        if length > _PIXELS:
            starts = np.arange(_PIXELS) * length // _PIXELS
            high, low = np.maximum.reduceat(grids, starts, axis), np.minimum.reduceat(grids, starts, axis)
            grids = np.where(high < -low, low, high)
    return grids


def _downsample_line(row):
    step = -(-row.size // 256)
    return [None if not np.isfinite(value) else float(f"{value:.4g}") for value in row[::step]]


def _encode_png(pixels):
    """Return the base64 text of a PNG of RGB or RGBA pixels."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=4)
    return base64.b64encode(file.getvalue()).decode()


# ---------------------------------------------------------------------- numbers
def _make_number_table(row):
    """Return {"lead", "rows", "columns", "cells"} of the last two axes, at index 0 of the others."""
    lead = max(row.ndim - 2, 0)
    grid = row[(0,) * lead]
    grid = grid.reshape(1, -1) if grid.ndim < 2 else grid
    cells = [[number(value) for value in line[:_TABLE]] for line in grid[:_TABLE]]
    return {"lead": lead, "rows": grid.shape[0], "columns": grid.shape[1], "cells": cells, "flat": row.ndim < 2}


def _make_table_of_slice(values, part):
    """Return the table of a slice such as ``"0, :, 2:5"``, or {"problem": text} if the slice is invalid."""
    try:
        picked = values[parse_slice(part, values.shape)]
    except (ValueError, IndexError) as error:
        return {"problem": str(error), "part": part}
    return {**_make_number_table(np.atleast_1d(picked)), "part": part}


def parse_slice(text: str, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Convert a text such as ``"0, :, 2:5"`` to an index.

    Raises:
        ValueError: If the text is no slice, or has more axes than `shape`.
    """
    parts = []
    for one in text.strip(" []").split(","):
        if not one.strip():
            continue
        if not _SLICE.fullmatch(one):
            raise ValueError(f"A slice is written like '0, :, 2:5', but got {text!r}.")
        if one.strip() == "...":
            parts.append(Ellipsis)
        elif ":" in one:
            parts.append(slice(*(int(n) if n.strip() else None for n in one.split(":"))))
        else:
            parts.append(int(one))
    if len(parts) - parts.count(Ellipsis) > len(shape) or parts.count(Ellipsis) > 1:
        raise ValueError(f"The value has {len(shape)} axes {list(shape)}, but the slice {text!r} has more.")
    return tuple(parts)
