"""Tokenizers by characters and scripts, and what transforms of strings share. String columns hold bytes (UTF-8)."""

import functools
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.dataset.core.tensor_op import Described, TensorOp
from msnb.dataset.text.strings import to_str


def check_bool(value, name):
    """TypeError unless `value` is a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"Wrong input type for {name}, should be boolean: got {value!r}.")


def check_str(value, name):
    """TypeError unless `value` is a str."""
    if not isinstance(value, str):
        raise TypeError(f"Wrong input type for {name}, should be string: got {value!r}.")


def decoded(data):
    """The str of UTF-8 bytes."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RuntimeError(f"Decode utf8 string failed: {error}.") from None


def scalar_bytes(array, what):
    """The bytes of a scalar string."""
    if array.ndim or array.dtype.kind not in "SU":
        raise RuntimeError(
            f"{what}: the input should be a scalar string, but it has shape {array.shape} and type {array.dtype}."
        )
    value = array.item()
    return value.encode("utf-8") if isinstance(value, str) else value


def strings(tokens):
    """1-D array of bytes; one empty string when there is none."""
    return np.array(tokens if tokens else [b""])


def each(array, function):
    """`function` of every string, as an array of the same shape."""
    if array.dtype.kind not in "SU":
        raise RuntimeError(f"A string column is needed, but it holds {array.dtype}.")
    values = [function(decoded(v)).encode("utf-8") for v in array.ravel().tolist()]
    return np.array(values).reshape(array.shape)


class _Tokenizer(TensorOp):
    """Splits a scalar string; with offsets, the first byte of each token and the byte after it come as two further
    columns.
    """

    with_offsets = False

    def _spans(self, data):
        """(tokens, starts, ends) of the bytes `data`."""
        raise NotImplementedError

    def _tokens(self, data):
        return self._spans(data)[0]

    def _transform_row(self, array):
        data = scalar_bytes(array, type(self).__name__)
        if not self.with_offsets:
            return strings(self._tokens(data))
        tokens, starts, ends = self._spans(data)
        if not tokens:
            tokens, starts, ends = [b""], [0], [0]
        return np.array(tokens), np.array(starts, np.uint32), np.array(ends, np.uint32)

    def _transform_stack(self, column):
        if self.with_offsets or column.ndim != 1 or column.dtype.kind != "S":
            return NotImplemented
        tokens = self._tokens
        return [strings(tokens(data)) for data in column.tolist()]


def _located(data, pieces):
    """(tokens, starts, ends) of pieces that follow each other in `data`."""
    starts, ends, at = [], [], 0
    for piece in pieces:
        at = data.index(piece, at)
        starts.append(at)
        at += len(piece)
        ends.append(at)
    return pieces, starts, ends


_SPACES = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

_ODD = re.compile(b"[\x1c-\x1f]")


class WhitespaceTokenizer(_Tokenizer):
    """Words between white space.

    Args:
        with_offsets (bool, optional): Whether offsets come as two further columns. Default: False.

    Raises:
        TypeError: If `with_offsets` is no bool.

    Examples:
        >>> import mindspore.dataset.text as text
        >>> dataset = dataset.map(operations=text.WhitespaceTokenizer(), input_columns="text")
    """

    def __init__(self, with_offsets: bool = False) -> None:
        check_bool(with_offsets, "with_offsets")
        self.with_offsets: bool = with_offsets

    def _tokens(self, data):
        if data.isascii() and not _ODD.search(data):
            return data.split()
        return [w.encode("utf-8") for w in _SPACES.split(decoded(data)) if w]

    def _spans(self, data):
        return _located(data, self._tokens(data))


class UnicodeCharTokenizer(_Tokenizer):
    """Single characters.

    Args:
        with_offsets (bool, optional): Whether offsets come as two further columns. Default: False.

    Raises:
        TypeError: If `with_offsets` is no bool.
    """

    def __init__(self, with_offsets: bool = False) -> None:
        check_bool(with_offsets, "with_offsets")
        self.with_offsets: bool = with_offsets

    def _tokens(self, data):
        return [c.encode("utf-8") for c in decoded(data)]

    def _spans(self, data):
        return _located(data, self._tokens(data))


@functools.cache
def script(char):
    """The Unicode script of a character, as far as its name tells; "" for what all scripts share."""
    category = unicodedata.category(char)
    if category in ("Mn", "Me"):
        return "INHERITED"
    if category[0] not in "LM":
        return ""
    word = unicodedata.name(char, "").split(" ")[0].split("-")[0]
    return {"CJK": "HAN", "HALFWIDTH": "KATAKANA", "FULLWIDTH": "LATIN", "MODIFIER": ""}.get(word, word)


class UnicodeScriptTokenizer(_Tokenizer):
    """Runs of characters of one script.

    Args:
        keep_whitespace (bool, optional): Whether white space is kept as tokens. Default: False.
        with_offsets (bool, optional): Whether offsets come as two further columns. Default: False.

    Raises:
        TypeError: If an argument is no bool.
    """

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False) -> None:
        check_bool(keep_whitespace, "keep_whitespace")
        check_bool(with_offsets, "with_offsets")
        self.keep_whitespace: bool = keep_whitespace
        self.with_offsets: bool = with_offsets

    def _spans(self, data):
        pieces, last = [], None
        for char in decoded(data):
            kind = (script(char), bool(_SPACES.match(char)))
            if kind == last:
                pieces[-1][0] += char
            else:
                pieces.append([char, kind[1]])
            last = kind
        tokens, starts, ends, at = [], [], [], 0
        for text, space in pieces:
            raw = text.encode("utf-8")
            if self.keep_whitespace or not space:
                tokens.append(raw)
                starts.append(at)
                ends.append(at + len(raw))
            at += len(raw)
        return tokens, starts, ends


class PythonTokenizer(Described):
    """A tokenizer of the user's.

    Args:
        tokenizer (Callable): Takes a str, returns a list of str.

    Raises:
        TypeError: If it cannot be called.
    """

    def __init__(self, tokenizer: Callable[..., Any]) -> None:
        if not callable(tokenizer):
            raise TypeError("tokenizer is not a callable Python function.")
        self.tokenizer = tokenizer

    def __call__(self, in_array: Any) -> Any:
        """Tokens of a scalar string; of an array of strings, with as many tokens each, along a further axis."""
        if not isinstance(in_array, np.ndarray):
            raise TypeError(f"input should be a NumPy array. Got {type(in_array)}.")
        texts = to_str(in_array)
        try:
            rows = [np.asarray(self.tokenizer(text), "U") for text in texts.ravel().tolist()]
            return np.stack(rows).reshape(*texts.shape, -1)
        except Exception as error:
            name = getattr(self.tokenizer, "__name__", "tokenizer")
            raise RuntimeError(f"Error occurred in Pyfunc [{name}], error message: {error}") from error
