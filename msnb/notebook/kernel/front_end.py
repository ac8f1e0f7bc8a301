"""Properties of the front end: interactive or not, and the shared page files that its notebook already has."""

import sys

from msnb.notebook.kernel import cell_names

_file_owners = {}  # name of a shared file -> the cell whose output includes it


def is_interactive():
    """Return True if a user may see a live widget.

    Programs that run notebooks (nbconvert, papermill) do not allow input. There a widget would only store its state and
    its JavaScript modules in the file.
    """
    return _get_execute_request().get("content", {}).get("allow_stdin") is not False


def files_to_include(names):
    """Return the files that the new output must include, because it is not certain that another output has them.

    Args:
        names (Iterable[str]): names of the files that the page in the output needs.

    Returns:
        set[str].
    """
    here = _get_running_cell_key()
    # Include all files in Colab: it shows each output in a separate frame, which can't read files of other outputs.
    if here is None or "google.colab" in sys.modules:
        return set(names)
    events = cell_names.shell().events
    if _forget_files_of_rerun_cell not in events.callbacks["pre_run_cell"]:
        events.register("pre_run_cell", _forget_files_of_rerun_cell)
    return {name for name in names if _file_owners.setdefault(name, here) == here}


def forget(shell):
    """Reset all records when the extension is unloaded."""
    _file_owners.clear()
    if _forget_files_of_rerun_cell in shell.events.callbacks["pre_run_cell"]:
        shell.events.unregister("pre_run_cell", _forget_files_of_rerun_cell)


def _forget_files_of_rerun_cell(info):
    """Forget the files of a cell that runs again, because it loses its outputs."""
    here = _get_execute_request().get("metadata", {}).get("cellId")
    # Cells without an id are identified by their execution number, which is never used twice.
    for name in [name for name, cell in _file_owners.items() if cell == here]:
        del _file_owners[name]


def _get_running_cell_key():
    """Return the id of the running cell, or its execution number.

    The result is None outside notebook cells, and for captured output, which may never be displayed.
    """
    request = _get_execute_request()
    if not request.get("content", {}).get("store_history") or _is_output_captured(cell_names.shell()):
        return None
    return request.get("metadata", {}).get("cellId") or cell_names.shell().execution_count


def _is_output_captured(shell):
    from IPython.core.displaypub import CapturingDisplayPublisher  # there is a shell, so IPython is loaded

    return isinstance(shell.display_pub, CapturingDisplayPublisher)


def _get_execute_request():
    """Return the message that requested the running cell, empty outside of kernels."""
    return getattr(cell_names.shell(), "parent_header", None) or {}
