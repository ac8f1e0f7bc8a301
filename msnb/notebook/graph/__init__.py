"""The graph view: what a network is, drawn in the notebook."""

from . import cells
from .view import GraphView, diff, view

__all__ = ["GraphView", "diff", "view"]

cells.install()
