"""Readable signatures: `kernel_size: int | tuple[int, int]` instead of the Kind that an annotation declares.

The annotation keeps its Kind, which checks and dispatch read. A signature with a Kind prints the Python type instead,
in `inspect.signature`, in IPython's `?` and in the tool-tips of Jupyter.
"""

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msnb.common.kinds.kind import Kind

_Function = TypeVar("_Function")

# Texts of container types whose Kind declares no element type.
_OF_ANYTHING = {tuple: "tuple[Any, ...]", list: "list[Any]", dict: "dict[Any, Any]", set: "set[Any]"}


def type_text(annotation: Any) -> str:
    """Return the text of the Python type of an annotation or a Kind."""
    if annotation is inspect.Parameter.empty:
        return "Any"
    if annotation is None or annotation is types.NoneType:
        return "None"
    if isinstance(annotation, Kind):
        return type_text(annotation.python)
    if typing.get_origin(annotation) is typing.Annotated:
        return type_text(annotation.__origin__)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(type_text(a) for a in typing.get_args(annotation)))
    if typing.get_origin(annotation) is typing.Literal:
        return f"Literal[{', '.join(map(repr, typing.get_args(annotation)))}]"
    if isinstance(annotation, list):  # the arguments of a Callable
        return f"[{', '.join(map(type_text, annotation))}]"
    if typing.get_origin(annotation) is not None:
        inner = ", ".join("..." if a is Ellipsis else type_text(a) for a in typing.get_args(annotation))
        return f"{typing.get_origin(annotation).__name__}[{inner}]"
    if isinstance(annotation, str):
        return annotation
    if annotation is typing.Any or annotation is object:
        return "Any"
    if isinstance(annotation, type) and annotation in _OF_ANYTHING:
        return _OF_ANYTHING[annotation]
    return getattr(annotation, "__name__", "Any")


class ReadableParameter(inspect.Parameter):
    """A parameter that prints the Python type of its annotation. `annotation` is unchanged."""

    __slots__ = ()

    def __str__(self) -> str:
        text = str(inspect.Parameter(self.name, self.kind))
        if self.annotation is not self.empty:
            text += f": {type_text(self.annotation)}"
        if self.default is self.empty:
            return text
        return f"{text}={self.default!r}" if self.annotation is self.empty else f"{text} = {self.default!r}"


def readable_parameter(parameter: inspect.Parameter) -> ReadableParameter:
    """Return the same parameter as one that prints the Python type of its annotation."""
    return ReadableParameter(parameter.name, parameter.kind, default=parameter.default, annotation=parameter.annotation)


class ReadableSignature(inspect.Signature):
    """A signature of readable parameters, which are built on first access: most are never shown.

    Args:
        function (Callable): The function whose arguments are shown.
    """

    __slots__ = ("_function", "_read")

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._read: inspect.Signature | None = None

    def _build_signature(self) -> inspect.Signature:
        if self._read is None:
            written = _get_def_signature(self._function)
            self._read = written.replace(parameters=[readable_parameter(p) for p in written.parameters.values()])
        return self._read

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        return self._build_signature().parameters

    @property
    def return_annotation(self) -> Any:
        return self._build_signature().return_annotation

    def replace(self, **changes: Any) -> inspect.Signature:
        return self._build_signature().replace(**changes)

    __replace__ = replace

    def __reduce__(self) -> Any:
        return self._build_signature().__reduce__()


def _get_def_signature(function):
    """Return the signature of a function's `def`, ignoring its `__signature__`."""
    function = inspect.unwrap(function, stop=lambda f: f is not function and hasattr(f, "__signature__"))
    if getattr(function, "__signature__", None) is None or not isinstance(function, types.FunctionType):
        return inspect.signature(function)
    written = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    written.__kwdefaults__, written.__annotations__ = function.__kwdefaults__, function.__annotations__
    return inspect.signature(written)


def readable(function: _Function) -> _Function:
    """Decorator: the signature of the function prints Python types where its annotations declare Kinds."""
    if isinstance(function, types.FunctionType) and "__signature__" not in function.__dict__:
        function.__signature__ = ReadableSignature(function)  # type: ignore[attr-defined]
    return function
