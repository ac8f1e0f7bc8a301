"""Notebook support: the magic `%%mindspore`, line magics, short errors, rich displays and views.

`%load_ext msnb` enables all of it, `%unload_ext msnb` disables it. The `install` of each component returns its undo
function.
"""

import contextlib
import os
import warnings
import weakref
from typing import Any

from msnb.core.errors.messages import hide_directory

_loaded = weakref.WeakKeyDictionary()  # shell -> ExitStack that undoes the components


def load_ipython_extension(ipython: Any) -> None:
    """Install every component of msnb in an IPython shell. `%load_ext msnb` calls this."""
    if ipython in _loaded:
        return
    import IPython  # lazy, to spare plain Python the import of IPython

    from msnb.notebook.display import formatters  # lazy, to spare plain Python the import of IPython
    from msnb.notebook.kernel import (  # lazy, to spare plain Python the import of IPython
        cell_scope,
        completion,
        errors,
        front_end,
        magics,
        messages,
        program_cache_magic,
    )

    # short tracebacks omit IPython's frames, which come between a magic and the user's line
    hide_directory(os.path.dirname(IPython.__file__) + os.sep)
    undo = contextlib.ExitStack()
    undo.callback(_ignore_fork_warnings())
    undo.callback(front_end.forget, ipython)
    for part in (cell_scope, magics, errors, messages, formatters, completion, program_cache_magic):
        undo.callback(part.install(ipython))
    _loaded[ipython] = undo


def _ignore_fork_warnings():
    """Suppress JAX's warning about forks. `!ls` in a notebook forks and then calls exec, which is harmless."""
    before = list(warnings.filters)
    warnings.filterwarnings("ignore", "os.fork", RuntimeWarning, "pty")
    added = [f for f in warnings.filters if f not in before]

    def undo():
        for entry in added:
            if entry in warnings.filters:
                warnings.filters.remove(entry)

    return undo


def unload_ipython_extension(ipython: Any) -> None:
    """Remove every component of msnb from an IPython shell. `%unload_ext msnb` calls this."""
    undo = _loaded.pop(ipython, None)
    if undo is not None:
        undo.close()
