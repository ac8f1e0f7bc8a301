"""The view of a running data pipeline: time and throughput of each operator, and the bottleneck."""

from typing import Any

__all__ = ["PipelineView", "monitor_html", "watch"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from msnb.notebook.pipeline import view  # lazy, to spare other sessions the data engine

        return getattr(view, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
