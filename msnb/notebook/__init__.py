"""What msnb adds to a notebook: `%%mindspore` and its line magics, short errors, rich displays, the views.

`%load_ext msnb` switches it on and `%unload_ext msnb` off again; each part brings a function that undoes it.
"""

import contextlib
import weakref

_loaded = weakref.WeakKeyDictionary()  # shell -> what undoes the parts


def load_ipython_extension(ipython):
    """What `%load_ext msnb` runs."""
    if ipython in _loaded:
        return
    # Here, not above: `msnb.view` imports this package in plain Python too, which may do without IPython.
    from msnb.notebook import cell, complete, display, errors, magics

    undo = contextlib.ExitStack()
    for part in (cell, magics, errors, display, complete):
        undo.callback(part.install(ipython))
    _loaded[ipython] = undo


def unload_ipython_extension(ipython):
    """What `%unload_ext msnb` runs: the shell is as it was."""
    undo = _loaded.pop(ipython, None)
    if undo is not None:
        undo.close()
