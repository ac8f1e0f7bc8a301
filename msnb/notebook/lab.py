"""Requests of the JupyterLab extension to a kernel. Request and answer are JSON; `_ANSWERS` maps names to functions.

The extension evaluates ``ask("...")`` as a user expression of a silent request, so the notebook shows no output.
A kernel without msnb answers None.
"""

import json
import re
from typing import Any

from IPython import get_ipython
from IPython.display import HTML, display

from msnb import context
from msnb._version import __version__
from msnb.core.compat.jax_private import live_arrays
from msnb.core.errors.messages import dtype_name
from msnb.core.program import program_cache
from msnb.nn.cell import Cell
from msnb.notebook.display.net_html import numbers_of
from msnb.notebook.graph import cell_breakpoints, live, view
from msnb.notebook.help_page import read_tutorial
from msnb.notebook.kernel import cell_names

_MODES = ("GRAPH", "PYNATIVE")


class Answer:
    """A value that Jupyter sends to the front end as JSON."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"application/json": self.value, "text/plain": ""}


def ask(text: str) -> Any:
    """Answer one request: a JSON object with the name ``what`` and the function's keyword arguments."""
    question = json.loads(text)
    try:
        return Answer(_ANSWERS[question.pop("what")](**question))
    except Exception as error:
        return Answer({"error": f"{type(error).__name__}: {error}"})


def state() -> dict[str, Any]:
    """Return mode, device, live Cells, compiled programs and memory of the session."""
    return {
        "version": __version__,
        "mode": _MODES[context.get_context("mode")],
        "device": _get_device_name(),
        "devices": [_NAMES[platform] for platform in context._find_devices_by_platform()],
        "cells": _describe_cells(),
        "programs": _describe_programs(),
        "memory": _describe_memory(),
    }


_NAMES = {"cpu": "CPU", "gpu": "GPU", "tpu": "TPU"}


def _get_device_name():
    return _NAMES.get(context.device().platform, "GPU")


def _locate_definition(fn):
    """Return {"cell": id, "file": label, "line": number} of a function's definition; {} outside of cells."""
    code = getattr(fn, "__code__", None)
    if code is None:
        return {}
    name = cell_names.label(code.co_filename)
    return {"cell": cell_names.ids().get(name), "file": name, "line": code.co_firstlineno} if name else {}


def _locate_first_call(line):
    """Return the cell, file and line that first called a program. They are empty for calls from outside the notebook's
    cells.
    """
    name = cell_names.label(line[0]) if line else None
    return {"cell": cell_names.ids().get(name), "file": name, "line": line[1]} if name else {}


def _list_session_cells():
    names = list(get_ipython().user_ns.items())
    return {name: value for name, value in names if isinstance(value, Cell) and not name.startswith("_")}


def _describe_cells():
    rows = []
    for name, cell in _list_session_cells().items():
        parameters = list(cell.get_parameters())
        rows.append(
            {
                "name": name,
                "kind": type(cell).__name__,
                "numbers": numbers_of(cell),
                "bytes": sum(p.nbytes for p in parameters),
                "training": cell.training,
                "programs": len([p for p in program_cache.all_programs() if p.root() is cell]),
                **_locate_definition(type(cell).construct),
            }
        )
    return rows


def _describe_programs():
    rows = []
    for program in program_cache.all_programs():
        if program.calls:
            rows.append(
                {
                    "name": program.title,
                    "nodes": len(program.jaxpr.jaxpr.eqns),
                    "calls": program.calls,
                    "seconds": sum(program.seconds.values()),
                    "inputs": [
                        f"{dtype_name(v.aval.dtype)}{list(v.aval.shape)}"
                        for v, i in zip(program.jaxpr.jaxpr.invars, program.inputs, strict=True)
                        if i[0] == "arg"
                    ],
                    **_locate_first_call(program.first_line),
                }
            )
    return rows[-50:]


def _describe_memory():
    arrays = [a for a in live_arrays() if not a.is_deleted()]
    stats = context.device().memory_stats() or {}
    parameters = {id(p): p.nbytes for cell in _list_session_cells().values() for p in cell.get_parameters()}
    return {
        "arrays": len(arrays),
        "bytes": sum(a.nbytes for a in arrays),
        "parameters": sum(parameters.values()),
        "in_use": stats.get("bytes_in_use"),
        "peak": stats.get("peak_bytes_in_use"),
        "limit": stats.get("bytes_limit"),
    }


def change(mode: str | None = None, device: str | None = None) -> dict[str, Any]:
    """Set the mode or the device of the session, and return the new state."""
    if mode is not None:
        context.set_context(mode=_MODES.index(mode))
    if device is not None:
        context.set_context(device_target=device)
    return state()


def typed(cell: str, text: str) -> Any:
    """Redraw the graphs of a cell from its edited text.

    Returns:
        dict: ``shown``, the number of redrawn graphs; ``said`` and ``line``, the reason and the line if one can't be
        redrawn, else None.
    """
    file = cell_names.file_of(cell)
    updated, message = (0, None) if file is None else live.update(file, text, get_ipython().user_ns)
    line = re.match(r"line (\d+): ", message or "")
    return {"shown": updated, "said": message, "line": line and int(line[1])}


def pointed(cell: str, line: int) -> Any:
    """Select the first node from a source line of a cell in every view of the cell. Called when the cursor moves."""
    file, selected = cell_names.file_of(cell), 0
    for followed in live._followed:
        view = followed.view()
        if file is None or view is None or view._widget is None or file not in followed.files:
            continue
        for node in view.graph.all_nodes():
            source = getattr(node, "source", None)
            if source and live.original(source[0]) == file and source[1] == line:
                view._widget.selected = node.id
                selected += 1
                break
    return {"selected": selected}


def show_file(path: str) -> None:
    """Display the `msnb.view` of a model or checkpoint file without a widget, because a file tab of JupyterLab can't
    exchange widget messages with a kernel.
    If the file is damaged, print a sentence.

    Args:
        path (str): The file.
    """
    try:
        display_object = view(path)
    except (ValueError, TypeError, RuntimeError, OSError) as error:
        print(f"{path} cannot be shown: {error}")
        return
    bundle = getattr(display_object, "_repr_mimebundle_", None)
    display(HTML(bundle()[0]["text/html"] if bundle else display_object._repr_html_()))


_ANSWERS = {
    "state": state,
    "change": change,
    "typed": typed,
    "pointed": pointed,
    "tutorial": read_tutorial,
    "breakpoints": cell_breakpoints.replace,
}
