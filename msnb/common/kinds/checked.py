"""`checked`: a decorator that checks annotated arguments."""

import functools
import inspect
import sys
from typing import TypeVar

from msnb.common.arguments import explain_misfit
from msnb.common.kinds.kind import kind_of
from msnb.common.kinds.readable import readable

_Function = TypeVar("_Function")


def checked(function: _Function) -> _Function:
    """Decorator that checks each argument whose annotation declares a Kind. The function gets the normal form of the
    argument.

    Error messages name the function, or the class of a constructor. Defaults are not checked. A wrong number of
    arguments or an unknown name raises the same error as under `arguments.answered`.
    """
    kinds = []
    for index, p in enumerate(inspect.signature(function, eval_str=True).parameters.values()):
        kind = kind_of(p.annotation)
        if kind is not None:
            kinds.append((sys.maxsize if p.kind is p.KEYWORD_ONLY else index, p.name, kind))
    constructor = function.__name__ == "__init__"

    @functools.wraps(function)
    def call(*args, **kwargs):
        op = type(args[0]).__name__ if constructor else function.__name__
        try:
            checked_args = list(args)
            for index, name, kind in kinds:
                if index < len(checked_args):
                    checked_args[index] = kind(checked_args[index], name, op)
                elif name in kwargs:
                    kwargs[name] = kind(kwargs[name], name, op)
            return function(*checked_args, **kwargs)
        except (TypeError, ValueError):
            sentence = explain_misfit(function, call, args, kwargs)
            # the arguments fit: a Kind refused a value, or the error comes from the function's body
            if sentence is None:
                raise
        raise TypeError(sentence)

    return readable(call)
