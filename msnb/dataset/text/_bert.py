"""Tokenizers of BERT: words and punctuation (Basic), word pieces (Wordpiece), both (Bert).

They are C++ operators in MindSpore.
"""

import functools
import re
import unicodedata
from typing import Any

import numpy as np

from msnb.common.kinds import check
from msnb.dataset.core.kinds import UInt32
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text._normalise import _FORM_NAMES, casefold
from msnb.dataset.text._regex import character_class, compile_icu, split_spans
from msnb.dataset.text._tokens import _Tokenizer, check_bool, check_str, decode_utf8
from msnb.dataset.text.choices import NormalizeForm
from msnb.dataset.text.vocab import Vocab

_SPECIAL_TOKENS = r"\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]"
_NEVER_FOLDED = re.compile(r"\[(?:CLS|SEP|UNK|PAD|MASK)\]")
_HAN_RANGES = (
    "\\U00004e00-\\U00009fff\\U00003400-\\U00004dbf\\U00020000-\\U0002a6df\\U0002a700-\\U0002b73f\\U0002b740-\\U0002b81f"
    "\\U0002b820-\\U0002ceaf\\U0000f900-\\U0000faff\\U0002f800-\\U0002fa1f"
)
_ASCII_PUNCTUATION = r"!-/:-@\[-`{-~"
_MAX_CACHED_WORDS = 200_000  # words whose pieces are cached


@functools.cache
def _compile_delimiter_patterns(preserve, keep_whitespace, ascii_only):
    """Return two compiled patterns: of all delimiters, and of the delimiters that are tokens themselves."""
    punctuation = (
        f"[{_ASCII_PUNCTUATION}]" if ascii_only else f"[{_ASCII_PUNCTUATION}{_HAN_RANGES}{character_class('P')}]"
    )
    space = r"\s+"
    keep = f"{space}|{punctuation}" if keep_whitespace else punctuation
    delimiter = f"{space}|{punctuation}"
    if preserve:
        keep, delimiter = f"{_SPECIAL_TOKENS}|{keep}", f"{_SPECIAL_TOKENS}|{delimiter}"
    return re.compile(delimiter), re.compile(keep)


@functools.cache
def _compile_ascii_token_pattern(preserve, keep_whitespace):
    """Return a compiled pattern that matches one token of ASCII text."""
    patterns = [_SPECIAL_TOKENS] if preserve else []
    patterns += [r"\s+"] if keep_whitespace else []
    return re.compile("|".join([*patterns, f"[{_ASCII_PUNCTUATION}]", rf"[^\s{_ASCII_PUNCTUATION}]+"]))


_ASCII_CONTROL = re.compile("[\x00-\x1f\x7f]")


class BasicTokenizer(_Tokenizer):
    """Split cleaned text into words, punctuation marks and Chinese characters.

    Args:
        lower_case (bool, optional): True to fold case and strip accents. Default: False.
        keep_whitespace (bool, optional): True to output white space as tokens. Default: False.
        normalization_form (NormalizeForm, optional): Normal form, used if case is not folded. Default:
            NormalizeForm.NONE.
        preserve_unused_token (bool, optional): True to keep [CLS], [SEP], [UNK], [PAD], [MASK] and [unused1] as tokens.
            Default: True.
        with_offsets (bool, optional): True to output offsets as two further columns. Default: False.

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

    def _clean_text(self, text):
        """Fold or normalise `text`, and replace control characters by spaces."""
        if self.lower_case:
            if self.preserve_unused_token and "[" in text:
                position, pieces = 0, []
                for m in _NEVER_FOLDED.finditer(text):
                    pieces += [casefold(text[position : m.start()]), m[0]]
                    position = m.end()
                text = "".join([*pieces, casefold(text[position:])])
            else:
                text = casefold(text)
            if not text.isascii():
                text = compile_icu(r"\p{Mn}").sub("", unicodedata.normalize("NFD", text))
        elif self.normalization_form in _FORM_NAMES and not text.isascii():
            text = unicodedata.normalize(_FORM_NAMES[self.normalization_form], text)
        if text.isascii():
            return _ASCII_CONTROL.sub(" ", text)
        return compile_icu(r"\p{Cc}|\p{Cf}").sub(" ", text)

    def words(self, data: Any) -> Any:
        """Split UTF-8 bytes into tokens. Return them as a list of str."""
        text = self._clean_text(decode_utf8(data))
        if text.isascii():
            return _compile_ascii_token_pattern(self.preserve_unused_token, self.keep_whitespace).findall(text)
        return [
            t.decode("utf-8")
            for t in split_spans(
                text, *_compile_delimiter_patterns(self.preserve_unused_token, self.keep_whitespace, False)
            )[0]
        ]

    def _split_tokens(self, data):
        return [w.encode("utf-8") for w in self.words(data)]

    def _split_with_offsets(self, data):
        text = self._clean_text(decode_utf8(data))
        return split_spans(
            text, *_compile_delimiter_patterns(self.preserve_unused_token, self.keep_whitespace, text.isascii())
        )


class _Pieces:
    """Splits words into pieces and caches the result.

    Each piece is the longest prefix of the remaining word that the vocabulary contains. Every piece but the first
    starts with the suffix indicator.
    """

    def __init__(self, vocab, suffix_indicator, max_bytes_per_token, unknown_token):
        self.vocab = vocab._ids
        self.suffix = suffix_indicator
        self.limit = max_bytes_per_token
        self.unknown = unknown_token
        self.known = {}  # the cache; old pickles have this name

    def split_word(self, word):
        """Split a word into pieces. Return a list of (piece, start, end), with positions in bytes."""
        pieces = self.known.get(word)
        if pieces is None:
            pieces = self._split_into_wordpieces(word)
            if len(self.known) >= _MAX_CACHED_WORDS:
                self.known.clear()
            self.known[word] = pieces
        return pieces

    def _split_into_wordpieces(self, word):
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


def _check_wordpiece_arguments(vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets):
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
    """Split words into pieces of a vocabulary, the longest first.

    Args:
        vocab (Vocab): The pieces.
        suffix_indicator (str, optional): Prefix of pieces that do not begin a word. Default: '##'.
        max_bytes_per_token (int, optional): Maximum length of a word; longer words are unknown. Default: 100.
        unknown_token (str, optional): Token for unknown words; '' keeps them. Default: '[UNK]'.
        with_offsets (bool, optional): True to output offsets as two further columns. Default: False.

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
        _check_wordpiece_arguments(vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets)
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
        for index, word in enumerate(np.atleast_1d(words).tolist()):
            base = int(starts[index]) if starts is not None else 0
            for piece, first, last in self._pieces.split_word(decode_utf8(word)):
                tokens.append(piece)
                firsts.append(base + first)
                lasts.append(base + last)
        if not tokens:
            tokens, firsts, lasts = [b""], [0], [0]
        if not self.with_offsets:
            return np.array(tokens)
        return np.array(tokens), np.array(firsts, np.uint32), np.array(lasts, np.uint32)


class BertTokenizer(_Tokenizer):
    """Apply :class:`BasicTokenizer`, then :class:`WordpieceTokenizer`.

    Args:
        vocab (Vocab): The pieces.
        suffix_indicator (str, optional): Prefix of pieces that do not begin a word. Default: '##'.
        max_bytes_per_token (int, optional): Maximum length of a word; longer words are unknown. Default: 100.
        unknown_token (str, optional): Token for unknown words; '' keeps them. Default: '[UNK]'.
        lower_case (bool, optional): True to fold case and strip accents. Default: False.
        keep_whitespace (bool, optional): True to output white space as tokens. Default: False.
        normalization_form (NormalizeForm, optional): Normal form, used if case is not folded. Default:
            NormalizeForm.NONE.
        preserve_unused_token (bool, optional): True to keep [CLS], [SEP], [UNK], [PAD], [MASK] and [unused1] as tokens.
            Default: True.
        with_offsets (bool, optional): True to output offsets as two further columns. Default: False.

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
        _check_wordpiece_arguments(vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets)
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

    def _split_tokens(self, data):
        split_word = self._pieces.split_word
        return [piece[0] for word in self._basic.words(data) for piece in split_word(word)]

    def _split_with_offsets(self, data):
        tokens, starts, ends = [], [], []
        words, firsts, _ = self._basic._split_with_offsets(data)
        for word, base in zip(words, firsts, strict=True):
            for piece, first, last in self._pieces.split_word(word.decode("utf-8")):
                tokens.append(piece)
                starts.append(base + first)
                ends.append(base + last)
        return tokens, starts, ends


__all__ = ["BasicTokenizer", "BertTokenizer", "WordpieceTokenizer"]
