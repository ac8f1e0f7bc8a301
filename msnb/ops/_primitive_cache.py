"""`_get_cache_prim`, a cache of operator objects by their attributes. Libraries for MindSpore 2 import it."""

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["_get_cache_prim"]


def _get_cache_prim(cls: type) -> Callable[..., Any]:
    """Return a function that takes the attributes of `cls` and returns an operator. Equal attributes give the same
    cached object.

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
            return _create_cached_primitive(cls, args, tuple(sorted(kwargs.items())))
        except TypeError:  # an attribute is not hashable, such as a list, so the operator is not cached
            return cls(*args, **kwargs)

    return make


@functools.lru_cache(maxsize=512, typed=True)
def _create_cached_primitive(cls, args, kwargs):
    return cls(*args, **dict(kwargs))
