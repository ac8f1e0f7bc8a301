"""Errors that teach: what was given, what was expected, and the line of the user's code."""

import inspect
import linecache
import re
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

from msnb._util.package_path import PACKAGE
from msnb.core.errors.converted_code import is_converted
from msnb.core.errors.source_location import format_location as format_location  # known by this path as well
from msnb.core.support.type_promotion import name as dtype_name
from msnb.core.support.unknown_shape import UnknownShape

_HIDDEN = [PACKAGE]


def hide_directory(directory: str) -> None:
    """Treat the files below `directory` as machinery: never shown as the user's line."""
    if directory not in _HIDDEN:
        _HIDDEN.append(directory)


def is_machinery(filename: str) -> bool:
    """Whether `filename` belongs to msnb, JAX or the interpreter rather than to the user."""
    return filename.startswith("<frozen") or any(filename.startswith(d) for d in _HIDDEN)


def user_line(frame: FrameType | None = None) -> tuple[str, int, str] | None:
    """(file, line, text) of the innermost frame outside the machinery; None when there is none."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_machinery(name):
            return name, frame.f_lineno, linecache.getline(name, frame.f_lineno).strip()
        frame = frame.f_back
    return None


def why_python(frame: FrameType | None = None) -> str:
    """In words, why a graph cannot branch at the user's innermost line, and what to write instead."""
    frame = frame or sys._getframe(1)
    while frame is not None and is_machinery(frame.f_code.co_filename):
        frame = frame.f_back
    code = frame.f_code if frame is not None else None
    comprehension = code is not None and code.co_name in ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")
    if code is not None and code.co_flags & inspect.CO_GENERATOR and not comprehension:
        return (
            f"in the generator '{code.co_name}', which runs as plain Python while the graph is built, so what it "
            f"yields cannot depend on it. Write its loop where it is used, or return a list from a function."
        )
    if code is not None and (comprehension or is_converted(code)):
        return (
            "where a graph cannot branch: in the 'if' of a comprehension (how many elements it has must be known), "
            "in 'match', or in a Python function that asks for a bool. Use an 'if' statement, a conditional "
            "expression, or ops.select(condition, x, y)."
        )
    return (
        "in code that msnb has not converted into a graph, so the branch cannot depend on it. Move the condition "
        "into construct or a function decorated with ms_function, or use ops.select(condition, x, y)."
    )


def raise_at(error: BaseException, filename: str, line: int, function: str) -> NoReturn:
    """Raise an error as if the line that its sentence names had: the line stands in the traceback."""
    code = compile("\n" * (line - 1) + "raise error", filename, "exec")
    exec(code.replace(co_name=function, co_qualname=function), {"error": error})
    raise error


_FOOTNOTE = "JAX_TRACEBACK_FILTERING"  # in what JAX notes of frames of its own that it has left out


def without_footnote(error: BaseException) -> None:
    """Take from an error what JAX notes of frames that it has left out: it says nothing of the user's mistake."""
    if hasattr(error, "__notes__"):
        error.__notes__ = [note for note in error.__notes__ if _FOOTNOTE not in note]


def describe(value: Any) -> str:
    """A value's type in a few words: ``Tensor[Float32](2, 3)``, ``int 3``, ``None``, ``list of 2``."""
    array = getattr(value, "_array", value)
    if hasattr(array, "dtype") and hasattr(array, "shape") and not isinstance(value, type):
        kind = "Tensor" if array is not value else type(value).__name__
        if kind.endswith("Tracer") or kind == "ArrayImpl":
            kind = "Tensor"
        return f"{kind}[{_element(array.dtype)}]{tuple(array.shape)}"
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return "None" if value is None else f"{type(value).__name__} {text if len(text) < 40 else text[:37] + '...'}"
    if isinstance(value, (tuple, list, dict)):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


def _element(dtype):
    """What an array's element type is called; that of one which no Tensor can have as numpy calls it."""
    try:
        return dtype_name(dtype)
    except TypeError:
        return str(dtype)


_SHAPES = (  # what Python says where the shape of an input is not what a kernel takes for granted, and what it means
    (IndexError, "tuple index out of range", "one of them has too few dimensions"),
    (ValueError, "not enough values to unpack", "one of them has too few dimensions"),
    (ValueError, "too many values to unpack", "one of them has too many dimensions"),
    (ZeroDivisionError, "", "one of them has a dimension of length 0"),
)


def _about_shapes(error):
    """What an error of Python's own says of the inputs' shapes; None for others."""
    text = str(error)
    return next((what for kind, words, what in _SHAPES if isinstance(error, kind) and text.startswith(words)), None)


_NOT_THERE = re.compile(r"MLIR translation rule for primitive '(.+?)' not found for platform")


def explain_kernel_error(error: BaseException, op: str, args: Sequence[Any]) -> BaseException:
    """The error of an operator's kernel as MindSpore's users know it: class by cause, the operator, its inputs."""
    if isinstance(error, KeyboardInterrupt):
        return error
    text = str(error)
    if missing := _NOT_THERE.search(text):
        return NotImplementedError(
            f"For '{op}', XLA has nothing that computes {missing[1]!r} on this device. Compute it on the CPU: "
            f'context.set_context(device_target="CPU"), and back afterwards.'
        )
    if text.startswith(("For '", "for '")) or not isinstance(
        error, (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError, AssertionError)
    ):
        return error
    for arg in args:
        if isinstance(getattr(arg, "_array", None), UnknownShape):
            return TypeError(f"For '{op}', {arg._array.refusal}")
    given = ", ".join(describe(a) for a in args)
    if isinstance(error, OverflowError):
        return OverflowError(f"For '{op}', the inputs ({given}) hold an int of more than 64 bits; write it as a float.")
    if what := _about_shapes(error):
        return ValueError(f"For '{op}', the inputs ({given}) do not fit: {what}.")
    first = text.split("\n")[0]
    about_shape = any(w in first for w in ("shape", "dimension", "rank", "ndim", "axis", "reshape", "concatenate"))
    kind = ValueError if about_shape and not isinstance(error, IndexError) else type(error)
    return kind(f"For '{op}', the inputs ({given}) do not fit: {first}")
