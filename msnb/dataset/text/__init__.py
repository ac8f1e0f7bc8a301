"""``mindspore.dataset.text``: tokenizers, vocabularies and other transforms of strings."""

from importlib import import_module
from typing import Any

from msnb.common.missing import asked
from msnb.dataset.text.utils import (
    JiebaMode,
    NormalizeForm,
    SentencePieceModel,
    SPieceTokenizerLoadType,
    SPieceTokenizerOutType,
    to_bytes,
    to_str,
)
from msnb.dataset.text.vectors import CharNGram, FastText, GloVe, Vectors
from msnb.dataset.text.vocab import Vocab

_MODULES = ("transforms", "utils", "validators")
__all__ = [
    "AddToken",
    "BasicTokenizer",
    "BertTokenizer",
    "CaseFold",
    "CharNGram",
    "FastText",
    "FilterWikipediaXML",
    "GloVe",
    "JiebaMode",
    "JiebaTokenizer",
    "Lookup",
    "Ngram",
    "NormalizeForm",
    "NormalizeUTF8",
    "PythonTokenizer",
    "RegexReplace",
    "RegexTokenizer",
    "SPieceTokenizerLoadType",
    "SPieceTokenizerOutType",
    "SentencePieceModel",
    "SentencePieceTokenizer",
    "SentencePieceVocab",
    "SlidingWindow",
    "ToNumber",
    "ToVectors",
    "Truncate",
    "TruncateSequencePair",
    "UnicodeCharTokenizer",
    "UnicodeScriptTokenizer",
    "Vectors",
    "Vocab",
    "WhitespaceTokenizer",
    "WordpieceTokenizer",
    "to_bytes",
    "to_str",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES or name in __all__:
        module_name = name if name in _MODULES else "transforms"
        module = import_module(f"{__name__}.{module_name}")  # imported on first use: most programs need no tokenizers
        return module if name in _MODULES else getattr(module, name)
    return asked(__name__, name)
