"""Decide if a GPU may round the factors of float32 products to TF32, which has 10 mantissa bits instead of 23.

XLA rounds them by default, which leaves three digits. MindSpore rounds in convolutions and not in matrix products;
`set_context(gpu_config=...)` changes that. The rule applies to operators only. Code that the user runs with JAX keeps
JAX's precision, and ``jax_default_matmul_precision``, if set, applies to operators too. CPUs always compute in float32.
TPUs keep XLA's default, because Ascend chips of r1.1 round these factors as well.
"""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from msnb import context

_FULL = (jax.numpy.float32, jax.numpy.complex64)
EXACT = lax.Precision.HIGHEST  # also for products with a matrix of 0 and 1, which only move values
_traced_for = None  # result of `allowed` at the last trace of an operator


def allowed() -> tuple[bool, bool]:
    """Return (matrix products, convolutions): for each, True if it may use TF32 for float32 on the current device.

    Both are True without a GPU.
    """
    if context.device().platform != "gpu":
        return True, True
    config = context._state.gpu_config
    return config.get("matmul_allow_tf32", False), config.get("conv_allow_tf32", True)


def products(arrays: Sequence[Any]) -> contextlib.AbstractContextManager[None]:
    """Return a context manager that sets the precision of matrix products while an operator on `arrays` is traced."""
    global _traced_for
    _traced_for = allowed()
    is_decided = _traced_for[0] or jax.config.jax_default_matmul_precision is not None
    if is_decided or not any(getattr(a, "dtype", None) in _FULL for a in arrays):
        return contextlib.nullcontext()
    return jax.default_matmul_precision("highest")


def of_convolutions() -> lax.Precision | None:
    """Return the precision of a convolution that is lowered now; None for the default of XLA or of the user."""
    return None if allowed()[1] or jax.config.jax_default_matmul_precision is not None else EXACT


def on_change(clear_traces: Callable[[], Any]) -> None:
    """Register a function that is called when traced operators would now have another precision."""

    def compare(_):
        if _traced_for not in (None, allowed()):
            clear_traces()

    for key in ("device_target", "device_id", "gpu_config"):
        context.on_change(key, compare)
