"""Error messages for calls whose arguments do not fit the signature. They name wrong arguments, suggestions and valid
names."""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msnb.common.suggestions import ARGUMENTS, DIFFERS, ELSEWHERE

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def answered(function: _Function) -> _Function:
    """Decorator that raises TypeError with a helpful message if the arguments do not fit the signature.

    It costs nothing while the arguments fit: the message is built only after Python has raised its own error.
    """

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError:
            sentence = explain_misfit(function, call, args, kwargs)
            if sentence is None:  # the arguments fit: the error comes from the function's body
                raise
        raise TypeError(sentence)

    return call


def explain_misfit(
    function: Callable[..., Any], public: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str | None:
    """Return the message for arguments that `function` does not take, or None if it takes them.

    Args:
        function (Callable): A function, or an `__init__` with `self` as first argument.
        public (Callable): The decorated `function`, as its module or class contains it.
        args (tuple): Positional arguments.
        kwargs (dict): Keyword arguments.

    Returns:
        Union[str, None].
    """
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
        return None
    except TypeError:
        pass
    parameters = list(signature.parameters.values())
    name = function.__name__
    if name == "__init__" and args:
        # The message names the class that defines this constructor, not a user's subclass that calls it.
        kinds = type(args[0]).__mro__
        name = next((k for k in kinds if k.__init__ is public), kinds[0]).__name__
        args, parameters = args[1:], parameters[1:]
    named = [p for p in parameters if p.kind in _NAMED]
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    wrong = [] if open_ended else [k for k in kwargs if k not in {p.name for p in named}]
    names = [p.name for p in named if not p.name.startswith("_")]
    if wrong:
        return unknown(name, wrong, names, valid=kwargs)
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    twice = [n for n in positional[: len(args)] if n in kwargs]
    if twice:
        return f"{name} got {_join_names(twice)} twice, by position and by name. {_format_argument_list(names)}"
    if not parameters:
        computes = function.__name__ == "__init__" and any(hasattr(a, "_array") for a in args)
        what = f" The object takes inputs: {name}()(x)." if computes else ""
        return f"{name} takes no arguments, but got {len(args)}.{what}"
    if len(args) > len(positional) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        most = f"at most {len(positional)} argument{'s' * (len(positional) != 1)}"
        return f"{name} takes {most} by position, but got {len(args)}. {_format_argument_list(names)}"
    by_position = positional[: len(args)]
    required = [p.name for p in parameters if p.default is p.empty and p.kind not in _OPEN]
    lacking = [n for n in required if n not in by_position and n not in kwargs]
    return f"{name} is missing {_join_names(lacking)}. {_format_argument_list(names)}"


def unknown(name: str, wrong: Iterable[str], names: Iterable[str], valid: Iterable[str] = ()) -> str:
    """Return the message for unknown arguments: "Conv2d has no argument 'pad'; did you mean ...?".

    Args:
        name (str): Name of the class or function.
        wrong (Iterable[str]): The unknown arguments.
        names (Iterable[str]): The arguments of the signature.
        valid (Iterable[str]): Other arguments of the same call, which are not suggested. Default: ().

    Returns:
        str.
    """
    names, valid = list(names), set(valid)
    sentences = []
    for word in wrong:
        opening = f"{'Nor has it an' if sentences else f'{name} has no'} argument {word!r}"
        suggestions = _suggest_names(word, [n for n in names if n not in valid])
        if suggestions:
            sentences.append(f"{opening}; did you mean {' or '.join(map(repr, suggestions))}?")
            sentences += [DIFFERS[word, n] for n in suggestions if (word, n) in DIFFERS]
        else:
            sentences.append(f"{opening}.")
            needs, instead = ELSEWHERE.get(word, ("", ""))
            sentences += [instead] * (instead != "" and (not needs or needs in names))
    return f"{' '.join(sentences)} {_format_argument_list(names)}"


def describe_briefly(value: Any, longest: int = 80) -> str:
    """Return `repr(value)` on one line. If it is long, return the dtype and shape of an array, and the start for other
    values.
    """
    text = " ".join(repr(value).split())
    if len(text) < longest:
        return text
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    return f"{dtype}{list(shape)}" if isinstance(shape, tuple) and dtype is not None else f"{text[: longest - 3]}..."


def uncalled(value: Any) -> str | None:
    """Return a hint for an error message if `value` is a class or a method that was passed instead of an object.
    Return None for other values.
    """
    name = getattr(value, "__name__", "")
    if isinstance(value, type) and value.__module__ not in ("builtins", "numpy"):
        return f"the class {name}; {name}(...) makes an object of it"
    if inspect.ismethod(value):
        return f"the method {name}; {name}() calls it"
    return None


def refuse_classes(op: str, **objects: Any) -> None:
    """Raise TypeError if one of `objects`, the arguments of `op` by name, is a class instead of an instance."""
    for name, value in objects.items():
        if isinstance(value, type):
            raise TypeError(f"For '{op}', '{name}' should be an object, but got {uncalled(value) or value}.")


def _suggest_names(word, names):
    """Return up to three of `names` to suggest for a wrong word: known equivalents, else names that share a part with
    it, else similar spellings."""
    equivalents = [n for n in ARGUMENTS.get(word, ()) if n in names]
    similar = [n for n in names if _is_part_of_name(word, n) or _is_part_of_name(n, word)]
    return (equivalents or similar or difflib.get_close_matches(word, names, 3, 0.65))[:3]


def _is_part_of_name(word, name):
    return len(word) > 2 and (name.startswith(word) or word in name.split("_"))


def _join_names(names):
    names = [repr(n) for n in names]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _format_argument_list(names):
    return f"It takes {', '.join(names) or 'none'}."
