"""Text of printed Tensors, in MindSpore's format."""

from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe

_EDGE_ITEMS = 3  # elements that are printed at either end of a truncated axis
_LONGEST_AXIS = 2 * _EDGE_ITEMS  # longest axis that is printed completely, for a Tensor with several axes
_LONGEST_VECTOR = 1000  # the same for a Tensor with one axis
_PER_LINE = 12  # floats or bools in a line of a 1-D Tensor; twice as many of other types
_DIGITS = {"float16": 4, "float32": 8, "float64": 8}


def tensor_repr(array: np.ndarray, dtype: mstype.Type) -> str:
    """Return the repr that MindSpore has: ``Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,
    2.00000000e+00])``.
    """
    gap = "\n" if array.ndim > 1 else " "
    return f"Tensor(shape={list(array.shape)}, dtype={dtype}, value={gap}{_format_elements(array)})"


def _format_elements(array):
    if not array.ndim:
        return _format_number(array.item())
    if not array.size:
        return ""
    longest = _LONGEST_VECTOR if array.ndim == 1 else _LONGEST_AXIS
    is_truncated = [length > longest for length in array.shape]
    for axis in np.flatnonzero(is_truncated):
        array = np.delete(array, slice(_EDGE_ITEMS, -_EDGE_ITEMS), axis)
    words = np.array(_format_each_element(array), object).reshape(array.shape)
    if array.ndim > 1 or is_truncated[0]:
        return _format_nested(words, is_truncated, 1)
    per_line = _PER_LINE if array.dtype.name in _DIGITS or array.dtype.kind == "b" else 2 * _PER_LINE
    return _format_vector(words, per_line)


def _format_each_element(array):
    """Return the texts of the elements in order, padded to one width unless they are complex."""
    name, kind = array.dtype.name, array.dtype.kind
    if name in _DIGITS:
        digits = _DIGITS[name]
        return [f"{v:{digits + 7}.{digits}e}" for v in array.ravel().tolist()]
    words = [_format_number(v) for v in array.ravel().tolist()]
    if kind in "cU":
        return words
    width = 5 if kind == "b" else max(map(len, words))
    return [word.rjust(width) for word in words]


def _format_number(value):
    """Format one number as a C++ stream does: floats with six digits."""
    if isinstance(value, complex):
        return f"{value.real:g}{value.imag:+g}j"
    return f"{value:g}" if isinstance(value, float) else repr(value) if isinstance(value, str) else str(value)


def _format_vector(words, per_line):
    """Format a Tensor of one axis. A full line ends with a line break, the last one too."""
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + ", \n ".join(lines) + ("]" if len(words) % per_line else "\n ]")


def _format_nested(words, is_truncated, depth):
    """Format a Tensor of several axes or with truncated axes; `depth` brackets are open before it."""
    is_innermost = words.ndim == 1
    items = list(words) if is_innermost else [_format_nested(row, is_truncated[1:], depth + 1) for row in words]
    comma = ", " if is_innermost else ",\n" + " " * depth
    gap = " " if is_innermost else "\n" + " " * depth
    if not is_truncated[0]:
        return f"[{comma.join(items)}]"
    before, behind = comma.join(items[:_EDGE_ITEMS]), comma.join(items[_EDGE_ITEMS:])
    return "[" + before + ("" if is_innermost else ",") + f"{gap}...{gap}{behind}]"


def traced_text(array: Any) -> str:
    """Return the dtype and shape of a traced value, which has no elements yet."""
    return f"{describe(array)} traced"
