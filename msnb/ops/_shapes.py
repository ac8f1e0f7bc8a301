"""Shape rules. A rule is one line of text that declares the shapes of the inputs of an operator.

    @operator
    @shapes("x: *s in, w: out in, b: out")
    def Dense(x, w, b=None): ...

An entry has the names of one or several inputs and their pattern. A pattern has a word for each dimension:

- `n` is a length, `n>0` a positive length. A name stands for the same length throughout the rule. The name of an
  attribute stands for its value. Sums and products of bound names are lengths, too (`n+m`, `4*n`). A number stands for
  itself, and `_` for any length.
- `*s` is any number of dimensions, with the same lengths throughout the rule. `...` is any number of dimensions of any
  lengths.
- `~s` broadcasts with every `~s` of the rule, `<s` broadcasts into `*s`. After `~s`, `*s` is the broadcast shape.
- `()` is the shape without dimensions. A bar separates alternatives: `() | 1`.

An absent input is skipped. Each Tensor of a tuple is checked. A rule is only checked while a call is traced. A call
with shapes that were traced before is not checked again.
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
    """One entry of a shape rule: the name of an input and its patterns, each a tuple of words. The shape has to match
    one of the patterns."""

    name: str
    patterns: tuple[tuple[str, ...], ...]


def read(rule: str) -> tuple[Entry, ...]:
    """Parse the text of a shape rule into its entries."""
    entries = []
    for part in rule.split(","):
        names, _, patterns = part.partition(":")
        words = tuple(tuple(w for w in p.split() if w != "()") for p in patterns.split("|"))
        entries += [Entry(name, words) for name in names.split()]
    return tuple(entries)


def shapes(rule: str, op: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: raise ValueError if the shapes of the inputs break `rule`.

    `op` is the operator's name, if it is not the name of the function.
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


def check(op: str, entries: tuple[Entry, ...], inputs: dict[str, Any], numbers: dict[str, int]) -> None:
    """Raise ValueError for the first input whose shape does not match its entry.

    `inputs` are the arguments by name, `numbers` the attributes that are lengths.
    """
    lengths: dict[str, Any] = dict(numbers)  # keyed by the name of a length, or the word for several lengths
    source: dict[str, str] = {}  # the input that bound each name first
    for name, patterns in entries:
        value = inputs.get(name)
        if value is None:
            continue
        for index, item in enumerate(value if isinstance(value, tuple) else (value,)):
            shape = np.shape(item)
            label = f"{name}[{index}]" if isinstance(value, tuple) else name
            for pattern in patterns:
                bindings = _match_pattern(pattern, shape, lengths)
                if bindings is not None:
                    break
            else:
                raise ValueError(_format_shape_error(op, label, shape, patterns, lengths, source))
            source.update({key: f"'{label}' of shape {shape}" for key in bindings if key not in lengths})
            lengths.update(bindings)


def _match_pattern(pattern, shape, lengths):
    """Match `shape` against `pattern`. Return the lengths of the names in the pattern, or None without a match."""
    bindings = {}
    open_at = next((i for i, word in enumerate(pattern) if word[0] in "*~<."), None)
    if open_at is None:
        pairs = list(zip(pattern, shape)) if len(pattern) == len(shape) else None
    else:
        count_after = len(pattern) - open_at - 1
        middle = shape[open_at : len(shape) - count_after]
        fits = len(shape) >= len(pattern) - 1 and _match_variadic_word(pattern[open_at], middle, lengths, bindings)
        pairs = (
            [
                *zip(pattern[:open_at], shape),
                *zip(pattern[open_at + 1 :], shape[len(shape) - count_after :]),
            ]
            if fits
            else None
        )
    if pairs is None or not all(_match_length(word, length, lengths, bindings) for word, length in pairs):
        return None
    return bindings


def _match_variadic_word(word, shape, lengths, bindings):
    kind, name = word[0], word[1:]
    if kind == "*":
        return bindings.setdefault(word, lengths.get(word, lengths.get(f"~{name}", shape))) == shape
    if kind == ".":
        return True
    key = f"*{name}" if kind == "<" else word
    try:
        joined = np.broadcast_shapes(lengths.get(key, ()), shape)
    except ValueError:
        return False
    if kind == "<":
        return joined == lengths.get(key, joined)
    bindings[word] = joined
    return True


def _match_length(word, length, lengths, bindings):
    if word == "_":
        return True
    word, positive, _ = word.partition(">0")
    if positive and not length:
        return False
    if word.isidentifier():
        return bindings.setdefault(word, lengths.get(word, length)) == length
    expected = _evaluate_length(word, {**lengths, **bindings})
    return expected is None or expected == length


def _evaluate_length(word, lengths):
    """Evaluate `word`, a sum or product of names of lengths. Return None if a name has no value yet."""

    def evaluate(node):
        if isinstance(node, ast.BinOp):
            return _OPERATIONS[type(node.op)](evaluate(node.left), evaluate(node.right))
        return node.value if isinstance(node, ast.Constant) else lengths[node.id]

    try:
        return evaluate(ast.parse(word, mode="eval").body)
    except KeyError:
        return None


def _format_shape_error(op, name, shape, patterns, lengths, source):
    words = [word.removesuffix(">0") for pattern in patterns for word in pattern]
    for word in words:
        if patterns == ((word,),) and word[0] == "~":
            return f"For '{op}', '{name}' should broadcast with {lengths[word]} as those before it do, but got {shape}."
        if word[0] == "<":
            return f"For '{op}', '{name}' should broadcast into {source[f'*{word[1:]}']}, but got {shape}."
    expected = " or ".join(dict.fromkeys(_format_pattern(pattern, lengths) for pattern in patterns))
    names = {n for word in words for n in (word, f"~{word[1:]}", *_list_length_names(word)) if n in source}
    reason = f" beside {' and '.join(sorted({source[n] for n in names}))}" if names else ""
    return f"For '{op}', '{name}' should have {expected}{reason}, but got {shape}."


def _list_length_names(word):
    if word[0] in "*.~<":
        return []
    return [node.id for node in ast.walk(ast.parse(word, mode="eval")) if isinstance(node, ast.Name)]


def _format_pattern(pattern, lengths):
    """Describe a pattern in words, with the lengths that are bound: "the shape (5, 4)", "4 dimensions"."""
    if set(pattern) == {"_"}:
        return f"{len(pattern)} dimension{'s' * (len(pattern) > 1)}"
    if set(pattern) == {"...", "_"}:
        return f"at least {len(pattern) - 1} dimension{'s' * (len(pattern) > 2)}"
    words, suffix = [], ""
    for word in pattern:
        bound_lengths = lengths.get(word, lengths.get(f"~{word[1:]}"))
        if word[0] == "~":
            words.append("...")
            suffix = "" if bound_lengths is None else f", where ... broadcasts with {bound_lengths},"
        elif word[0] in "*.":
            words += ["..."] if bound_lengths is None else map(str, bound_lengths)
        else:
            length = _evaluate_length(word.removesuffix(">0"), lengths)
            words.append({"_": "any"}.get(word, word.replace(">", " > ")) if length is None else str(length))
    return f"the shape ({', '.join(words)}{',' if len(words) == 1 and words != ['...'] else ''}){suffix}"
