"""Enumerations for arguments of text transforms."""

from enum import IntEnum


class JiebaMode(IntEnum):
    """Methods of segmenting Chinese text: dictionary (MP), hidden Markov model (HMM), or both (MIX)."""

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
    """Output types of a SentencePiece tokenizer."""

    STRING = 0
    INT = 1


class SPieceTokenizerLoadType(IntEnum):
    """Sources of the model of a SentencePiece tokenizer."""

    FILE = 0
    MODEL = 1
