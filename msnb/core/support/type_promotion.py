"""MindSpore's type promotion on JAX arrays, as a few exceptions to the rules of jnp.

With x64 on, jnp's standard promotion equals MindSpore's on every pair of Tensors that MindSpore accepts (225 pairs
measured). The exceptions: unsigned types wider than 8 bits do not mix with other types; a Python float and an integer
Tensor give float32; a Python int never widens a Tensor; dividing integers gives float32.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype

np_dtype: Callable[..., Any] = mstype.np_dtype
from_numpy_dtype: Callable[..., Any] = mstype.from_numpy_dtype

_LONE_UNSIGNED = frozenset(map(np.dtype, ("uint16", "uint32", "uint64")))
_BOOL = np.dtype(bool)
_F32 = np.dtype(np.float32)
_FLOATS = "fc"


def is_float(dtype: Any) -> bool:
    """Return True if `dtype` (numpy) is real floating point, bfloat16 included."""
    return jnp.issubdtype(dtype, jnp.floating)


def is_inexact(dtype: Any) -> bool:
    """Return True if `dtype` (numpy) is floating point or complex: JAX differentiates these types."""
    return jnp.issubdtype(dtype, jnp.inexact)


def name(dtype: Any) -> str:
    """Return MindSpore's name of a numpy or MindSpore dtype, for messages."""
    return str(dtype if isinstance(dtype, mstype.Type) else from_numpy_dtype(np.dtype(dtype)))


def _is_weakly_typed(x):
    return isinstance(x, (bool, int, float, complex)) or getattr(x, "weak_type", False)


def result_type(x: Any, y: Any, op: str) -> np.dtype:
    """Return the common numpy dtype of `x` and `y` by MindSpore's rules.

    Raises:
        TypeError: If MindSpore does not mix the two types.
    """
    dx, dy = jnp.result_type(x), jnp.result_type(y)
    wx, wy = _is_weakly_typed(x), _is_weakly_typed(y)
    if wx != wy:  # a Python scalar and a Tensor
        tensor, scalar = (dy, dx) if wx else (dx, dy)
        if tensor == _BOOL:
            return _F32 if is_float(scalar) else scalar
        if jnp.issubdtype(tensor, jnp.integer) and is_float(scalar):
            return _F32
        if jnp.issubdtype(scalar, jnp.complexfloating) and not jnp.issubdtype(tensor, jnp.complexfloating):
            return np.dtype(np.complex128 if tensor == np.float64 else np.complex64)
        return tensor
    if wx:  # two numbers
        common = np.dtype(jnp.promote_types(dx, dy))
        return np.dtype(np.complex64) if common.kind == "c" else _F32 if is_float(common) else common
    if dx == dy:
        return dx
    if (dx in _LONE_UNSIGNED or dy in _LONE_UNSIGNED) and _BOOL not in (dx, dy):
        raise TypeError(
            f"For '{op}', {name(dx)} and {name(dy)} are not converted to a common type implicitly; "
            f"cast one of them with ops.cast first."
        )
    return np.dtype(jnp.promote_types(dx, dy))


def broadcast_check(x: Any, y: Any, op: str) -> tuple[int, ...]:
    """Return the common shape of `x` and `y`. Raise a ValueError if they do not broadcast."""
    sx, sy = jnp.shape(x), jnp.shape(y)
    if sx == sy or not sx or not sy:
        return sx or sy
    try:
        return np.broadcast_shapes(sx, sy)
    except ValueError:
        raise ValueError(f"For '{op}', the shapes of the inputs do not broadcast: {sx} and {sy}.") from None


def promote(x: Any, y: Any, op: str) -> tuple[jax.Array, jax.Array]:
    """Convert `x` and `y` to their common type. Their shapes are checked but not broadcast."""
    broadcast_check(x, y, op)
    common = result_type(x, y, op)
    return jax.lax.convert_element_type(x, common), jax.lax.convert_element_type(y, common)
