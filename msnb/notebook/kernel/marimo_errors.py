"""Short errors in marimo.

marimo prints the exception's own traceback, so frames inside msnb and JAX are removed from it.

``MSNB_TRACEBACK=full`` in the environment disables this.
"""

import os
import sys

from msnb.insight.short_traceback import shorten
from msnb.nn._cell import error_notes


def install() -> None:
    """Shorten errors from now on, if this runs in a marimo notebook."""
    running = getattr(sys.modules.get("marimo"), "running_in_notebook", None)
    if running is not None and running() and os.environ.get("MSNB_TRACEBACK") != "full":
        error_notes.on_cell_error(_shorten_error)


def _shorten_error(error):
    shorten(error, error.__traceback__)
