"""The table of runs: which settings made which training better, in a notebook."""

from .view import RunsView, runs

__all__ = ["RunsView", "runs"]
