"""What an argument may be: a Kind checks a value once and brings it to a hashable normal form.

Kinds serve operators, layers, optimizers, datasets and settings. They stand in annotations, beside the Python type
that an editor reads: ``PositiveInt`` is ``Annotated[int, Kind(...)]``, ``Bool | None`` allows None, and what is
composed is written ``Annotated[str, OneOf("same", "valid")]``. `checked` makes a function or a constructor check what
it is given; `check` checks one value.

A number is traced: as an attribute of an operator it is an input of the operator's program, so that one program serves
every value (`core.traced`), and the declared function gets a scalar without a value to branch on. `ConstantAt` and
`Static` are the words for a number on which more depends than arithmetic.
"""

import functools
import inspect
import math
import numbers
import sys
import types
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.arguments import misfit, uncalled

_Function = TypeVar("_Function")


class Kind:
    """A named check. `accept(value)` returns the normal form, or raises TypeError / ValueError with no message.

    Args:
        expects (str): What is accepted, in words.
        accept (Callable): The check.
        many (bool): Whether it holds Tensors and is not static. Default: False.
        traced (bool): Whether, as an attribute, it is an input of the operator's program. Default: False.
        constants (tuple): Values for which it is none although it is traced. Default: ().
        python (type): What an editor shows for it. Default: Any.
        whole (bool): Whether `accept` gets a Tensor itself rather than its value. Default: False.
        examples (tuple): Values that it accepts, where no plain one is; see `example`. Default: ().
    """

    __slots__ = ("expects", "accept", "many", "traced", "constants", "python", "whole", "examples")

    def __init__(
        self,
        expects: str,
        accept: Callable[[Any], Any],
        many: bool = False,
        traced: bool = False,
        constants: tuple[float, ...] = (),
        python: Any = Any,
        whole: bool = False,
        examples: tuple[Any, ...] = (),
    ) -> None:
        self.expects: str = expects
        self.accept: Callable[..., Any] = accept
        self.many: bool = many
        self.traced: bool = traced
        self.constants: tuple[float, ...] = constants
        self.python: Any = python
        self.whole: bool = whole
        self.examples: tuple[Any, ...] = examples

    @property
    def example(self) -> Any:
        """A value in normal form, for who needs one and does not care which: of plain values the first that fits.

        Raises:
            ValueError: If none fits; then the Kind has to name `examples`.
        """
        for value in (*self.examples, *_PLAIN):
            try:
                return self.accept(value)
            except (TypeError, ValueError, KeyError, AttributeError):
                continue
        raise ValueError(f"{self!r} accepts no plain value; give it `examples`.")

    def __call__(self, value: Any, argument: str, op: str) -> Any:
        """Normal form of `value`, given for `argument` of operator `op`; of a Tensor its number, but for a traced
        attribute whose number is not known yet or is to get a gradient: that stays a Tensor."""
        stays = self.traced and _varies(value)
        if stays and _traced(value._array):
            return value
        try:
            number = self.accept(value if self.whole else _concrete(value))
        except (TypeError, ValueError) as problem:
            detail = f" ({problem})" if problem.args else ""
            raise refusal(type(problem), op, argument, self.expects, f"{_show(value)}{detail}") from None
        return value if stays else number

    def __repr__(self) -> str:
        return f"Kind({self.expects})"


def _traced(array):
    from jax.core import Tracer  # spares jax at start-up: settings are checked by Kinds, and stand below it

    return isinstance(array, Tracer)


def _varies(value):
    """Whether `value` is a Tensor of one real number that the number cannot replace."""
    array = getattr(value, "_array", None)
    return (
        array is not None
        and array.ndim == 0
        and array.dtype.kind in "iufV"  # V: bfloat16
        and (_traced(array) or value._node is not None)
    )


class _OneMeant(Kind):
    """A Kind of which a single value has a meaning here: another is taken, and said to have no effect, once."""

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


def refusal(error: type[Exception], op: str | None, argument: str, expects: str, got: object) -> Exception:
    """The error that says what an argument should be; `op` and `argument` may be None, where there is no name."""
    subject = f"'{argument}'" if argument else "the argument"
    subject = f"For '{op}', {subject}" if op else subject[:1].upper() + subject[1:]
    return error(f"{subject} should be {expects}, but got {got}.")


def _show(value):
    if said := uncalled(value):
        return said
    text = repr(value)
    text = text if len(text) < 80 else text[:77] + "..."
    return f"{text} of type {type(value).__name__}"


def _concrete(value):
    """A Tensor given where a Python value is meant becomes that value."""
    array = getattr(value, "_array", None)
    if array is None:
        return value.item() if isinstance(value, np.generic) else value
    try:
        return np.asarray(array).tolist()
    except Exception:
        raise ValueError("its value is not known while the graph is being compiled") from None


def _int(value):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError
    return int(value)


def _bounded_int(low):
    def accept(value):
        value = _int(value)
        if value < low:
            raise ValueError
        return value

    return accept


def _float(value):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError
    return float(value)


def _strict_float(value):
    if not isinstance(value, (float, np.floating)):
        raise TypeError
    return float(value)


def _positive_float(value):
    value = _float(value)
    if value <= 0:
        raise ValueError
    return value


def _bool(value):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError
    return bool(value)


def _str(value):
    if not isinstance(value, str):
        raise TypeError
    return value


def _ints(value):
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (tuple, list, range)):
        raise TypeError
    return tuple(_int(_concrete(v)) for v in value)


def _shape(value):
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return (int(value),)
    return _ints(value)


def _int_or_tuple(value):
    if isinstance(value, (tuple, list)):
        return _ints(value)
    return _int(value)


def _axis(value):
    if value is None:
        return ()
    if isinstance(value, (tuple, list)):
        return _ints(value)
    return _int(value)


def _number(value):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Number):
        raise TypeError
    return value


def _dtype(value):
    if isinstance(value, mstype.TensorType) and value.element is not None:
        return value.element
    if isinstance(value, mstype.Type):
        return value
    if value in (int, bool):
        return mstype.int64 if value is int else mstype.bool_
    if value is float:
        return mstype.float32
    if isinstance(value, (type, np.dtype)):
        return mstype.pytype_to_dtype(value)
    raise TypeError


# What a Kind's example is looked for among.
_PLAIN = (1, 1.0, -0.5, True, 2, (1,), (1, 1), ((1, 1), (1, 1)), (1.0,) * 4, "name", mstype.int32)
_ATOMS = frozenset((int, bool, str, type(None)))


def hashable(value: Any) -> Any:
    """`value` with lists turned into tuples, dicts into sorted items, arrays into (dtype, shape, bytes), and the two
    zeros, which are equal, into two."""
    kind = type(value)
    if kind is float:
        return value or str(value)
    if kind in _ATOMS:
        return value
    if isinstance(value, (list, tuple)):
        return tuple(hashable(v) for v in value)
    if isinstance(value, dict):
        return tuple(sorted((k, hashable(v)) for k, v in value.items()))
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    return value


def kind_of(annotation: Any) -> "Kind | None":
    """The Kind that an annotation declares, None where it declares none."""
    if isinstance(annotation, Kind):
        return annotation
    if get_origin(annotation) is Annotated:
        return next((m for m in annotation.__metadata__ if isinstance(m, Kind)), None)
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [a for a in get_args(annotation) if a is not types.NoneType]
        kind = kind_of(rest[0]) if len(rest) == 1 else None
        return Optional(kind) if kind is not None else None
    return None


def check(kind: Any, value: Any, argument: str, op: str) -> Any:
    """Normal form of `value`, given for `argument` of `op`, by a Kind or an annotation that declares one.

    Raises:
        TypeError: If it is of another type.
        ValueError: If it is out of range.
    """
    return _required(kind)(value, argument, op)


def accept_value(kind: Any, value: Any) -> Any:
    """Normal form of a part of an argument, for a Kind's own `accept`: it raises with no message, as that does."""
    kind = _required(kind)
    return kind.accept(value if kind.whole else _concrete(value))


def checked(function: _Function) -> _Function:
    """Decorator: each argument whose annotation declares a Kind is checked, and handed on in its normal form.

    In messages a constructor goes by the name of its class, a function by its own. A default is taken as it stands.
    A wrong number or name of arguments is answered as `arguments.answered` does.
    """
    kinds = []
    for place, p in enumerate(inspect.signature(function, eval_str=True).parameters.values()):
        kind = kind_of(p.annotation)
        if kind is not None:
            kinds.append((sys.maxsize if p.kind is p.KEYWORD_ONLY else place, p.name, kind))
    constructor = function.__name__ == "__init__"

    @functools.wraps(function)
    def call(*args, **kwargs):
        op = type(args[0]).__name__ if constructor else function.__name__
        try:
            given = list(args)
            for place, name, kind in kinds:
                if place < len(given):
                    given[place] = kind(given[place], name, op)
                elif name in kwargs:
                    kwargs[name] = kind(kwargs[name], name, op)
            return function(*given, **kwargs)
        except (TypeError, ValueError):
            sentence = misfit(function, call, args, kwargs)
            if sentence is None:  # the arguments fit: a value was refused, or the error comes from within
                raise
        raise TypeError(sentence)

    return call


def python_type(annotation: Any) -> Any:
    """What an editor shows for an annotation or a Kind."""
    if isinstance(annotation, Kind):
        return annotation.python
    return annotation.__origin__ if get_origin(annotation) is Annotated else annotation


def _required(annotation):
    kind = kind_of(annotation)
    if kind is None:
        raise TypeError(f"{annotation!r} declares no Kind.")
    return kind


def OneOf(*choices: Any, fold: bool = False, otherwise: str | None = None, among: Any = None) -> Kind:
    """One of a few values; with `fold`, strings are compared without regard to case.

    A single value with `otherwise` declares an argument that has no effect here: other values of its type (or those
    of the Kind `among`) are taken, and the reason `otherwise` is said once when the operator is made with one.
    """
    if otherwise is not None:
        (meant,) = choices
        return _OneMeant(_required(among or _OF_TYPE[type(meant)]), meant, otherwise)

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
        python=_literal(choices),
        examples=choices,
    )


def _literal(choices):
    """The type of one of `choices`; a float is none that a Literal takes."""
    if all(type(c) in (str, int, bool, type(None)) for c in choices):
        return Literal[tuple(choices)]
    return type(choices[0]) if len({type(c) for c in choices}) == 1 else Any


def Optional(kind: Any) -> Kind:
    """`kind`, or None."""
    python, kind = python_type(kind), _required(kind)
    if isinstance(kind, Worded):
        return Worded(f"{kind.expects} or None", lambda value, name: None if value is None else kind(value, name))
    return Kind(
        f"{kind.expects} or None",
        lambda value: None if value is None else kind.accept(value),
        traced=kind.traced,
        constants=(None, *kind.constants),
        python=Any if python is Any else python | None,
        whole=kind.whole,
        examples=kind.examples,
    )


def Between(kind: Any, low: float, high: float, low_in: bool = True, high_in: bool = True) -> Kind:
    """`kind` between two numbers, which belong to it unless `low_in` or `high_in` says otherwise; `low` or `high` may
    be None, where there is no such end."""
    python, kind = python_type(kind), _required(kind)

    def accept(value):
        value = kind.accept(value)
        if low is not None and not (low <= value if low_in else low < value):
            raise ValueError
        if high is not None and not (value <= high if high_in else value < high):
            raise ValueError
        return value

    if high is None:
        where = f"of at least {low}" if low_in else f"above {low}"
    elif low is None:
        where = f"of at most {high}" if high_in else f"below {high}"
    else:
        where = f"in {'[' if low_in else '('}{low}, {high}{']' if high_in else ')'}"
    return Kind(f"{kind.expects} {where}", accept, traced=kind.traced, constants=kind.constants, python=python)


def Finite(kind: Any) -> Kind:
    """`kind`, neither infinite nor NaN."""
    kind = _required(kind)

    def accept(value):
        value = kind.accept(value)
        if not math.isfinite(value):
            raise ValueError
        return value

    return Kind(kind.expects.replace("a ", "a finite ", 1), accept, traced=kind.traced, constants=kind.constants)


def ConstantAt(kind: Any, *values: float) -> Kind:
    """`kind`, traced, but a constant of the program where it is one of `values`: where the mathematics is another (no
    smoothing, nothing dropped), or much cheaper (a power of one half). The function asks `is_constant` first."""
    python, kind = python_type(kind), _required(kind)
    return Kind(kind.expects, kind.accept, traced=True, constants=(*kind.constants, *values), python=python)


def Static(kind: Any) -> Kind:
    """`kind`, a constant of the program whatever its value: one program for each. The declaration says why."""
    python, kind = python_type(kind), _required(kind)
    return Kind(kind.expects, kind.accept, python=python)


def Each(kind: Any, length: int | None = None) -> Kind:
    """A tuple or list whose members are each of `kind`, `length` of them unless that is None."""
    kind = _required(kind)

    def accept(value):
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if not isinstance(value, (tuple, list)):
            raise TypeError
        if length is not None and len(value) != length:
            raise ValueError
        return tuple(accept_value(kind, v) for v in value)

    many = "" if length is None else f" of {length}"
    return Kind(f"a tuple or list{many}, each {kind.expects}", accept, python=tuple | list)


def OneOrEach(kind: Any, length: int | None = None) -> Kind:
    """`kind`, or a tuple or list of it; a single value stays single."""
    python, kind, many = python_type(kind), _required(kind), Each(kind, length)

    def accept(value):
        return many.accept(value) if isinstance(value, (tuple, list)) else accept_value(kind, value)

    python = Any if python is Any else python | tuple | list
    return Kind(f"{kind.expects} or {many.expects}", accept, python=python, whole=kind.whole)


def Instance(*classes: type) -> Kind:
    """An object of one of `classes`, as it is."""

    def accept(value):
        if not isinstance(value, classes):
            raise TypeError
        return value

    expects = " or ".join(f"{'an' if c.__name__[0] in 'AEIO' else 'a'} {c.__name__}" for c in classes)
    return Kind(expects, accept, python=functools.reduce(lambda a, b: a | b, classes), whole=True)


def is_constant(value: Any, number: float) -> bool:
    """Whether `value`, an attribute that `ConstantAt` declares, is known to be `number`."""
    return isinstance(value, (int, float)) and value == number


class Worded(Kind):
    """A Kind that refuses in sentences of its own: those that programs written for MindSpore match on.

    Args:
        expects (str): What is accepted, in words.
        judge (Callable): Takes the value and the argument's name. Returns the normal form, or raises TypeError or
            ValueError with the sentence.
    """

    __slots__ = ("judge",)

    def __init__(self, expects: str, judge: Callable[[Any, str], Any]) -> None:
        super().__init__(expects, lambda value: judge(value, "the argument"))
        self.judge: Callable[..., Any] = judge

    def __call__(self, value: Any, argument: str, op: str | None = None) -> Any:
        return self.judge(value, argument)


Int = Annotated[int, Kind("an int", _int)]
PositiveInt = Annotated[int, Kind("a positive int", _bounded_int(1))]
NonNegInt = Annotated[int, Kind("a non-negative int", _bounded_int(0))]
Float = Annotated[float, Kind("a number", _float, traced=True)]
StrictFloat = Annotated[float, Kind("a float", _strict_float, traced=True)]
PositiveFloat = Annotated[float, Kind("a positive number", _positive_float, traced=True)]
Bool = Annotated[bool, Kind("bool", _bool)]
Str = Annotated[str, Kind("a string", _str)]
Shape = Annotated[int | tuple[int, ...] | list[int], Kind("a tuple of int", _shape)]
Ints = Annotated[tuple[int, ...] | list[int], Kind("a tuple of int", _ints)]
IntOrTuple = Annotated[int | tuple[int, ...] | list[int], Kind("an int or a tuple of int", _int_or_tuple)]
Axis = Annotated[int | tuple[int, ...] | list[int] | None, Kind("an int or a tuple of int", _axis)]
Number = Annotated[Any, Kind("a number", _number, traced=True)]
DType = Annotated[Any, Kind("a mindspore dtype", _dtype)]
Value = Annotated[Any, Kind("a constant", lambda value: value)]
_OF_TYPE = {bool: Bool, int: Int, float: Float, str: Str}
Tensors: Kind = Kind("a tuple or list of Tensors", tuple, many=True)
