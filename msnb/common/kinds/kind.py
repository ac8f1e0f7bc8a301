"""`Kind`: a named check of an argument that returns a hashable normal form. Annotations declare the Kind of an
argument."""

import types
from collections.abc import Callable
from typing import Annotated, Any, Union, get_args, get_origin

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.arguments import describe_briefly, uncalled

# Values that `Kind.example` tries.
_PLAIN = (1, 1.0, -0.5, True, 2, (1,), (1, 1), ((1, 1), (1, 1)), (1.0,) * 4, "name", mstype.int32)
_ATOMS = frozenset((int, bool, str, type(None)))


class Kind:
    """A named check of an argument. `accept(value)` returns the normal form, or raises TypeError or ValueError. The
    Kind writes the error message; it appends the text of that error, if it has one.

    Args:
        expects (str): Description of accepted values.
        accept (Callable): The check.
        many (bool): Whether a value is a tuple or list of Tensors. Default: False.
        traced (bool): Whether an attribute of this Kind is an input of the operator's program. Default: False.
        constants (tuple): Values of a traced attribute that are constants of the program. Default: ().
        python (type): Python type that editors show. Default: Any.
        whole (bool): Whether `accept` gets a Tensor itself rather than its value. Default: False.
        examples (tuple): Accepted values, if no plain value is accepted; see `example`. Default: ().
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
        """Return an example of an accepted value in normal form.

        Raises:
            ValueError: If no plain value is accepted and the Kind has no `examples`.
        """
        for value in (*self.examples, *_PLAIN):
            try:
                return self.accept(value)
            except (TypeError, ValueError, KeyError, AttributeError):
                continue
        raise ValueError(f"{self!r} accepts no plain value; give it `examples`.")

    def __call__(self, value: Any, argument: str, op: str) -> Any:
        """Return the normal form of `value`, passed for `argument` of operator `op`. A Tensor is replaced by its value.
        For a traced attribute, a Tensor is returned unchanged if its value is unknown or needs a gradient."""
        stays = self.traced and _is_dynamic(value)
        if stays and _is_traced(value._array):
            return value
        try:
            number = self.accept(value if self.whole else concrete(value))
        except (TypeError, ValueError) as problem:
            detail = f" ({problem})" if problem.args else ""
            raise refusal(type(problem), op, argument, self.expects, f"{_describe_value(value)}{detail}") from None
        return value if stays else number

    def __repr__(self) -> str:
        return f"Kind({self.expects})"


class Worded(Kind):
    """A Kind with its own error messages, for messages that programs compare with MindSpore's.

    Args:
        expects (str): Description of accepted values.
        judge (Callable): Takes the value and the argument's name. Returns the normal form, or raises TypeError or
            ValueError with a message.
    """

    __slots__ = ("judge",)

    def __init__(self, expects: str, judge: Callable[[Any, str], Any]) -> None:
        super().__init__(expects, lambda value: judge(value, "the argument"))
        self.judge: Callable[..., Any] = judge

    def __call__(self, value: Any, argument: str, op: str | None = None) -> Any:
        return self.judge(value, argument)


def _is_traced(array):
    from jax.core import Tracer  # lazy import: settings use Kinds at start-up, when jax is not imported

    return isinstance(array, Tracer)


def _is_dynamic(value):
    """Return whether `value` is a scalar Tensor of real dtype whose value is unknown or needs a gradient."""
    array = getattr(value, "_array", None)
    return (
        array is not None
        and array.ndim == 0
        and array.dtype.kind in "iufV"  # V: bfloat16
        and (_is_traced(array) or value._node is not None)
    )


def _describe_value(value):
    if description := uncalled(value):
        return description
    return f"{describe_briefly(value)} of type {type(value).__name__}"


def concrete(value: Any) -> Any:
    """Return the value of a Tensor passed for a Python value; anything else is unchanged."""
    array = getattr(value, "_array", None)
    if array is None:
        return value.item() if isinstance(value, np.generic) else value
    try:
        return np.asarray(array).tolist()
    except Exception:
        raise ValueError("its value is not known while the graph is being compiled") from None


def refusal(error: type[Exception], op: str | None, argument: str, expects: str, got: object) -> Exception:
    """Return the error for a refused argument. `op` is None if no operator is named; `argument` may be None, too."""
    subject = f"'{argument}'" if argument else "the argument"
    subject = f"For '{op}', {subject}" if op else subject[:1].upper() + subject[1:]
    return error(f"{subject} should be {expects}, but got {got}.")


def hashable(value: Any) -> Any:
    """Return a hashable form of `value`: lists become tuples, dicts sorted items, arrays (dtype, shape, bytes). The
    forms of 0.0 and -0.0 differ, although the numbers are equal. A tuple subclass with its own hash is unchanged."""
    kind = type(value)
    if kind is float:
        return value or str(value)
    if kind in _ATOMS:
        return value
    if isinstance(value, (list, tuple)) and kind.__hash__ in (None, tuple.__hash__):
        return tuple(hashable(v) for v in value)
    if isinstance(value, dict):
        return tuple(sorted((k, hashable(v)) for k, v in value.items()))
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    return value


def is_constant(value: Any, number: float) -> bool:
    """Return whether `value`, an attribute that `ConstantAt` declares, is known to be `number`."""
    return isinstance(value, (int, float)) and value == number


def kind_of(annotation: Any) -> "Kind | None":
    """Return the Kind that an annotation declares, or None."""
    if isinstance(annotation, Kind):
        return annotation
    if get_origin(annotation) is Annotated:
        return next((m for m in annotation.__metadata__ if isinstance(m, Kind)), None)
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [a for a in get_args(annotation) if a is not types.NoneType]
        kind = kind_of(rest[0]) if len(rest) == 1 else None
        return Optional(kind) if kind is not None else None
    return None


def required(annotation: Any) -> "Kind":
    """Return the Kind that an annotation declares. Raise TypeError if it declares none."""
    kind = kind_of(annotation)
    if kind is None:
        raise TypeError(f"{annotation!r} declares no Kind.")
    return kind


def python_type(annotation: Any) -> Any:
    """Return the type that an editor shows for an annotation or a Kind."""
    if isinstance(annotation, Kind):
        return annotation.python
    return annotation.__origin__ if get_origin(annotation) is Annotated else annotation


def Optional(kind: Any) -> Kind:
    """Return a Kind that accepts `kind` or None."""
    python, kind = python_type(kind), required(kind)
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


def check(kind: Any, value: Any, argument: str, op: str) -> Any:
    """Return the normal form of `value`, passed for `argument` of `op`, by a Kind or an annotation that declares one.

    Raises:
        TypeError: If `value` is of another type.
        ValueError: If `value` is out of range.
    """
    return required(kind)(value, argument, op)


def accept_value(kind: Any, value: Any) -> Any:
    """Return the normal form of an element of an argument, for use in the `accept` function of a Kind. The errors are
    those of `kind.accept`."""
    kind = required(kind)
    return kind.accept(value if kind.whole else concrete(value))
