"""Regular expressions in ICU's syntax: replacement and splitting."""

import functools
import re
import sys
import unicodedata

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag, Text
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text._tokens import _Tokenizer, check_bool, check_str, decode_utf8, map_strings

# {script: first word of the Unicode names of its characters}, where the two differ.
_SCRIPTS = {"Han": "CJK", "Hani": "CJK"}


def _belongs_to_script(character, script):
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
def _list_category_runs():
    """Return (first, last, category) for each run of consecutive code points that have the same Unicode category."""
    category = unicodedata.category
    runs, start, previous = [], 0, category("\0")
    for point in range(1, sys.maxunicode + 1):
        current = category(chr(point))
        if current != previous:
            runs.append((start, point - 1, previous))
            start, previous = point, current
    runs.append((start, sys.maxunicode, previous))
    return runs


@functools.cache
def character_class(category):
    """Return the text inside the [...] of a regex class that matches a Unicode category ("P") or script ("Han")."""
    if len(category) <= 2:
        spans = [(first, last) for first, last, kind in _list_category_runs() if kind.startswith(category)]
    else:
        script, spans = _SCRIPTS.get(category, category.upper()), []
        for first, last, kind in _list_category_runs():
            if kind[0] in "LMNS":
                for point in range(first, last + 1):
                    if _belongs_to_script(chr(point), script):
                        if spans and spans[-1][1] == point - 1:
                            spans[-1] = (spans[-1][0], point)
                        else:
                            spans.append((point, point))
    return "".join(f"\\U{a:08x}" if a == b else f"\\U{a:08x}-\\U{b:08x}" for a, b in spans)


_PROPERTY = re.compile(r"\\([pP])(?:\{(\w+)\}|(\w))")


@functools.cache
def compile_icu(pattern):
    r"""Translate a pattern of ICU to Python's syntax and compile it with `re`.

    \p{..} becomes a character class, \x{..} an escape, (?<name>..) a named group.
    """
    pattern = re.sub(r"\(\?<(?=\w)", "(?P<", pattern)
    text = re.sub(r"\\x\{([0-9A-Fa-f]+)\}", lambda m: f"\\U{int(m[1], 16):08x}", pattern)
    out, position = [], 0
    for m in _PROPERTY.finditer(text):
        literal = text[position : m.start()]
        out.append(literal)
        is_inside = _is_inside_character_class("".join(out))
        body = character_class(m[2] or m[3])
        if not body:
            raise ValueError(f"Unknown property \\p{{{m[2] or m[3]}}} in the pattern {pattern!r}.")
        if m[1] == "P":
            if is_inside:
                raise ValueError(f"\\P inside a character class is not supported: {pattern!r}.")
            out.append(f"[^{body}]")
        else:
            out.append(body if is_inside else f"[{body}]")
        position = m.end()
    out.append(text[position:])
    try:
        return re.compile("".join(out))
    except re.error as error:
        raise ValueError(
            f"Create icu RegexMatcher failed, you may input one error pattern: {pattern!r}: {error}."
        ) from None


def _is_inside_character_class(text):
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


_REFERENCE = re.compile(r"\\(.?)|\$(?:(\d+)|\{(\w+)\})?", re.DOTALL)


def _parse_replacement(template, matcher):
    """Split a replacement in ICU's syntax into texts and groups of `matcher`, each group as a tuple of one.

    A backslash makes the next character literal. Of the digits after a $, the longest number of a group counts.
    """
    parts, position = [], 0
    for m in _REFERENCE.finditer(template):
        parts.append(template[position : m.start()])
        position = m.end()
        if m[0][0] == "\\":
            parts.append(m[1])
            continue
        digits = m[2] or ""
        group, count = m[3], len(digits)
        while count and int(digits[:count]) > matcher.groups:
            count -= 1
        if count:
            group = int(digits[:count])
        elif group not in matcher.groupindex:
            raise RuntimeError(f"RegexReplace: RegexReplace failed, the pattern has no group {m[0]!r}.")
        parts += [(group,), digits[count:]]
    return [part for part in (*parts, template[position:]) if part]


class RegexReplace(TensorOp):
    """Replace matches of a regular expression.

    Args:
        pattern (str): The expression.
        replace (str): Replacement. $1 is the first group, and a backslash makes the next character literal.
        replace_all (bool, optional): True to replace every match. Default: True.

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
            matcher = compile_icu(self.pattern)
        except ValueError as error:
            raise RuntimeError(f"RegexReplace: {error}") from None
        parts = _parse_replacement(self.replace, matcher)

        def replacement(match):
            return "".join(part if isinstance(part, str) else match[part[0]] or "" for part in parts)

        return map_strings(array, lambda text: matcher.sub(replacement, text, count=0 if self.replace_all else 1))


class RegexTokenizer(_Tokenizer):
    """Split text at matches of a regular expression.

    Args:
        delim_pattern (str): The expression for delimiters.
        keep_delim_pattern (str, optional): Delimiters that match it completely are tokens too. Default: '', none.
        with_offsets (bool, optional): True to output offsets as two further columns. Default: False.

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

    def _split_with_offsets(self, data):
        try:
            delimiter = compile_icu(self.delim_pattern)
            keep = compile_icu(self.keep_delim_pattern) if self.keep_delim_pattern else None
        except ValueError as error:
            raise RuntimeError(f"RegexTokenizer: {error}") from None
        return split_spans(decode_utf8(data), delimiter, keep)


def split_spans(text, delimiter, keep):
    """Split a str at delimiters. Return (tokens, starts, ends).

    Tokens are the text between delimiters, and the delimiters that `keep` matches completely.
    """
    tokens, starts, ends = [], [], []
    position = byte = 0

    def consume(piece, is_token):
        nonlocal byte
        raw = piece.encode("utf-8")
        if is_token:
            tokens.append(raw)
            starts.append(byte)
            ends.append(byte + len(raw))
        byte += len(raw)

    for m in delimiter.finditer(text):
        if m.start() > position:
            consume(text[position : m.start()], True)
        if m.end() > m.start():
            consume(m[0], keep is not None and keep.fullmatch(m[0]) is not None)
        position = m.end()
    if position < len(text):
        consume(text[position:], True)
    return tokens, starts, ends
