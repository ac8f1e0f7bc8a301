"""`checked`: a function or a constructor whose annotated arguments are checked when it is called."""

import functools
import inspect
import sys
from typing import TypeVar

from msnb.common.arguments import misfit
from msnb.common.kinds.kind import kind_of
from msnb.common.kinds.readable import readable

_Function = TypeVar("_Function")


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

    return readable(call)
