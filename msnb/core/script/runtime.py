"""Functions that lowered code calls: branches, boolean operators, item assignment, and builtins for Tensors.

If a condition is known while tracing, everything here is plain Python. Otherwise each branch is traced once into its
own jaxpr, the results are merged variable by variable, and `lax.cond` runs one branch.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from msnb.core.errors.messages import describe
from msnb.core.errors.messages import format_location as format_location
from msnb.core.script import convert_function, merge_branches
from msnb.core.script.assertions import assert_, check, raising, trying
from msnb.core.script.builtin_overloads import boolean, dynamic, equal_items, to_tensor
from msnb.core.script.calls import scoped_call as call
from msnb.core.script.conditionals import if_, if_expression, if_function, if_going, if_return
from msnb.core.script.guards import note_global
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
    "global_value",
    "has_global",
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
    """Return ``not value``."""
    if dynamic(value):
        return box(jnp.logical_not(boolean(value, None)))
    return not value


def and_(left: Any, right: Callable[[], Any]) -> Any:
    """Return ``left and right()``."""
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
    """Return ``left or right()``."""
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


def has_global(name: str) -> bool:
    """Return True if the module of the calling function has a global `name`."""
    return name in sys._getframe(1).f_globals


def global_value(name: str) -> Any:
    """Return the global `name` of the calling function's module, which becomes a guard of the trace.

    A graph resolves a name that has no local value yet as a global, where Python raises UnboundLocalError.
    """
    space = sys._getframe(1).f_globals
    note_global(space, name)
    return space[name]


def contains(item: Any, container: Any) -> Any:
    """Return ``item in container``; if Tensors are compared, a Tensor that is true if any element is equal."""
    if isinstance(container, (tuple, list)) and (dynamic(item) or any(dynamic(c) for c in container)):
        is_contained = False
        for other in container:
            is_equal = equal_items(item, other)
            is_contained = (
                or_(is_contained, lambda is_equal=is_equal: is_equal)
                if dynamic(is_contained) or dynamic(is_equal)
                else is_contained or bool(is_equal)
            )
        return is_contained
    return item in container


def attribute_of_super(above: Any, instance: Any, name: str) -> Any:
    """Return ``super().name``. An attribute that the constructor of a base class has set belongs to the instance."""
    try:
        return getattr(above, name)
    except AttributeError:
        if not hasattr(instance, name):
            raise
        return getattr(instance, name)


def get_item(container: Any, index: Any, location: tuple[Any, ...]) -> Any:
    """Return ``container[index]``. A traced Tensor can index a tuple, list or CellList."""
    if not dynamic(index) or isinstance(container, Tensor):
        return container[index]
    if not hasattr(container, "__len__") or isinstance(container, dict):
        return container[index]
    if index.size != 1 or index._array.dtype.kind not in "iub":
        raise TypeError(
            f"{format_location(*location)}: a {type(container).__name__} is indexed by one integer, but got "
            f"{describe(index)}."
        )
    items = [container[i] for i in range(len(container))]
    position = index._array.reshape(()).astype(jnp.int32)
    check(
        box((position >= -len(items)) & (position < len(items))),
        IndexError(f"The index is out of range for {len(items)} elements."),
        location,
    )
    position = jnp.where(position < 0, position + len(items), position)
    if all(callable(i) for i in items):
        return merge_branches.TensorChoice(items, position, location)
    try:
        arrays = [to_tensor(i)._array for i in items]
        return box(jnp.stack(arrays)[position])
    except (TypeError, ValueError):
        raise TypeError(
            f"A Tensor can only choose among functions, or among Tensors of one shape, but got {describe(container)}."
        ) from None


def get_part(target: Any, indices: Sequence[Any], location: tuple[Any, ...]) -> Any:
    """Return ``target[i][j]`` for a sequence of indices."""
    for index in indices:
        target = get_item(target, index, location)
    return target


def set_part(target: Any, indices: Sequence[Any], value: Any, location: tuple[Any, ...]) -> Any:
    """Return `target` after ``target[i][j] = value``.

    A Tensor is replaced by a new one, as in graphs, also inside its container. Other objects are mutated.
    """
    index, *rest = indices
    if rest:
        item = get_item(target, index, location)
        value = set_part(item, rest, value, location)
        if value is item:
            return target
        if type(target) is tuple:
            items = list(target)
            items[index] = value
            return tuple(items)
    if type(target) is Tensor:
        updated = box(target._array)
        updated._node = target._node
        updated[index] = value
        return updated
    target[index] = value
    return target


def put_part(target: Any, indices: Sequence[Any], value: Any, location: tuple[Any, ...]) -> None:
    """Run ``target[i][j] = value`` for a name from outside the function; `target` is mutated."""
    index, *rest = indices
    item = get_item(target, index, location)
    value = set_part(item, rest, value, location)
    if value is not item:
        target[index] = value


def put_attribute(owner: Any, name: str, indices: Sequence[Any], value: Any, location: tuple[Any, ...]) -> None:
    """Run ``owner.name[i][j] = value``; the attribute is set again if it was not mutated."""
    target = getattr(owner, name)
    changed = set_part(target, indices, value, location)
    if changed is not target:
        setattr(owner, name, changed)


convert_function.set_runtime(sys.modules[__name__])
