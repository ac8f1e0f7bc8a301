"""The gradient inspector: statistics, findings and plots of a network's gradients."""

from typing import Any

__all__ = ["GradientMonitor", "GradientView", "inspect_gradients"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from msnb.notebook.gradients import inspect  # lazy, to spare sessions without gradients the import of msnb.nn

        return getattr(inspect, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
