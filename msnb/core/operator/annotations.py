"""Annotations ("marks") of a Primitive beyond the attributes of its operator, such as a sharding strategy or a stage.

Marks do not change results. The node of a call in the graph shows them, so calls with different marks are different
nodes. A program that was compiled before a mark was set is compiled again.
"""

import copy
from typing import TYPE_CHECKING, Any

from msnb.common.kinds import hashable
from msnb.core.state import trace_state
from msnb.core.support.lru_cache import LruCache

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.operator.operator_types import Operator

_NOT_MARKS = frozenset(("input_names", "output_names"))  # attributes that every operator of MindSpore has


def annotations_of(attrs: dict[str, Any], attributes: dict[str, Any]) -> dict[str, Any]:
    """Return {name: value} of the marks among a Primitive's `attrs`.

    `attributes` are those of its operator. A value of None, such as ``stage=None``, is not a mark.
    """
    return {
        name: value
        for name, value in attrs.items()
        if name not in attributes and name not in _NOT_MARKS and value is not None
    }


def with_annotations(op: "Operator", marks: dict[str, Any]) -> "Operator":
    """Return a copy of the operator `op` for calls with `marks`. It has its own kernels, named after the marks."""
    if not marks:
        return op
    copies = op.__dict__.setdefault("_marked", LruCache())
    try:
        key = tuple([(name, type(value), hashable(value)) for name, value in marks.items()])
        cached = copies.get(key) or copies.recall(key)
    except TypeError:  # an unhashable value: this Primitive gets its own operator
        return _copy_with_marks(op, marks)
    return cached or copies.keep(key, _copy_with_marks(op, marks))


def _copy_with_marks(op, marks):
    marked = copy.copy(op)
    marked.marks = marks
    marked.kernels = LruCache()
    marked.__dict__.pop("_marked", None)
    if marked.traced is not None:
        marked.traced = marked.traced.renew()
    return marked


def count_change(primitive: object) -> None:
    """Record that an attribute or mark of `primitive` has changed, so that graphs with it are traced again."""
    primitive.__dict__["_changes"] = primitive._changes + 1
    trace_state.epoch.bump()


def changes(value: object) -> int | None:
    """Return how often the attributes of a Primitive have changed; None for any other object."""
    return getattr(value, "_changes", None) if hasattr(type(value), "add_prim_attr") else None
