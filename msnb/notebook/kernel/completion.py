"""Completion of options of msnb's magics, and of attributes of networks."""

import functools
import inspect
import re
from collections.abc import Mapping
from typing import Any

from IPython import get_ipython
from IPython.core.completer import SimpleCompletion, context_matcher

from msnb.core.tensor.parameter import Parameter
from msnb.nn.cell import Cell
from msnb.notebook.kernel.magics import DEVICES, MODES, OPTIONS
from msnb.notebook.kernel.rewrite_imports import MAGIC

_SHORT = {"-m": MODES, "--mode": MODES, "-d": DEVICES, "--device": DEVICES}


def candidates(line: str) -> list[str] | None:
    """Return completions at the end of a line, None for lines without a magic of msnb."""
    words = line.split()
    if not words or line[-1:].isspace():
        words.append("")
    *before, word = words
    if not before:
        return None
    if before[0] == MAGIC:
        options = _SHORT.get(before[-1]) or [o for o in OPTIONS if o not in before]
    elif before == ["%ms_mode"]:
        options = MODES
    elif before == ["%mindspore"]:
        options = ("on", "off")
    else:
        return None
    return [name for name in options if name.lower().startswith(word.lower())]


@context_matcher(identifier="msnb")
def matcher(context):
    """IPython matcher for the options of the magics."""
    line = context.line_with_cursor
    options = candidates(line)
    if not options:
        return {"completions": []}
    fragment = "" if line[-1:].isspace() else line.split()[-1]
    return {
        "completions": [SimpleCompletion(name, type="magic option") for name in options],
        "matched_fragment": fragment,
        "suppress": True,
    }


# "net.body.c": the object and the typed prefix
_ATTRIBUTE = re.compile(r"(?<![\w.\])}\"'])([^\W\d]\w*(?:\.[^\W\d]\w*)*)\.(\w*)$")


def find_cell(expression: str, namespace: Mapping[str, Any]) -> Cell | None:
    """Return the Cell that a dotted name refers to, None for other objects. No user code runs."""
    first, *path = expression.split(".")
    value = namespace.get(first)
    for name in path:
        value = value.__dict__.get(name) if isinstance(value, Cell) else None
    return value if isinstance(value, Cell) else None


@functools.cache
def _list_base_cell_attributes():
    return frozenset(dir(Cell()))


def list_attributes(cell: Cell) -> list[SimpleCompletion]:
    """Return the public attributes of a Cell with their types. The user's layers, Parameters and methods come first."""
    own = {**cell._cells, **cell._params}
    written = {name for cls in type(cell).__mro__ if not cls.__module__.startswith("msnb.") for name in vars(cls)}
    inherited = _list_base_cell_attributes() - (written - set(dir(object)))
    rows = []
    for name in dir(cell):
        if name.startswith("_"):
            continue
        if name in own:
            rank, kind = 0, "Parameter" if isinstance(own[name], Parameter) else "layer"
        else:
            static = inspect.getattr_static(cell, name, None)
            rank = 2 if name in inherited else 1
            kind = "function" if callable(static) or isinstance(static, (classmethod, staticmethod)) else "property"
        rows.append((rank, name, kind))
    return [SimpleCompletion(name, type=kind) for _, name, kind in sorted(rows)]


@context_matcher(identifier="msnb-cell")
def match_attributes(context):
    """IPython matcher for attributes of a network that a name of the session refers to."""
    typed = _ATTRIBUTE.search(context.line_with_cursor)
    shell = get_ipython()
    cell = find_cell(typed[1], shell.user_ns) if typed and shell is not None else None
    if cell is None or typed[2].startswith("_"):
        return {"completions": []}
    return {
        "completions": [row for row in list_attributes(cell) if row.text.startswith(typed[2])],
        "matched_fragment": typed[2],
        "ordered": True,
        "suppress": True,
    }


_MATCHERS = (matcher, match_attributes)

# Time limit in milliseconds for types and signatures. IPython's default of 400 is too short to import `ms.nn`.
_PATIENCE = 2500


def install(shell: Any) -> Any:
    """Register the matchers with a shell and raise its time limit for types. Return the undo function."""
    completer = shell.Completer
    completer.custom_matchers.extend(_MATCHERS)
    before = completer.jedi_compute_type_timeout
    completer.jedi_compute_type_timeout = max(before, _PATIENCE)

    def undo():
        if completer.jedi_compute_type_timeout == _PATIENCE:
            completer.jedi_compute_type_timeout = before
        for one in _MATCHERS:
            if one in shell.Completer.custom_matchers:
                shell.Completer.custom_matchers.remove(one)

    return undo
