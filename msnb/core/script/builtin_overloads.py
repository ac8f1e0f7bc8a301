"""Python's builtins in converted code, where arguments may be traced Tensors."""

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.errors.messages import format_location as format_location
from msnb.core.script.calls import call, replace_builtin
from msnb.core.state.trace_state import thread
from msnb.core.tensor.conversion import to_array
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.tensor.tensor import is_traced as dynamic


def to_tensor(value: Any) -> Tensor:
    """Return `value` as a Tensor."""
    return value if isinstance(value, Tensor) else box(to_array(value))


def boolean(value: Any, location: tuple[Any, ...] | None) -> jax.Array:
    """Return the value of a condition as a 0-D bool array.

    Raises:
        ValueError: If the Tensor has more than one element.
    """
    array = value._array
    if array.size != 1:
        where = f"{format_location(*location)}: " if location else ""
        raise ValueError(
            f"{where}a condition should be a Tensor with one element, but got {describe(value)}; use .any() or .all()."
        )
    array = array.reshape(()) if array.ndim else array
    return array if array.dtype == bool else array != 0


def equal_items(a: Any, b: Any) -> Any:
    """Return ``a == b`` as one truth value, as `in` uses it."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        if not isinstance(a, (Tensor, int, float)) or not isinstance(b, (Tensor, int, float)):
            return False
        return box(jnp.all(to_tensor(a)._array == to_tensor(b)._array))
    return a == b


class DynamicRange:
    """A ``range`` with a traced Tensor as bound; only a `for` statement can iterate over it."""

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
    """Return ``range(*bounds)``, a `DynamicRange` if a bound is traced."""
    if builtins.any(dynamic(b) for b in bounds):
        return DynamicRange(*bounds)
    return range(*[int(b) if isinstance(b, Tensor) else b for b in bounds])


def _register_cast_overload(builtin, dtype):
    def convert(*args):
        if args and dynamic(args[0]):
            value = args[0]
            if value.size != 1:
                raise ValueError(f"{builtin.__name__}() needs a Tensor with one element, but got {describe(value)}.")
            array = value._array.reshape(())
            return box(array != 0 if builtin is bool else array.astype(dtype))
        return builtin(*_unpack_arrays(args))

    convert.__name__ = builtin.__name__
    replace_builtin(builtin)(convert)


_register_cast_overload(int, jnp.int64)
_register_cast_overload(float, jnp.float32)
_register_cast_overload(bool, jnp.bool_)


def _unpack_arrays(args):
    """Return `args` with the element in place of a NumPy array of one element, which NumPy 2.4 converts in 0-D only."""
    return [a.item() if isinstance(a, np.ndarray) and a.ndim and a.size == 1 else a for a in args]


@replace_builtin(complex)
def complex_(*args: Any, **kwargs: Any) -> complex:
    """Return ``complex(*args)``."""
    return complex(*_unpack_arrays(args), **kwargs)


def _is_tensor(value):
    return isinstance(value, Tensor)


def _register_extremum_overload(builtin, beats):
    def pick(*args, **kwargs):
        items = list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)
        is_value = dynamic if thread.frame is None else _is_tensor  # a trace also makes results of constants dynamic
        if len(args) == 1 and is_value(args[0]):
            return box((jnp.max if builtin is max else jnp.min)(args[0]._array))
        if kwargs or not builtins.any(map(is_value, items)):
            return builtin(*args, **kwargs)
        result = to_tensor(items[0])
        for item in items[1:]:
            item = to_tensor(item)
            a, b = result._array, item._array
            result = box(jnp.where(beats(b, a), b, a))  # if items are equal, the first gets the gradient
        return result

    pick.__name__ = builtin.__name__
    replace_builtin(builtin)(pick)


_register_extremum_overload(max, jnp.greater)
_register_extremum_overload(min, jnp.less)


def _has_finite_iterable(iterables):
    """Return True if iterating over these in parallel is known to end."""
    return builtins.any(hasattr(iterable, "__len__") for iterable in iterables)


@replace_builtin(isinstance)
def isinstance_(value: Any, kinds: Any) -> bool:
    """Return ``isinstance(value, kinds)``. A Python number that is an input of the graph counts as a float."""
    if dynamic(value) and not value._array.ndim and value._array.weak_type:
        return builtins.isinstance(0.0, kinds)
    return builtins.isinstance(value, kinds)


@replace_builtin(map)
def map_(fn: Callable[..., Any], *iterables: Any) -> tuple[Any, ...] | Iterator[Any]:
    """Return ``map(fn, *iterables)`` with the function converted.

    Over finite iterables the result is a tuple, as in MindSpore's graphs: it has a length, can be iterated twice,
    and can be returned.
    """
    result = builtins.map(call(fn), *iterables)
    return tuple(result) if _has_finite_iterable(iterables) else result


@replace_builtin(zip)
def zip_(*iterables: Any, **strict: Any) -> tuple[Any, ...] | Iterator[Any]:
    """Return ``zip(*iterables)``, a tuple over finite iterables, like `map_`."""
    result = builtins.zip(*iterables, **strict)
    return tuple(result) if _has_finite_iterable(iterables) else result


@replace_builtin(filter)
def filter_(fn: Callable[..., Any] | None, iterable: Any) -> list[Any] | Iterator[Any]:
    """Return ``filter(fn, iterable)`` with the function converted, a list over finite iterables, as in MindSpore's
    graphs.
    """
    result = builtins.filter(call(fn) if fn is not None else None, iterable)
    return list(result) if _has_finite_iterable((iterable,)) else result


@replace_builtin(any)
def any_(iterable: Any) -> Any:
    """Return ``any(iterable)``, a Tensor if an element is traced."""
    return _fold_bools(iterable, builtins.any, jnp.logical_or)


@replace_builtin(all)
def all_(iterable: Any) -> Any:
    """Return ``all(iterable)``, a Tensor if an element is traced."""
    return _fold_bools(iterable, builtins.all, jnp.logical_and)


def _fold_bools(iterable, builtin, combine):
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
    """Return ``enumerate(iterable, start)``, a tuple over a finite iterable. `start` must be known while tracing."""
    if isinstance(start, Tensor) and not dynamic(start):
        start = int(start)
    if not isinstance(start, int):
        raise TypeError(f"For 'enumerate', the 'start' should be an int, but got {describe(start)}.")
    result = builtins.enumerate(iterable, start)
    return tuple(result) if _has_finite_iterable((iterable,)) else result
