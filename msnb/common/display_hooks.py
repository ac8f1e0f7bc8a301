"""The display of a Tensor, Cell or dataset in a notebook that asks the object for it, as marimo does.

IPython finds the same displays by type (`msnb.notebook.display.formatters`), and does not use `_mime_`.
"""

from collections.abc import Callable
from typing import Any

_drawers: list[Callable[[Any], tuple[str, str]]] = []  # the drawing function, which a higher level registers


def by(draw: Callable[[Any], tuple[str, str]]) -> None:
    """Register `draw(value)`, which returns a MIME type and the text of that type."""
    _drawers[:] = [draw]


def mime(value: Any) -> tuple[str, str]:
    """Return (MIME type, text) for the method `_mime_`."""
    return _drawers[0](value) if _drawers else ("text/plain", repr(value))
