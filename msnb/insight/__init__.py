"""Analyse networks and trainings. The results are drawn by the views in `msnb.notebook`, not here."""

import importlib
from typing import Any

_PARTS = ("gradients", "profile")


def __getattr__(name: str) -> Any:
    """Import a subpackage at its first access."""
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")  # lazy import: unused subpackages are not loaded
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
