"""Gradients that users register for their operators: `bprop_getters`, as libraries for r1.1 import it."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.eager.tape import dense
from msnb.core.operator.primitive import DeclaredPrimitive, Primitive
from msnb.core.state import trace_state
from msnb.core.support.type_promotion import is_inexact
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread


class Registry(dict[str | type, Callable[..., Any]]):
    """A dict from an operator, given by class or name, to the function that the user registered for it."""

    def register(self, prim: str | type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator that registers a function for an operator.

        Args:
            prim (Union[str, type]): The class of the operator, derived from PrimitiveWithInfer, or its name.

        Raises:
            TypeError: If `prim` is neither the class of an operator nor a name.
            ValueError: If `prim` is the class of one of MindSpore's operators, which have gradients already.
        """
        if not isinstance(prim, str) and not (isinstance(prim, type) and issubclass(prim, Primitive)):
            raise TypeError(f"A gradient is registered for the class of an operator or its name, but got {prim!r}.")
        if isinstance(prim, type) and issubclass(prim, DeclaredPrimitive):
            raise ValueError(f"The operator {prim.__name__} has a gradient; derive an operator for another one.")

        def store(fn: Callable[..., Any]) -> Callable[..., Any]:
            self[prim] = fn
            return fn

        return store

    def get(self, prim: Any, default: Any = None) -> Any:
        """Return the entry for the operator `prim`: of its class, else of its name, else `default`."""
        if isinstance(prim, str):
            return super().get(prim, default)
        return super().get(type(prim), super().get(prim.name, default))


bprop_getters = Registry()


def with_bprop(prim: Primitive, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return `kernel` (of arrays) with the gradient registered for `prim`, or unchanged.

    A getter takes the operator and returns ``bprop(*inputs, out, dout)``, which returns a gradient for each input. The
    class may define one as its method `get_bprop`.
    """
    getter = getattr(prim, "bprop_getter", None) or bprop_getters.get(prim) or getattr(type(prim), "get_bprop", None)
    if getter is None:
        return kernel
    run = jax.custom_vjp(kernel)

    def forward(*arrays):
        out = kernel(*arrays)
        return out, (arrays, out)

    def back(saved, cotangents):
        arrays, out = saved
        with trace_state.TraceFrame((), (), _thread.frame):
            inputs = [box(a) for a in arrays]
            grads = getter(prim)(*inputs, _box_output(out), _box_output(cotangents))
        grads = grads if isinstance(grads, tuple) else (grads,)
        if len(grads) != len(arrays):
            raise TypeError(
                f"The gradient registered for '{prim.name}' should return one Tensor per input ({len(arrays)}), but "
                f"returned {len(grads)}."
            )
        return tuple(map(_to_cotangent, map(dense, grads), arrays))

    run.defvjp(forward, back)
    return functools.wraps(kernel)(lambda *arrays: run(*arrays))


def _box_output(out):
    return tuple(map(box, out)) if isinstance(out, tuple) else box(out)


def _to_cotangent(grad, array):
    if not is_inexact(array.dtype):
        return np.zeros(array.shape, jax.dtypes.float0)
    return grad._array.astype(array.dtype) if isinstance(grad, Tensor) else jnp.zeros(array.shape, array.dtype)
