"""The graph view: what a network is, drawn in the notebook."""
from .view import GraphView, view

__all__ = ["GraphView", "view"]
