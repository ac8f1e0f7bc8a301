"""Which views notebook cells show: those that nobody can see any more, because their cell ran anew, are closed; those
that got other values while on screen have their output in the notebook brought up to date."""

import weakref
from typing import Any

from msnb.notebook.kernel.cell_names import shell

_shown = {}  # cell id -> (execution count, views)
_followed = weakref.WeakSet()  # views of files that a cell may have written to
_changed = weakref.WeakSet()  # views whose output in the notebook is older than they are


def changed(view: Any) -> None:
    """A view got values that its output in the notebook's file does not have yet; written when the cell is done."""
    _changed.add(view)


def follow(view: Any) -> None:
    """A view shows files: `view.refresh()` is called at the end of each cell, before outputs are brought up to date."""
    _followed.add(view)


def write(_: Any = None) -> None:
    """Bring the outputs of changed views up to date: the event at the end of each cell."""
    for view in list(_followed):
        view.refresh()
    for view in list(_changed):
        _changed.discard(view)
        view.show_again()


def remember(view: Any) -> None:
    """A view is shown in the cell that is running. What that cell showed when it ran before is closed, but for views
    that another cell shows too."""
    running = shell()
    cell = (getattr(running, "parent_header", None) or {}).get("metadata", {}).get("cellId")
    if cell is None:
        return
    count, views = _shown.get(cell, (None, []))
    if count != running.execution_count:
        _shown[cell] = running.execution_count, []
        for old in views:
            if old is not view and not any(old in others for _, others in _shown.values()):
                old.close()
        views = []
    if view not in views:
        _shown[cell] = running.execution_count, [*views, view]


def forget(view: Any) -> None:
    """A view was closed."""
    _followed.discard(view)
    for cell, (count, views) in list(_shown.items()):
        if view in views:
            _shown[cell] = count, [other for other in views if other is not view]


def install():
    """Write what changed at the end of each cell from now on; calling it again changes nothing."""
    running = shell()
    if running is not None and write not in running.events.callbacks.get("post_run_cell", ()):
        running.events.register("post_run_cell", write)


def uninstall(running):
    """Undo `install` for a shell."""
    if write in running.events.callbacks.get("post_run_cell", ()):
        running.events.unregister("post_run_cell", write)
