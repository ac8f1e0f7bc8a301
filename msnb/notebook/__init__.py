"""What msnb adds to a notebook: `%%mindspore` and its line magics, short errors, rich displays, the views.

`%load_ext msnb` switches it on and `%unload_ext msnb` off again; each part brings a function that undoes it.
"""

import contextlib
import os
import warnings
import weakref
from typing import Any

from msnb.core.errors.messages import hide_directory

_loaded = weakref.WeakKeyDictionary()  # shell -> what undoes the parts


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext msnb` runs."""
    if ipython in _loaded:
        return
    import IPython  # spares it to plain Python

    from msnb.notebook.display import formatters  # spares IPython to plain Python
    from msnb.notebook.kernel import (  # spares IPython to plain Python
        cell_scope,
        completion,
        errors,
        front_end,
        magics,
        messages,
        program_cache_magic,
    )

    hide_directory(os.path.dirname(IPython.__file__) + os.sep)  # it stands between a magic and the user's line
    undo = contextlib.ExitStack()
    undo.callback(_quiet_commands())
    undo.callback(front_end.forget, ipython)
    for part in (cell_scope, magics, errors, messages, formatters, completion, program_cache_magic):
        undo.callback(part.install(ipython))
    _loaded[ipython] = undo


def _quiet_commands():
    """JAX warns of every fork; `!ls` in a notebook forks and at once becomes another program, which is harmless."""
    before = list(warnings.filters)
    warnings.filterwarnings("ignore", "os.fork", RuntimeWarning, "pty")
    added = [f for f in warnings.filters if f not in before]

    def undo():
        for entry in added:
            if entry in warnings.filters:
                warnings.filters.remove(entry)

    return undo


def unload_ipython_extension(ipython: Any) -> None:
    """What `%unload_ext msnb` runs: the shell is as it was."""
    undo = _loaded.pop(ipython, None)
    if undo is not None:
        undo.close()
