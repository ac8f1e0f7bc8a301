"""Flatten and rebuild nested tuples, lists, dicts and sparse Tensors with leaves of any type."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.tensor.sparse import KINDS

_LEAF = object()


def flatten(value: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """Return (leaves, rebuild): the leaves in order, and a function that rebuilds the nesting with other leaves."""
    leaves = []
    spec = _collect_leaves(value, leaves)

    def rebuild(new):
        return _rebuild_value(spec, iter(new))

    return leaves, rebuild


def structure(value: Any) -> Any:
    """Return a hashable description of the nesting."""
    return _to_hashable(_collect_leaves(value, []))


def _collect_leaves(value, leaves):
    kind = type(value)
    if kind is tuple or kind is list:
        return kind, [_collect_leaves(v, leaves) for v in value]
    if kind is dict or kind is OrderedDict:
        return kind, [(k, _collect_leaves(v, leaves)) for k, v in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind, [_collect_leaves(v, leaves) for v in value]
    if kind in KINDS:
        return (kind, value.dense_shape), [_collect_leaves(getattr(value, name), leaves) for name in kind._columns]
    leaves.append(value)
    return _LEAF


def _rebuild_value(spec, leaves):
    if spec is _LEAF:
        return next(leaves)
    kind, children = spec
    if kind is tuple or kind is list:
        return kind([_rebuild_value(c, leaves) for c in children])
    if kind is dict or kind is OrderedDict:
        return kind([(k, _rebuild_value(c, leaves)) for k, c in children])
    fields = [_rebuild_value(c, leaves) for c in children]
    if type(kind) is tuple:  # a sparse Tensor, whose dense shape is static
        kind, dense_shape = kind
        return kind._from_components(*fields, dense_shape)
    return kind(*fields)


def _to_hashable(spec):
    if spec is _LEAF:
        return 0
    kind, children = spec
    if kind in (dict, OrderedDict):
        return kind, tuple((k, _to_hashable(c)) for k, c in children)
    return kind, tuple(_to_hashable(c) for c in children)
