"""What a Tensor, Cell or data set shows of itself in a notebook that asks the object, as marimo does.

IPython is told of the same displays by their types (`msnb.notebook.display.formatters`), and does not ask for `_mime_`.
"""

from collections.abc import Callable
from typing import Any

_by: list[Callable[[Any], tuple[str, str]]] = []  # what draws; it stands above, and registers itself


def by(draw: Callable[[Any], tuple[str, str]]) -> None:
    """Register `draw(value)`, which returns a MIME type and the text of that type."""
    _by[:] = [draw]


def mime(value: Any) -> tuple[str, str]:
    """The method `_mime_` of what shows itself: (MIME type, text)."""
    return _by[0](value) if _by else ("text/plain", repr(value))
