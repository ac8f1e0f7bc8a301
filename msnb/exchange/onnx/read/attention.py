"""Import ONNX operators: attention and rotary embeddings."""

import math
from typing import Any

import numpy as np

from msnb.formats import onnx

from .products import matmul
from .reader import Reader
from .values import Node, Ref, UnsupportedOperator, handles

_SUPPORTED_ATTRIBUTES = {
    "is_causal",
    "kv_num_heads",
    "left_window_size",
    "q_num_heads",
    "qk_matmul_output_mode",
    "right_window_size",
    "scale",
    "softcap",
    "softmax_precision",
}


def split_heads(r: Reader, x: Ref, heads: int | None) -> Ref:
    """Reshape (batch, tokens, heads * size) to (batch, heads, tokens, size)."""
    if x.rank == 4:
        return x
    if not heads:
        raise ValueError("An Attention of the model has inputs of 3 dimensions, but no number of heads.")
    heads_last = r.reshape(x, (x.shape[0], x.shape[1], heads, x.shape[2] // heads))
    return r.transpose(heads_last, (0, 2, 1, 3))


def repeat_heads(r: Reader, x: Ref, times: int) -> Ref:
    """Repeat each key or value head for the query heads that share it."""
    if times == 1:
        return x
    n, heads, tokens, size = x.shape
    broadcast = r("BroadcastTo", r.reshape(x, (n, heads, 1, tokens, size)), shape=(n, heads, times, tokens, size))
    return r.reshape(broadcast, (n, heads * times, tokens, size))


@handles("Attention")
def _read_attention(r: Reader, node: Node) -> Any:
    """Read softmax(scale * Q K' + mask) V. Query heads may share key heads, and earlier keys may be cached."""
    unknown = sorted(set(node.attrs) - _SUPPORTED_ATTRIBUTES)
    precision = onnx.DTYPES.get(node.attr("softmax_precision") or 1)
    if unknown or precision is None:
        raise UnsupportedOperator(f"it has the attributes {', '.join(unknown) or 'softmax_precision'}")
    q, k, v = node.inputs[:3]
    is_3d = q.rank == 3
    q, k, v = (
        split_heads(r, x, node.attr(name)) for x, name in ((q, "q_num_heads"), (k, "kv_num_heads"), (v, "kv_num_heads"))
    )
    mask, past_k, past_v, counts = (node.input(index) for index in (3, 4, 5, 6))
    past_length = 0
    if past_k is not None:
        past_length = past_k.shape[2]
        k, v = r("Concat", [past_k, k], axis=2), r("Concat", [past_v, v], axis=2)
    scale = float(node.attr("scale") or 1 / math.sqrt(q.shape[3]))
    times = q.shape[1] // k.shape[1]
    keys, values = repeat_heads(r, k, times), repeat_heads(r, v, times)
    factor = r.like(math.sqrt(scale), q)
    scores = matmul(r, r("Mul", q, factor), r.transpose(r("Mul", keys, factor), (0, 1, 3, 2)))
    score_outputs = [scores]
    cap = float(node.attr("softcap", 0.0))
    if cap:
        scores = r("Mul", r("Tanh", r("RealDiv", scores, r.like(cap, scores))), r.like(cap, scores))
    score_outputs.append(scores)
    bias = _make_attention_bias(r, node, scores, mask, counts, past_length)
    scores = scores if bias is None else r("Add", scores, bias)
    score_outputs.append(scores)
    kind = scores.dtype
    softmax_precision = node.attr("softmax_precision")
    softmax_input = r.cast(scores, precision) if softmax_precision or kind.itemsize < 4 else scores
    if bias is not None:  # the weights of a fully masked row are 0
        has_visible_key = r(
            "Greater", r("ReduceMax", softmax_input, (3,), keep_dims=True), r.like(-np.inf, softmax_input)
        )
        weights = r(
            "Where",
            has_visible_key,
            r("Softmax", r("Where", has_visible_key, softmax_input, r.like(0, softmax_input)), axis=-1),
            r.like(0, softmax_input),
        )
    else:
        weights = r("Softmax", softmax_input, axis=-1)
    weights = r.cast(weights, kind)
    score_outputs.append(weights)
    y = matmul(r, weights, r.cast(values, kind))
    if is_3d:
        y = r.reshape(r.transpose(y, (0, 2, 1, 3)), (y.shape[0], y.shape[2], y.shape[1] * y.shape[3]))
    return y, k, v, score_outputs[node.attr("qk_matmul_output_mode", 0)]


@handles("ai.onnx.preview.FlexAttention")
def _read_flex_attention(r: Reader, node: Node) -> Ref:
    """Read softmax(scale * Q K') V, with subgraphs of the model that modify the scores or the weights."""
    q, k, v = node.inputs
    times = q.shape[1] // k.shape[1]
    factor = r.like(math.sqrt(float(node.attr("scale") or 1 / math.sqrt(q.shape[3]))), q)
    keys = r.transpose(r("Mul", repeat_heads(r, k, times), factor), (0, 1, 3, 2))
    scores = matmul(r, r("Mul", q, factor), keys)
    precision = node.attr("softmax_precision", 0) or (
        1 if scores.dtype.itemsize < 4 else onnx.NUMBERS[scores.dtype.name]
    )
    scores = r.cast(scores, onnx.DTYPES[precision])
    if node.attr("score_mod") is not None:
        (scores,) = r.inline(node.attr("score_mod"), [scores])
    weights = r("Softmax", scores, axis=-1)
    if node.attr("prob_mod") is not None:
        (weights,) = r.inline(node.attr("prob_mod"), [weights])
    return r.cast(matmul(r, weights, r.cast(repeat_heads(r, v, times), weights.dtype)), v.dtype)


def _make_attention_bias(r, node, scores, mask, counts, past_length):
    """Return the array that is added to the scores: the mask, and -inf where a key must not be used. None if nothing
    is added.
    """
    low = r.like(-np.inf, scores)
    tokens, total = scores.shape[2:]
    bias = None
    if mask is not None:
        if mask.shape[-1] < total:
            rest = [*mask.shape[:-1], total - mask.shape[-1]]
            fill = r.filled(rest, False if mask.dtype == bool else -np.inf, mask.dtype)
            mask = r("Concat", [mask, fill], axis=-1)
        bias = r("Where", mask, r.like(0, scores), low) if mask.dtype == bool else r.cast(mask, scores.dtype)
    is_visible = None
    r.reserve_constant(tokens, total)
    start = r.const(np.int64(past_length))  # number of keys before the first query
    if counts is not None and not past_length:
        start = r("Sub", r.reshape(counts, (counts.shape[0], 1, 1, 1)), r.like(tokens, counts))
    query_position = r("Add", r.const(np.arange(tokens)[:, None]), start)
    left, right = node.attr("left_window_size", -1), node.attr("right_window_size", -1)
    for has_limit, op, shift in (
        (node.attr("is_causal", 0), "LessEqual", 0),
        (right >= 0, "LessEqual", right),
        (left >= 0, "GreaterEqual", -left),
    ):
        if has_limit:
            is_inside = r(
                op, r.const(np.arange(total)[None, :]), r("Add", query_position, r.like(shift, query_position))
            )
            is_visible = is_inside if is_visible is None else r("LogicalAnd", is_visible, is_inside)
    if counts is not None:
        is_inside = r("Less", r.const(np.arange(total)), r.reshape(counts, (counts.shape[0], 1, 1, 1)))
        is_visible = is_inside if is_visible is None else r("LogicalAnd", is_visible, is_inside)
    if is_visible is not None:
        hidden = r("Where", is_visible, r.like(0, scores), low)
        bias = hidden if bias is None else r("Add", bias, hidden)
    return bias


@handles("RotaryEmbedding")
def _read_rotary_embedding(r: Reader, node: Node) -> Ref:
    """Read a rotary embedding: rotate pairs of elements by the angle of their position."""
    x, cos, sin, positions = node.inputs[0], node.inputs[1], node.inputs[2], node.input(3)
    is_3d = x.rank == 3
    if is_3d:
        heads = node.attr("num_heads")
        heads_last = r.reshape(x, (x.shape[0], x.shape[1], heads, x.shape[2] // heads))
    else:
        heads_last = r.transpose(x, (0, 2, 1, 3))
    size = node.attr("rotary_embedding_dim", 0) or heads_last.shape[3]
    rest = None
    if size < heads_last.shape[3]:
        shape = heads_last.shape
        rest = r("Slice", heads_last, (0, 0, 0, size), (*shape[:3], shape[3] - size))
        heads_last = r("Slice", heads_last, (0, 0, 0, 0), (*shape[:3], size))
    if positions is not None:
        cos, sin = r("Gather", cos, positions, 0), r("Gather", sin, positions, 0)
    cos, sin = (r.reshape(v, (v.shape[0], v.shape[1], 1, v.shape[2])) for v in (cos, sin))
    half = size // 2
    if node.attr("interleaved", 0):
        pairs = r.reshape(heads_last, (*heads_last.shape[:3], half, 2))
        first, second = (
            r.reshape(piece, (*heads_last.shape[:3], half)) for piece in r("Split", pairs, axis=4, output_num=2)
        )
    else:
        first, second = r("Split", heads_last, axis=3, output_num=2)
    real = r("Sub", r("Mul", first, cos), r("Mul", second, sin))
    imaginary = r("Add", r("Mul", first, sin), r("Mul", second, cos))
    if node.attr("interleaved", 0):
        rotated = r.reshape(r("Stack", [real, imaginary], axis=4), (*heads_last.shape[:3], size))
    else:
        rotated = r("Concat", [real, imaginary], axis=3)
    rotated = rotated if rest is None else r("Concat", [rotated, rest], axis=3)
    return r.reshape(rotated, x.shape) if is_3d else r.transpose(rotated, (0, 2, 1, 3))
