"""Shorten tracebacks to the user's lines: remove frames inside msnb and JAX.

Notebook and terminal display the short form. The exception itself keeps all its frames.
"""

import contextlib
import importlib.util
import os
import re
import sysconfig
import types
from collections.abc import Callable, Iterator
from typing import Any

from msnb.core.errors.source_location import format_location

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


def _find_package_folder(module):
    spec = importlib.util.find_spec(module)
    return os.path.dirname(spec.origin) + os.sep if spec is not None and spec.origin else None


_MACHINERY = tuple(filter(None, map(_find_package_folder, ("msnb", "jax", "jaxlib"))))
_LIBRARIES = tuple({os.path.realpath(p) + os.sep for p in sysconfig.get_paths().values()}) + tuple(
    {p + os.sep for p in sysconfig.get_paths().values()}
)
# Prefix of functions that the source transformation creates from blocks. Their frames repeat a line of the user's
# function.
_BLOCKS = "__"
_FOOTNOTE = "JAX_TRACEBACK_FILTERING"  # JAX adds a note with this word to an error whose frames it has removed


def _iterate_entries(tb):
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _is_in_msnb_or_jax(tb):
    return tb.tb_frame.f_code.co_filename.startswith(_MACHINERY)


def is_library(tb: Any) -> bool:
    """Return True if the first frame of a traceback belongs to Python itself or to an installed package."""
    return is_library_file(tb.tb_frame.f_code.co_filename)


def is_library_file(name: str) -> bool:
    """Return True if a source file belongs to Python itself or to an installed package."""
    return name.startswith(_LIBRARIES) or name.startswith("<frozen ")


def _shorten_entries(tb):
    """Return (short traceback, number of removed frames, True if a user's line remains)."""
    remaining, left_out, inside, users = [], 0, False, False
    for entry in _iterate_entries(tb):
        if _is_in_msnb_or_jax(entry) or (inside and is_library(entry)):
            inside = True  # library code that msnb calls counts as msnb, until it calls the user's code
            left_out += 1
        elif inside and _repeats_source_line(entry, remaining):
            left_out += 1
        else:
            if not is_library(entry):
                inside, users = False, True
            remaining.append(entry)
    short = None
    for entry in reversed(remaining):
        short = types.TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short, left_out, users


def _join_tracebacks(outer, inner):
    """Concatenate two results of `_shorten_entries`."""
    short = inner[0]
    for entry in reversed(list(_iterate_entries(outer[0]))):
        short = types.TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short, outer[1] + inner[1], outer[2] or inner[2]


def _repeats_source_line(entry, remaining):
    code = entry.tb_frame.f_code
    is_block = code.co_name.startswith(_BLOCKS) and not code.co_name.endswith("__")
    here = code.co_filename, entry.tb_lineno
    return is_block and any((e.tb_frame.f_code.co_filename, e.tb_lineno) == here for e in remaining)


def _get_cause(error):
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def _list_error_chain(error):
    chain = []
    while error is not None and not any(error is e for e in chain):
        chain.append(error)
        error = _get_cause(error)
    return chain


@contextlib.contextmanager
def shortened(error: BaseException, tb: Any) -> Iterator[tuple[Any, int]]:
    """Context manager that shortens the tracebacks of `error` and its causes inside its block.

    It yields (short traceback, number of removed frames).
    """
    short, left_out, put_back = shorten(error, tb)
    try:
        yield short, left_out
    finally:
        put_back()


def shorten(error: BaseException, tb: Any) -> tuple[Any, int, Callable[[], None]]:
    """Replace the tracebacks of `error` and its causes by short ones.

    Returns:
        tuple of the short traceback of `error`, the number of removed frames, and a function that restores the original
        tracebacks.
    """
    chain = _list_error_chain(error)
    shorts = [_shorten_entries(tb if e is error else e.__traceback__) for e in chain]
    for i, link in enumerate(chain[:-1]):
        if getattr(link, "retells", False):  # the cause is the same error inside msnb: their lines form one traceback
            shorts[i] = _join_tracebacks(shorts[i], shorts[i + 1])
            shorts[i + 1] = (None, 0, False)
    # A cause without a user's line is an internal error, which does not help the user.
    displayed = [i for i, (_, _, users) in enumerate(shorts) if users or i == 0]
    saved = [(e, e.__traceback__, e.__cause__, e.__context__, e.__suppress_context__) for e in chain]
    notes = [(e, e.__notes__) for e in chain if hasattr(e, "__notes__")]

    def put_back():
        for e, traceback, cause, context, suppress in saved:
            e.__traceback__, e.__cause__, e.__context__ = traceback, cause, context
            e.__suppress_context__ = suppress
        for e, all_notes in notes:
            e.__notes__ = all_notes

    try:
        for link, all_notes in notes:
            link.__notes__ = [note for note in all_notes if _FOOTNOTE not in note]
        for position, i in enumerate(displayed):
            link = chain[i]
            following = chain[displayed[position + 1]] if position + 1 < len(displayed) else None
            by_cause = link.__cause__ is not None
            link.__traceback__ = shorts[i][0]
            link.__cause__ = following if by_cause else None
            link.__context__ = following
            link.__suppress_context__ = by_cause or following is None
    except BaseException:
        put_back()
        raise
    return shorts[0][0], sum(left_out for _, left_out, _ in shorts), put_back


def last_line(error: BaseException) -> str:
    """Return ``train.py:12``, the user's line that raised an error; "" if no user's line is in its traceback."""
    where = ""
    for entry in _iterate_entries(_shorten_entries(error.__traceback__)[0]):
        if not is_library(entry):
            where = format_location(entry.tb_frame.f_code.co_filename, entry.tb_lineno)
    return where


def concerns(error: BaseException, tb: Any) -> bool:
    """Return True if the traceback of an error, or of one of its causes, has a frame of msnb."""
    package = _MACHINERY[0]
    for link in _list_error_chain(error):
        for entry in _iterate_entries(tb if link is error else link.__traceback__):
            if entry.tb_frame.f_code.co_filename.startswith(package):
                return True
    return False


def sentence_from_callback(error: BaseException) -> str | None:
    """Return the last line of a message that is itself a traceback, as JAX reports errors of Python callbacks."""
    text = str(error).strip()
    if "Traceback (most recent call last):" not in text:
        return None
    frames = [f for f in _FRAME.findall(text) if not f[0].startswith((*_MACHINERY, *_LIBRARIES, "<frozen "))]
    where = f" (in {frames[-1][2]}, {format_location(frames[-1][0], int(frames[-1][1]))})" if frames else ""
    return text.splitlines()[-1] + where
