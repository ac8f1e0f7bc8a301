"""Transforms of token sequences: lookup of ids, n-grams, windows, truncation and padding."""

import re
from typing import Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import checked
from msnb.dataset.core.datatypes import numpy_type
from msnb.dataset.core.kinds import Flag, Int, PositiveInt32, Text, UInt32, of_type, positive
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text._tokens import decode_utf8
from msnb.dataset.text.vocab import Vocab


class Lookup(TensorOp):
    """Look up the ids of words.

    Args:
        vocab (Vocab): The vocabulary.
        unknown_token (str, optional): The word whose id is used for unknown words. Default: None, an unknown word
            is an error.
        data_type (mindspore.dtype, optional): Type of the ids. Default: mindspore.int32.

    Raises:
        TypeError: If an argument has the wrong type.
        RuntimeError: If a word is unknown.
    """

    @checked
    def __init__(
        self,
        vocab: Annotated[Vocab, of_type(Vocab)],
        unknown_token: Text | None = None,
        data_type: Annotated[mstype.Type, of_type(mstype.Type)] = mstype.int32,
    ):
        self.vocab = vocab
        self.unknown_token = unknown_token
        self.data_type = data_type
        self._type = numpy_type(data_type)
        self._default = None
        if unknown_token is not None:
            self._default = vocab._bytes.get(unknown_token.encode("utf-8"))

    def _transform_row(self, array):
        if array.dtype.kind not in "SU":
            raise RuntimeError(f"Lookup: None string tensor received: the column holds {array.dtype}.")
        if self._type.kind == "S":
            raise RuntimeError("Lookup doesn't support string to string lookup. data_type needs to be numeric.")
        if self.unknown_token is not None and self._default is None:
            raise RuntimeError(f'Lookup: unknown_token: "{self.unknown_token}", doesn\'t exist in vocab.')
        ids, default = self.vocab._bytes, self._default
        indices = [ids.get(w, default) for w in array.ravel().tolist()]
        if default is None and None in indices:
            word = array.ravel().tolist()[indices.index(None)].decode("utf-8", "replace")
            raise RuntimeError(
                f'Lookup: Invalid data, token: "{word}" doesn\'t exist in vocab and no unknown token is specified.'
            )
        return np.array(indices, self._type).reshape(array.shape)


class Ngram(TensorOp):
    """Return all n-grams of a 1-D column, with their words joined.

    Args:
        n (Union[int, list[int]]): One or several lengths.
        left_pad (tuple, optional): (word, count) of padding on the left. Default: ("", 0).
        right_pad (tuple, optional): (word, count) of padding on the right. Default: ("", 0).
        separator (str, optional): String between the words. Default: " ".

    Raises:
        TypeError: If a length is not an int.
        ValueError: If an argument is out of range.
    """

    @checked
    def __init__(
        self,
        n: int | list[int],
        left_pad: tuple[Any, ...] = ("", 0),
        right_pad: tuple[Any, ...] = ("", 0),
        separator: Text = " ",
    ) -> None:
        lengths = [n] if isinstance(n, int) else n
        if not (isinstance(lengths, list) and lengths):
            raise ValueError("n needs to be a non-empty list of positive integers.")
        for index, length in enumerate(lengths):
            of_type(int)(length, f"gram[{index}]")
            positive(length, f"gram_{index}")
        _check_ngram_padding(left_pad, "left_pad")
        _check_ngram_padding(right_pad, "right_pad")
        self.n = lengths
        self.left_pad = left_pad
        self.right_pad = right_pad
        self.separator = separator

    def _transform_row(self, array):
        if array.ndim != 1 or array.dtype.kind not in "SU":
            raise RuntimeError(f"Ngram: Not a 1-D str Tensor: shape {array.shape}, type {array.dtype}.")
        words, join = array.tolist(), self.separator.encode("utf-8")
        out = []
        for n in self.n:
            left = [self.left_pad[0].encode("utf-8")] * min(self.left_pad[1], n - 1)
            right = [self.right_pad[0].encode("utf-8")] * min(self.right_pad[1], n - 1)
            row = left + words + right
            out += [join.join(row[i : i + n]) for i in range(len(row) - n + 1)] or [b""]
        return np.array(out)


def _check_ngram_padding(pad, name):
    """Check the padding of n-grams: a (word, count) tuple."""
    kinds = tuple(map(type, pad)) if isinstance(pad, tuple) else ()
    if len(kinds) != 2 or not (issubclass(kinds[0], str) and issubclass(kinds[1], int)):
        raise ValueError(f"{name} needs to be a tuple of (str, int) str is pad token and int is pad_width.")
    if pad[1] < 0:
        raise ValueError("padding width need to be positive numbers.")


class SlidingWindow(TensorOp):
    """Return all windows of a 1-D column, as rows.

    Args:
        width (int): Elements of a window.
        axis (int, optional): 0 or -1. Default: 0.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If `width` is not positive.
    """

    @checked
    def __init__(self, width: PositiveInt32, axis: Int = 0):
        self.width = width
        self.axis = axis

    def _transform_row(self, array):
        if array.ndim != 1:
            raise RuntimeError(f"SlidingWindosOp supports 1D Tensors only for now. It got shape {array.shape}.")
        if self.axis not in (0, -1):
            raise RuntimeError(f"axis supports 0 or -1 only for now. It is {self.axis}.")
        if len(array) < self.width:
            return array[:0]
        return np.lib.stride_tricks.sliding_window_view(array, self.width).copy()


class ToNumber(TensorOp):
    """Convert strings to numbers.

    Args:
        data_type (mindspore.dtype): Type of the numbers.

    Raises:
        TypeError: If it is not a numeric type.
        RuntimeError: If a string is not a number, or out of range.
    """

    @checked
    def __init__(self, data_type: Annotated[mstype.Type, of_type(mstype.Type)]):
        if data_type not in mstype.number_type:
            raise TypeError(f"data_type: {data_type} is not numeric data type.")
        self.data_type = data_type
        self._type = numpy_type(data_type)

    def _transform_row(self, array):
        if array.dtype.kind not in "SU":
            raise RuntimeError(f"ToNumber: Input tensors should have type string, but it is {array.dtype}.")
        return np.array([self._parse_number(decode_utf8(v)) for v in array.ravel().tolist()], self._type).reshape(
            array.shape
        )

    _INTEGER = re.compile(r"\s*[+-]?\d+")
    _FLOAT = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE)

    def _parse_number(self, text):
        is_integer = self._type.kind in "iu"
        m = (self._INTEGER if is_integer else self._FLOAT).match(text)
        if m is None:
            raise RuntimeError(f"ToNumber: It is invalid to convert {text} to a number.")
        if is_integer:
            value, info = int(m[0]), np.iinfo(self._type)
            low, high = info.min, info.max
        else:
            value, info = float(m[0]), np.finfo(self._type)
            low, high = float(info.min), float(info.max)
            if self._type == np.float16 and not low <= value <= high:
                raise RuntimeError(f"ToNumber: Value {value} is outside of valid float16 range [{high}, {low}].")
        if not low <= value <= high and value == value or "-" in m[0] and self._type.kind == "u":
            low, high = (f"{low:f}", f"{high:f}") if not is_integer else (low, high)
            raise RuntimeError(
                f"ToNumber: String input {text} will be out of bounds if casted to {self._type.name}. The valid range "
                f"is: "
                f"[{low}, {high}]."
            )
        return value


class TruncateSequencePair(TensorOp):
    """Truncate two 1-D columns, the longer one first, until their total length is at most a limit.

    Args:
        max_length (int): The limit.
    """

    inputs = 2

    @checked
    def __init__(self, max_length: UInt32):
        self.max_length = max_length

    def _transform_row(self, first, second):
        if first.ndim != 1 or second.ndim != 1:
            raise RuntimeError(
                f"Both sequences should be of rank 1, but their shapes are {first.shape} and {second.shape}."
            )
        a, b = len(first), len(second)
        excess = a + b - self.max_length
        if excess > 0:
            gap = min(abs(a - b), excess)
            a, b = (a - gap, b) if a > b else (a, b - gap)
            excess -= gap
            b -= (excess + 1) // 2
            a -= excess // 2
        return first[: max(a, 0)], second[: max(b, 0)]


class Truncate(TensorOp):
    """Truncate a 1-D column, or each row of a 2-D one, at its end.

    Args:
        max_seq_len (int): Maximum length.
    """

    @checked
    def __init__(self, max_seq_len: Int):
        if max_seq_len < 0:
            raise ValueError(f"max_seq_len should be greater than or equal to 0, but got {max_seq_len}.")
        self.max_seq_len = max_seq_len

    def _transform_row(self, array):
        if array.ndim not in (1, 2):
            raise RuntimeError(f"Truncate: the input should be 1-D or 2-D, but has shape {array.shape}.")
        return array[..., : self.max_seq_len]


class AddToken(TensorOp):
    """Add a token to the beginning or end of a 1-D column, or of each row of a 2-D one.

    Args:
        token (str): The word.
        begin (bool, optional): True to add it at the beginning. Default: True.
    """

    @checked
    def __init__(self, token: Text, begin: Flag = True):
        self.token = token
        self.begin = begin

    def _transform_row(self, array):
        if array.ndim not in (1, 2):
            raise RuntimeError(f"AddToken: the input should be 1-D or 2-D, but has shape {array.shape}.")
        tokens = np.full((*array.shape[:-1], 1), self.token.encode("utf-8"))
        return np.concatenate([tokens, array] if self.begin else [array, tokens], -1)
