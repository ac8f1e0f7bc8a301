"""Embedding lookup: rows of a table."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb import log
from msnb.common.kinds import Bool, Float, Int, Optional, PositiveFloat, Static
from msnb.core.operator.cases import F, I, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.value_checks import index
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import widened

Degree = Static(Float)  # static: each degree has its own formula


@operator(writes=("weight",), checks=[index("input", of="weight", negative=False)])
def _EmbeddingRenorm(weight, input, *, max_norm: PositiveFloat, norm_type: Degree = 2.0):
    """Scales the rows of a table that `input` selects to a norm of at most `max_norm`, in place. Gradients ignore the
    scaling.

    Args:
        max_norm (float): the largest norm of a selected row after scaling.
        norm_type (float): degree of the norm. Default: 2.0.

    Inputs:
        - **weight** (Parameter) - the table, (rows, features); updated in place.
        - **input** (Tensor) - indices of the selected rows, int32 or int64.

    Outputs:
        The table, updated.
    """
    _check.rank("embedding", "weight", weight, 2)
    table = lax.stop_gradient(weight)
    norm = jnp.linalg.norm(widened(table), norm_type, axis=1)
    named = jnp.zeros(table.shape[0], bool).at[input.reshape(-1)].set(True, mode="drop", wrap_negative_indices=False)
    factor = jnp.where(named & (norm > max_norm), max_norm / (norm + 1e-7), 1)
    return weight + (table * factor[:, None].astype(table.dtype) - table)


@jax.custom_jvp
def _scale_gradient(x, factor):
    """Return `x`, whose gradient is multiplied by `factor`."""
    return x


@_scale_gradient.defjvp
def _derive_scale_gradient(primals, tangents):
    return primals[0], tangents[0] * primals[1]


@operator(checks=[index("input", of="weight", negative=False)])
@shapes("weight: n>0 d")
def Embedding(input, weight, *, padding_idx: Optional(Int) = None, scale_grad_by_freq: Bool = False):
    """Look up rows of an embedding table by index.

    Args:
        padding_idx (int): index of a row that gets no gradient. Default: None.
        scale_grad_by_freq (bool): divide the gradient of a row by the number of its indices in `input`.
            Default: False.

    Inputs:
        - **input** (Tensor) - indices, int32 or int64, from 0 to rows - 1.
        - **weight** (Tensor) - the table, (rows, features).

    Outputs:
        Tensor, shape of `input` followed by (features,).
    """
    _check.dtype_in("embedding", "input", input, _check.INDEX)
    _check.rank("embedding", "weight", weight, 2)
    rows = weight.at[input].get(mode="fill", wrap_negative_indices=False)
    if scale_grad_by_freq:
        counts = jnp.zeros(weight.shape[0], jnp.int32).at[input.reshape(-1)].add(1, mode="drop")
        rows = _scale_gradient(rows, (1 / counts[input]).astype(rows.dtype)[..., None])
    if padding_idx is None:
        return rows
    padding = (input == padding_idx % weight.shape[0])[..., None]
    return jnp.where(padding, lax.stop_gradient(rows), rows)


@spelling(Embedding, _EmbeddingRenorm)
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Look up rows of an embedding table by index.

    Args:
        input (Tensor): Indices, int32 or int64.
        weight (Parameter): The table, (rows, features).
        padding_idx (int): Index of a row that gets no gradient. Default: None.
        max_norm (float): Selected rows with a larger norm are scaled to this norm, in place in the table. Default:
            None.
        norm_type (float): Degree p of the norm for `max_norm`; without it no effect. Default: 2.0.
        scale_grad_by_freq (bool): Divide the gradient of a row by the number of its indices in `input`.
            Default: False.

    Returns:
        Tensor, shape of `input` followed by (features,).

    Raises:
        TypeError: If `weight` is no Parameter though `max_norm` is given, or a type is wrong.
        ValueError: If `max_norm` is not positive.
    """
    if max_norm is not None:
        _EmbeddingRenorm.functional(weight, input, max_norm, norm_type)
    elif norm_type != 2.0:
        log.unused("ops.embedding", "there is no 'max_norm' to hold a norm against", norm_type=True)
    return Embedding.functional(input, weight, padding_idx, scale_grad_by_freq)


CASES = [
    case(_EmbeddingRenorm, F(6, 4), Values([0, 5, 2]), max_norm=1.0).without(
        "differences", "the gradient passes by the scale"
    ),
    case(Embedding, I(2, 3, low=0, high=5), F(5, 4)),
    case(embedding, I(2, 3, low=0, high=5), F(5, 4), padding_idx=2),
]
