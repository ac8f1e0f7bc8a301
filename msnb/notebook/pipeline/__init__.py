"""A data pipeline at work: time and throughput of each operator, and what holds it up."""

from typing import Any

__all__ = ["PipelineView", "watch"]


def __getattr__(name: str | None) -> Any:
    if name in __all__:  # later, because it loads the data engine
        from msnb.notebook.pipeline import view

        return getattr(view, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
