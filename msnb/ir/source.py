"""Format a node's source line as text; `msnb.core.errors.source_location` names the files."""

from typing import Any

from msnb.core.errors.source_location import format_location
from msnb.core.errors.source_location import label as label  # known by this path as well
from msnb.core.errors.source_location import register_namer as register_namer


def show(source: tuple[Any, ...] | None) -> str:
    """Return (file, line, function) as text, ``net.py:31`` or ``In [3] line 2``; "" for None."""
    return format_location(*source[:2]) if source else ""
