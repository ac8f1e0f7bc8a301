"""HTML display of a Tensor: its type, statistics, and the values, a picture or a histogram."""

import base64
import io
from typing import Any

import numpy as np

from msnb._util.byte_size import format_bytes
from msnb.core.tensor.tensor import is_traced
from msnb.notebook.display.html import count, escape, framed, number

_MOST = 12  # maximum rows and columns of a table that is shown in full
_EDGE = 3  # rows and columns at each end of a larger table
_SAMPLE = 1 << 20  # maximum elements that the statistics use
_PICTURES = 12  # maximum pictures of a batch that are drawn
_HEAT = 128  # width of a heat map in pixels, and its maximum number of rows and of columns
_ABOVE, _BELOW, _NOT_FINITE = (213, 94, 0), (0, 114, 178), (230, 40, 150)


def tensor_html(tensor: Any) -> str | None:
    """Return the HTML of a Tensor or Parameter; None during tracing, when there are no values."""
    if is_traced(tensor):
        return None
    values = tensor.asnumpy()  # a copy, because a training step on another thread can donate the array
    head = _format_head(tensor, values)
    body = _format_body(values)
    label = f"{type(tensor).__name__} {values.shape} {tensor.dtype}"
    return framed(head + body, label)


def _format_head(tensor, values):
    kind = type(tensor).__name__
    parts = [f"<b>{escape(kind)}</b>"]
    if hasattr(tensor, "requires_grad"):
        parts.append(f'<span class="mono">{escape(str(tensor.name))}</span>')
    parts.append(f'<span class="mono">{values.shape}</span>')
    parts.append(f'<span class="mono">{escape(str(tensor.dtype))}</span>')
    parts.append(f'<span class="dim">{format_bytes(values.nbytes)}</span>')
    if getattr(tensor, "requires_grad", True) is False:
        parts.append('<span class="dim">not trained</span>')
    return f'<div class="head">{"".join(parts)}</div>'


def _format_body(values):
    if not values.size:
        return '<div class="dim">no elements</div>'
    if not values.ndim:
        return f'<div class="mono" style="font-size:15px">{_format_cell(values[()])}</div>'
    pictures = _format_images(values)
    if pictures is not None:
        return _format_statistics(values) + pictures
    numbers = _format_table(values)
    if values.ndim >= 2:
        numbers = f'<div class="beside"><div>{numbers}</div>{_draw_heat_map(values)}</div>'
    if values.ndim <= 2 and max(values.shape) <= _MOST:
        return numbers
    return _format_statistics(values) + _draw_histogram(values) + numbers


# ---------------------------------------------------------------------- numbers
def _sample_values(values):
    """Return (elements, is_sample): all elements, or an evenly spaced sample of a large array."""
    flat = values.reshape(-1)
    step = -(-flat.size // _SAMPLE)
    return flat[::step], step > 1


def _format_statistics(values):
    sample, partial = _sample_values(values)
    parts = []
    if values.dtype == bool:
        parts.append(f"{sample.mean():.1%} True")
    elif values.dtype.kind == "c":
        parts.append(f"|x| ≤ {number(np.abs(sample).max())}")
    else:
        wide = sample.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        if finite.size:
            low, high = finite.min(), finite.max()
            parts += [
                f"min {number(low)}",
                f"max {number(high)}",
                f"mean {number(finite.mean())}",
                f"std {number(finite.std())}",
            ]
        zeros = float((wide == 0).mean())
        if zeros:
            parts.append(f"{zeros:.1%} zeros")
        for name, many in (("NaN", np.isnan(wide).sum()), ("Inf", np.isinf(wide).sum())):
            if many:
                parts.append(f'<span class="bad">{count(int(many))} {name}</span>')
    if partial:
        parts.append(f'<span class="dim">of {count(sample.size)} of {count(values.size)} elements</span>')
    return f'<div class="head num" style="opacity:1">{"".join(f"<span>{p}</span>" for p in parts)}</div>'


def _draw_histogram(values, bins=40, width=320, height=56):
    sample, _ = _sample_values(values)
    if values.dtype == bool or values.dtype.kind == "c" or values.size <= 32:
        return ""
    wide = sample.astype(np.float64)
    wide = wide[np.isfinite(wide)]
    if not wide.size or wide.min() == wide.max():
        return ""
    if values.dtype.kind in "iu":
        bins = int(min(bins, wide.max() - wide.min() + 1))
    counts, edges = np.histogram(wide, bins)
    step, top = width / bins, counts.max()
    bars = "".join(
        f'<rect x="{i * step:.1f}" y="{height - h:.1f}" width="{max(step - 1, 1):.1f}" height="{h:.1f}">'
        f"<title>{number(edges[i])} to {number(edges[i + 1])}: {count(int(c))}</title></rect>"
        for i, c in enumerate(counts)
        if c
        for h in (max(1.0, c / top * height),)
    )
    axis = (
        f'<line x1="0" x2="{width}" y1="{height}.5" y2="{height}.5" stroke="currentColor" stroke-opacity=".4"/>'
        f'<text x="0" y="{height + 14}">{number(edges[0])}</text>'
        f'<text x="{width}" y="{height + 14}" text-anchor="end">{number(edges[-1])}</text>'
    )
    return (
        f'<svg role="img" aria-label="histogram of the values" viewBox="0 0 {width} {height + 18}" width="{width}" '
        f'height="{height + 18}" style="font-size:11px"><g fill="#2b8cc4">{bars}</g>'
        f'<g fill="currentColor" fill-opacity=".7">{axis}</g></svg>'
    )


def _format_cell(value):
    text = escape(number(value) if not isinstance(value, (str, bytes)) else str(value))
    return f'<span class="bad">{text}</span>' if value != value else text


def _format_table(values):
    """Return a table of the last two axes, at index 0 of the others. Large arrays show both ends of an axis."""
    lead = values.ndim - 2
    note = ""
    if lead > 0:
        note = f'<div class="dim mono">[{"0, " * lead}:, :]</div>'
        values = values[(0,) * lead]
    flat = values.ndim == 1
    grid = values[None] if flat else values
    rows, columns = _select_visible_indices(grid.shape[0]), _select_visible_indices(grid.shape[1])
    lines = []
    if not flat or grid.shape[1] > 1:
        lines.append("<tr><th></th>" + "".join(f'<th scope="col">{_format_index(c)}</th>' for c in columns) + "</tr>")
    for r in rows:
        cells = "".join(
            "<td>…</td>" if r is None or c is None else f"<td>{_format_cell(grid[r, c])}</td>" for c in columns
        )
        lines.append(f'<tr><th scope="row">{"" if flat else _format_index(r)}</th>{cells}</tr>')
    return f"{note}<table>{''.join(lines)}</table>"


def _select_visible_indices(length):
    if length <= _MOST:
        return list(range(length))
    return [*range(_EDGE), None, *range(length - _EDGE, length)]


def _format_index(position):
    return "…" if position is None else position


# ---------------------------------------------------------------------- heat maps
def _draw_heat_map(values):
    """Return a heat map of the last two axes, at index 0 of the others.

    Values above zero are orange, below zero blue. Zero is transparent, which works on light and dark pages. The result
    is "" for vectors and for values that are not real.
    """
    grid = values[(0,) * (values.ndim - 2)]
    if min(grid.shape) < 2 or grid.dtype.kind not in "biuf" and grid.dtype.name != "bfloat16":
        return ""
    grid = _downsample(grid.astype(np.float32))
    finite = np.isfinite(grid)
    largest = float(np.abs(grid[finite]).max(initial=0.0))
    if not largest and finite.all():
        return ""
    pixels = np.zeros((*grid.shape, 4), np.uint8)
    pixels[..., :3] = np.where((grid < 0)[..., None], _BELOW, _ABOVE)
    pixels[..., 3] = np.round(255 * np.abs(np.where(finite, grid, 0.0)) / (largest or 1.0))
    pixels[~finite] = *_NOT_FINITE, 255
    scale = max(1, _HEAT // max(grid.shape))
    label = f"heat map: clear is 0, orange up to {number(largest)}, blue down to {number(-largest)}"
    label += ", pink is not finite" if not finite.all() else ""
    return png(pixels, scale, 0, label=label)


def _downsample(grid):
    """Reduce a grid to at most `_HEAT` rows and columns. A block keeps its value farthest from zero, or NaN."""
    for axis in (0, 1):
        length = grid.shape[axis]
        if length > _HEAT:
            starts = np.arange(_HEAT) * length // _HEAT
            high, low = np.maximum.reduceat(grid, starts, axis), np.minimum.reduceat(grid, starts, axis)
            grid = np.where(high < -low, low, high)
    return grid


# ---------------------------------------------------------------------- pictures
def _format_images(values):
    """Return images if dtype and shape are those of images: uint8, or floats in [0, 1]. Otherwise return None."""
    images = as_images(values[:_PICTURES] if values.ndim == 4 else values)
    if images is None:
        return None
    scale = max(1, 56 // images.shape[1])
    tags = "".join(png(image, scale, i) for i, image in enumerate(images))
    left = len(values) - len(images) if values.ndim == 4 else 0
    more = f'<div class="dim">and {left} more</div>' if left else ""
    return f'<div style="display:flex;flex-wrap:wrap;gap:4px;margin:4px 0">{tags}</div>{more}'


def as_images(values: np.ndarray) -> np.ndarray | None:
    """Return values as uint8 images of shape (number, height, width[, channels]), or None."""
    if values.dtype != np.uint8 and values.dtype.kind != "f" or values.ndim not in (2, 3, 4):
        return None
    lengths = values.shape
    if values.ndim == 2:  # a grey image if it is uint8; a float matrix need not be an image
        images = values[None] if values.dtype == np.uint8 else None
    elif values.ndim == 3 and lengths[-1] in (1, 3):
        images = values[None]
    elif values.ndim == 3 and lengths[0] in (1, 3):
        images = np.moveaxis(values, 0, -1)[None]
    elif values.ndim == 4 and lengths[-1] in (1, 3):
        images = values
    elif values.ndim == 4 and lengths[1] in (1, 3):
        images = np.moveaxis(values, 1, -1)
    else:
        images = None
    if images is None or not (8 <= images.shape[1] <= 1024 and 8 <= images.shape[2] <= 1024) or not len(images):
        return None
    if values.dtype.kind == "f":
        images = np.asarray(images, np.float32)
        if not (np.isfinite(images).all() and images.min() >= 0 and 0.05 < images.max() <= 1):
            return None
        images = np.round(images * 255).astype(np.uint8)
    return images


def png(image: np.ndarray, scale: int, position: int, most: int = 256, label: str | None = None) -> str:
    """Return an <img> of a uint8 image, reduced to at most `most` pixels per side and then enlarged `scale` times.

    `label` is its alternative text, by default its number.
    """
    from PIL import Image

    image = np.ascontiguousarray(image[..., 0] if image.ndim == 3 and image.shape[-1] == 1 else image)
    picture = Image.fromarray(image)
    picture.thumbnail((most, most))
    file = io.BytesIO()
    picture.save(file, "PNG")
    data = base64.b64encode(file.getvalue()).decode()
    label = escape(label or f"image {position}", quote=True)
    return f'<img alt="{label}" title="{label}" width="{picture.width * scale}" src="data:image/png;base64,{data}">'
