"""Order of the tokens of a mixture of experts: grouped by expert, and back."""

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, PositiveInt, Shape
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops._check import INDEX, dtype_in, numpy_dtypes, rank

_FLOATS = numpy_dtypes(mstype.float16, mstype.bfloat16, mstype.float32)
_PADDED = "tokens are not padded to equal numbers per expert here; gather them with ops.gather"


def _refuse_padding(op, padded_mode):
    if padded_mode:
        raise ValueError(f"For '{op}', 'padded_mode' should be False, but got True: {_PADDED}.")


@operator(functional="moe_token_permute")
def MoeTokenPermute(tokens, indices, num_out_tokens: PositiveInt | None = None, padded_mode: Bool = False):
    """Group copies of tokens by expert. The copies of one expert keep their order.

    Inputs:
        - **tokens** (Tensor) - float16, bfloat16 or float32 of shape (N, H).
        - **indices** (Tensor) - int32 or int64 of shape (N,) or (N, K): the experts of each token.
        - **num_out_tokens** (int) - Number of copies that are returned, those of the last experts are dropped. Default:
          None, N * K.
        - **padded_mode** (bool) - False. Default: False.

    Outputs:
        Tuple of the copies, of shape (num_out_tokens, H), and of their positions: element i * K + k is the position of
        the copy of token i for its expert k (int32 of shape (N * K,)).

    Raises:
        TypeError: If a dtype is not listed above.
        ValueError: If a shape does not fit, or `padded_mode` is True.

    Examples:
        >>> tokens = Tensor([[1.0, 1.0], [7.0, 7.0], [2.0, 2.0]])
        >>> copies, positions = ops.moe_token_permute(tokens, Tensor([2, 0, 1]))
        >>> print(copies[:, 0], positions)
        [7. 2. 1.] [2 0 1]
    """
    op = "MoeTokenPermute"
    _refuse_padding(op, padded_mode)
    dtype_in(op, "tokens", tokens, _FLOATS)
    dtype_in(op, "indices", indices, INDEX)
    rank(op, "tokens", tokens, 2)
    if indices.ndim not in (1, 2) or indices.shape[0] != tokens.shape[0]:
        raise ValueError(
            f"For '{op}', 'indices' should have shape ({tokens.shape[0]},) or ({tokens.shape[0]}, K), "
            f"but got {indices.shape}."
        )
    order = jnp.argsort(indices.reshape(-1), stable=True)
    positions = jnp.zeros(order.shape, jnp.int32).at[order].set(jnp.arange(order.size, dtype=jnp.int32))
    per_token = indices.size // max(1, tokens.shape[0])
    return tokens[order[:num_out_tokens] // per_token], positions


@operator(functional="moe_token_unpermute")
def MoeTokenUnpermute(
    permuted_tokens, sorted_indices, probs=None, padded_mode: Bool = False, restore_shape: Shape | None = None
):
    """Bring copies of tokens that are grouped by expert into the order of the tokens, and add the copies of a token.

    Inputs:
        - **permuted_tokens** (Tensor) - Shape (M, H), the first M of all copies.
        - **sorted_indices** (Tensor) - int32 of shape (N * K,), the positions from `moe_token_permute`.
        - **probs** (Tensor) - Factors of the copies, of shape (N, K). Default: None, K is 1 and the factors are 1.
        - **padded_mode** (bool) - False. Default: False.
        - **restore_shape** (None) - Only for `padded_mode`. Default: None.

    Outputs:
        Tensor of shape (N, H), type of `permuted_tokens`. Copies that were dropped count as 0.

    Raises:
        TypeError: If `sorted_indices` is not int32.
        ValueError: If a shape does not fit, `padded_mode` is True, or `restore_shape` is not None.

    Examples:
        >>> copies, positions = Tensor([[7.0], [2.0], [1.0]]), Tensor([2, 0, 1], mindspore.int32)
        >>> print(ops.moe_token_unpermute(copies, positions)[:, 0])
        [1. 7. 2.]
    """
    op = "MoeTokenUnpermute"
    _refuse_padding(op, padded_mode)
    if restore_shape is not None:
        raise ValueError(f"For '{op}', 'restore_shape' should be None, but got {restore_shape!r}: {_PADDED}.")
    dtype_in(op, "sorted_indices", sorted_indices, numpy_dtypes(mstype.int32))
    rank(op, "permuted_tokens", permuted_tokens, 2)
    rank(op, "sorted_indices", sorted_indices, 1)
    if probs is not None and (probs.ndim != 2 or probs.size != sorted_indices.size):
        raise ValueError(
            f"For '{op}', 'probs' should have the {sorted_indices.size} elements of 'sorted_indices' and two axes, "
            f"but got shape {probs.shape}."
        )
    padded = jnp.pad(permuted_tokens, ((0, 1), (0, 0)))  # an array without rows has none to take
    copies = padded.at[sorted_indices].get(mode="fill", fill_value=0)
    if probs is None:
        return copies
    copies = copies.reshape(*probs.shape, -1).astype(jnp.float32) * probs[..., None].astype(jnp.float32)
    return jnp.sum(copies, 1).astype(permuted_tokens.dtype)


_ASCEND = "it is a kernel of Ascend's"
_TOKENS, _EXPERTS = F(4, 3), Values([[1, 0], [0, 2], [2, 1], [1, 1]], "int32")
CASES = [
    case(MoeTokenPermute, _TOKENS, _EXPERTS).without("mindspore", _ASCEND),
    case(MoeTokenPermute, _TOKENS, Values([3, 0, 1, 0], "int64"), 3).without("mindspore", _ASCEND),
    refused(ValueError, MoeTokenPermute, F(3, 3), _EXPERTS, says="'indices' should have shape"),
    case(MoeTokenUnpermute, F(8, 3), Values([3, 0, 1, 6, 7, 4, 2, 5], "int32"), F(4, 2)).without("mindspore", _ASCEND),
    case(MoeTokenUnpermute, F(3, 2), Values([3, 0, 1, 2], "int32")).without("mindspore", _ASCEND),
    refused(ValueError, MoeTokenUnpermute, F(4, 3), Values([0, 1, 2, 3], "int32"), F(3, 2), says="'probs'"),
]
