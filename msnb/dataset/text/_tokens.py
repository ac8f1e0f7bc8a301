"""Tokenizers and other transforms of strings. A string column holds bytes (UTF-8); C++ operators in MindSpore."""

import functools
import re
import sys
import unicodedata

import numpy as np

from msnb.common import dtype as mstype
from msnb.dataset.core.datatypes import numpy_type
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.core.validator_helpers import check_pos_int32, check_positive, check_uint32, type_check
from msnb.dataset.text.utils import NormalizeForm, to_str
from msnb.dataset.text.vocab import Vocab

_FORMS = {NormalizeForm.NFC: "NFC", NormalizeForm.NFKC: "NFKC", NormalizeForm.NFD: "NFD", NormalizeForm.NFKD: "NFKD"}


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

    def _row(self, array):
        data = scalar_bytes(array, type(self).__name__)
        if not self.with_offsets:
            return strings(self._tokens(data))
        tokens, starts, ends = self._spans(data)
        if not tokens:
            tokens, starts, ends = [b""], [0], [0]
        return np.array(tokens), np.array(starts, np.uint32), np.array(ends, np.uint32)

    def _stack(self, column):
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

    def __init__(self, with_offsets=False):
        check_bool(with_offsets, "with_offsets")
        self.with_offsets = with_offsets

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

    def __init__(self, with_offsets=False):
        check_bool(with_offsets, "with_offsets")
        self.with_offsets = with_offsets

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

    def __init__(self, keep_whitespace=False, with_offsets=False):
        check_bool(keep_whitespace, "keep_whitespace")
        check_bool(with_offsets, "with_offsets")
        self.keep_whitespace = keep_whitespace
        self.with_offsets = with_offsets

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


class CaseFold(TensorOp):
    """Lower case, and NFKC normal form with it (Unicode's NFKC_Casefold)."""

    def _row(self, array):
        return each(array, casefold)


def casefold(text):
    """Unicode's NFKC_Casefold of a str."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _IGNORABLE.sub("", folded)


_IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8]"
)


class NormalizeUTF8(TensorOp):
    """A Unicode normal form.

    Args:
        normalize_form (NormalizeForm, optional): Which. Default: NormalizeForm.NFKC.

    Raises:
        TypeError: If it is no NormalizeForm.
    """

    def __init__(self, normalize_form=NormalizeForm.NFKC):
        if not isinstance(normalize_form, NormalizeForm):
            raise TypeError("Wrong input type for normalization_form, should be enum of 'NormalizeForm'.")
        self.normalize_form = normalize_form

    def _row(self, array):
        form = _FORMS.get(self.normalize_form)
        return array if form is None else each(array, lambda text: unicodedata.normalize(form, text))


# Scripts are told by the first word of a character's name; these have names of another kind.
_SCRIPTS = {"Han": "CJK", "Hani": "CJK"}


def _of_script(character, script):
    name = unicodedata.name(character, "")
    if script == "CJK":
        return name.startswith(
            (
                "CJK UNIFIED IDEOGRAPH",
                "CJK COMPATIBILITY IDEOGRAPH",
                "CJK RADICAL",
                "KANGXI RADICAL",
                "IDEOGRAPHIC ITERATION MARK",
                "IDEOGRAPHIC NUMBER ZERO",
                "HANGZHOU NUMERAL",
            )
        )
    return name.startswith(script + " ") and unicodedata.category(character)[0] in "LM"


@functools.cache
def _runs():
    """(first, last, category) of all runs of characters of one category."""
    category = unicodedata.category
    runs, start, before = [], 0, category("\0")
    for point in range(1, sys.maxunicode + 1):
        here = category(chr(point))
        if here != before:
            runs.append((start, point - 1, before))
            start, before = point, here
    runs.append((start, sys.maxunicode, before))
    return runs


@functools.cache
def characters_of(category):
    """The inside of a character class of a Unicode category ("P", "Mn") or script ("Han", "Greek")."""
    if len(category) <= 2:
        spans = [(first, last) for first, last, kind in _runs() if kind.startswith(category)]
    else:
        script, spans = _SCRIPTS.get(category, category.upper()), []
        for first, last, kind in _runs():
            if kind[0] in "LMNS":
                for point in range(first, last + 1):
                    if _of_script(chr(point), script):
                        if spans and spans[-1][1] == point - 1:
                            spans[-1] = (spans[-1][0], point)
                        else:
                            spans.append((point, point))
    return "".join(f"\\U{a:08x}" if a == b else f"\\U{a:08x}-\\U{b:08x}" for a, b in spans)


_PROPERTY = re.compile(r"\\([pP])(?:\{(\w+)\}|(\w))")


@functools.cache
def compiled(pattern):
    """A pattern of ICU's for Python: \\p{..} becomes a character class, \\x{..} an escape."""
    text = re.sub(r"\\x\{([0-9A-Fa-f]+)\}", lambda m: f"\\U{int(m[1], 16):08x}", pattern)
    out, at = [], 0
    for m in _PROPERTY.finditer(text):
        before = text[at : m.start()]
        out.append(before)
        inside = _in_class("".join(out))
        body = characters_of(m[2] or m[3])
        if not body:
            raise ValueError(f"Unknown property \\p{{{m[2] or m[3]}}} in the pattern {pattern!r}.")
        if m[1] == "P":
            if inside:
                raise ValueError(f"\\P inside a character class is not supported: {pattern!r}.")
            out.append(f"[^{body}]")
        else:
            out.append(body if inside else f"[{body}]")
        at = m.end()
    out.append(text[at:])
    try:
        return re.compile("".join(out))
    except re.error as error:
        raise ValueError(
            f"Create icu RegexMatcher failed, you may input one error pattern: {pattern!r}: {error}."
        ) from None


def _in_class(text):
    depth = escaped = 0
    for char in text:
        if escaped:
            escaped = 0
        elif char == "\\":
            escaped = 1
        elif char == "[" and not depth:
            depth = 1
        elif char == "]" and depth:
            depth = 0
    return bool(depth)


class RegexReplace(TensorOp):
    """What a regular expression matches, replaced.

    Args:
        pattern (str): The expression.
        replace (str): What takes the place; $1 stands for the first group.
        replace_all (bool, optional): Whether every match is replaced. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
    """

    def __init__(self, pattern, replace, replace_all=True):
        type_check(pattern, (str,), "pattern")
        type_check(replace, (str,), "replace")
        type_check(replace_all, (bool,), "replace_all")
        self.pattern = pattern
        self.replace = replace
        self.replace_all = replace_all

    def _row(self, array):
        try:
            matcher = compiled(self.pattern)
        except ValueError as error:
            raise RuntimeError(f"RegexReplace: {error}") from None
        by = re.sub(r"\$(\d)", r"\\g<\1>", self.replace.replace("\\", "\\\\"))
        return each(array, lambda text: matcher.sub(by, text, count=0 if self.replace_all else 1))


class RegexTokenizer(_Tokenizer):
    """The parts between matches of a regular expression.

    Args:
        delim_pattern (str): The expression for delimiters.
        keep_delim_pattern (str, optional): Delimiters that match it as a whole are tokens too. Default: '', none.
        with_offsets (bool, optional): Whether offsets come as two further columns. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `delim_pattern` is None.
    """

    def __init__(self, delim_pattern, keep_delim_pattern="", with_offsets=False):
        if delim_pattern is None:
            raise ValueError("delim_pattern is not provided.")
        check_str(delim_pattern, "delim_pattern")
        check_str(keep_delim_pattern, "keep_delim_pattern")
        check_bool(with_offsets, "with_offsets")
        self.delim_pattern = delim_pattern
        self.keep_delim_pattern = keep_delim_pattern
        self.with_offsets = with_offsets

    def _spans(self, data):
        try:
            delimiter = compiled(self.delim_pattern)
            keep = compiled(self.keep_delim_pattern) if self.keep_delim_pattern else None
        except ValueError as error:
            raise RuntimeError(f"RegexTokenizer: {error}") from None
        return split_by(decoded(data), delimiter, keep)


def split_by(text, delimiter, keep):
    """(tokens, starts, ends) of a str: the parts between delimiters, and the delimiters that `keep` matches as a
    whole.
    """
    tokens, starts, ends = [], [], []
    at = byte = 0

    def take(piece, wanted):
        nonlocal byte
        raw = piece.encode("utf-8")
        if wanted:
            tokens.append(raw)
            starts.append(byte)
            ends.append(byte + len(raw))
        byte += len(raw)

    for m in delimiter.finditer(text):
        if m.start() > at:
            take(text[at : m.start()], True)
        if m.end() > m.start():
            take(m[0], keep is not None and keep.fullmatch(m[0]) is not None)
        at = m.end()
    if at < len(text):
        take(text[at:], True)
    return tokens, starts, ends


class Lookup(TensorOp):
    """The numbers of words.

    Args:
        vocab (Vocab): Words and numbers.
        unknown_token (str, optional): The word whose number stands for unknown ones. Default: None, an unknown word is
            an error.
        data_type (mindspore.dtype, optional): Type of the numbers. Default: mindspore.int32.

    Raises:
        TypeError: If an argument has the wrong type.
        RuntimeError: If a word is unknown.
    """

    def __init__(self, vocab, unknown_token=None, data_type=mstype.int32):
        if unknown_token is not None:
            type_check(unknown_token, (str,), "unknown_token")
        type_check(vocab, (Vocab,), "vocab")
        type_check(data_type, (mstype.Type,), "data_type")
        self.vocab = vocab
        self.unknown_token = unknown_token
        self.data_type = data_type
        self._type = numpy_type(data_type)
        self._default = None
        if unknown_token is not None:
            self._default = vocab._bytes.get(unknown_token.encode("utf-8"))

    def _row(self, array):
        if array.dtype.kind not in "SU":
            raise RuntimeError(f"Lookup: None string tensor received: the column holds {array.dtype}.")
        if self._type.kind == "S":
            raise RuntimeError("Lookup doesn't support string to string lookup. data_type needs to be numeric.")
        if self.unknown_token is not None and self._default is None:
            raise RuntimeError(f'Lookup: unknown_token: "{self.unknown_token}", doesn\'t exist in vocab.')
        ids, default = self.vocab._bytes, self._default
        found = [ids.get(w, default) for w in array.ravel().tolist()]
        if default is None and None in found:
            word = array.ravel().tolist()[found.index(None)].decode("utf-8", "replace")
            raise RuntimeError(
                f'Lookup: Invalid data, token: "{word}" doesn\'t exist in vocab and no unknown token is specified.'
            )
        return np.array(found, self._type).reshape(array.shape)


class Ngram(TensorOp):
    """Runs of n words, joined.

    Args:
        n (Union[int, list[int]]): One or several lengths.
        left_pad (tuple, optional): (word, how often) put in front. Default: ("", 0).
        right_pad (tuple, optional): (word, how often) put behind. Default: ("", 0).
        separator (str, optional): What joins the words. Default: " ".

    Raises:
        TypeError: If a length is no int.
        ValueError: If an argument is out of range.
    """

    def __init__(self, n, left_pad=("", 0), right_pad=("", 0), separator=" "):
        grams = [n] if isinstance(n, int) else n
        if not isinstance(grams, list) or not grams:
            raise ValueError("n needs to be a non-empty list of positive integers.")
        for i, gram in enumerate(grams):
            type_check(gram, (int,), f"gram[{i}]")
            check_positive(gram, f"gram_{i}")
        for name, pad in (("left_pad", left_pad), ("right_pad", right_pad)):
            if not (isinstance(pad, tuple) and len(pad) == 2 and isinstance(pad[0], str) and isinstance(pad[1], int)):
                raise ValueError(f"{name} needs to be a tuple of (str, int) str is pad token and int is pad_width.")
        if left_pad[1] < 0 or right_pad[1] < 0:
            raise ValueError("padding width need to be positive numbers.")
        type_check(separator, (str,), "separator")
        self.n = grams
        self.left_pad = left_pad
        self.right_pad = right_pad
        self.separator = separator

    def _row(self, array):
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


class SlidingWindow(TensorOp):
    """All windows of a 1-D column, as rows.

    Args:
        width (int): Elements of a window.
        axis (int, optional): 0 or -1. Default: 0.

    Raises:
        TypeError: If an argument is no int.
        ValueError: If `width` is not positive.
    """

    def __init__(self, width, axis=0):
        check_pos_int32(width, "width")
        type_check(axis, (int,), "axis")
        self.width = width
        self.axis = axis

    def _row(self, array):
        if array.ndim != 1:
            raise RuntimeError(f"SlidingWindosOp supports 1D Tensors only for now. It got shape {array.shape}.")
        if self.axis not in (0, -1):
            raise RuntimeError(f"axis supports 0 or -1 only for now. It is {self.axis}.")
        if len(array) < self.width:
            return array[:0]
        return np.lib.stride_tricks.sliding_window_view(array, self.width).copy()


class ToNumber(TensorOp):
    """Strings as numbers.

    Args:
        data_type (mindspore.dtype): Type of the numbers.

    Raises:
        TypeError: If it is no numeric type.
        RuntimeError: If a string is no number, or out of range.
    """

    def __init__(self, data_type):
        type_check(data_type, (mstype.Type,), "data_type")
        if data_type not in mstype.number_type:
            raise TypeError(f"data_type: {data_type} is not numeric data type.")
        self.data_type = data_type
        self._type = numpy_type(data_type)

    def _row(self, array):
        if array.dtype.kind not in "SU":
            raise RuntimeError(f"ToNumber: Input tensors should have type string, but it is {array.dtype}.")
        return np.array([self._number(decoded(v)) for v in array.ravel().tolist()], self._type).reshape(array.shape)

    _INTEGER = re.compile(r"\s*[+-]?\d+")
    _FLOAT = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE)

    def _number(self, text):
        integer = self._type.kind in "iu"
        m = (self._INTEGER if integer else self._FLOAT).match(text)
        if m is None:
            raise RuntimeError(f"ToNumber: It is invalid to convert {text} to a number.")
        if integer:
            value, info = int(m[0]), np.iinfo(self._type)
            low, high = info.min, info.max
        else:
            value, info = float(m[0]), np.finfo(self._type)
            low, high = float(info.min), float(info.max)
            if self._type == np.float16 and not low <= value <= high:
                raise RuntimeError(f"ToNumber: Value {value} is outside of valid float16 range [{high}, {low}].")
        if not low <= value <= high and value == value or "-" in m[0] and self._type.kind == "u":
            low, high = (f"{low:f}", f"{high:f}") if not integer else (low, high)
            raise RuntimeError(
                f"ToNumber: String input {text} will be out of bounds if casted to {self._type.name}. The valid range "
                f"is: "
                f"[{low}, {high}]."
            )
        return value


class TruncateSequencePair(TensorOp):
    """Two 1-D columns cut at their ends, the longer one first, until both together are no longer than a limit.

    Args:
        max_length (int): The limit.
    """

    inputs = 2

    def __init__(self, max_length):
        check_uint32(max_length, "max_length")
        self.max_length = max_length

    def _row(self, first, second):
        if first.ndim != 1 or second.ndim != 1:
            raise RuntimeError(
                f"Both sequences should be of rank 1, but their shapes are {first.shape} and {second.shape}."
            )
        a, b = len(first), len(second)
        over = a + b - self.max_length
        if over > 0:
            gap = min(abs(a - b), over)
            a, b = (a - gap, b) if a > b else (a, b - gap)
            over -= gap
            b -= (over + 1) // 2
            a -= over // 2
        return first[: max(a, 0)], second[: max(b, 0)]


class Truncate(TensorOp):
    """A 1-D column cut at its end.

    Args:
        max_seq_len (int): Greatest length.
    """

    def __init__(self, max_seq_len):
        type_check(max_seq_len, (int,), "max_seq_len")
        if max_seq_len < 0:
            raise ValueError(f"max_seq_len should be greater than or equal to 0, but got {max_seq_len}.")
        self.max_seq_len = max_seq_len

    def _row(self, array):
        if array.ndim != 1:
            raise RuntimeError(f"Truncate: the input should be 1-D, but has shape {array.shape}.")
        return array[: self.max_seq_len]


class AddToken(TensorOp):
    """A word put at the beginning or end of a 1-D column.

    Args:
        token (str): The word.
        begin (bool, optional): Whether it comes first. Default: True.
    """

    def __init__(self, token, begin=True):
        type_check(token, (str,), "token")
        type_check(begin, (bool,), "begin")
        self.token = token
        self.begin = begin

    def _row(self, array):
        if array.ndim != 1:
            raise RuntimeError(f"AddToken: the input should be 1-D, but has shape {array.shape}.")
        words, token = array.tolist(), self.token.encode("utf-8")
        return np.array([token, *words] if self.begin else [*words, token])


class PythonTokenizer:
    """A tokenizer of the user's.

    Args:
        tokenizer (Callable): Takes a str, returns a list of str.

    Raises:
        TypeError: If it cannot be called.
    """

    def __init__(self, tokenizer):
        if not callable(tokenizer):
            raise TypeError("tokenizer is not a callable Python function.")
        self.tokenizer = np.vectorize(lambda x: np.array(tokenizer(x), dtype="U"), signature="()->(n)")

    def __call__(self, in_array):
        """Tokens of a scalar string."""
        if not isinstance(in_array, np.ndarray):
            raise TypeError(f"input should be a NumPy array. Got {type(in_array)}.")
        try:
            return self.tokenizer(to_str(in_array))
        except Exception as error:
            raise RuntimeError(
                f"Error occurred in Pyfunc [{getattr(self.tokenizer, '__name__', 'tokenizer')}], error message: {error}"
            ) from error
