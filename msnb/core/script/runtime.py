"""What lowered code calls: branches, boolean operators, item assignment, and builtins that know Tensors.

Where a condition is known while tracing, everything here is plain Python. Where it is not, each branch is traced once
into a jaxpr of its own, what the two leave behind is brought together variable by variable, and `lax.cond` runs one.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from msnb.core.errors.messages import describe
from msnb.core.errors.messages import format_location as show_place
from msnb.core.script import convert_function, merge_branches
from msnb.core.script.assertions import assert_, check, raising, trying
from msnb.core.script.builtin_overloads import boolean, dynamic, equal_items, to_tensor
from msnb.core.script.calls import scoped_call as call
from msnb.core.script.conditionals import if_, if_expression, if_function, if_going, if_return
from msnb.core.script.loops import for_, while_
from msnb.core.script.strings import formatted, percent, text
from msnb.core.script.undefined import MISSING, Undefined
from msnb.core.tensor.tensor import Tensor, box

__all__ = [
    "MISSING",
    "Undefined",
    "and_",
    "assert_",
    "call",
    "contains",
    "for_",
    "formatted",
    "get_item",
    "get_part",
    "if_",
    "if_expression",
    "if_function",
    "if_going",
    "if_return",
    "not_",
    "or_",
    "percent",
    "put_attribute",
    "put_part",
    "raising",
    "set_part",
    "text",
    "trying",
    "while_",
]


def not_(value: Any) -> Any:
    """``not value``."""
    if dynamic(value):
        return box(jnp.logical_not(boolean(value, None)))
    return not value


def and_(left: Any, right: Callable[[], Any]) -> Any:
    """``left and right()``."""
    if not dynamic(left):
        return left and right()
    right = right()
    if isinstance(right, Tensor) or isinstance(right, bool):
        return box(jnp.logical_and(boolean(left, None), boolean(to_tensor(right), None)))
    return merge_branches.select(
        boolean(left, None),
        merge_branches.Branch(lambda: (right,)),
        merge_branches.Branch(lambda: (left,)),
        ("and",),
        None,
    )[0]


def or_(left: Any, right: Callable[[], Any]) -> Any:
    """``left or right()``."""
    if not dynamic(left):
        return left or right()
    right = right()
    if isinstance(right, Tensor) or isinstance(right, bool):
        return box(jnp.logical_or(boolean(left, None), boolean(to_tensor(right), None)))
    return merge_branches.select(
        boolean(left, None),
        merge_branches.Branch(lambda: (left,)),
        merge_branches.Branch(lambda: (right,)),
        ("or",),
        None,
    )[0]


def contains(item: Any, container: Any) -> Any:
    """``item in container``; where Tensors are compared, whether any element is equal."""
    if isinstance(container, (tuple, list)) and (dynamic(item) or any(dynamic(c) for c in container)):
        found = False
        for other in container:
            same = equal_items(item, other)
            found = or_(found, lambda same=same: same) if dynamic(found) or dynamic(same) else found or bool(same)
        return found
    return item in container


def attribute_of_super(above: Any, instance: Any, name: str) -> Any:
    """Return ``super().name``; what the constructor of a base class has set belongs to the instance."""
    try:
        return getattr(above, name)
    except AttributeError:
        if not hasattr(instance, name):
            raise
        return getattr(instance, name)


def get_item(container: Any, index: Any, place: tuple[Any, ...]) -> Any:
    """``container[index]``: a tuple, list or CellList can be indexed by a traced Tensor."""
    if not dynamic(index) or isinstance(container, Tensor):
        return container[index]
    if not hasattr(container, "__len__") or isinstance(container, dict):
        return container[index]
    if index.size != 1 or index._array.dtype.kind not in "iub":
        raise TypeError(
            f"{show_place(*place)}: a {type(container).__name__} is indexed by one integer, but got {describe(index)}."
        )
    items = [container[i] for i in range(len(container))]
    position = index._array.reshape(()).astype(jnp.int32)
    check(
        box((position >= -len(items)) & (position < len(items))),
        IndexError(f"The index is out of range for {len(items)} elements."),
        place,
    )
    position = jnp.where(position < 0, position + len(items), position)
    if all(callable(i) for i in items):
        return merge_branches.Chosen(items, position, place)
    try:
        arrays = [to_tensor(i)._array for i in items]
        return box(jnp.stack(arrays)[position])
    except (TypeError, ValueError):
        raise TypeError(
            f"A Tensor can only choose among functions, or among Tensors of one shape, but got {describe(container)}."
        ) from None


def get_part(target: Any, indices: Sequence[Any], place: tuple[Any, ...]) -> Any:
    """``target[i][j]`` and so on."""
    for index in indices:
        target = get_item(target, index, place)
    return target


def set_part(target: Any, indices: Sequence[Any], value: Any, place: tuple[Any, ...]) -> Any:
    """`target` after ``target[i][j] = value``: a Tensor is rebound, as graphs have it, and put where it was taken from;
    anything else changes in place."""
    index, *rest = indices
    if rest:
        part = get_item(target, index, place)
        value = set_part(part, rest, value, place)
        if value is part:
            return target
        if type(target) is tuple:
            items = list(target)
            items[index] = value
            return tuple(items)
    if type(target) is Tensor:
        twin = box(target._array)
        twin._node = target._node
        twin[index] = value
        return twin
    target[index] = value
    return target


def put_part(target: Any, indices: Sequence[Any], value: Any, place: tuple[Any, ...]) -> None:
    """``target[i][j] = value`` of what a name from outside of the graph means: it changes in place."""
    index, *rest = indices
    part = get_item(target, index, place)
    value = set_part(part, rest, value, place)
    if value is not part:
        target[index] = value


def put_attribute(owner: Any, name: str, indices: Sequence[Any], value: Any, place: tuple[Any, ...]) -> None:
    """``owner.name[i][j] = value``: the attribute is set where it does not change in place."""
    target = getattr(owner, name)
    changed = set_part(target, indices, value, place)
    if changed is not target:
        setattr(owner, name, changed)


convert_function.set_runtime(sys.modules[__name__])
