"""Cleaning of Wikipedia dumps."""

import re

from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text._tokens import map_strings

_REDIRECT = re.compile("#REDIRECT|#redirect")
_MARKUP = re.compile("<.*>|<[^>]*>")  # from the first < to the last > of a line, or one tag over several lines
_ENTITY = re.compile("&[^;]*;")
_NOT_WORDS = re.compile("[^a-zA-Z0-9]+")
_DIGIT_NAMES = dict(zip("0123456789", "zero one two three four five six seven eight nine".split(), strict=True))
_DIGIT = re.compile("[0-9]")


class FilterWikipediaXML(TensorOp):
    """Keep the lower-case words in the text of a Wikipedia dump.

    Tags, and the text between the first and the last tag of a line, are removed. So are entities. Digits are spelt
    out: ``12`` becomes ``one two``. A text with ``#REDIRECT`` becomes empty.
    """

    def _transform_row(self, array):
        return map_strings(array, self._clean_text)

    @staticmethod
    def _clean_text(text):
        if _REDIRECT.search(text):
            return ""
        words = _NOT_WORDS.sub(" ", _ENTITY.sub(" ", _MARKUP.sub("", text))).lower()
        return " ".join(_DIGIT.sub(lambda digit: f" {_DIGIT_NAMES[digit[0]]} ", words).split())
