"""Rotary position embedding of queries and keys."""

from typing import Annotated

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Int, OneOf
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator
from msnb.ops._check import dtype_in, numpy_dtypes, rank

_FLOATS = numpy_dtypes(mstype.float16, mstype.bfloat16, mstype.float32)
_Mode = Annotated[int, OneOf(0, 1, among=Int)]


@operator(functional="rotary_position_embedding")
def RotaryPositionEmbedding(x, cos, sin, mode: _Mode = 0):
    """Rotate pairs of features by the angles of a position: x * cos + rotated(x) * sin (Su et al., 2021).

    Inputs:
        - **x** (Tensor) - float16, bfloat16 or float32, 4-D, with an even number D of features last.
        - **cos** (Tensor) - Cosines, 4-D with D last. The other axes broadcast to those of `x`.
        - **sin** (Tensor) - Sines, shape of `cos`.
        - **mode** (int) - 0: feature i is paired with feature i + D / 2, as in GPT-NeoX. 1: with feature i + 1, as in
          GPT-J. Default: 0.

    Outputs:
        Tensor, shape and type of `x`.

    Raises:
        TypeError: If `x` has another type.
        ValueError: If a shape does not fit, or `mode` is not 0 or 1.

    Examples:
        >>> x = Tensor([[[[1.0, 2.0, 3.0, 4.0]]]])
        >>> print(ops.rotary_position_embedding(x, x * 0, x * 0 + 1))
        [[[[-3. -4.  1.  2.]]]]
    """
    op = "RotaryPositionEmbedding"
    dtype_in(op, "x", x, _FLOATS)
    for name, value in (("x", x), ("cos", cos), ("sin", sin)):
        rank(op, name, value, 4)
    if x.shape[-1] % 2:
        raise ValueError(f"For '{op}', the last axis of 'x' should be even, but got shape {x.shape}.")
    fits = cos.shape == sin.shape and cos.shape[-1] == x.shape[-1]
    if not fits or any(n not in (1, length) for n, length in zip(cos.shape, x.shape, strict=True)):
        raise ValueError(
            f"For '{op}', 'cos' and 'sin' should have one shape that broadcasts to {x.shape}, but got {cos.shape} and "
            f"{sin.shape}."
        )
    wide = x.astype(jnp.float32)
    if mode == 0:
        first, second = jnp.split(wide, 2, -1)
        rotated = jnp.concatenate([-second, first], -1)
    else:
        rotated = jnp.stack([-wide[..., 1::2], wide[..., ::2]], -1).reshape(wide.shape)
    return (wide * cos.astype(jnp.float32) + rotated * sin.astype(jnp.float32)).astype(x.dtype)


_ASCEND = "it is a kernel of Ascend's"
CASES = [
    case(RotaryPositionEmbedding, F(2, 3, 2, 4), F(1, 3, 1, 4), F(1, 3, 1, 4)).without("mindspore", _ASCEND),
    case(RotaryPositionEmbedding, F(2, 3, 2, 4), F(1, 3, 1, 4), F(1, 3, 1, 4), 1).without("mindspore", _ASCEND),
    refused(ValueError, RotaryPositionEmbedding, F(2, 3, 2, 4), F(1, 3, 1, 2), F(1, 3, 1, 2), says="broadcasts to"),
]
