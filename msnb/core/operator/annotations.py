"""Marks: what a Primitive was given beyond the attributes of its operator, such as a sharding strategy or a stage.

They change no result. A call shows them at its node, which makes two calls with different marks two nodes, and a
program that was compiled before a mark was set is compiled anew.
"""

import copy
from typing import TYPE_CHECKING, Any

from msnb.common.kinds import hashable
from msnb.core.state import trace_state
from msnb.core.support.lru_cache import LruCache

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.operator.operator_types import Operator

_SAID_ELSEWHERE = frozenset(("input_names", "output_names"))  # of every call, by MindSpore's own operators


def annotations_of(attrs: dict[str, Any], attributes: dict[str, Any]) -> dict[str, Any]:
    """{name: value} of the marks among a Primitive's `attrs`; `attributes` are those of its operator. A strategy or
    stage of None is none."""
    return {
        name: value
        for name, value in attrs.items()
        if name not in attributes and name not in _SAID_ELSEWHERE and value is not None
    }


def with_annotations(op: "Operator", marks: dict[str, Any]) -> "Operator":
    """The operator `op` as calls with `marks` (dict) run it: with kernels of their own, named after them."""
    if not marks:
        return op
    twins = op.__dict__.setdefault("_marked", LruCache())
    try:
        key = tuple([(name, type(value), hashable(value)) for name, value in marks.items()])
        found = twins.get(key) or twins.recall(key)
    except TypeError:  # a value without a hash: the operator is this Primitive's own
        return _twin(op, marks)
    return found or twins.keep(key, _twin(op, marks))


def _twin(op, marks):
    twin = copy.copy(op)
    twin.marks = marks
    twin.kernels = LruCache()
    twin.__dict__.pop("_marked", None)
    if "_opened" in twin.__dict__:
        twin._opened = {}
    return twin


def changed(primitive: object) -> None:
    """An attribute or mark of `primitive` is another now: the graphs that it stands in are to be traced anew."""
    primitive.__dict__["_changes"] = primitive._changes + 1
    trace_state.epoch.bump()


def changes(value: object) -> int | None:
    """How often the attributes of a Primitive have changed; None for any other object."""
    return getattr(value, "_changes", None) if hasattr(type(value), "add_prim_attr") else None
