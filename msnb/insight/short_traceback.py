"""The traceback of an error without the frames inside msnb and JAX: the user's lines are left.

Notebook and terminal show it so. The exception itself keeps all its frames.
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


def _folder(module):
    spec = importlib.util.find_spec(module)
    return os.path.dirname(spec.origin) + os.sep if spec is not None and spec.origin else None


_MACHINERY = tuple(filter(None, map(_folder, ("msnb", "jax", "jaxlib"))))
_LIBRARIES = tuple({os.path.realpath(p) + os.sep for p in sysconfig.get_paths().values()}) + tuple(
    {p + os.sep for p in sysconfig.get_paths().values()}
)
# Functions that the source transformation makes of blocks: their frame repeats the line of the user's function.
_BLOCKS = "__"
_FOOTNOTE = "JAX_TRACEBACK_FILTERING"  # in the note that JAX adds to an error, on frames of its own that it left out


def _entries(tb):
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _is_machinery(tb):
    return tb.tb_frame.f_code.co_filename.startswith(_MACHINERY)


def is_library(tb: Any) -> bool:
    """Whether the first frame of a traceback is of Python itself or of an installed package."""
    return is_library_file(tb.tb_frame.f_code.co_filename)


def is_library_file(name: str) -> bool:
    """Whether a source file is of Python itself or of an installed package."""
    return name.startswith(_LIBRARIES) or name.startswith("<frozen ")


def _short(tb):
    """(traceback, number of frames left out, whether a line of the user's is among the rest)."""
    kept, left_out, inside, users = [], 0, False, False
    for entry in _entries(tb):
        if _is_machinery(entry) or (inside and is_library(entry)):
            inside = True  # what the machinery calls belongs to it, until it calls the user's code
            left_out += 1
        elif inside and _repeats(entry, kept):
            left_out += 1
        else:
            if not is_library(entry):
                inside, users = False, True
            kept.append(entry)
    short = None
    for entry in reversed(kept):
        short = types.TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short, left_out, users


def _joined(outer, inner):
    """One traceback of two, as `_short` gives them."""
    short = inner[0]
    for entry in reversed(list(_entries(outer[0]))):
        short = types.TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short, outer[1] + inner[1], outer[2] or inner[2]


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
def shortened(error: BaseException, tb: Any) -> Iterator[tuple[Any, int]]:
    """Within, `error` and what caused it carry the short traceback; gives it and the number of frames left out."""
    short, left_out, put_back = shorten(error, tb)
    try:
        yield short, left_out
    finally:
        put_back()


def shorten(error: BaseException, tb: Any) -> tuple[Any, int, Callable[[], None]]:
    """Have `error` and what caused it carry the short traceback.

    Returns:
        tuple, that traceback, the number of frames left out, and what puts them back.
    """
    chain = _chain(error)
    shorts = [_short(tb if e is error else e.__traceback__) for e in chain]
    for i, link in enumerate(chain[:-1]):
        if getattr(link, "retells", False):  # its cause says the same once more: the lines of both are one way
            shorts[i] = _joined(shorts[i], shorts[i + 1])
            shorts[i + 1] = (None, 0, False)
    # A cause without a line of the user's is how the machinery found out, not what the user wants to know.
    shown = [i for i, (_, _, users) in enumerate(shorts) if users or i == 0]
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
        for position, i in enumerate(shown):
            link = chain[i]
            following = chain[shown[position + 1]] if position + 1 < len(shown) else None
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
    """``train.py:12``, the user's line that an error comes from; "" where none of the user's lines was running."""
    where = ""
    for entry in _entries(_short(error.__traceback__)[0]):
        if not is_library(entry):
            where = format_location(entry.tb_frame.f_code.co_filename, entry.tb_lineno)
    return where


def concerns(error: BaseException, tb: Any) -> bool:
    """Whether msnb had a part in an error that the user's code led to."""
    package = _MACHINERY[0]
    for link in _chain(error):
        for entry in _entries(tb if link is error else link.__traceback__):
            if entry.tb_frame.f_code.co_filename.startswith(package):
                return True
    return False


def told_inside(error: BaseException) -> str | None:
    """The sentence of an error whose message is a traceback itself, as JAX tells of Python that its program called."""
    text = str(error).strip()
    if "Traceback (most recent call last):" not in text:
        return None
    frames = [f for f in _FRAME.findall(text) if not f[0].startswith((*_MACHINERY, *_LIBRARIES, "<frozen "))]
    where = f" (in {frames[-1][2]}, {format_location(frames[-1][0], int(frames[-1][1]))})" if frames else ""
    return text.splitlines()[-1] + where
