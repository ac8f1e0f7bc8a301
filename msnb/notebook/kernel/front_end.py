"""What is known of the front end that has a cell run: whether somebody sits before it, and which of the files that
views share its notebook has already."""

import sys

from msnb.notebook.kernel import cell_names

_carried = {}  # name of a shared file -> the cell whose output has it


def attended():
    """Whether somebody may look at a live widget. Programs that run notebooks (nbconvert, papermill) say that nobody
    can be asked for input; a widget of theirs would only leave its state, modules included, in the file."""
    return _request().get("content", {}).get("allow_stdin") is not False


def carrying(names):
    """Which of these files the output that is being made has to bring along: no other output has them for certain.

    Args:
        names (Iterable[str]): of the files that the output's page needs.

    Returns:
        set[str].
    """
    here = _cell()
    # Colab gives each output a window of its own, and no output finds what another has
    if here is None or "google.colab" in sys.modules:
        return set(names)
    events = cell_names.shell().events
    if _begins not in events.callbacks["pre_run_cell"]:
        events.register("pre_run_cell", _begins)
    return {name for name in names if _carried.setdefault(name, here) == here}


def forget(shell):
    """The notebook's session goes on without msnb."""
    _carried.clear()
    if _begins in shell.events.callbacks["pre_run_cell"]:
        shell.events.unregister("pre_run_cell", _begins)


def _begins(info):
    """A cell that runs anew loses its outputs. One that has no id but its number never does: numbers only rise."""
    here = _request().get("metadata", {}).get("cellId")
    for name in [name for name, cell in _carried.items() if cell == here]:
        del _carried[name]


def _cell():
    """What tells the running cell from others: the front end's id for it, or else its number; None for what is no cell
    of a notebook, or is captured and may never be shown."""
    request = _request()
    if not request.get("content", {}).get("store_history") or _captured(cell_names.shell()):
        return None
    return request.get("metadata", {}).get("cellId") or cell_names.shell().execution_count


def _captured(shell):
    from IPython.core.displaypub import CapturingDisplayPublisher  # there is a shell, so IPython is loaded

    return isinstance(shell.display_pub, CapturingDisplayPublisher)


def _request():
    """The message that asked for the running cell, empty outside of kernels."""
    return getattr(cell_names.shell(), "parent_header", None) or {}
