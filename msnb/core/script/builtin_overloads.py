"""Python's builtins in converted code, where their arguments may be Tensors that are not known yet."""

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from msnb.core.errors.messages import describe
from msnb.core.errors.messages import format_location as show_place
from msnb.core.script.calls import call, replace_builtin
from msnb.core.tensor.conversion import to_array
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.tensor.tensor import is_traced as dynamic


def to_tensor(value: Any) -> Tensor:
    """`value` as a Tensor."""
    return value if isinstance(value, Tensor) else box(to_array(value))


def boolean(value: Any, place: tuple[Any, ...] | None) -> jax.Array:
    """The 0-D bool array of a condition.

    Raises:
        ValueError: If the Tensor has more than one element.
    """
    array = value._array
    if array.size != 1:
        where = f"{show_place(*place)}: " if place else ""
        raise ValueError(
            f"{where}a condition should be a Tensor with one element, but got {describe(value)}; use .any() or .all()."
        )
    array = array.reshape(()) if array.ndim else array
    return array if array.dtype == bool else array != 0


def equal_items(a: Any, b: Any) -> Any:
    """``a == b`` as `in` means it: one truth value."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        if not isinstance(a, (Tensor, int, float)) or not isinstance(b, (Tensor, int, float)):
            return False
        return box(jnp.all(to_tensor(a)._array == to_tensor(b)._array))
    return a == b


class DynamicRange:
    """``range`` with a bound that is a traced Tensor; only `for` can run over it."""

    def __init__(self, *bounds: Any) -> None:
        for bound in bounds:
            if isinstance(bound, Tensor) and bound.size != 1:
                raise TypeError(f"range() takes integers and Tensors with one element, but got {describe(bound)}.")
        start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1) if len(bounds) == 2 else bounds
        self.start = start
        self.stop: Any = stop
        self.step = step

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("A range whose length is a Tensor can only be looped over by a 'for' statement in a graph.")


@replace_builtin(range)
def range_(*bounds: Any) -> Any:
    """``range``."""
    if builtins.any(dynamic(b) for b in bounds):
        return DynamicRange(*bounds)
    return range(*[int(b) if isinstance(b, Tensor) else b for b in bounds])


def _cast(builtin, dtype):
    def convert(*args):
        if args and dynamic(args[0]):
            value = args[0]
            if value.size != 1:
                raise ValueError(f"{builtin.__name__}() needs a Tensor with one element, but got {describe(value)}.")
            array = value._array.reshape(())
            return box(array != 0 if builtin is bool else array.astype(dtype))
        return builtin(*args)

    convert.__name__ = builtin.__name__
    replace_builtin(builtin)(convert)


_cast(int, jnp.int64)
_cast(float, jnp.float32)
_cast(bool, jnp.bool_)


def _extreme(builtin, beats):
    def pick(*args, **kwargs):
        items = list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)
        if len(args) == 1 and dynamic(args[0]):
            return box((jnp.max if builtin is max else jnp.min)(args[0]._array))
        if kwargs or not builtins.any(dynamic(i) for i in items):
            return builtin(*args, **kwargs)
        result = to_tensor(items[0])
        for item in items[1:]:
            item = to_tensor(item)
            a, b = result._array, item._array
            result = box(jnp.where(beats(b, a), b, a))  # of equal ones the first, which so has the whole gradient
        return result

    pick.__name__ = builtin.__name__
    replace_builtin(builtin)(pick)


_extreme(max, jnp.greater)
_extreme(min, jnp.less)


def _ends(iterables):
    """Whether a walk over these side by side is known to end."""
    return builtins.any(hasattr(iterable, "__len__") for iterable in iterables)


@replace_builtin(isinstance)
def isinstance_(value: Any, kinds: Any) -> bool:
    """``isinstance``; a number that is an input is no Tensor, although the graph has one for it."""
    if dynamic(value) and not value._array.ndim and value._array.weak_type:
        return builtins.isinstance(0.0, kinds)
    return builtins.isinstance(value, kinds)


@replace_builtin(map)
def map_(fn: Callable[..., Any], *iterables: Any) -> tuple[Any, ...] | Iterator[Any]:
    """``map``, with the function converted; of what ends a tuple, as in MindSpore's graphs: it has a length, may be
    walked over twice, and be returned."""
    found = builtins.map(call(fn), *iterables)
    return tuple(found) if _ends(iterables) else found


@replace_builtin(zip)
def zip_(*iterables: Any, **strict: Any) -> tuple[Any, ...] | Iterator[Any]:
    """``zip``, a tuple where `map` is one."""
    found = builtins.zip(*iterables, **strict)
    return tuple(found) if _ends(iterables) else found


@replace_builtin(filter)
def filter_(fn: Callable[..., Any] | None, iterable: Any) -> list[Any] | Iterator[Any]:
    """``filter``, with the function converted; of what ends a list, as in MindSpore's graphs."""
    found = builtins.filter(call(fn) if fn is not None else None, iterable)
    return list(found) if _ends((iterable,)) else found


@replace_builtin(any)
def any_(iterable: Any) -> Any:
    """``any``: a Tensor where an element is traced."""
    return _fold(iterable, builtins.any, jnp.logical_or)


@replace_builtin(all)
def all_(iterable: Any) -> Any:
    """``all``: a Tensor where an element is traced."""
    return _fold(iterable, builtins.all, jnp.logical_and)


def _fold(iterable, builtin, combine):
    items = list(iterable)
    if not builtins.any(dynamic(i) for i in items):
        return builtin(items)
    result: Any = None
    for item in items:
        array = boolean(to_tensor(item), None)
        result = array if result is None else combine(result, array)
    return box(result)


@replace_builtin(enumerate)
def enumerate_(iterable: Any, start: int = 0) -> Any:
    """``enumerate``, a tuple where `map` is one; `start` has to be an int known while tracing."""
    if isinstance(start, Tensor) and not dynamic(start):
        start = int(start)
    if not isinstance(start, int):
        raise TypeError(f"For 'enumerate', the 'start' should be an int, but got {describe(start)}.")
    found = builtins.enumerate(iterable, start)
    return tuple(found) if _ends((iterable,)) else found
