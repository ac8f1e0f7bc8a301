"""Shape rules: what the shapes of an operator's inputs have to be, as one line beside its declaration.

    @operator
    @shapes("x: *s in, w: out in, b: out")
    def Dense(x, w, b=None): ...

An entry is one or several inputs and a pattern, of words with spaces between:

- `n` is a length, `n>0` one that is not 0. A name stands for one length throughout the rule, an attribute's for its
  number; sums and products of names that are known by then are lengths, too (`n+m`, `4*n`), a number is itself, and `_`
  is any length.
- `*s` is any number of lengths, the same throughout the rule, and `...` is any number of any.
- `~s` broadcasts with all that is `~s` in the rule, `<s` into what `*s` is; behind `~s`, `*s` is what they make.
- `()` has no dimension. A bar stands between alternatives: `() | 1`.

An input that is absent is left out, of a tuple of Tensors each one is looked at. The rule is read when a call is
traced: a call whose shapes were seen before pays nothing.
"""

import ast
import functools
import inspect
import operator as _operators
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_OPERATIONS = {ast.Add: _operators.add, ast.Mult: _operators.mul, ast.Sub: _operators.sub}


class Entry(NamedTuple):
    """What one input has to be: its name, and the patterns of which one has to fit, each a tuple of words."""

    name: str
    patterns: tuple[tuple[str, ...], ...]


def read(rule: str) -> tuple[Entry, ...]:
    """The entries of a rule, in its order."""
    found = []
    for part in rule.split(","):
        names, _, patterns = part.partition(":")
        words = tuple(tuple(w for w in p.split() if w != "()") for p in patterns.split("|"))
        found += [Entry(name, words) for name in names.split()]
    return tuple(found)


def shapes(rule: str, op: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function of arrays raises ValueError where the shapes of its inputs do not keep to `rule`.

    `op` is the operator's name, where that is not the function's.
    """
    entries = read(rule)

    def declare(kernel):
        names = [p.name for p in inspect.signature(kernel).parameters.values() if p.kind is not p.KEYWORD_ONLY]
        missing = [entry.name for entry in entries if entry.name not in names]
        if missing:
            raise ValueError(f"The rule of {kernel.__name__} is about {missing}, which it does not take.")

        @functools.wraps(kernel)
        def checked(*args, **settings):
            numbers = {name: value for name, value in settings.items() if type(value) is int}
            check(op or kernel.__name__.lstrip("_"), entries, {**dict(zip(names, args)), **settings}, numbers)
            return kernel(*args, **settings)

        checked.shapes = entries
        return checked

    return declare


def check(op: str, entries: tuple[Entry, ...], given: dict[str, Any], numbers: dict[str, int]) -> None:
    """Raise ValueError for the first of the inputs `given` by name whose shape does not fit its entry.

    `numbers` are the lengths that are known before.
    """
    known: dict[str, Any] = dict(numbers)  # by name of a length, or by word of several
    source: dict[str, str] = {}  # who said so first
    for name, patterns in entries:
        value = given.get(name)
        if value is None:
            continue
        for place, item in enumerate(value if isinstance(value, tuple) else (value,)):
            shape = np.shape(item)
            who = f"{name}[{place}]" if isinstance(value, tuple) else name
            for pattern in patterns:
                found = _matched(pattern, shape, known)
                if found is not None:
                    break
            else:
                raise ValueError(_sentence(op, who, shape, patterns, known, source))
            source.update({key: f"'{who}' of shape {shape}" for key in found if key not in known})
            known.update(found)


def _matched(pattern, shape, known):
    """What becomes known where `shape` fits `pattern`; None where it does not."""
    found = {}
    open_at = next((i for i, word in enumerate(pattern) if word[0] in "*~<."), None)
    if open_at is None:
        parts = list(zip(pattern, shape)) if len(pattern) == len(shape) else None
    else:
        behind = len(pattern) - open_at - 1
        middle = shape[open_at : len(shape) - behind]
        fits = len(shape) >= len(pattern) - 1 and _several(pattern[open_at], middle, known, found)
        parts = (
            [
                *zip(pattern[:open_at], shape),
                *zip(pattern[open_at + 1 :], shape[len(shape) - behind :]),
            ]
            if fits
            else None
        )
    if parts is None or not all(_one(word, length, known, found) for word, length in parts):
        return None
    return found


def _several(word, lengths, known, found):
    kind, name = word[0], word[1:]
    if kind == "*":
        return found.setdefault(word, known.get(word, known.get(f"~{name}", lengths))) == lengths
    if kind == ".":
        return True
    key = f"*{name}" if kind == "<" else word
    try:
        joined = np.broadcast_shapes(known.get(key, ()), lengths)
    except ValueError:
        return False
    if kind == "<":
        return joined == known.get(key, joined)
    found[word] = joined
    return True


def _one(word, length, known, found):
    if word == "_":
        return True
    word, positive, _ = word.partition(">0")
    if positive and not length:
        return False
    if word.isidentifier():
        return found.setdefault(word, known.get(word, length)) == length
    wanted = _length(word, {**known, **found})
    return wanted is None or wanted == length


def _length(word, known):
    """The number that a sum or a product of names is; None while a name is not known."""

    def value(node):
        if isinstance(node, ast.BinOp):
            return _OPERATIONS[type(node.op)](value(node.left), value(node.right))
        return node.value if isinstance(node, ast.Constant) else known[node.id]

    try:
        return value(ast.parse(word, mode="eval").body)
    except KeyError:
        return None


def _sentence(op, name, shape, patterns, known, source):
    words = [word.removesuffix(">0") for pattern in patterns for word in pattern]
    for word in words:
        if patterns == ((word,),) and word[0] == "~":
            return f"For '{op}', '{name}' should broadcast with {known[word]} as those before it do, but got {shape}."
        if word[0] == "<":
            return f"For '{op}', '{name}' should broadcast into {source[f'*{word[1:]}']}, but got {shape}."
    wanted = " or ".join(dict.fromkeys(_shown(pattern, known) for pattern in patterns))
    names = {n for word in words for n in (word, f"~{word[1:]}", *_names(word)) if n in source}
    beside = f" beside {' and '.join(sorted({source[n] for n in names}))}" if names else ""
    return f"For '{op}', '{name}' should have {wanted}{beside}, but got {shape}."


def _names(word):
    if word[0] in "*.~<":
        return []
    return [node.id for node in ast.walk(ast.parse(word, mode="eval")) if isinstance(node, ast.Name)]


def _shown(pattern, known):
    """A pattern in words, with the lengths that are known: "the shape (5, 4)", "4 dimensions"."""
    if set(pattern) == {"_"}:
        return f"{len(pattern)} dimension{'s' * (len(pattern) > 1)}"
    if set(pattern) == {"...", "_"}:
        return f"at least {len(pattern) - 1} dimension{'s' * (len(pattern) > 2)}"
    parts, behind = [], ""
    for word in pattern:
        several = known.get(word, known.get(f"~{word[1:]}"))
        if word[0] == "~":
            parts.append("...")
            behind = "" if several is None else f", where ... broadcasts with {several},"
        elif word[0] in "*.":
            parts += ["..."] if several is None else map(str, several)
        else:
            length = _length(word.removesuffix(">0"), known)
            parts.append({"_": "any"}.get(word, word.replace(">", " > ")) if length is None else str(length))
    return f"the shape ({', '.join(parts)}{',' if len(parts) == 1 and parts != ['...'] else ''}){behind}"
