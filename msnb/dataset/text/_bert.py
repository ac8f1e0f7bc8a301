"""BERT's tokenizers: words and punctuation (Basic), pieces of words (Wordpiece), both (Bert). C++ operators in
MindSpore.
"""

import functools
import re
import unicodedata
from typing import Any

import numpy as np

from msnb.common.kinds import check
from msnb.dataset.core.kinds import UInt32
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text._normalise import _FORMS, casefold
from msnb.dataset.text._regex import characters_of, compiled, split_by
from msnb.dataset.text._tokens import _Tokenizer, check_bool, check_str, decoded, strings
from msnb.dataset.text.choices import NormalizeForm
from msnb.dataset.text.vocab import Vocab

_SPECIAL = r"\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]"
_FOLD_NOT = re.compile(r"\[(?:CLS|SEP|UNK|PAD|MASK)\]")
_HAN = (
    "\\U00004e00-\\U00009fff\\U00003400-\\U00004dbf\\U00020000-\\U0002a6df\\U0002a700-\\U0002b73f\\U0002b740-\\U0002b81f"
    "\\U0002b820-\\U0002ceaf\\U0000f900-\\U0000faff\\U0002f800-\\U0002fa1f"
)
_ASCII_MARKS = r"!-/:-@\[-`{-~"
_CACHE = 200_000  # words whose pieces are remembered


@functools.cache
def _delimiters(preserve, keep_whitespace, ascii_only):
    """(delimiter, what is kept of it) as compiled expressions."""
    marks = f"[{_ASCII_MARKS}]" if ascii_only else f"[{_ASCII_MARKS}{_HAN}{characters_of('P')}]"
    space = r"\s+"
    keep = f"{space}|{marks}" if keep_whitespace else marks
    delimiter = f"{space}|{marks}"
    if preserve:
        keep, delimiter = f"{_SPECIAL}|{keep}", f"{_SPECIAL}|{delimiter}"
    return re.compile(delimiter), re.compile(keep)


@functools.cache
def _finder(preserve, keep_whitespace):
    """What the tokens of ASCII text look like."""
    parts = [_SPECIAL] if preserve else []
    parts += [r"\s+"] if keep_whitespace else []
    return re.compile("|".join([*parts, f"[{_ASCII_MARKS}]", rf"[^\s{_ASCII_MARKS}]+"]))


_CONTROL_ASCII = re.compile("[\x00-\x1f\x7f]")


class BasicTokenizer(_Tokenizer):
    """Words, punctuation marks and Chinese characters, after cleaning.

    Args:
        lower_case (bool, optional): Whether to fold case and strip accents. Default: False.
        keep_whitespace (bool, optional): Whether white space is kept as tokens. Default: False.
        normalization_form (NormalizeForm, optional): Normal form, where case is not folded. Default:
            NormalizeForm.NONE.
        preserve_unused_token (bool, optional): Whether [CLS], [SEP], [UNK], [PAD], [MASK] and [unused1] stay whole.
            Default: True.
        with_offsets (bool, optional): Whether offsets come as two further columns. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
    """

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        check_bool(lower_case, "lower_case")
        check_bool(keep_whitespace, "keep_whitespace")
        if not isinstance(normalization_form, NormalizeForm):
            raise TypeError("Wrong input type for normalization_form, should be enum of 'NormalizeForm'.")
        check_bool(preserve_unused_token, "preserve_unused_token")
        check_bool(with_offsets, "with_offsets")
        self.lower_case: bool = lower_case
        self.keep_whitespace: bool = keep_whitespace
        self.normalization_form: NormalizeForm = normalization_form
        self.preserve_unused_token: bool = preserve_unused_token
        self.with_offsets: bool = with_offsets

    def _clean(self, text):
        """`text` folded or normalised, with blanks for control characters."""
        if self.lower_case:
            if self.preserve_unused_token and "[" in text:
                at, parts = 0, []
                for m in _FOLD_NOT.finditer(text):
                    parts += [casefold(text[at : m.start()]), m[0]]
                    at = m.end()
                text = "".join([*parts, casefold(text[at:])])
            else:
                text = casefold(text)
            if not text.isascii():
                text = compiled(r"\p{Mn}").sub("", unicodedata.normalize("NFD", text))
        elif self.normalization_form in _FORMS and not text.isascii():
            text = unicodedata.normalize(_FORMS[self.normalization_form], text)
        if text.isascii():
            return _CONTROL_ASCII.sub(" ", text)
        return compiled(r"\p{Cc}|\p{Cf}").sub(" ", text)

    def words(self, data: Any) -> Any:
        """The tokens of bytes, as str."""
        text = self._clean(decoded(data))
        if text.isascii():
            return _finder(self.preserve_unused_token, self.keep_whitespace).findall(text)
        return [
            t.decode("utf-8")
            for t in split_by(text, *_delimiters(self.preserve_unused_token, self.keep_whitespace, False))[0]
        ]

    def _tokens(self, data):
        return [w.encode("utf-8") for w in self.words(data)]

    def _spans(self, data):
        text = self._clean(decoded(data))
        return split_by(text, *_delimiters(self.preserve_unused_token, self.keep_whitespace, text.isascii()))


class _Pieces:
    """The pieces of words, remembered.

    A word's pieces are the longest beginnings that the vocabulary has, each after the first marked by the suffix
    indicator.
    """

    def __init__(self, vocab, suffix_indicator, max_bytes_per_token, unknown_token):
        self.vocab = vocab._ids
        self.suffix = suffix_indicator
        self.limit = max_bytes_per_token
        self.unknown = unknown_token
        self.known = {}

    def of(self, word):
        """([(piece, first byte, byte after it), ...]) of a str."""
        found = self.known.get(word)
        if found is None:
            found = self._find(word)
            if len(self.known) >= _CACHE:
                self.known.clear()
            self.known[word] = found
        return found

    def _find(self, word):
        raw = word.encode("utf-8")
        if len(raw) > self.limit:
            text = self.unknown or word
            return [(text.encode("utf-8"), 0, len(text.encode("utf-8")))]
        pieces, start, byte = [], 0, 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else self.suffix + word[start:end]
                if piece in self.vocab:
                    size = len(word[start:end].encode("utf-8"))
                    pieces.append((piece.encode("utf-8"), byte, byte + size))
                    byte += size
                    start = end
                    break
            else:
                return [((self.unknown or word).encode("utf-8"), 0, len(raw))]
        return pieces


def _check_wordpiece(vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets):
    if vocab is None:
        raise ValueError("vocab is not provided.")
    if not isinstance(vocab, Vocab):
        raise TypeError(f"Wrong input type for vocab, should be Vocab object: got {type(vocab).__name__}.")
    check_str(suffix_indicator, "suffix_indicator")
    if not isinstance(max_bytes_per_token, int):
        raise TypeError(f"Wrong input type for max_bytes_per_token, should be int: got {max_bytes_per_token!r}.")
    check(UInt32, max_bytes_per_token, "max_bytes_per_token", "WordpieceTokenizer")
    check_str(unknown_token, "unknown_token")
    check_bool(with_offsets, "with_offsets")


class WordpieceTokenizer(TensorOp):
    """Pieces of words that a vocabulary has, as long as possible from the left.

    Args:
        vocab (Vocab): The pieces.
        suffix_indicator (str, optional): Mark of pieces that do not begin a word. Default: '##'.
        max_bytes_per_token (int, optional): Longer words are unknown. Default: 100.
        unknown_token (str, optional): What stands for unknown words; '' leaves them as they are. Default: '[UNK]'.
        with_offsets (bool, optional): Whether offsets come as two further columns. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `vocab` is None.
    """

    inputs = None

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ) -> None:
        _check_wordpiece(vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets)
        self.vocab = vocab
        self.suffix_indicator: str = suffix_indicator
        self.max_bytes_per_token: int = max_bytes_per_token
        self.unknown_token: str = unknown_token
        self.with_offsets: bool = with_offsets
        self._pieces = _Pieces(vocab, suffix_indicator, max_bytes_per_token, unknown_token)

    def _transform_row(self, words, starts=None, ends=None):
        if words.ndim > 1 or words.dtype.kind not in "SU":
            raise RuntimeError(
                f"The input tensor should be scalar or 1-D string tensor, but has shape {words.shape} and type "
                f"{words.dtype}."
            )
        tokens, firsts, lasts = [], [], []
        for number, word in enumerate(np.atleast_1d(words).tolist()):
            base = int(starts[number]) if starts is not None else 0
            for piece, first, last in self._pieces.of(decoded(word)):
                tokens.append(piece)
                firsts.append(base + first)
                lasts.append(base + last)
        if not tokens:
            tokens, firsts, lasts = [b""], [0], [0]
        if not self.with_offsets:
            return np.array(tokens)
        return np.array(tokens), np.array(firsts, np.uint32), np.array(lasts, np.uint32)


class BertTokenizer(_Tokenizer):
    """:class:`BasicTokenizer` and :class:`WordpieceTokenizer` in one.

    Args:
        vocab (Vocab): The pieces.
        suffix_indicator (str, optional): Mark of pieces that do not begin a word. Default: '##'.
        max_bytes_per_token (int, optional): Longer words are unknown. Default: 100.
        unknown_token (str, optional): What stands for unknown words; '' leaves them as they are. Default: '[UNK]'.
        lower_case (bool, optional): Whether to fold case and strip accents. Default: False.
        keep_whitespace (bool, optional): Whether white space is kept as tokens. Default: False.
        normalization_form (NormalizeForm, optional): Normal form, where case is not folded. Default:
            NormalizeForm.NONE.
        preserve_unused_token (bool, optional): Whether [CLS], [SEP], [UNK], [PAD], [MASK] and [unused1] stay whole.
            Default: True.
        with_offsets (bool, optional): Whether offsets come as two further columns. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `vocab` is None.
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        _check_wordpiece(vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets)
        self._basic = BasicTokenizer(
            lower_case, keep_whitespace, normalization_form, preserve_unused_token, with_offsets
        )
        self._pieces = _Pieces(vocab, suffix_indicator, max_bytes_per_token, unknown_token)
        self.vocab = vocab
        self.suffix_indicator: str = suffix_indicator
        self.max_bytes_per_token: int = max_bytes_per_token
        self.unknown_token: str = unknown_token
        self.lower_case: bool = lower_case
        self.keep_whitespace: bool = keep_whitespace
        self.normalization_form: NormalizeForm = normalization_form
        self.preserve_unused_token: bool = preserve_unused_token
        self.with_offsets: bool = with_offsets

    def _tokens(self, data):
        of = self._pieces.of
        return [piece[0] for word in self._basic.words(data) for piece in of(word)]

    def _spans(self, data):
        tokens, starts, ends = [], [], []
        words, firsts, _ = self._basic._spans(data)
        for word, base in zip(words, firsts, strict=True):
            for piece, first, last in self._pieces.of(word.decode("utf-8")):
                tokens.append(piece)
                starts.append(base + first)
                ends.append(base + last)
        return tokens, starts, ends


__all__ = ["BasicTokenizer", "BertTokenizer", "WordpieceTokenizer", "strings"]
