"""Lowerings of JAX primitives to ONNX, used for the kernels of operators without a lowering.

Each function takes the inputs and the parameters of one equation. Primitives and their parameters have the names and
meanings of `jax.lax`.
"""

from . import shapes  # noqa: F401 - registers
from .elements import arithmetic, cast_as_xla, compare
from .reductions import reduced
from .shapes import clamped_starts

__all__ = ["arithmetic", "cast_as_xla", "clamped_starts", "compare", "reduced"]
