"""Attention as a function of all weights, under MindSpore's private names, which libraries import."""

import math

from msnb.common import dtype as mstype
from msnb.ops import functional as F
from msnb.ops import operations as P


def apply_mask(scores, mask, extra, fitted):
    """Return masked scores: -inf where a bool mask is True. Appended keys are never masked."""
    if mask is None:
        return scores
    if mask.dtype in (mstype.bool_, mstype.uint8):
        mask = F.cast(mask, mstype.bool_)
        mask = F.select(mask, F.fill(scores.dtype, mask.shape, -math.inf), F.fill(scores.dtype, mask.shape, 0.0))
    mask = F.cast(mask, scores.dtype)
    if extra:
        mask = F.pad(mask, (0, extra))
    return scores + fitted(mask)


def linear(x, w, b):
    """Return `x` times the transposed matrix `w`, plus the bias `b` unless it is None."""
    out = F.matmul(x, w.swapaxes(-1, -2))
    return out if b is None else out + b


def _inner_dropout(x, p, training):
    return F.dropout(x, p, training)


def _inner_pad(x, padding, value=None):
    """Pad a Tensor, which may be of bool."""
    if x.dtype == mstype.bool_:
        return F.pad(x.astype(mstype.int32), padding, value=value).astype(mstype.bool_)
    return F.pad(x, padding, value=value)


def _check_qkv_shape(query_ndim, key_ndim, value_ndim):
    """Check the numbers of dims, which are 2 or 3. Return True if there is an axis of the batch."""
    if query_ndim not in (2, 3) or {key_ndim, value_ndim} != {query_ndim}:
        raise ValueError(
            "'query', 'key' and 'value' should all have 2 dims, or 3 with a batch, "
            f"but got {query_ndim}, {key_ndim} and {value_ndim}."
        )
    return query_ndim == 3


def _check_kpm_shape(query_ndim, kpm_ndim):
    if kpm_ndim != query_ndim - 1:
        raise ValueError(
            f"'key_padding_mask' should have {query_ndim - 1} dims for a 'query' of {query_ndim}, but got {kpm_ndim}."
        )


def _check_attn_mask_shape(query_ndim, query_shape, key_shape, attn_mask_ndim, attn_mask_shape, num_heads):
    if attn_mask_ndim not in (2, 3):
        raise ValueError(f"'attn_mask' should have 2 or 3 dims, but got {attn_mask_ndim}.")
    expected = (num_heads, query_shape[0], key_shape[0])
    if query_ndim == 2 and attn_mask_ndim == 3 and tuple(attn_mask_shape) != expected:
        raise ValueError(f"'attn_mask' should have shape {expected}, but got {tuple(attn_mask_shape)}.")


def _check_shape(name, x, expected):
    if x is not None and tuple(x.shape) != expected:
        raise ValueError(f"{name} should have shape {expected}, but got {tuple(x.shape)}.")


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """Return queries, keys and values, each projected by a matrix of its own."""
    width = q.shape[-1]
    for name, x, w, b in (("query", q, w_q, b_q), ("key", k, w_k, b_k), ("value", v, w_v, b_v)):
        _check_shape(f"The {name}'s weight", w, (width, x.shape[-1]))
        _check_shape(f"The {name}'s bias", b, (width,))
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(q, k, v, w, b, k_is_v, q_is_k):
    """Return queries, keys and values, projected by one matrix of all three."""
    w_q, w_k, w_v = _split_in_three(w)
    b_q, b_k, b_v = _split_in_three(b)
    k = q if k_is_v and q_is_k else k
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(k if k_is_v else v, w_v, b_v)


def _split_in_three(x):
    """Return three equal pieces of a weight along its first axis."""
    if x is None:
        return None, None, None
    size = x.shape[0] // 3
    return x[:size], x[size : 2 * size], x[2 * size :]


def _check_operands(operands, padding, mask, heads):
    """Check the shapes of query, key, value and masks. Return True if they have an axis of batches."""
    ranks = [operand.ndim for operand in operands]
    is_batched = _check_qkv_shape(*ranks)
    shapes = [operand.shape for operand in operands[:2]]
    if mask is not None:
        _check_attn_mask_shape(ranks[0], *shapes, mask.ndim, mask.shape, heads)
    if padding is not None:
        _check_kpm_shape(ranks[0], padding.ndim)
    return is_batched


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
    k_is_v=False,
    q_is_k=False,
    dtype=mstype.float32,
):
    """Return the outputs of attention with several heads, and its weights. Inputs are (length, batch, width), or
    (length, width). A bool mask excludes keys; 2.7.1 adds 1 to their scores where the other mask is of floats."""
    operands = [query, key, value]
    is_batched = _check_operands(operands, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        operands = [operand.expand_dims(1) for operand in operands]
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.expand_dims(0)
    query, key, value = operands
    length, n, width = query.shape
    if width != embed_dim_to_check or width % num_heads:
        raise ValueError(
            f"The width should be {embed_dim_to_check}, and {num_heads} heads should divide it, but got {width}."
        )
    if use_separate_proj_weight:
        biases = _split_in_three(in_proj_bias)
        q, k, v = _in_projection(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, *biases)
    else:
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias, k_is_v, q_is_k)
    if (bias_k is None) != (bias_v is None):
        raise ValueError("'bias_k' and 'bias_v' should both be given, or none.")
    if bias_k is not None:
        if static_k is not None or static_v is not None:
            raise ValueError("'static_k' and 'static_v' have no room for 'bias_k' and 'bias_v'.")
        k, v = (P.Concat(0)((x, F.tile(b, (1, n, 1)))) for x, b in ((k, bias_k), (v, bias_v)))

    def split_heads(x):
        """Reshape (length, batch, width) to (batch * heads, length, width / heads)."""
        return x.reshape((x.shape[0], n * num_heads, width // num_heads)).swapaxes(0, 1)

    q = split_heads(q)
    k = split_heads(k) if static_k is None else static_k
    v = split_heads(v) if static_v is None else static_v
    if add_zero_attn:
        k, v = (P.Concat(1)((x, F.zeros_like(x[:, :1]))) for x in (k, v))
    q, k, v = (x.reshape((n, num_heads, *x.shape[1:])) for x in (q, k, v))
    scores = F.matmul(q * F.scalar_to_tensor(1 / math.sqrt(q.shape[-1]), dtype), k.swapaxes(-2, -1))
    if is_causal:
        attn_mask = F.logical_not(F.ones((length, k.shape[2]), mstype.bool_).tril())
    extra = 0 if attn_mask is None else k.shape[2] - attn_mask.shape[-1]
    scores = apply_mask(scores, attn_mask, extra, lambda m: m if m.ndim == 2 else m.reshape((n, -1, *m.shape[1:])))
    extra = 0 if key_padding_mask is None else k.shape[2] - key_padding_mask.shape[-1]
    scores = apply_mask(scores, key_padding_mask, extra, lambda m: m.reshape((n, 1, 1, -1)))
    weights = _inner_dropout(P.Softmax(-1)(scores), dropout_p, training)
    out = F.matmul(weights, v).transpose(2, 0, 1, 3).reshape((length, n, width))
    out = linear(out, out_proj_weight, out_proj_bias)
    weights = weights.mean(1) if average_attn_weights else weights
    return (out, weights) if is_batched else (out.squeeze(1), weights.squeeze(0))
