"""The graph view: what a network is, drawn in the notebook."""

from msnb.notebook import cell_names, cell_views

from .view import GraphView, diff, view

__all__ = ["GraphView", "diff", "view"]

cell_names.install()
cell_views.install()
