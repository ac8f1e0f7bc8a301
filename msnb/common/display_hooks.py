"""Display of a Tensor, Cell or dataset in notebooks such as marimo, which call the method `_mime_` of an object.

IPython finds the same displays by type (`msnb.notebook.display.formatters`), and does not use `_mime_`.
"""

from collections.abc import Callable
from typing import Any

_drawers: list[Callable[[Any], tuple[str, str]]] = []  # empty until `by` is called, then the drawing function


def by(draw: Callable[[Any], tuple[str, str]]) -> None:
    """Register `draw(value)`, which returns (MIME type, text in that format)."""
    _drawers[:] = [draw]


def mime(value: Any) -> tuple[str, str]:
    """Return (MIME type, text) for the method `_mime_`."""
    return _drawers[0](value) if _drawers else ("text/plain", repr(value))
