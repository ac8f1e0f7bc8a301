"""Nested tuples, lists, dicts and sparse Tensors, of Tensors and anything else: apart and together again."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.tensor.sparse import KINDS

_LEAF = object()


def flatten(value: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """(leaves, rebuild): the leaves in order, and the function that puts other leaves in their place."""
    leaves = []
    spec = _take(value, leaves)

    def rebuild(new):
        return _put(spec, iter(new))

    return leaves, rebuild


def structure(value: Any) -> Any:
    """A hashable description of the nesting."""
    return _freeze(_take(value, []))


def _take(value, leaves):
    kind = type(value)
    if kind is tuple or kind is list:
        return kind, [_take(v, leaves) for v in value]
    if kind is dict or kind is OrderedDict:
        return kind, [(k, _take(v, leaves)) for k, v in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind, [_take(v, leaves) for v in value]
    if kind in KINDS:
        return (kind, value.dense_shape), [_take(getattr(value, name), leaves) for name in kind._columns]
    leaves.append(value)
    return _LEAF


def _put(spec, leaves):
    if spec is _LEAF:
        return next(leaves)
    kind, children = spec
    if kind is tuple or kind is list:
        return kind([_put(c, leaves) for c in children])
    if kind is dict or kind is OrderedDict:
        return kind([(k, _put(c, leaves)) for k, c in children])
    parts = [_put(c, leaves) for c in children]
    if type(kind) is tuple:  # a sparse Tensor, whose shape is no value of the graph
        kind, dense_shape = kind
        return kind._of(*parts, dense_shape)
    return kind(*parts)


def _freeze(spec):
    if spec is _LEAF:
        return 0
    kind, children = spec
    if kind in (dict, OrderedDict):
        return kind, tuple((k, _freeze(c)) for k, c in children)
    return kind, tuple(_freeze(c) for c in children)
