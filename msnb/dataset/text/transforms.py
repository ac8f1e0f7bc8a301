"""The text transforms, under MindSpore's path. The tables ``DE_C_*`` map each enumeration member to itself."""

from msnb.dataset.core.tensor_op import Implementation as Implementation
from msnb.dataset.core.tensor_op import TensorOperation as TextTensorOperation  # noqa: F401
from msnb.dataset.text._bert import BasicTokenizer, BertTokenizer, WordpieceTokenizer
from msnb.dataset.text._jieba import JiebaTokenizer
from msnb.dataset.text._normalise import CaseFold, NormalizeUTF8
from msnb.dataset.text._regex import RegexReplace, RegexTokenizer
from msnb.dataset.text._sequences import (
    AddToken,
    Lookup,
    Ngram,
    SlidingWindow,
    ToNumber,
    Truncate,
    TruncateSequencePair,
)
from msnb.dataset.text._tokens import PythonTokenizer, UnicodeCharTokenizer, UnicodeScriptTokenizer, WhitespaceTokenizer
from msnb.dataset.text._wiki import FilterWikipediaXML
from msnb.dataset.text.choices import JiebaMode, NormalizeForm, SPieceTokenizerLoadType, SPieceTokenizerOutType
from msnb.dataset.text.sentencepiece import SentencePieceTokenizer, SentencePieceVocab
from msnb.dataset.text.vectors import ToVectors

DE_C_INTER_JIEBA_MODE = {mode: mode for mode in JiebaMode}
DE_C_INTER_NORMALIZE_FORM = {form: form for form in NormalizeForm}
DE_C_INTER_SENTENCEPIECE_LOADTYPE = {kind: kind for kind in SPieceTokenizerLoadType}
DE_C_INTER_SENTENCEPIECE_OUTTYPE = {kind: kind for kind in SPieceTokenizerOutType}

__all__ = [
    "AddToken",
    "BasicTokenizer",
    "BertTokenizer",
    "CaseFold",
    "DE_C_INTER_JIEBA_MODE",
    "DE_C_INTER_NORMALIZE_FORM",
    "DE_C_INTER_SENTENCEPIECE_LOADTYPE",
    "DE_C_INTER_SENTENCEPIECE_OUTTYPE",
    "FilterWikipediaXML",
    "JiebaTokenizer",
    "Lookup",
    "Ngram",
    "NormalizeUTF8",
    "PythonTokenizer",
    "RegexReplace",
    "RegexTokenizer",
    "SentencePieceTokenizer",
    "SentencePieceVocab",
    "SlidingWindow",
    "ToNumber",
    "ToVectors",
    "Truncate",
    "TruncateSequencePair",
    "UnicodeCharTokenizer",
    "UnicodeScriptTokenizer",
    "WhitespaceTokenizer",
    "WordpieceTokenizer",
]
