"""`constexpr`, and the base classes of operators, which are defined in `core.operator`."""

import functools

from msnb.core.errors.messages import describe
from msnb.core.operator.declare import spelling
from msnb.core.operator.primitive import DeclaredPrimitive, Primitive
from msnb.core.operator.primitive import _rebuild as _rebuild  # pickles refer to it here
from msnb.core.operator.user_primitive import PrimitiveWithCheck, PrimitiveWithInfer, prim_attr_register
from msnb.core.tensor.tensor import Tensor

__all__ = ["Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "constexpr", "prim_attr_register"]


@spelling(generation=1)
def constexpr(fn=None, get_instance=True, name=None, reuse_result=True, check=True):
    """Decorator for a function that computes with Python values while a graph is compiled.

    Args:
        fn (Callable): The function; it runs as plain Python and is not converted. Default: None.
        get_instance (bool): Whether to return the operator itself; otherwise a function that creates it. Default: True.
        name (str): Name of the operator. Default: None, that of the function.
        reuse_result (bool): No effect: the function runs each time a graph is traced. MindSpore 2 caches results if
            True. Default: True.
        check (bool): No effect. MindSpore 2 warns if an input is not a constant; msnb raises. Default: True.

    Returns:
        Callable.

    Raises:
        TypeError: If `fn` is not callable.

    Examples:
        >>> @ops.constexpr
        ... def last_but(shape, n):
        ...     return shape[:-n]
        >>> last_but((2, 3, 4), 1)
        (2, 3)
    """
    if fn is None:
        return functools.partial(
            constexpr, get_instance=get_instance, name=name, reuse_result=reuse_result, check=check
        )
    if not callable(fn):
        raise TypeError(f"For 'constexpr', 'fn' should be callable, but got {describe(fn)}.")

    @functools.wraps(fn)
    def compute(*args, **kwargs):
        result = fn(*args, **kwargs)
        return _detach_value(result)

    compute.name = name or fn.__name__
    return compute if get_instance else lambda: compute


def _detach_value(value):
    """Stop the gradient of `value`: the result of a constexpr is a constant."""
    if isinstance(value, Tensor) and value._node is not None:
        return Tensor(value)
    return value


_primexpr = constexpr  # MindSpore 2's variant also accepts values that are not constant; here they raise an error


def _run_op(obj, op_name, args):
    """Call a Primitive. A subclass calls this in its own `__call__`."""
    return DeclaredPrimitive.__call__(obj, *args) if isinstance(obj, DeclaredPrimitive) else obj(*args)
