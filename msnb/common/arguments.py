"""The answer to a call whose arguments do not fit the signature: which, what was meant perhaps, what there is."""

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
    """Decorator: arguments that do not fit the signature of a function or constructor raise TypeError with a sentence.

    Nothing is looked at while the arguments fit: the error is Python's own until it has been raised.
    """

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError:
            sentence = misfit(function, call, args, kwargs)
            if sentence is None:  # the arguments fit, the error comes from within
                raise
        raise TypeError(sentence)

    return call


def misfit(
    function: Callable[..., Any], public: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str | None:
    """The sentence for arguments that `function` does not take; None where it takes them.

    Args:
        function (Callable): A function, or an `__init__`, whose first argument is the object.
        public (Callable): What stands for it where it was defined: the decorated function.
        args (tuple): Arguments given by position.
        kwargs (dict): Arguments given by name.

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
        # The class that has this constructor: not a subclass of the user's that calls it from its own.
        kinds = type(args[0]).__mro__
        name = next((k for k in kinds if k.__init__ is public), kinds[0]).__name__
        args, parameters = args[1:], parameters[1:]
    named = [p for p in parameters if p.kind in _NAMED]
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    wrong = [] if open_ended else [k for k in kwargs if k not in {p.name for p in named}]
    names = [p.name for p in named if not p.name.startswith("_")]
    if wrong:
        return unknown(name, wrong, names, given=kwargs)
    places = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    twice = [n for n in places[: len(args)] if n in kwargs]
    if twice:
        return f"{name} got {_listed(twice)} twice, by position and by name. {_takes(names)}"
    if not parameters:
        computes = function.__name__ == "__init__" and any(hasattr(a, "_array") for a in args)
        what = f" The object takes inputs: {name}()(x)." if computes else ""
        return f"{name} takes no arguments, but got {len(args)}.{what}"
    if len(args) > len(places) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        most = f"at most {len(places)} argument{'s' * (len(places) != 1)}"
        return f"{name} takes {most} by position, but got {len(args)}. {_takes(names)}"
    by_position = places[: len(args)]
    required = [p.name for p in parameters if p.default is p.empty and p.kind not in _OPEN]
    lacking = [n for n in required if n not in by_position and n not in kwargs]
    return f"{name} is missing {_listed(lacking)}. {_takes(names)}"


def unknown(name: str, wrong: Iterable[str], names: Iterable[str], given: Iterable[str] = ()) -> str:
    """The sentence for arguments that are not there: "Conv2d has no argument 'pad'; did you mean ...?".

    Args:
        name (str): Of the class or function.
        wrong (Iterable[str]): The arguments that it does not have.
        names (Iterable[str]): Those that it has.
        given (Iterable[str]): Those that were given as well, which are not meant by the wrong ones. Default: ().

    Returns:
        str.
    """
    names, given = list(names), set(given)
    sentences = []
    for word in wrong:
        opening = f"{'Nor has it an' if sentences else f'{name} has no'} argument {word!r}"
        meant = _meant(word, [n for n in names if n not in given])
        if meant:
            sentences.append(f"{opening}; did you mean {' or '.join(map(repr, meant))}?")
            sentences += [DIFFERS[word, n] for n in meant if (word, n) in DIFFERS]
        else:
            sentences.append(f"{opening}.")
            needs, instead = ELSEWHERE.get(word, ("", ""))
            sentences += [instead] * (instead != "" and (not needs or needs in names))
    return f"{' '.join(sentences)} {_takes(names)}"


def uncalled(value: Any) -> str | None:
    """What to say of a class, or of a method, that was given where an object is meant; None of anything else."""
    name = getattr(value, "__name__", "")
    if isinstance(value, type) and value.__module__ not in ("builtins", "numpy"):
        return f"the class {name}; {name}(...) makes an object of it"
    if inspect.ismethod(value):
        return f"the method {name}; {name}() calls it"
    return None


def refuse_classes(op: str, **objects: Any) -> None:
    """Raise TypeError if one of the named arguments of `op` is a class instead of an object of it."""
    for name, value in objects.items():
        if isinstance(value, type):
            raise TypeError(f"For '{op}', '{name}' should be an object, but got {uncalled(value) or value}.")


def _meant(word, names):
    """Up to three of `names`: what is known of the word, else what holds it as a part, else what is spelt alike."""
    known = [n for n in ARGUMENTS.get(word, ()) if n in names]
    parts = [n for n in names if _is_part(word, n) or _is_part(n, word)]
    return (known or parts or difflib.get_close_matches(word, names, 3, 0.65))[:3]


def _is_part(word, name):
    return len(word) > 2 and (name.startswith(word) or word in name.split("_"))


def _listed(names):
    names = [repr(n) for n in names]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _takes(names):
    return f"It takes {', '.join(names) or 'none'}."
