"""JAX's primitives in ONNX: what an operator without a lowering of its own is written as.

Each function takes the inputs and the parameters of one equation. Names and meanings are those of `jax.lax`.
"""

from . import shapes  # noqa: F401 - registers
from .elements import arithmetic, cast_as_xla, compare
from .reductions import reduced
from .shapes import start_of

__all__ = ["arithmetic", "cast_as_xla", "compare", "reduced", "start_of"]
