"""The gradient inspector: what happens to the gradients of a network, in words and pictures."""

from importlib import import_module as _import_module
from typing import Any

# Loaded when first asked for: the magic is registered in sessions that never look at a gradient.
_LATER = {"inspect_gradients": "inspect", "GradientMonitor": "view", "GradientView": "view"}

__all__ = list(_LATER)


def __getattr__(name: str | None) -> Any:
    if name in _LATER:
        value = globals()[name] = getattr(_import_module(f"{__name__}.{_LATER[name]}"), name)
        return value
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
