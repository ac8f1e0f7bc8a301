"""Functions that create Kinds from other Kinds or from values: one of several, between two numbers, a tuple, a constant
of the program."""

import functools
import math
from typing import Any, Literal

import numpy as np

from msnb import log
from msnb.common.kinds.kind import Kind, accept_value, python_type, required
from msnb.common.kinds.plain import Bool, Float, Int, Str

_OF_TYPE = {bool: Bool, int: Int, float: Float, str: Str}


def OneOf(*choices: Any, fold: bool = False, otherwise: str | None = None, among: Any = None) -> Kind:
    """Return a Kind that accepts one of `choices`; with `fold`, strings are compared without regard to case.

    With `otherwise` there is a single choice, and the argument has no effect here. Other values of its type, or of the
    Kind `among`, are accepted, and the reason `otherwise` is logged once.
    """
    if otherwise is not None:
        (effective,) = choices
        return _OneEffective(required(among or _OF_TYPE[type(effective)]), effective, otherwise)

    def accept(value):
        if isinstance(value, str) and fold:
            for choice in choices:
                if isinstance(choice, str) and choice.lower() == value.lower():
                    return choice
        elif any(type(value) is type(c) and value == c for c in choices):
            return value
        if not any(isinstance(value, type(c)) and isinstance(value, bool) == isinstance(c, bool) for c in choices):
            raise TypeError
        raise ValueError

    return Kind(
        f"{'one of ' if len(choices) > 1 else ''}{', '.join(map(repr, choices))}",
        accept,
        python=_get_choice_type(choices),
        examples=choices,
    )


class _OneEffective(Kind):
    """A Kind with one implemented value. Other values are accepted. That they have no effect is logged once."""

    __slots__ = ("meant", "otherwise")

    def __init__(self, kind, meant, otherwise):
        super().__init__(
            kind.expects,
            kind.accept,
            traced=kind.traced,
            constants=kind.constants,
            python=kind.python,
            examples=(meant,),
        )
        self.meant = meant
        self.otherwise = otherwise

    def __call__(self, value, argument, op):
        value = super().__call__(value, argument, op)
        log.unused(op, self.otherwise, **{argument: getattr(value, "_array", None) is not None or value != self.meant})
        return value


def _get_choice_type(choices):
    """Return the Python type of one of `choices`; Literal does not support floats."""
    if all(type(c) in (str, int, bool, type(None)) for c in choices):
        return Literal[tuple(choices)]
    return type(choices[0]) if len({type(c) for c in choices}) == 1 else Any


def Between(kind: Any, low: float, high: float, low_in: bool = True, high_in: bool = True) -> Kind:
    """Return `kind` restricted to numbers from `low` to `high`, which are included unless `low_in` or `high_in` is
    False. None means no limit."""
    python, kind = python_type(kind), required(kind)

    def accept(value):
        value = kind.accept(value)
        if low is not None and not (low <= value if low_in else low < value):
            raise ValueError
        if high is not None and not (value <= high if high_in else value < high):
            raise ValueError
        return value

    if high is None:
        bounds = f"of at least {low}" if low_in else f"above {low}"
    elif low is None:
        bounds = f"of at most {high}" if high_in else f"below {high}"
    else:
        bounds = f"in {'[' if low_in else '('}{low}, {high}{']' if high_in else ')'}"
    return Kind(f"{kind.expects} {bounds}", accept, traced=kind.traced, constants=kind.constants, python=python)


def Finite(kind: Any) -> Kind:
    """Return `kind` restricted to finite numbers."""
    kind = required(kind)

    def accept(value):
        value = kind.accept(value)
        if not math.isfinite(value):
            raise ValueError
        return value

    return Kind(kind.expects.replace("a ", "a finite ", 1), accept, traced=kind.traced, constants=kind.constants)


def ConstantAt(kind: Any, *values: float) -> Kind:
    """Return `kind` as a traced input of the program, except that each of `values` is a constant of the program.

    For these values the computation differs (no smoothing, no dropout) or is much cheaper (the power 0.5). The function
    tests for them with `is_constant`.
    """
    python, kind = python_type(kind), required(kind)
    return Kind(kind.expects, kind.accept, traced=True, constants=(*kind.constants, *values), python=python)


def Static(kind: Any) -> Kind:
    """Return `kind` as a constant of the program: each value is compiled separately. A comment at the declaration gives
    the reason."""
    python, kind = python_type(kind), required(kind)
    return Kind(kind.expects, kind.accept, python=python)


def Each(kind: Any, length: int | None = None) -> Kind:
    """Return a Kind that accepts a tuple or list of `kind`, with `length` elements unless that is None."""
    kind = required(kind)

    def accept(value):
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if not isinstance(value, (tuple, list)):
            raise TypeError
        if length is not None and len(value) != length:
            raise ValueError
        return tuple(accept_value(kind, v) for v in value)

    many = "" if length is None else f" of {length}"
    examples = ((kind.example,) * length,) if length else ()
    return Kind(f"a tuple or list{many}, each {kind.expects}", accept, python=tuple | list, examples=examples)


def OneOrEach(kind: Any, length: int | None = None) -> Kind:
    """Return a Kind that accepts `kind`, or a tuple or list of it. A single value is not put in a tuple."""
    python, kind, many = python_type(kind), required(kind), Each(kind, length)

    def accept(value):
        return many.accept(value) if isinstance(value, (tuple, list)) else accept_value(kind, value)

    python = Any if python is Any else python | tuple | list
    return Kind(f"{kind.expects} or {many.expects}", accept, python=python, whole=kind.whole)


def Instance(*classes: type) -> Kind:
    """Return a Kind that accepts an object of one of `classes` and returns it unchanged."""

    def accept(value):
        if not isinstance(value, classes):
            raise TypeError
        return value

    expects = " or ".join(f"{'an' if c.__name__[0] in 'AEIO' else 'a'} {c.__name__}" for c in classes)
    return Kind(expects, accept, python=functools.reduce(lambda a, b: a | b, classes), whole=True)
