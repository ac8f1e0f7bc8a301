"""Rich displays of Tensors, Parameters, Cells and data sets.

`install` registers them with IPython. `mime` is for notebooks that call a method of the object for its display.
"""

import sys
import types
from typing import Any

from msnb import log
from msnb.core.state import deferred_errors
from msnb.notebook.display.dataset_html import dataset_bundle
from msnb.notebook.display.net_html import net_html
from msnb.notebook.display.tensor_html import tensor_html
from msnb.notebook.display.weights_table import weights_html

# Classes are registered by module and name, which spares their import: unused classes need no display.
_TENSOR = "msnb.core.tensor.tensor", "Tensor"
_FORMATS = {
    _TENSOR: tensor_html,
    ("msnb.nn.cell", "Cell"): net_html,
    ("msnb.train.weights.load", "LoadedWeights"): weights_html,
}
# Functions that return both text and HTML, for objects whose preview is computed once for both.
_BUNDLES = {("msnb.dataset.engine.dataset", "Dataset"): dataset_bundle}


def _catch_display_errors(maker):
    def format_html(value, **_):
        try:
            return maker(value)
        except Exception as error:  # if the rich form fails, the plain text must still be displayed
            log.once(f"The rich display of a {type(value).__name__} failed ({type(error).__name__}: {error}).")
            return None

    return format_html


def _make_pending_error_formatter(shell):
    """Return a formatter that shows the error of an earlier computation instead of the value.

    IPython formats a value once per MIME type. Without this formatter, the first call would raise the error, and the
    next call would show the wrong value below it.
    """

    def show(_):
        try:
            deferred_errors.wait_and_report()
        except Exception as error:
            caller = sys._getframe(1)  # IPython's frame, the first frame in the traceback of a failed display
            tb = types.TracebackType(error.__traceback__, caller, caller.f_lasti, caller.f_lineno)
            shell.showtraceback((type(error), error, tb))  # returning tells IPython to display nothing else
        else:
            raise NotImplementedError  # tells IPython to use the other formatters

    return show


def mime(value: Any) -> tuple[str, str]:
    """Return (MIME type, text) of a value's rich display, or its `repr` if it has none."""
    for kind in type(value).__mro__:
        name = kind.__module__, kind.__qualname__
        html = None
        if name in _FORMATS:
            html = _catch_display_errors(_FORMATS[name])(value)
        elif name in _BUNDLES:
            html = (_catch_display_errors(_BUNDLES[name])(value) or {}).get("text/html")
        if html is not None:
            return "text/html", html
    return "text/plain", repr(value)


def install(shell: Any) -> Any:
    """Register the displays with a shell. Return the undo function."""
    formatters = shell.display_formatter.formatters["text/html"], shell.display_formatter.mimebundle_formatter
    tables = tuple(zip(formatters, (_FORMATS, _BUNDLES), strict=True))
    for formatter, table in tables:
        for (module, kind), maker in table.items():
            formatter.for_type_by_name(module, kind, _catch_display_errors(maker))
    shell.display_formatter.ipython_display_formatter.for_type_by_name(*_TENSOR, _make_pending_error_formatter(shell))

    def undo():
        for formatter, table in tables:
            for module, kind in table:
                formatter.pop(f"{module}.{kind}", None)
        shell.display_formatter.ipython_display_formatter.pop(".".join(_TENSOR), None)

    return undo
