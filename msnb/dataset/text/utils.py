"""Vocabularies, conversions between str and bytes, and the choices that text transforms take:
``mindspore.dataset.text.utils``.
"""

from enum import IntEnum

import numpy as np

from msnb.dataset.text.vocab import Vocab

__all__ = [
    "Vocab",
    "SentencePieceVocab",  # noqa: F822 (made on request)
    "to_str",
    "to_bytes",
    "JiebaMode",
    "NormalizeForm",
    "SentencePieceModel",
    "SPieceTokenizerOutType",
    "SPieceTokenizerLoadType",
]


class JiebaMode(IntEnum):
    """How Chinese is segmented: by the dictionary (MP), by the hidden Markov model (HMM), or by both (MIX)."""

    MIX = 0
    MP = 1
    HMM = 2


class NormalizeForm(IntEnum):
    """Unicode normal forms."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class SentencePieceModel(IntEnum):
    """Kinds of SentencePiece models."""

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerOutType(IntEnum):
    """What a SentencePiece tokenizer gives."""

    STRING = 0
    INT = 1


class SPieceTokenizerLoadType(IntEnum):
    """Where a SentencePiece tokenizer has its model from."""

    FILE = 0
    MODEL = 1


def to_str(array, encoding="utf8"):
    """Decode an array of bytes.

    Args:
        array (numpy.ndarray): Bytes; an array of str is returned as it is.
        encoding (str, optional): The encoding. Default: 'utf8'.

    Returns:
        numpy.ndarray of str.

    Raises:
        ValueError: If `array` is no numpy array.
    """
    return _converted(array, "U", np.char.decode, encoding)


def to_bytes(array, encoding="utf8"):
    """Encode an array of str.

    Args:
        array (numpy.ndarray): Strings; an array of bytes is returned as it is.
        encoding (str, optional): The encoding. Default: 'utf8'.

    Returns:
        numpy.ndarray of bytes.

    Raises:
        ValueError: If `array` is no numpy array.
    """
    return _converted(array, "S", np.char.encode, encoding)


def _converted(array, kind, convert, encoding):
    """`array` as it is when its dtype is of this kind, converted otherwise."""
    if isinstance(array, np.ndarray):
        return array if array.dtype.kind == kind else convert(array, encoding)
    raise ValueError(f"input should be a NumPy array, but got {type(array).__name__}.")


def __getattr__(name):
    if name == "SentencePieceVocab":
        from msnb.dataset.text.sentencepiece import SentencePieceVocab

        return SentencePieceVocab
    raise AttributeError(f"module 'mindspore.dataset.text.utils' has no attribute {name!r}")
