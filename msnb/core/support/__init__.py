"""Helpers without Tensors: type promotion, interrupts, weak references by identity, an LRU cache.

`fork_guard`, `interrupts`, `print_redirect` and `stack_headroom` are imported by their own names.
"""

from msnb.core.support.lru_cache import LruCache
from msnb.core.support.type_promotion import broadcast_check, is_float, is_inexact, np_dtype, promote, result_type
from msnb.core.support.unknown_shape import UnknownShape, make_unknown_shape
from msnb.core.support.weak_identity import ObjectKey, WeakIdentityDict, attach, attached, weakly

__all__ = [
    "LruCache",
    "ObjectKey",
    "UnknownShape",
    "WeakIdentityDict",
    "attach",
    "attached",
    "broadcast_check",
    "is_float",
    "is_inexact",
    "make_unknown_shape",
    "np_dtype",
    "promote",
    "result_type",
    "weakly",
]
