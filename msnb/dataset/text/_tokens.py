"""Tokenizers by characters and scripts, and shared helpers of string transforms. String columns hold UTF-8 bytes."""

import functools
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.dataset.core.tensor_op import Described, TensorOp
from msnb.dataset.text.strings import to_str


def check_bool(value, name):
    """Raise TypeError unless `value` is a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"Wrong input type for {name}, should be boolean: got {value!r}.")


def check_str(value, name):
    """Raise TypeError unless `value` is a str."""
    if not isinstance(value, str):
        raise TypeError(f"Wrong input type for {name}, should be string: got {value!r}.")


def decode_utf8(data):
    """Decode UTF-8 bytes to a str."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RuntimeError(f"Decode utf8 string failed: {error}.") from None


def scalar_bytes(array, operation):
    """Return the bytes of a scalar string."""
    if array.ndim or array.dtype.kind not in "SU":
        raise RuntimeError(
            f"{operation}: the input should be a scalar string, but it has shape {array.shape} and type {array.dtype}."
        )
    value = array.item()
    return value.encode("utf-8") if isinstance(value, str) else value


def string_array(tokens):
    """Return a 1-D array of tokens, or one empty string if there are none."""
    return np.array(tokens if tokens else [b""])


def map_strings(array, function):
    """Apply `function` to every string of an array. The result has the same shape."""
    if array.dtype.kind not in "SU":
        raise RuntimeError(f"A string column is needed, but it holds {array.dtype}.")
    values = [function(decode_utf8(v)).encode("utf-8") for v in array.ravel().tolist()]
    return np.array(values, None if values else "S").reshape(array.shape)


class _Tokenizer(TensorOp):
    """Base of the tokenizers, which split a scalar string into tokens.

    With offsets, two further columns hold the start and the end of each token, in bytes.
    """

    with_offsets = False

    def _split_with_offsets(self, data):
        """Split the bytes `data`. Return (tokens, starts, ends)."""
        raise NotImplementedError

    def _split_tokens(self, data):
        return self._split_with_offsets(data)[0]

    def _transform_row(self, array):
        data = scalar_bytes(array, type(self).__name__)
        if not self.with_offsets:
            return string_array(self._split_tokens(data))
        tokens, starts, ends = self._split_with_offsets(data)
        if not tokens:
            tokens, starts, ends = [b""], [0], [0]
        return np.array(tokens), np.array(starts, np.uint32), np.array(ends, np.uint32)

    def _transform_stack(self, column):
        if self.with_offsets or column.ndim != 1 or column.dtype.kind != "S":
            return NotImplemented
        tokens = self._split_tokens
        return [string_array(tokens(data)) for data in column.tolist()]


def _locate_tokens(data, pieces):
    """Locate consecutive pieces of `data`. Return (tokens, starts, ends)."""
    starts, ends, position = [], [], 0
    for piece in pieces:
        position = data.index(piece, position)
        starts.append(position)
        position += len(piece)
        ends.append(position)
    return pieces, starts, ends


_WHITESPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

_SEPARATOR_BYTES = re.compile(b"[\x1c-\x1f]")


class WhitespaceTokenizer(_Tokenizer):
    """Split text at white space.

    Args:
        with_offsets (bool, optional): True to output offsets as two further columns. Default: False.

    Raises:
        TypeError: If `with_offsets` is not a bool.

    Examples:
        >>> import mindspore.dataset.text as text
        >>> dataset = dataset.map(operations=text.WhitespaceTokenizer(), input_columns="text")
    """

    def __init__(self, with_offsets: bool = False) -> None:
        check_bool(with_offsets, "with_offsets")
        self.with_offsets: bool = with_offsets

    def _split_tokens(self, data):
        if data.isascii() and not _SEPARATOR_BYTES.search(data):
            return data.split()
        return [w.encode("utf-8") for w in _WHITESPACE.split(decode_utf8(data)) if w]

    def _split_with_offsets(self, data):
        return _locate_tokens(data, self._split_tokens(data))


class UnicodeCharTokenizer(_Tokenizer):
    """Split text into characters.

    Args:
        with_offsets (bool, optional): True to output offsets as two further columns. Default: False.

    Raises:
        TypeError: If `with_offsets` is not a bool.
    """

    def __init__(self, with_offsets: bool = False) -> None:
        check_bool(with_offsets, "with_offsets")
        self.with_offsets: bool = with_offsets

    def _split_tokens(self, data):
        return [c.encode("utf-8") for c in decode_utf8(data)]

    def _split_with_offsets(self, data):
        return _locate_tokens(data, self._split_tokens(data))


@functools.cache
def script_of(char):
    """Return the Unicode script of a character according to its name, or "" for characters that all scripts share."""
    category = unicodedata.category(char)
    if category in ("Mn", "Me"):
        return "INHERITED"
    if category[0] not in "LM":
        return ""
    word = unicodedata.name(char, "").split(" ")[0].split("-")[0]
    return {"CJK": "HAN", "HALFWIDTH": "KATAKANA", "FULLWIDTH": "LATIN", "MODIFIER": ""}.get(word, word)


class UnicodeScriptTokenizer(_Tokenizer):
    """Split text into runs of characters of one script.

    Args:
        keep_whitespace (bool, optional): True to output white space as tokens. Default: False.
        with_offsets (bool, optional): True to output offsets as two further columns. Default: False.

    Raises:
        TypeError: If an argument is not a bool.
    """

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False) -> None:
        check_bool(keep_whitespace, "keep_whitespace")
        check_bool(with_offsets, "with_offsets")
        self.keep_whitespace: bool = keep_whitespace
        self.with_offsets: bool = with_offsets

    def _split_with_offsets(self, data):
        pieces, last = [], None
        for char in decode_utf8(data):
            kind = (script_of(char), bool(_WHITESPACE.match(char)))
            if kind == last:
                pieces[-1][0] += char
            else:
                pieces.append([char, kind[1]])
            last = kind
        tokens, starts, ends, position = [], [], [], 0
        for text, is_space in pieces:
            raw = text.encode("utf-8")
            if self.keep_whitespace or not is_space:
                tokens.append(raw)
                starts.append(position)
                ends.append(position + len(raw))
            position += len(raw)
        return tokens, starts, ends


class PythonTokenizer(Described):
    """Apply a user-defined tokenizer.

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
        """Tokenize a scalar string, or each string of an array.

        The tokens of an array are along a new last axis. All its strings must have the same number of tokens.
        """
        if not isinstance(in_array, np.ndarray):
            raise TypeError(f"input should be a NumPy array. Got {type(in_array)}.")
        texts = to_str(in_array)
        try:
            rows = [np.asarray(self.tokenizer(text), "U") for text in texts.ravel().tolist()]
            return np.stack(rows).reshape(*texts.shape, -1)
        except Exception as error:
            name = getattr(self.tokenizer, "__name__", "tokenizer")
            raise RuntimeError(f"Error occurred in Pyfunc [{name}], error message: {error}") from error
