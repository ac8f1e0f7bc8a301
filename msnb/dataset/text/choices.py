"""The choices that text transforms take."""

from enum import IntEnum


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
