"""Short errors in a notebook: the user's lines and one sentence, without the frames inside msnb and JAX.

Only the displayed traceback is shortened. The exception keeps all its frames; `%ms_traceback` prints them.
"""

import contextlib
import difflib
import functools
import linecache
import re
import sys
import types
from typing import Any

from msnb import alias, nn
from msnb.core.errors.messages import describe
from msnb.core.errors.source_location import label
from msnb.core.tensor.tensor import Tensor
from msnb.insight.short_traceback import concerns, is_library, sentence_from_callback, shortened

_NOT_CALLABLE = re.compile(r"'(\w+)' object is not callable")
# type -> the attributes of a Tensor that have this type
_ATTRIBUTES = {"int": ("size", "ndim", "itemsize", "nbytes"), "tuple": ("shape", "strides")} | dict.fromkeys(
    ("Float", "Int", "UInt", "Bool", "BFloat", "Complex"), ("dtype",)
)
_state = types.SimpleNamespace(last=None)


def last() -> Any:
    """Return the last error that was shortened, or None."""
    return _state.last


@contextlib.contextmanager
def _shorten_syntax_error(error, tb):
    """Context manager that removes library frames from the traceback of a SyntaxError.

    It changes the exception, because IPython reads the traceback from there.
    """
    if not concerns(error, tb):
        yield
        return
    _state.last = error
    with shortened(error, tb) as (short, _):
        while short is not None and is_library(short):
            short = short.tb_next
        error.__traceback__ = short
        yield


def hint(error: BaseException) -> str | None:
    """Return a sentence to add to an error that is not msnb's own, or None."""
    name = getattr(error, "name", None) or ""
    if isinstance(error, ModuleNotFoundError) and name.split(".")[0] == "mindspore" and not alias.installed():
        return (
            "Begin the cell with %%mindspore, and its imports of mindspore are msnb; "
            "after %mindspore on, those of imported files are too."
        )
    target = getattr(error, "obj", None)
    if isinstance(error, AttributeError) and isinstance(target, (bool, int, float, list, tuple)):
        if hasattr(Tensor, name) and concerns(error, error.__traceback__):
            return f"A Tensor is meant there, but got {describe(target)}: Tensor(...) makes one of it."
    if isinstance(error, AttributeError) and isinstance(target, (Tensor, nn.Cell)) and not name.startswith("_"):
        return _suggest_similar_attribute(error, name, target)
    if isinstance(error, TypeError):
        return _explain_called_attribute(error)
    if isinstance(error, AttributeError) and isinstance(target, types.ModuleType):
        if target.__name__.startswith("msnb.") and str(error).startswith(("module 'msnb.", "module 'mindspore.")):
            return alias.missing(f"mindspore{target.__name__[4:]}.{name}")
    return None


def _suggest_similar_attribute(error, name, target):
    """Suggest a similar attribute name. Python does so in a terminal, IPython does not."""
    if not str(error).endswith(f"no attribute '{name}'"):
        return None  # no second suggestion: the message already has one
    own = (*getattr(target, "_cells", ()), *getattr(target, "_params", ()))  # layers and Parameters
    names = [one for one in {*dir(target), *own} if one[0] != "_"]
    similar = difflib.get_close_matches(name, names, 1, 0.76) or difflib.get_close_matches(name, own, 1, 0.6)
    return f"Did you mean '{similar[0]}'?" if similar else None


def _explain_called_attribute(error):
    """Return a hint if the error is a call of a Tensor attribute that is a method in PyTorch."""
    called = _NOT_CALLABLE.fullmatch(str(error))
    entry = error.__traceback__
    if not called or entry is None:
        return None
    while entry.tb_next is not None:
        entry = entry.tb_next
    line = linecache.getline(entry.tb_frame.f_code.co_filename, entry.tb_lineno)
    for name in _ATTRIBUTES.get(called[1], ()):
        if re.search(rf"\.{name}\s*\(", line):
            further = ", and x.shape[0] for the length of one dimension" if name in ("size", "shape") else ""
            return f"'{name}' of a Tensor is an attribute, no method: write x.{name}{further}."
    return None


def _render_traceback_with_notes(shell, error, tb, tb_offset, notes):
    """Return IPython's rendering of a traceback, with notes before the last line, which names the error."""
    lines = shell.InteractiveTB.structured_traceback(type(error), error, tb, tb_offset=tb_offset)
    sentence = sentence_from_callback(error)
    end = len(lines) - 1 - len(getattr(error, "__notes__", ()))  # index of the line with the error's message
    return [*lines[:end], *(f"{note}\n" for note in notes), *([sentence] if sentence else lines[end:])]


def _show_error_with_notes(shell, show, error, tb, options, notes, last):
    """Show an error with notes before its sentence, and optionally one line after it."""
    offset = options.get("tb_offset")
    last = [last] if last else []
    lines = []

    def render():
        if not lines:
            lines.extend([*_render_traceback_with_notes(shell, error, tb, offset, notes), *last])
        return lines

    with contextlib.suppress(AttributeError):  # a class with slots has no such attribute: no notes are shown
        error._render_traceback_ = render
    # After the error is displayed, IPython renders it a second time for its history. Formatting all frames would take
    # up to a second, and a Jupyter kernel aborts cells that arrive before a failed cell ends. The second rendering is
    # therefore replaced by the lines of the first.
    _drop_rendering_after_cell(shell, error)
    show((type(error), error, tb), **options)


def _drop_rendering_after_cell(shell, error):
    def forget():
        shell.events.unregister("post_execute", forget)
        vars(error).pop("_render_traceback_", None)

    shell.events.register("post_execute", forget)


def _add_cell_frame(short):
    """Add the cell's line to the traceback of an error that was raised while its value was displayed.

    IPython catches such an error in a function that the cell's frame has called, so the traceback lacks that frame. The
    frame is still running.
    """
    entry = short
    while entry is not None:
        if not is_library(entry) and _is_cell_frame(entry.tb_frame):
            return short
        entry = entry.tb_next
    frame = sys._getframe(1)
    while frame is not None and not _is_cell_frame(frame):
        frame = frame.f_back
    return short if frame is None else types.TracebackType(short, frame, frame.f_lasti, frame.f_lineno)


def _is_cell_frame(frame):
    """Return True if a frame runs the statements of a cell."""
    name = frame.f_code.co_name
    return name.startswith(("<module>", "<cell line")) and label(frame.f_code.co_filename).startswith("In [")


def show_background_error(shell: Any, error: BaseException) -> None:
    """Show an error of an asynchronous computation, whose statement has already ended."""
    _state.last = error
    note = "A computation that this cell had started failed while it ran in the background."
    sentence = sentence_from_callback(error)
    lines = [sentence] if sentence else shell.InteractiveTB.get_exception_only(type(error), error)
    error._render_traceback_ = lambda: [note, *lines]
    try:
        shell.showtraceback((type(error), error, error.__traceback__))
    finally:
        del error._render_traceback_


def failed_processes(error: BaseException) -> str | None:
    """Return a sentence with the ranks in which a cell below `%%px` failed, None for other errors.

    Before ipyparallel raises this error, it shows the error of each process. The text of this one is only "1 errors".
    """
    if type(error).__module__.partition(".")[0] != "ipyparallel" or not hasattr(error, "original_error"):
        return None
    ranks = sorted(
        {info.get("engine_id") for *_, info in error.original_error.elist if isinstance(info, dict)} - {None}
    )
    if not ranks:
        return "The cell failed; the error stands above."
    which = f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"
    return f"The cell failed in {which}; what {'it' if len(ranks) == 1 else 'each'} raised stands above."


def install(shell: Any) -> Any:
    """Make a shell show short errors. Return the undo function."""
    show = shell.showtraceback

    @functools.wraps(show)
    def showtraceback(exc_tuple=None, filename=None, tb_offset=None, exception_only=False, running_compiled_code=False):
        options = dict(
            filename=filename,
            tb_offset=tb_offset,
            exception_only=exception_only,
            running_compiled_code=running_compiled_code,
        )
        _, error, tb = exc_tuple or sys.exc_info()
        if sentence := error is not None and failed_processes(error):
            error._render_traceback_ = lambda: [sentence]
        if error is None or exception_only or hasattr(error, "_render_traceback_"):
            return show(exc_tuple, **options)
        if isinstance(error, SyntaxError):
            with _shorten_syntax_error(error, tb):
                return show(exc_tuple, **options)
        last = hint(error)
        if concerns(error, tb):
            with shortened(error, tb) as (short, left_out):
                if short is not None and left_out:
                    short = _add_cell_frame(short)
                    _state.last = error
                    frames = f"{left_out} frame{'s' * (left_out > 1)}"
                    return _show_error_with_notes(
                        shell,
                        show,
                        error,
                        short,
                        options,
                        [f"({frames} inside msnb and JAX left out; %ms_traceback prints them)"],
                        last,
                    )
        if last:
            return _show_error_with_notes(shell, show, error, tb, options, [], last)
        return show(exc_tuple, **options)

    shell.showtraceback = showtraceback

    def undo():
        if vars(shell).get("showtraceback") is showtraceback:
            del shell.showtraceback

    return undo
