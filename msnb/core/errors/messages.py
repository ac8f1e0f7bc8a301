"""Text of error messages: description of values, location in the user's code, errors of kernels."""

import inspect
import linecache
import re
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

from msnb._util.package_path import PACKAGE
from msnb.core.errors.converted_code import is_converted
from msnb.core.errors.source_location import format_location as format_location  # others import it from here
from msnb.core.support.type_promotion import name as dtype_name
from msnb.core.support.unknown_shape import UnknownShape

_HIDDEN = [PACKAGE]


def hide_directory(directory: str) -> None:
    """Treat files below `directory` as library code, which is never reported as the user's line."""
    if directory not in _HIDDEN:
        _HIDDEN.append(directory)


def is_library_code(filename: str) -> bool:
    """Return True if `filename` belongs to msnb, JAX or the interpreter rather than to the user."""
    return filename.startswith("<frozen") or any(filename.startswith(d) for d in _HIDDEN)


def user_line(frame: FrameType | None = None) -> tuple[str, int, str] | None:
    """Return (file, line, text) of the innermost frame in the user's code, None if there is none."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_library_code(name):
            return name, frame.f_lineno, linecache.getline(name, frame.f_lineno).strip()
        frame = frame.f_back
    return None


def user_location() -> tuple[str, int, str] | None:
    """Return (file, line, function) of the innermost frame in the user's code, None if there is none."""
    frame = sys._getframe(1)
    while frame is not None and is_library_code(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    # A converted function has a nested function for each block; the user's function is the outermost one.
    while "__msnb_" in frame.f_code.co_qualname and frame.f_back is not None:
        frame = frame.f_back
        while is_library_code(frame.f_code.co_filename) and frame.f_back is not None:
            frame = frame.f_back
    return file, line, frame.f_code.co_qualname


def explain_branch(frame: FrameType | None = None) -> str:
    """Return the end of an error message: the reason why a graph cannot branch at the user's innermost line, and an
    alternative.
    """
    frame = frame or sys._getframe(1)
    while frame is not None and is_library_code(frame.f_code.co_filename):
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
    """Raise an error from the user's line, so that the line appears in the traceback."""
    code = compile("\n" * (line - 1) + "raise error", filename, "exec")
    exec(code.replace(co_name=function, co_qualname=function), {"error": error})
    raise error


_JAX_NOTE = "JAX_TRACEBACK_FILTERING"  # part of JAX's note about hidden frames


def remove_jax_note(error: BaseException) -> None:
    """Remove JAX's note about hidden frames from an error. It says nothing about the user's mistake."""
    if hasattr(error, "__notes__"):
        error.__notes__ = [note for note in error.__notes__ if _JAX_NOTE not in note]


def describe(value: Any) -> str:
    """Return a short description of a value: ``Tensor[Float32](2, 3)``, ``int 3``, ``None``, ``list of 2``."""
    array = getattr(value, "_array", value)
    if hasattr(array, "dtype") and hasattr(array, "shape") and not isinstance(value, type):
        kind = "Tensor" if array is not value else type(value).__name__
        if kind.endswith("Tracer") or kind == "ArrayImpl":
            kind = "Tensor"
        return f"{kind}[{_get_element_type_name(array.dtype)}]{tuple(array.shape)}"
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return "None" if value is None else f"{type(value).__name__} {text if len(text) < 40 else text[:37] + '...'}"
    if isinstance(value, (tuple, list, dict)):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


def _get_element_type_name(dtype):
    """Return MindSpore's name of an element type, or numpy's if no Tensor can have it."""
    try:
        return dtype_name(dtype)
    except TypeError:
        return str(dtype)


_RANK_ERRORS = (  # (class, start of Python's message, meaning) of errors of kernels for inputs of a wrong rank
    (IndexError, "tuple index out of range", "one of them has too few dimensions"),
    (ValueError, "not enough values to unpack", "one of them has too few dimensions"),
    (ValueError, "too many values to unpack", "one of them has too many dimensions"),
    (ZeroDivisionError, "", "one of them has a dimension of length 0"),
)


def _explain_rank_error(error):
    """Return an explanation of a Python error that inputs of a wrong rank cause; None for other errors."""
    text = str(error)
    return next(
        (what for kind, words, what in _RANK_ERRORS if isinstance(error, kind) and text.startswith(words)), None
    )


_NO_LOWERING = re.compile(r"MLIR translation rule for primitive '(.+?)' not found for platform")


def explain_kernel_error(error: BaseException, op: str, args: Sequence[Any]) -> BaseException:
    """Return an error whose message names the operator and describes its inputs, in place of an error of a kernel. Its
    class depends on the cause. Errors that need no explanation are returned unchanged.
    """
    if isinstance(error, KeyboardInterrupt):
        return error
    text = str(error)
    if missing := _NO_LOWERING.search(text):
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
    inputs = ", ".join(describe(a) for a in args)
    if isinstance(error, OverflowError):
        return OverflowError(
            f"For '{op}', the inputs ({inputs}) hold an int of more than 64 bits; write it as a float."
        )
    if what := _explain_rank_error(error):
        return ValueError(f"For '{op}', the inputs ({inputs}) do not fit: {what}.")
    first = text.split("\n")[0]
    about_shape = any(w in first for w in ("shape", "dimension", "rank", "ndim", "axis", "reshape", "concatenate"))
    kind = ValueError if about_shape and not isinstance(error, IndexError) else type(error)
    return kind(f"For '{op}', the inputs ({inputs}) do not fit: {first}")
