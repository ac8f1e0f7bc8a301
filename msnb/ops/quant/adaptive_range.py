"""Simulated quantisation of weights. The range follows from their smallest and largest values."""

import jax.numpy as jnp

from msnb.common.kinds import Bool
from msnb.core.operator.cases import F, U, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._upcast import widened
from msnb.ops.quant._grid import straight_through
from msnb.ops.quant.universal_linear import LEAST, EightBits


@operator
def WtsARQ(w, w_min, w_max, *, num_bits: EightBits, offset_flag: Bool):
    """Rounds weights to the values that int8 can represent, for a range from the smallest to the largest weight.

    Args:
        num_bits (int): number of bits; only 8.
        offset_flag (bool): True shifts the integers so that all of them are used; False maps 0 to the integer 0.

    Inputs:
        - **w** (Tensor) - weights, float.
        - **w_min**, **w_max** (Tensor) - smallest and largest weights, with as many axes as `w`, each of the length in
          `w` or of length 1.

    Outputs:
        Tensor, shape and type of `w`. The gradient is passed to `w` unchanged; `w_min` and `w_max` get none.

    Raises:
        TypeError: If an input is not a float Tensor.
        ValueError: If `w_min` or `w_max` does not broadcast to the shape of `w`.
    """
    for name, value in (("w", w), ("w_min", w_min), ("w_max", w_max)):
        _check.dtype_in("WtsARQ", name, value, _check.FLOAT)
        if value.ndim != w.ndim or any(n not in (1, m) for n, m in zip(value.shape, w.shape)):
            raise ValueError(
                f"For 'WtsARQ', '{name}' should have {w.ndim} dimensions, each of length 1 or that of 'w' {w.shape}, "
                f"but got shape {value.shape}."
            )
    low, high = jnp.minimum(widened(w_min), 0), jnp.maximum(widened(w_max), 0)
    first, last = -(2 ** (num_bits - 1)), 2 ** (num_bits - 1) - 1
    scale = (high - low) / (last - first) if offset_flag else jnp.maximum(low / first, high / last)
    scale = jnp.where(scale < LEAST, 1.0, scale)
    offset = first - jnp.round(low / scale) if offset_flag else 0
    steps = jnp.clip(jnp.round(widened(w) / scale) + offset, first, last)
    value = ((steps - offset) * scale).astype(w.dtype)
    return straight_through(w, value, jnp.ones(w.shape, bool))


_STAIRCASE = "the gradient is that of the identity, not of the staircase"

CASES = [
    case(WtsARQ, F(3, 4), F(3, 1, low=-2, high=-1), U(3, 1), num_bits=8, offset_flag=True).without(
        "differences", _STAIRCASE
    ),
    case(WtsARQ, F(3, 4), F(1, 1, low=-2, high=-1), U(1, 1), num_bits=8, offset_flag=False).without(
        "differences", _STAIRCASE
    ),
    refused(ValueError, WtsARQ, num_bits=4, offset_flag=True),
    refused(ValueError, WtsARQ, F(3, 4), F(2, 1), U(2, 1), num_bits=8, offset_flag=True),
]
