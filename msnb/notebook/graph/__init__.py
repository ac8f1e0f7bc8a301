"""The graph view: what a network is, drawn in the notebook."""

from msnb.notebook import cell_names, cell_views

from . import anew, live
from .api import diff, view
from .view import GraphView

__all__ = ["GraphView", "diff", "view"]

cell_names.install()
cell_views.install()
if cell_names.shell() is not None:
    anew.install()
    live.install()
