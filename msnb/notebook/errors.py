"""Errors as a notebook shows them: the user's lines and one sentence, not the frames inside msnb and JAX.

Only what is displayed is shortened. The exception keeps all its frames; `%ms_traceback` prints them.
"""

import contextlib
import functools
import importlib.util
import os
import re
import sys
import sysconfig
import types
from typing import Any

from msnb import alias
from msnb.ir import source

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
_state = types.SimpleNamespace(last=None)


def _folder(module):
    spec = importlib.util.find_spec(module)
    return os.path.dirname(spec.origin) + os.sep if spec is not None and spec.origin else None


_MACHINERY = tuple(filter(None, map(_folder, ("msnb", "jax", "jaxlib"))))
_LIBRARIES = tuple({os.path.realpath(p) + os.sep for p in sysconfig.get_paths().values()}) + tuple(
    {p + os.sep for p in sysconfig.get_paths().values()}
)
# Functions that the source transformation makes of blocks: their frame repeats the line of the user's function.
_BLOCKS = "__"


def last() -> Any:
    """The last error that was shortened, None where there was none."""
    return _state.last


def _entries(tb):
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _is_machinery(tb):
    return tb.tb_frame.f_code.co_filename.startswith(_MACHINERY)


def _is_library(tb):
    name = tb.tb_frame.f_code.co_filename
    return name.startswith(_LIBRARIES) or name.startswith("<frozen ")


def _short(tb):
    """(traceback, number of frames left out, whether a line of the user's is among the rest)."""
    kept, left_out, inside, users = [], 0, False, False
    for entry in _entries(tb):
        if _is_machinery(entry) or (inside and _is_library(entry)):
            inside = True  # what the machinery calls belongs to it, until it calls the user's code
            left_out += 1
        elif inside and _repeats(entry, kept):
            left_out += 1
        else:
            if not _is_library(entry):
                inside, users = False, True
            kept.append(entry)
    short = None
    for entry in reversed(kept):
        short = types.TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short, left_out, users


def _repeats(entry, kept):
    code = entry.tb_frame.f_code
    made = code.co_name.startswith(_BLOCKS) and not code.co_name.endswith("__")
    here = code.co_filename, entry.tb_lineno
    return made and any((e.tb_frame.f_code.co_filename, e.tb_lineno) == here for e in kept)


def _next(error):
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def _chain(error):
    seen = []
    while error is not None and not any(error is e for e in seen):
        seen.append(error)
        error = _next(error)
    return seen


@contextlib.contextmanager
def shortened(error, tb):
    """Within, `error` and what caused it carry the short traceback; gives it and the number of frames left out."""
    chain = _chain(error)
    shorts = [_short(tb if e is error else e.__traceback__) for e in chain]
    # A cause without a line of the user's is how the machinery found out, not what the user wants to know.
    shown = [i for i, (_, _, users) in enumerate(shorts) if users or i == 0]
    saved = [(e, e.__traceback__, e.__cause__, e.__context__, e.__suppress_context__) for e in chain]
    try:
        for position, i in enumerate(shown):
            link = chain[i]
            following = chain[shown[position + 1]] if position + 1 < len(shown) else None
            by_cause = link.__cause__ is not None
            link.__traceback__ = shorts[i][0]
            link.__cause__ = following if by_cause else None
            link.__context__ = following
            link.__suppress_context__ = by_cause or following is None
        yield shorts[0][0], sum(left_out for _, left_out, _ in shorts)
    finally:
        for e, traceback, cause, context, suppress in saved:
            e.__traceback__, e.__cause__, e.__context__ = traceback, cause, context
            e.__suppress_context__ = suppress


@contextlib.contextmanager
def _shortened_syntax_error(error, tb):
    """Within, code that a graph refuses has only the user's frames; IPython shows them from the exception itself."""
    if not concerns(error, tb):
        yield
        return
    _state.last = error
    with shortened(error, tb) as (short, _):
        while short is not None and _is_library(short):
            short = short.tb_next
        error.__traceback__ = short
        yield


def concerns(error: BaseException, tb: Any) -> bool:
    """Whether msnb had a part in an error that the user's code led to."""
    package = _MACHINERY[0]
    for link in _chain(error):
        for entry in _entries(tb if link is error else link.__traceback__):
            if entry.tb_frame.f_code.co_filename.startswith(package):
                return True
    return False


def hint(error: BaseException) -> str | None:
    """A sentence to add to an error that is not msnb's own, None where there is nothing to say."""
    name = getattr(error, "name", None) or ""
    if isinstance(error, ModuleNotFoundError) and name.split(".")[0] == "mindspore" and not alias.installed():
        return (
            "Begin the cell with %%mindspore, and its imports of mindspore are msnb; "
            "after %mindspore on, those of imported files are too."
        )
    module = getattr(error, "obj", None)
    if isinstance(error, AttributeError) and isinstance(module, types.ModuleType):
        if module.__name__.startswith("msnb.") and str(error).startswith(("module 'msnb.", "module 'mindspore.")):
            return alias.missing(f"mindspore{module.__name__[4:]}.{name}")
    return None


def _rendered(shell, error, tb, tb_offset, notes):
    """IPython's own rendering, with notes before the last line, which names the error."""
    lines = shell.InteractiveTB.structured_traceback(type(error), error, tb, tb_offset=tb_offset)
    told = _told_inside(error)
    return [*lines[:-1], *(f"{note}\n" for note in notes), *([told] if told else lines[-1:])]


def _told_inside(error):
    """The sentence of an error whose message is a traceback itself, as JAX tells of Python that its program called."""
    text = str(error).strip()
    if "Traceback (most recent call last):" not in text:
        return None
    frames = [f for f in _FRAME.findall(text) if not f[0].startswith((*_MACHINERY, *_LIBRARIES, "<frozen "))]
    where = f" (in {frames[-1][2]}, {source.label(frames[-1][0])}, line {frames[-1][1]})" if frames else ""
    return text.splitlines()[-1] + where


def _show(shell, show, error, tb, options, notes):
    offset = options.get("tb_offset")
    with contextlib.suppress(AttributeError):  # an exception class with slots takes no attribute: it goes without notes
        if notes:
            error._render_traceback_ = lambda: _rendered(shell, error, tb, offset, notes)
    try:
        show((type(error), error, tb), **options)
    finally:
        vars(error).pop("_render_traceback_", None)


def show_late(shell: Any, error: BaseException) -> None:
    """Show an error of a computation that has no line any more: it ran on after its statement."""
    _state.last = error
    note = "A computation that this cell had started failed while it ran in the background."
    told = _told_inside(error)
    lines = [told] if told else shell.InteractiveTB.get_exception_only(type(error), error)
    error._render_traceback_ = lambda: [note, *lines]
    try:
        shell.showtraceback((type(error), error, error.__traceback__))
    finally:
        del error._render_traceback_


def install(shell: Any) -> Any:
    """Make a shell show short errors; returns what undoes it."""
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
        if error is None or exception_only or hasattr(error, "_render_traceback_"):
            return show(exc_tuple, **options)
        if isinstance(error, SyntaxError):
            with _shortened_syntax_error(error, tb):
                return show(exc_tuple, **options)
        notes = list(filter(None, [hint(error)]))
        if concerns(error, tb):
            with shortened(error, tb) as (short, left_out):
                if short is not None and left_out:
                    _state.last = error
                    frames = f"{left_out} frame{'s' * (left_out > 1)}"
                    return _show(
                        shell,
                        show,
                        error,
                        short,
                        options,
                        [*notes, f"({frames} inside msnb and JAX left out; %ms_traceback prints them)"],
                    )
        if notes:
            return _show(shell, show, error, tb, options, notes)
        return show(exc_tuple, **options)

    shell.showtraceback = showtraceback

    def undo():
        if vars(shell).get("showtraceback") is showtraceback:
            del shell.showtraceback

    return undo
