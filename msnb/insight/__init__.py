"""What a view needs to know about a network and its training, without drawing it."""

import importlib
from typing import Any

_PARTS = ("gradients", "profile")


def __getattr__(name: str) -> Any:
    """The parts, loaded when they are first asked for."""
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")  # spares the one to who asks for the other
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
