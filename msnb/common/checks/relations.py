"""`Rel`: relations such as "less than", in words and as functions."""

from collections.abc import Callable
from enum import Enum


class Rel(Enum):
    """Relations that a value can be checked for: comparisons, open and closed intervals, membership."""

    EQ = 1
    NE = 2
    LT = 3
    LE = 4
    GT = 5
    GE = 6
    INC_NEITHER = 7
    INC_LEFT = 8
    INC_RIGHT = 9
    INC_BOTH = 10
    IN = 11
    NOT_IN = 12

    @staticmethod
    def get_strs(rel: "Rel") -> str:
        """Return the relation in words, as a format string with a ``{}`` for each limit."""
        return _RELATIONS[rel][0] if rel in _RELATIONS else ""

    @staticmethod
    def get_fns(rel: "Rel") -> Callable[..., bool]:
        """Return a function that returns True if the relation holds: ``fn(value, limit)`` or
        ``fn(value, lower, upper)``."""
        return _RELATIONS[rel][1] if rel in _RELATIONS else lambda *_: False


_RELATIONS: dict[Rel, tuple[str, Callable[..., bool]]] = {
    Rel.EQ: ("== {}", lambda x, y: x == y),
    Rel.NE: ("!= {}", lambda x, y: x != y),
    Rel.LT: ("< {}", lambda x, y: x < y),
    Rel.LE: ("<= {}", lambda x, y: x <= y),
    Rel.GT: ("> {}", lambda x, y: x > y),
    Rel.GE: (">= {}", lambda x, y: x >= y),
    Rel.INC_NEITHER: ("({}, {})", lambda x, low, high: low < x < high),
    Rel.INC_LEFT: ("[{}, {})", lambda x, low, high: low <= x < high),
    Rel.INC_RIGHT: ("({}, {}]", lambda x, low, high: low < x <= high),
    Rel.INC_BOTH: ("[{}, {}]", lambda x, low, high: low <= x <= high),
    Rel.IN: ("in {}", lambda x, y: x in y),
    Rel.NOT_IN: ("not in {}", lambda x, y: x not in y),
}
rel_strs = {rel: text for rel, (text, _) in _RELATIONS.items()}
rel_fns = {rel: holds for rel, (_, holds) in _RELATIONS.items()}
EQ, NE, LT, LE, GT, GE = Rel.EQ, Rel.NE, Rel.LT, Rel.LE, Rel.GT, Rel.GE
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = Rel.INC_NEITHER, Rel.INC_LEFT, Rel.INC_RIGHT, Rel.INC_BOTH
IN, NOT_IN = Rel.IN, Rel.NOT_IN
