"""How Tensors print: MindSpore's text."""

from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe

_ENDS = 3  # places that are shown of either end of an axis that is cut
_LONGEST_AXIS = 2 * _ENDS  # of a Tensor of several axes, and
_LONGEST_ROW = 1000  # of one that is a row, before they are cut
_IN_LINE = 12  # floats or bools of a row in one line; of others twice as many
_DIGITS = {"float16": 4, "float32": 8, "float64": 8}


def tensor_repr(array: np.ndarray, dtype: mstype.Type) -> str:
    """``Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])``, as MindSpore prints it."""
    gap = "\n" if array.ndim > 1 else " "
    return f"Tensor(shape={list(array.shape)}, dtype={dtype}, value={gap}{_text(array)})"


def _text(array):
    if not array.ndim:
        return _short(array.item())
    if not array.size:
        return ""
    longest = _LONGEST_ROW if array.ndim == 1 else _LONGEST_AXIS
    cut = [length > longest for length in array.shape]
    for axis in np.flatnonzero(cut):
        array = np.delete(array, slice(_ENDS, -_ENDS), axis)
    words = np.array(_words(array), object).reshape(array.shape)
    if array.ndim > 1 or cut[0]:
        return _block(words, cut, 1)
    in_line = _IN_LINE if array.dtype.name in _DIGITS or array.dtype.kind == "b" else 2 * _IN_LINE
    return _row(words, in_line)


def _words(array):
    """The elements one after the other, of one width but for complex numbers."""
    name, kind = array.dtype.name, array.dtype.kind
    if name in _DIGITS:
        digits = _DIGITS[name]
        return [f"{v:{digits + 7}.{digits}e}" for v in array.ravel().tolist()]
    words = [_short(v) for v in array.ravel().tolist()]
    if kind == "c":
        return words
    width = 5 if kind == "b" else max(map(len, words))
    return [word.rjust(width) for word in words]


def _short(value):
    """One number as C++ writes it: of a float six digits."""
    if isinstance(value, complex):
        return f"{value.real:g}{value.imag:+g}j"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _row(words, in_line):
    """A Tensor of one axis. A full line ends with a line break, the last one too."""
    lines = [", ".join(words[i : i + in_line]) for i in range(0, len(words), in_line)]
    return "[" + ", \n ".join(lines) + ("]" if len(words) % in_line else "\n ]")


def _block(words, cut, depth):
    """A Tensor of several axes, or one that is cut; `depth` brackets are open in front of it."""
    last = words.ndim == 1
    parts = list(words) if last else [_block(part, cut[1:], depth + 1) for part in words]
    comma = ", " if last else ",\n" + " " * depth
    gap = " " if last else "\n" + " " * depth
    if not cut[0]:
        return f"[{comma.join(parts)}]"
    before, behind = comma.join(parts[:_ENDS]), comma.join(parts[_ENDS:])
    return "[" + before + ("" if last else ",") + f"{gap}...{gap}{behind}]"


def traced_text(array: Any) -> str:
    """A traced value has no elements yet: its type and shape stand for them."""
    return f"{describe(array)} traced"
