"""Hints for MindSpore's compiler that XLA does not need; msnb accepts them.

Programs for MindSpore 1.5 and later use them to mark classes for `construct`, to mark Cells that are compiled once,
and to limit the depth of calls.
"""

import gc
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msnb import context, log
from msnb.core.errors.messages import describe
from msnb.core.tensor.conversion import Boxed

__all__ = ["jit_class", "ms_class", "lazy_inline", "mutable", "no_inline", "set_recursion_limit", "ms_memory_recycle"]

_Class = TypeVar("_Class", bound=type)
_Value = TypeVar("_Value")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def jit_class(cls: _Class) -> _Class:
    """Decorator that marks a class for use in `construct`. In msnb any class may be used there.

    Args:
        cls (type): The class. It must not be a Cell.

    Returns:
        type, the class.

    Raises:
        TypeError: If `cls` is not a class, or is a Cell.

    Examples:
        >>> @jit_class
        ... class Twice:
        ...     def __call__(self, x):
        ...         return 2 * x
    """
    if not isinstance(cls, type):
        raise TypeError(f"For 'jit_class', 'cls' should be a class, but got {describe(cls)}.")
    if hasattr(cls, "construct") and hasattr(cls, "_graph_call"):
        raise TypeError(f"For 'jit_class', 'cls' should be no Cell, which is compiled as it is, but got {cls}.")
    cls.__ms_class__ = True  # type: ignore[attr-defined]
    return cls


ms_class = jit_class  # the name in MindSpore 1.7 to 2.0


def lazy_inline(
    fn: Callable[..., Any] | None = None, attrs: str | Sequence[str] | None = None, policy: str | None = None
) -> Any:
    """Decorator for `__init__` of a Cell that occurs often in a network and is to be compiled once.

    msnb traces equal Cells once in any case.

    Args:
        fn (Callable): The `__init__`. Default: None, returns a decorator.
        attrs (Union[str, list[str]]): Attributes by which MindSpore distinguishes such Cells. Default: None.
        policy (str): None or "front", the time of inlining in MindSpore. Default: None.

    Returns:
        Callable, `fn`.

    Raises:
        ValueError: If `fn` is not an `__init__`, or `policy` is neither None nor "front".
    """
    if policy not in (None, "front"):
        raise ValueError(f"For 'lazy_inline', 'policy' should be None or 'front', but got {policy!r}.")
    log.unused("lazy_inline", "equal Cells are traced once in any case", attrs=attrs is not None, policy=policy)
    if fn is None:
        return lazy_inline
    if inspect.isclass(fn) or getattr(fn, "__name__", "") != "__init__":
        raise ValueError(f"'lazy_inline' decorates the __init__ of a Cell, but got {describe(fn)}.")
    return fn


def mutable(input_data: _Value, dynamic_len: bool = False) -> _Value:
    """Mark a value that changes from call to call, so that MindSpore does not compile it as a constant.

    In msnb, Tensors, also inside tuples, lists and dicts, are always inputs of a graph and have gradients. msnb
    compiles a graph for each value of a number and each length of a tuple or list. Pass a number as a Tensor of one
    element to avoid that.

    Args:
        input_data (Union[Tensor, bool, int, float, tuple, list, dict]): The value.
        dynamic_len (bool): True if the length of the tuple or list changes between calls. No effect. Default: False.

    Returns:
        The value, unchanged.

    Raises:
        TypeError: If `input_data` is or contains a value of another type, or `dynamic_len` is not a bool.
        ValueError: If `dynamic_len` is True and `input_data` is not a tuple or list.

    Examples:
        >>> print(mindspore.mutable((Tensor(1.0), 2))[1])
        2
    """
    _check_mutable(input_data)
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"For 'mutable', 'dynamic_len' should be a bool, but got {describe(dynamic_len)}.")
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise ValueError(f"For 'mutable', a length may change of a tuple or list, but got {describe(input_data)}.")
    log.unused("mutable", "a graph is compiled for each length", dynamic_len=dynamic_len)
    return input_data


def _check_mutable(value):
    if isinstance(value, (tuple, list)):
        for item in value:
            _check_mutable(item)
    elif isinstance(value, dict):
        for item in value.values():
            _check_mutable(item)
    elif isinstance(value, (bool, int, float)):
        log.once("mutable: a graph is compiled for each number; a Tensor of one element spares that.")
    elif not isinstance(value, Boxed):
        raise TypeError(
            f"For 'mutable', 'input_data' should be made of Tensors and numbers, but got {describe(value)}."
        )


def no_inline(fn: Callable[..., Any] | None = None) -> Any:
    """Decorator for a function that MindSpore keeps as a separate graph. In msnb, XLA decides about inlining.

    Args:
        fn (Callable): The function. Default: None, returns a decorator.

    Returns:
        Callable, `fn`.

    Raises:
        ValueError: If `fn` is not a function.
    """
    if fn is None:
        return no_inline
    if not inspect.isfunction(fn):
        raise ValueError(f"'no_inline' decorates a function, but got {describe(fn)}.")
    return fn


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Set the maximum depth of nested calls in a graph, as `set_context(max_call_depth=...)` does.

    In msnb only Python's own recursion limit has an effect.

    Args:
        recursion_limit (int): The depth, positive. Default: 1000.

    Raises:
        TypeError: If it is not an int.
        ValueError: If it is not positive.
    """
    context.set_context(max_call_depth=recursion_limit)


def disable_multi_thread() -> None:
    """Do nothing: XLA always computes with threads. In MindSpore it stops PYNATIVE mode from starting threads."""
    log.once("disable_multi_thread has no effect here: XLA computes with threads of its own.")


def ms_memory_recycle() -> None:
    """Run Python's garbage collector, which frees networks that are no longer referenced.

    Programs and Parameters are freed with their Cell.
    """
    gc.collect()


def _function_forbid_reuse(func):
    """Return a function as it is. MindSpore must not share the graphs of its calls, for example those of random draws.
    Here each call is traced by itself, so no graph is shared.
    """
    if not inspect.isfunction(func):
        raise TypeError(f"'_function_forbid_reuse' decorates functions, but got {func!r}.")
    return func
