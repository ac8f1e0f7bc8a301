"""Names that Python code imports from MindSpore's C++ module of data: transforms of text and vocabularies."""

from typing import Any

from msnb.common import dtype as mstype
from msnb.common.missing import asked
from msnb.dataset.text.transforms import BasicTokenizer as BasicTokenizerOperation
from msnb.dataset.text.transforms import Lookup
from msnb.dataset.text.vocab import Vocab

__all__ = ["BasicTokenizerOperation", "LookupOperation", "Vocab"]


def LookupOperation(vocab: Vocab, unknown_token: str | None, data_type: str) -> Lookup:
    """Return the transform that looks up ids of words. `data_type` is the name of numpy's type."""
    return Lookup(vocab, unknown_token, mstype.from_numpy_dtype(data_type))


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
