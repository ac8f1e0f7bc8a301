"""Errors in marimo, which prints what an exception carries: where one leaves a Cell, the frames inside msnb and JAX are
taken off it. ``MSNB_TRACEBACK=full`` in the environment leaves them on.
"""

import os
import sys

from msnb.insight.short_traceback import shorten
from msnb.nn._cell import error_notes


def install() -> None:
    """Shorten errors from now on, where this runs in a marimo notebook."""
    running = getattr(sys.modules.get("marimo"), "running_in_notebook", None)
    if running is not None and running() and os.environ.get("MSNB_TRACEBACK") != "full":
        error_notes.on_cell_error(_short)


def _short(error):
    shorten(error, error.__traceback__)
