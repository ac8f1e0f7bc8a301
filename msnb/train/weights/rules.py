"""Rules for names: the inverse of a list of (regular expression, text)."""

import re
from typing import Any

_GROUP = re.compile(r"\(([^()]*)\)")
_REFERENCE = re.compile(r"\\(\d)")


def apply_rules(rules: list[tuple[str, str]], name: str) -> str:
    """Return a name after all substitutions, in their order."""
    for pattern, text in rules:
        name = re.sub(pattern, text, name)
    return name


def invert_rules(rules: Any) -> list[tuple[str, str]]:
    """Return the rules that lead back from the texts to the names that the regular expressions match.

    Rules that leave out arrays (None) or prefixes ("") are left out. In the others, the regular expression has to be
    literal text with "^", "$", and groups that the text repeats.

    Raises:
        ValueError: If a rule has no inverse, or the rules are no list.
    """
    if not isinstance(rules, list | tuple):
        raise ValueError(f"Rules of names that are no list have no inverse, but got {type(rules).__name__}.")
    return [_invert(pattern, text) for pattern, text in reversed(rules) if text]


def _invert(pattern, text):
    start, end = pattern.startswith("^"), pattern.endswith("$")
    groups = _GROUP.findall(pattern)
    literals = _GROUP.sub("\0", pattern[start : len(pattern) - end]).split("\0")
    plain = [re.sub(r"\\(.)", r"\1", literal) for literal in literals]
    references = [int(number) for number in _REFERENCE.findall(text)] if isinstance(text, str) else []
    if sorted(references) != list(range(1, len(groups) + 1)) or [re.escape(each) for each in plain] != literals:
        raise ValueError(f"The rule {(pattern, text)} has no inverse, so the names of PyTorch are not known.")
    texts = _REFERENCE.split(text)[::2]
    inverse = re.escape(texts[0])
    for number, following in zip(references, texts[1:], strict=True):
        inverse += f"({groups[number - 1]})" + re.escape(following)
    name = plain[0]
    for number, following in enumerate(plain[1:], 1):
        name += f"\\{references.index(number) + 1}" + following
    return "^" * start + inverse + "$" * end, name
