"""Expressions of the source text, and their layout in lines."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe

WIDTH = 88  # the default line length of Ruff and Black

NAMES = ("x", "y", "z", "u", "v", "w", "t", "s", "r", "q", "p")  # names of local variables, in order of preference


class NoPythonForm(NotImplementedError):
    """Raised if an operator or a constant cannot be written in Python."""


class Placeholder(NamedTuple):
    """A literal in the text, which may become an argument of the class.

    Attributes:
        name (str): Preferred name of that argument.
        value (Any): The value.
        usual (Any): Default of the argument in the written call. A value equal to it is omitted. Default: ``...``,
            there is none.
    """

    name: str
    value: Any
    usual: Any = ...


class Group(NamedTuple):
    """A bracketed list, which may be broken into lines after the brackets and after each comma.

    Attributes:
        head (str): The text up to and including the opening bracket.
        items (Sequence): Expressions.
        tail (str): The closing bracket.
    """

    head: str
    items: Sequence[Any]
    tail: str


class IndexedUpdate(NamedTuple):
    """A copy of a Tensor with some elements replaced. It is written as two statements.

    Attributes:
        tensor, index, value (Expression): The Tensor, the index with its brackets, and the new value.
    """

    tensor: Any
    index: Any
    value: Any


Expression = list[Any]  # a sequence of str, Placeholder, Group and Instance


class Line(NamedTuple):
    """A line of a method.

    Attributes:
        depth (int): Indentation level of the line within the method.
        words (Expression): Text of the line.
    """

    depth: int
    words: Expression


def call(head: str, items: Iterable[Expression]) -> Expression:
    """Return an expression for the call ``head(item, item)``."""
    return [Group(f"{head}(", list(items), ")")]


def tuple_expression(items: Iterable[Expression]) -> Expression:
    """Return a tuple as an expression."""
    items = list(items)
    return [Group("(", items, ",)" if len(items) == 1 else ")")]


def atoms(words: Iterable[Any]) -> Iterator[Any]:
    """Yield the strings and placeholders of an expression, with brackets and commas as strings."""
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
    """Return an expression of strings and brackets as one line."""
    return "".join(atoms(words))


def lines(words: Expression, indent: int, suffix: str = "") -> list[str]:
    """Return an expression as lines, broken as Python's code formatters do."""
    margin, text = " " * indent, flat(words) + suffix
    groups = [i for i, word in enumerate(words) if isinstance(word, Group) and word.items]
    if indent + len(text) <= WIDTH or not groups:
        return [margin + text]
    fitting = [i for i in groups if indent + len(flat(words[:i]) + words[i].head) <= WIDTH]
    index = (fitting or groups)[-1]
    group = words[index]
    head, tail = flat([*words[:index], group.head]), group.tail + flat(words[index + 1 :]) + suffix
    items_text = ", ".join(map(flat, group.items))
    if indent + 4 + len(items_text) <= WIDTH and not tail.startswith(","):
        return [margin + head, f"{margin}    {items_text}", margin + tail]
    if len(group.items) == 1 and not tail.startswith(","):
        return [margin + head, *lines(group.items[0], indent + 4), margin + tail]
    body = [line for item in group.items for line in lines(item, indent + 4, ",")]
    return [margin + head, *body, margin + tail.removeprefix(",")]


def literal(value: Any) -> str:
    """Return a value as a Python literal.

    Raises:
        NotImplementedError: If its type cannot be written as a literal.
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
        items_text = ", ".join(map(literal, value))
        return f"({items_text},)" if len(value) == 1 else f"({items_text})"
    if isinstance(value, slice):
        return f"slice({literal(value.start)}, {literal(value.stop)}, {literal(value.step)})"
    raise NoPythonForm(f"a setting is {describe(value)}")


def shortest(value: Any) -> Any:
    """Return a numpy number as the Python number with the fewest digits that is equal to it in its element type."""
    number = np.asarray(value)[()]
    if number.dtype.kind not in "fV":
        return number.item()
    return float(str(number.astype(np.float32) if number.dtype.kind == "V" else number))
