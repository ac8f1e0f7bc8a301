"""The graph view of a network in a notebook."""

from msnb.notebook.kernel import cell_names, cell_views

from . import live, rebuild_network
from .api import diff, view
from .timeline import timeline
from .view import GraphView
from .watch import watch

__all__ = ["GraphView", "diff", "timeline", "view", "watch"]

cell_names.install()
cell_views.install()
if cell_names.shell() is not None:
    rebuild_network.install()
    live.install()
