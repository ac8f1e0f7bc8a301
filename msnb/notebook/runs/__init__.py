"""The table of runs: compare settings and results of trainings."""

from .view import RunsView, runs

__all__ = ["RunsView", "runs"]
