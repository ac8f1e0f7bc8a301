"""Re-export module of ``mindspore.dataset.text.utils``: vocabularies, string conversion, enumerations."""

from msnb.dataset.text.choices import (
    JiebaMode,
    NormalizeForm,
    SentencePieceModel,
    SPieceTokenizerLoadType,
    SPieceTokenizerOutType,
)
from msnb.dataset.text.sentencepiece import SentencePieceVocab
from msnb.dataset.text.strings import to_bytes, to_str
from msnb.dataset.text.vectors import CharNGram, FastText, GloVe, Vectors
from msnb.dataset.text.vocab import Vocab

__all__ = [
    "CharNGram",
    "FastText",
    "GloVe",
    "Vectors",
    "Vocab",
    "SentencePieceVocab",
    "to_str",
    "to_bytes",
    "JiebaMode",
    "NormalizeForm",
    "SentencePieceModel",
    "SPieceTokenizerOutType",
    "SPieceTokenizerLoadType",
]
