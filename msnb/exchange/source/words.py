"""Expressions of the text, and how they are broken into lines."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.errors import describe

WIDTH = 88  # what Ruff and Black keep to unless they are told otherwise

NAMES = ("x", "y", "z", "u", "v", "w", "t", "s", "r", "q", "p")  # of values, in this order


class Unwritten(NotImplementedError):
    """Something has no form in Python."""


class Hole(NamedTuple):
    """A literal, which may be an argument of the class.

    Attributes:
        name (str): What the argument would be called.
        value (Any): The value.
        usual (Any): What the setting is where nothing is said; then nothing is. Default: nothing is usual.
    """

    name: str
    value: Any
    usual: Any = ...


class Group(NamedTuple):
    """Something between brackets, which may be broken after them and after each comma.

    Attributes:
        head (str): What stands before and is the opening bracket.
        items (Sequence): Expressions.
        tail (str): The closing bracket.
    """

    head: str
    items: Sequence[Any]
    tail: str


class Changed(NamedTuple):
    """A copy of a Tensor with a part replaced, which takes two statements.

    Attributes:
        whole, index, value (Expression): The Tensor, the part with its brackets, and what stands there from now on.
    """

    whole: Any
    index: Any
    value: Any


Expression = list[Any]  # of str, Hole, Group, and what `classes` puts in: one after the other


class Line(NamedTuple):
    """A line of a method.

    Attributes:
        depth (int): How far it is indented within the method.
        words (Expression): What stands there.
    """

    depth: int
    words: Expression


def call(head: str, items: Iterable[Expression]) -> Expression:
    """``head(item, item)``."""
    return [Group(f"{head}(", list(items), ")")]


def many(items: Iterable[Expression]) -> Expression:
    """A tuple."""
    items = list(items)
    return [Group("(", items, ",)" if len(items) == 1 else ")")]


def atoms(words: Iterable[Any]) -> Iterator[Any]:
    """The words of an expression one after the other, brackets as texts."""
    for word in words:
        if isinstance(word, Group):
            yield word.head
            for number, item in enumerate(word.items):
                if number:
                    yield ", "
                yield from atoms(item)
            yield word.tail
        else:
            yield word


def flat(words: Expression) -> str:
    """An expression of texts and brackets in one line."""
    return "".join(atoms(words))


def lines(words: Expression, indent: int, after: str = "") -> list[str]:
    """An expression in as many lines as it needs, broken as formatters of Python do."""
    margin, text = " " * indent, flat(words) + after
    places = [i for i, word in enumerate(words) if isinstance(word, Group) and word.items]
    if indent + len(text) <= WIDTH or not places:
        return [margin + text]
    fitting = [i for i in places if indent + len(flat(words[:i]) + words[i].head) <= WIDTH]
    place = (fitting or places)[-1]
    group = words[place]
    head, tail = flat([*words[:place], group.head]), group.tail + flat(words[place + 1 :]) + after
    inside = ", ".join(map(flat, group.items))
    if indent + 4 + len(inside) <= WIDTH and not tail.startswith(","):
        return [margin + head, f"{margin}    {inside}", margin + tail]
    if len(group.items) == 1 and not tail.startswith(","):
        return [margin + head, *lines(group.items[0], indent + 4), margin + tail]
    body = [line for item in group.items for line in lines(item, indent + 4, ",")]
    return [margin + head, *body, margin + tail.removeprefix(",")]


def literal(value: Any) -> str:
    """A value as Python writes it.

    Raises:
        NotImplementedError: If there is no way.
    """
    if isinstance(value, (np.generic, np.ndarray)) and not np.ndim(value):
        value = shortest(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, (bool, int, float, complex)):
        return repr(value)
    if isinstance(value, str):
        return '"' + repr(f"'{value}")[2:-1] + '"'
    if isinstance(value, mstype.Type):
        name = str(value).lower()
        return f"mindspore.{'bool_' if name == 'bool' else name}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, slice):
        return f"slice({literal(value.start)}, {literal(value.stop)}, {literal(value.step)})"
    raise Unwritten(f"a setting is {describe(value)}")


def shortest(value: Any) -> Any:
    """A number of numpy as the Python number with the fewest digits that is equal to it in its element type."""
    number = np.asarray(value)[()]
    if number.dtype.kind not in "fV":
        return number.item()
    return float(str(number.astype(np.float32) if number.dtype.kind == "V" else number))
