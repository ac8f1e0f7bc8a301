"""Regular expressions in ICU's notation: replacing and splitting."""

import functools
import re
import sys
import unicodedata

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag, Text
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text._tokens import _Tokenizer, check_bool, check_str, decoded, each

# Scripts are told by the first word of a character's name; these have names of another kind.
_SCRIPTS = {"Han": "CJK", "Hani": "CJK"}


def _of_script(character, script):
    name = unicodedata.name(character, "")
    if script == "CJK":
        return name.startswith(
            (
                "CJK UNIFIED IDEOGRAPH",
                "CJK COMPATIBILITY IDEOGRAPH",
                "CJK RADICAL",
                "KANGXI RADICAL",
                "IDEOGRAPHIC ITERATION MARK",
                "IDEOGRAPHIC NUMBER ZERO",
                "HANGZHOU NUMERAL",
            )
        )
    return name.startswith(script + " ") and unicodedata.category(character)[0] in "LM"


@functools.cache
def _runs():
    """(first, last, category) of all runs of characters of one category."""
    category = unicodedata.category
    runs, start, before = [], 0, category("\0")
    for point in range(1, sys.maxunicode + 1):
        here = category(chr(point))
        if here != before:
            runs.append((start, point - 1, before))
            start, before = point, here
    runs.append((start, sys.maxunicode, before))
    return runs


@functools.cache
def characters_of(category):
    """The inside of a character class of a Unicode category ("P", "Mn") or script ("Han", "Greek")."""
    if len(category) <= 2:
        spans = [(first, last) for first, last, kind in _runs() if kind.startswith(category)]
    else:
        script, spans = _SCRIPTS.get(category, category.upper()), []
        for first, last, kind in _runs():
            if kind[0] in "LMNS":
                for point in range(first, last + 1):
                    if _of_script(chr(point), script):
                        if spans and spans[-1][1] == point - 1:
                            spans[-1] = (spans[-1][0], point)
                        else:
                            spans.append((point, point))
    return "".join(f"\\U{a:08x}" if a == b else f"\\U{a:08x}-\\U{b:08x}" for a, b in spans)


_PROPERTY = re.compile(r"\\([pP])(?:\{(\w+)\}|(\w))")


@functools.cache
def compiled(pattern):
    """A pattern of ICU's for Python: \\p{..} becomes a character class, \\x{..} an escape."""
    text = re.sub(r"\\x\{([0-9A-Fa-f]+)\}", lambda m: f"\\U{int(m[1], 16):08x}", pattern)
    out, at = [], 0
    for m in _PROPERTY.finditer(text):
        before = text[at : m.start()]
        out.append(before)
        inside = _in_class("".join(out))
        body = characters_of(m[2] or m[3])
        if not body:
            raise ValueError(f"Unknown property \\p{{{m[2] or m[3]}}} in the pattern {pattern!r}.")
        if m[1] == "P":
            if inside:
                raise ValueError(f"\\P inside a character class is not supported: {pattern!r}.")
            out.append(f"[^{body}]")
        else:
            out.append(body if inside else f"[{body}]")
        at = m.end()
    out.append(text[at:])
    try:
        return re.compile("".join(out))
    except re.error as error:
        raise ValueError(
            f"Create icu RegexMatcher failed, you may input one error pattern: {pattern!r}: {error}."
        ) from None


def _in_class(text):
    depth = escaped = 0
    for char in text:
        if escaped:
            escaped = 0
        elif char == "\\":
            escaped = 1
        elif char == "[" and not depth:
            depth = 1
        elif char == "]" and depth:
            depth = 0
    return bool(depth)


class RegexReplace(TensorOp):
    """What a regular expression matches, replaced.

    Args:
        pattern (str): The expression.
        replace (str): What takes the place; $1 stands for the first group.
        replace_all (bool, optional): Whether every match is replaced. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
    """

    @checked
    def __init__(self, pattern: Text, replace: Text, replace_all: Flag = True):
        self.pattern: Text = pattern
        self.replace: Text = replace
        self.replace_all: Flag = replace_all

    def _transform_row(self, array):
        try:
            matcher = compiled(self.pattern)
        except ValueError as error:
            raise RuntimeError(f"RegexReplace: {error}") from None
        by = re.sub(r"\$(\d)", r"\\g<\1>", self.replace.replace("\\", "\\\\"))
        return each(array, lambda text: matcher.sub(by, text, count=0 if self.replace_all else 1))


class RegexTokenizer(_Tokenizer):
    """The parts between matches of a regular expression.

    Args:
        delim_pattern (str): The expression for delimiters.
        keep_delim_pattern (str, optional): Delimiters that match it as a whole are tokens too. Default: '', none.
        with_offsets (bool, optional): Whether offsets come as two further columns. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `delim_pattern` is None.
    """

    def __init__(self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False) -> None:
        if delim_pattern is None:
            raise ValueError("delim_pattern is not provided.")
        check_str(delim_pattern, "delim_pattern")
        check_str(keep_delim_pattern, "keep_delim_pattern")
        check_bool(with_offsets, "with_offsets")
        self.delim_pattern: str = delim_pattern
        self.keep_delim_pattern: str = keep_delim_pattern
        self.with_offsets: bool = with_offsets

    def _spans(self, data):
        try:
            delimiter = compiled(self.delim_pattern)
            keep = compiled(self.keep_delim_pattern) if self.keep_delim_pattern else None
        except ValueError as error:
            raise RuntimeError(f"RegexTokenizer: {error}") from None
        return split_by(decoded(data), delimiter, keep)


def split_by(text, delimiter, keep):
    """(tokens, starts, ends) of a str: the parts between delimiters, and the delimiters that `keep` matches as a
    whole.
    """
    tokens, starts, ends = [], [], []
    at = byte = 0

    def take(piece, wanted):
        nonlocal byte
        raw = piece.encode("utf-8")
        if wanted:
            tokens.append(raw)
            starts.append(byte)
            ends.append(byte + len(raw))
        byte += len(raw)

    for m in delimiter.finditer(text):
        if m.start() > at:
            take(text[at : m.start()], True)
        if m.end() > m.start():
            take(m[0], keep is not None and keep.fullmatch(m[0]) is not None)
        at = m.end()
    if at < len(text):
        take(text[at:], True)
    return tokens, starts, ends
