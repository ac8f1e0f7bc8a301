"""Rich displays of Tensors, Parameters and Cells; what `repr` and `print` give stays as MindSpore has it."""

from typing import Any

from msnb import log
from msnb.notebook.net_html import net_html
from msnb.notebook.tensor_html import tensor_html

# Named, not imported: a class that the session never loads needs no display.
_FORMATS = {("msnb.core.tensor", "Tensor"): tensor_html, ("msnb.nn.cell", "Cell"): net_html}


def _or_plain(maker):
    def format_html(value):
        try:
            return maker(value)
        except Exception as error:  # the plain text is shown in any case, and must not fail with the rich form
            log.once(f"The rich display of a {type(value).__name__} failed ({type(error).__name__}: {error}).")
            return None

    return format_html


def install(shell: Any) -> Any:
    """Register the displays with a shell; returns what undoes it."""
    formatter = shell.display_formatter.formatters["text/html"]
    for (module, kind), maker in _FORMATS.items():
        formatter.for_type_by_name(module, kind, _or_plain(maker))

    def undo():
        for module, kind in _FORMATS:
            formatter.pop(f"{module}.{kind}", None)

    return undo
