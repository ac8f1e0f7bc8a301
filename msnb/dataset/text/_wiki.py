"""Cleaning of Wikipedia dumps."""

import html
import re

from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text._tokens import each

_STEPS = [
    (re.compile(p), by)
    for p, by in (
        (r"<.*?>", ""),
        (r"\{\{.*?\}\}", ""),
        (r"\[\[(?:File|Image|Category):.*?\]\]", ""),
        (r"\[\[[^|\]]*\|", "[["),
        (r"\[\[|\]\]", ""),
        (r"\[http[^ \]]*\s?", ""),
        (r"\{[^}]*\}", ""),
        (r"\|\S+", ""),
        (r"[^a-z0-9]+", " "),
    )
]


class FilterWikipediaXML(TensorOp):
    """The plain lower-case words in the text of a Wikipedia dump."""

    def _row(self, array):
        return each(array, self._clean)

    @staticmethod
    def _clean(text):
        text = html.unescape(text)
        for pattern, by in _STEPS[:-1]:
            text = pattern.sub(by, text)
        pattern, by = _STEPS[-1]
        return pattern.sub(by, text.lower()).strip()
