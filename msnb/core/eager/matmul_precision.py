"""Whether a GPU may round the factors of float32 products to TF32, which has ten bits where float32 has 23.

XLA rounds them wherever nobody asks for more, and three digits are left. MindSpore lets convolutions do so and matrix
products not; `set_context(gpu_config=...)` says otherwise. This holds for operators: what the user computes with JAX is
computed as JAX does it. Whoever sets ``jax_default_matmul_precision`` gets that in operators too. A processor computes
in float32 in any case; a TPU is left as XLA has it, as Ascend chips of r1.1 round these factors as well.
"""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from msnb import context

_FULL = (jax.numpy.float32, jax.numpy.complex64)
EXACT = lax.Precision.HIGHEST  # for what moves values by multiplying them with ones
_traced_for = None  # what was allowed when an operator was traced last


def allowed() -> tuple[bool, bool]:
    """(matrix products, convolutions): which may be rounded on the device that computes; both where it is no GPU."""
    if context.device().platform != "gpu":
        return True, True
    config = context._state.gpu_config
    return config.get("matmul_allow_tf32", False), config.get("conv_allow_tf32", True)


def products(arrays: Sequence[Any]) -> contextlib.AbstractContextManager[None]:
    """Where an operator on `arrays` is traced, for its matrix products to be as exact as is asked for."""
    global _traced_for
    _traced_for = allowed()
    told = _traced_for[0] or jax.config.jax_default_matmul_precision is not None
    if told or not any(getattr(a, "dtype", None) in _FULL for a in arrays):
        return contextlib.nullcontext()
    return jax.default_matmul_precision("highest")


def of_convolutions() -> lax.Precision | None:
    """The precision of a convolution that is lowered now; None for XLA's own, or what the user has set for JAX."""
    return None if allowed()[1] or jax.config.jax_default_matmul_precision is not None else EXACT


def on_change(trace_anew: Callable[[], Any]) -> None:
    """Call `trace_anew()` when operators that were traced would have another precision now."""

    def compare(_):
        if _traced_for not in (None, allowed()):
            trace_anew()

    for key in ("device_target", "device_id", "gpu_config"):
        context.on_change(key, compare)
