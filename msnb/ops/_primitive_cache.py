"""`_get_cache_prim`: operators that are made once for each choice of attributes, as libraries for MindSpore 2 ask."""

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["_get_cache_prim"]


def _get_cache_prim(cls: type) -> Callable[..., Any]:
    """A function that makes an operator of class `cls`, and gives the one that it has made of the same attributes.

    Args:
        cls (type): A class of operators.

    Returns:
        Callable.

    Examples:
        >>> from mindspore.ops._primitive_cache import _get_cache_prim
        >>> _get_cache_prim(ops.ReduceSum)(True) is _get_cache_prim(ops.ReduceSum)(True)
        True
    """

    def make(*args: Any, **kwargs: Any) -> Any:
        try:
            return _made(cls, args, tuple(sorted(kwargs.items())))
        except TypeError:  # an attribute that cannot be looked up, such as a list
            return cls(*args, **kwargs)

    return make


@functools.lru_cache(maxsize=512, typed=True)
def _made(cls, args, kwargs):
    return cls(*args, **dict(kwargs))
