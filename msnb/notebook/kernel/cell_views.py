"""Views of notebook cells. Views whose cell ran again are closed, because nobody can see them.

Views whose values changed on screen get their saved output updated at the end of the cell.
"""

import asyncio
import weakref
from typing import Any

from msnb.notebook.kernel.cell_names import shell

_views_of_cells = {}  # cell id -> (execution count, views)
_followed = weakref.WeakSet()  # views of files that a cell may have written to
_changed = weakref.WeakSet()  # views that have changed since their output was saved in the notebook


def changed(view: Any) -> None:
    """Mark the saved output of a view as outdated. It is written again at the end of the cell."""
    _changed.add(view)


def follow(view: Any) -> None:
    """Register a view of a file: `view.refresh()` is called at the end of each cell, before outputs are updated."""
    _followed.add(view)


def write(result: Any = None) -> None:
    """Write the saved outputs of changed views. This is an event handler that runs at the end of each cell.

    If the user has interrupted the cell, the outputs are written after the end of the cell. The page already shows the
    KeyboardInterrupt, so the user may run the next cell at once. A Jupyter kernel aborts cells that arrive before a
    failed cell ends, so the end of the cell must not wait for the writes.
    """
    if isinstance(getattr(result, "error_in_exec", None), KeyboardInterrupt):
        try:
            asyncio.get_running_loop().call_soon(_write_changed_views)
            return
        except RuntimeError:  # a shell without a kernel has no event loop
            pass
    _write_changed_views()


def _write_changed_views():
    for view in list(_followed):
        view.refresh()
    for view in list(_changed):
        _changed.discard(view)
        view.show_again()
    _drop_pages_from_history()


def _drop_pages_from_history():
    """Drop the pages of views from the outputs that IPython records for `%notebook`: each has 100 KB and more.

    The text of the view stays. A page that is written between two cells is dropped at the end of the second.
    """
    running = shell()
    outputs = getattr(getattr(running, "history_manager", None), "outputs", None)
    if not outputs:
        return
    for count in range(running.execution_count - 2, running.execution_count + 1):  # depends on the release of IPython
        for output in outputs.get(count, ()):
            if str(output.bundle.get("text/html", "")).startswith('<div class="msnb-view"'):
                output.bundle = {mime: data for mime, data in output.bundle.items() if mime != "text/html"}


def remember(view: Any) -> None:
    """Record that the running cell displays a view.

    Views that an earlier run of the cell displayed are closed, unless another cell displays them too.
    """
    running, cell = shell(), _running_cell()
    if cell is None:
        return
    count, views = _views_of_cells.get(cell, (None, []))
    if count != running.execution_count:
        _views_of_cells[cell] = running.execution_count, []
        for old in views:
            if old is not view and not any(old in others for _, others in _views_of_cells.values()):
                old.close()
        views = []
    if view not in views:
        _views_of_cells[cell] = running.execution_count, [*views, view]


def list_earlier_views() -> list[Any]:
    """Return the views that an earlier run of the running cell has displayed or remembered."""
    count, views = _views_of_cells.get(_running_cell(), (None, []))
    return list(views) if views and count != shell().execution_count else []


def _running_cell():
    """Return the id of the running cell, None outside of a notebook."""
    return (getattr(shell(), "parent_header", None) or {}).get("metadata", {}).get("cellId")


def forget(view: Any) -> None:
    """Remove a closed view from all records."""
    _followed.discard(view)
    for cell, (count, views) in list(_views_of_cells.items()):
        if view in views:
            _views_of_cells[cell] = count, [other for other in views if other is not view]


def install():
    """Write changed views at the end of each cell from now on. A second call has no effect."""
    running = shell()
    if running is not None and write not in running.events.callbacks.get("post_run_cell", ()):
        running.events.register("post_run_cell", write)


def uninstall(running):
    """Undo `install` for a shell."""
    if write in running.events.callbacks.get("post_run_cell", ()):
        running.events.unregister("post_run_cell", write)
