"""Readers of attention and of what transformers have around it."""

import math
from typing import Any

import numpy as np

from msnb.formats import onnx

from .products import matmul
from .reader import Reader
from .values import Node, Ref, Unread, handles

_KNOWN = {
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
    """(batch, tokens, heads * size) as (batch, heads, tokens, size)."""
    if x.rank == 4:
        return x
    if not heads:
        raise ValueError("An Attention of the model has inputs of 3 dimensions, but no number of heads.")
    lined = r.reshape(x, (x.shape[0], x.shape[1], heads, x.shape[2] // heads))
    return r.transpose(lined, (0, 2, 1, 3))


def repeated(r: Reader, x: Ref, times: int) -> Ref:
    """Each head as many times as queries share it."""
    if times == 1:
        return x
    n, heads, tokens, size = x.shape
    wide = r("BroadcastTo", r.reshape(x, (n, heads, 1, tokens, size)), shape=(n, heads, times, tokens, size))
    return r.reshape(wide, (n, heads * times, tokens, size))


@handles("Attention")
def _attention(r: Reader, node: Node) -> Any:
    """softmax(scale * Q K' + mask) V, with heads of keys that queries share, and keys of earlier calls."""
    unknown = sorted(set(node.attrs) - _KNOWN)
    precision = onnx.DTYPES.get(node.attr("softmax_precision") or 1)
    if unknown or precision is None:
        raise Unread(f"it has the attributes {', '.join(unknown) or 'softmax_precision'}")
    q, k, v = node.inputs[:3]
    three = q.rank == 3
    q, k, v = (
        split_heads(r, x, node.attr(name)) for x, name in ((q, "q_num_heads"), (k, "kv_num_heads"), (v, "kv_num_heads"))
    )
    mask, past_k, past_v, counts = (node.input(place) for place in (3, 4, 5, 6))
    before = 0
    if past_k is not None:
        before = past_k.shape[2]
        k, v = r("Concat", [past_k, k], axis=2), r("Concat", [past_v, v], axis=2)
    scale = float(node.attr("scale") or 1 / math.sqrt(q.shape[3]))
    times = q.shape[1] // k.shape[1]
    keys, values = repeated(r, k, times), repeated(r, v, times)
    factor = r.like(math.sqrt(scale), q)
    scores = matmul(r, r("Mul", q, factor), r.transpose(r("Mul", keys, factor), (0, 1, 3, 2)))
    tried = [scores]
    cap = float(node.attr("softcap", 0.0))
    if cap:
        scores = r("Mul", r("Tanh", r("RealDiv", scores, r.like(cap, scores))), r.like(cap, scores))
    tried.append(scores)
    bias = _bias(r, node, scores, mask, counts, before)
    scores = scores if bias is None else r("Add", scores, bias)
    tried.append(scores)
    kind = scores.dtype
    told = node.attr("softmax_precision")
    wide = r.cast(scores, precision) if told or kind.itemsize < 4 else scores
    if bias is not None:  # a row of which all is masked has no weights
        open_ = r("Greater", r("ReduceMax", wide, (3,), keep_dims=True), r.like(-np.inf, wide))
        weights = r("Where", open_, r("Softmax", r("Where", open_, wide, r.like(0, wide)), axis=-1), r.like(0, wide))
    else:
        weights = r("Softmax", wide, axis=-1)
    weights = r.cast(weights, kind)
    tried.append(weights)
    y = matmul(r, weights, r.cast(values, kind))
    if three:
        y = r.reshape(r.transpose(y, (0, 2, 1, 3)), (y.shape[0], y.shape[2], y.shape[1] * y.shape[3]))
    return y, k, v, tried[node.attr("qk_matmul_output_mode", 0)]


@handles("ai.onnx.preview.FlexAttention")
def _flex_attention(r: Reader, node: Node) -> Ref:
    """softmax(scale * Q K') V, with graphs of the model's own that change the scores, or the weights."""
    q, k, v = node.inputs
    times = q.shape[1] // k.shape[1]
    factor = r.like(math.sqrt(float(node.attr("scale") or 1 / math.sqrt(q.shape[3]))), q)
    keys = r.transpose(r("Mul", repeated(r, k, times), factor), (0, 1, 3, 2))
    scores = matmul(r, r("Mul", q, factor), keys)
    wide = node.attr("softmax_precision", 0) or (1 if scores.dtype.itemsize < 4 else onnx.NUMBERS[scores.dtype.name])
    scores = r.cast(scores, onnx.DTYPES[wide])
    if node.attr("score_mod") is not None:
        (scores,) = r.inline(node.attr("score_mod"), [scores])
    weights = r("Softmax", scores, axis=-1)
    if node.attr("prob_mod") is not None:
        (weights,) = r.inline(node.attr("prob_mod"), [weights])
    return r.cast(matmul(r, weights, r.cast(repeated(r, v, times), weights.dtype)), v.dtype)


def _bias(r, node, scores, mask, counts, before):
    """What is added to the scores: 0 where a key is seen, minus infinity where it is not, or what is given."""
    low = r.like(-np.inf, scores)
    tokens, total = scores.shape[2:]
    found = None
    if mask is not None:
        if mask.shape[-1] < total:
            rest = [*mask.shape[:-1], total - mask.shape[-1]]
            fill = r.filled(rest, False if mask.dtype == bool else -np.inf, mask.dtype)
            mask = r("Concat", [mask, fill], axis=-1)
        found = r("Where", mask, r.like(0, scores), low) if mask.dtype == bool else r.cast(mask, scores.dtype)
    seen = None
    r.room(tokens, total)
    start = r.const(np.int64(before))  # how many keys stand before the first query
    if counts is not None and not before:
        start = r("Sub", r.reshape(counts, (counts.shape[0], 1, 1, 1)), r.like(tokens, counts))
    place = r("Add", r.const(np.arange(tokens)[:, None]), start)
    left, right = node.attr("left_window_size", -1), node.attr("right_window_size", -1)
    for limited, op, shift in (
        (node.attr("is_causal", 0), "LessEqual", 0),
        (right >= 0, "LessEqual", right),
        (left >= 0, "GreaterEqual", -left),
    ):
        if limited:
            inside = r(op, r.const(np.arange(total)[None, :]), r("Add", place, r.like(shift, place)))
            seen = inside if seen is None else r("LogicalAnd", seen, inside)
    if counts is not None:
        inside = r("Less", r.const(np.arange(total)), r.reshape(counts, (counts.shape[0], 1, 1, 1)))
        seen = inside if seen is None else r("LogicalAnd", seen, inside)
    if seen is not None:
        hidden = r("Where", seen, r.like(0, scores), low)
        found = hidden if found is None else r("Add", found, hidden)
    return found


@handles("RotaryEmbedding")
def _rotary(r: Reader, node: Node) -> Ref:
    """Pairs of each head turned by the angle of their place."""
    x, cos, sin, places = node.inputs[0], node.inputs[1], node.inputs[2], node.input(3)
    three = x.rank == 3
    if three:
        heads = node.attr("num_heads")
        lined = r.reshape(x, (x.shape[0], x.shape[1], heads, x.shape[2] // heads))
    else:
        lined = r.transpose(x, (0, 2, 1, 3))
    size = node.attr("rotary_embedding_dim", 0) or lined.shape[3]
    rest = None
    if size < lined.shape[3]:
        shape = lined.shape
        rest = r("Slice", lined, (0, 0, 0, size), (*shape[:3], shape[3] - size))
        lined = r("Slice", lined, (0, 0, 0, 0), (*shape[:3], size))
    if places is not None:
        cos, sin = r("Gather", cos, places, 0), r("Gather", sin, places, 0)
    cos, sin = (r.reshape(v, (v.shape[0], v.shape[1], 1, v.shape[2])) for v in (cos, sin))
    half = size // 2
    if node.attr("interleaved", 0):
        pairs = r.reshape(lined, (*lined.shape[:3], half, 2))
        first, second = (r.reshape(part, (*lined.shape[:3], half)) for part in r("Split", pairs, axis=4, output_num=2))
    else:
        first, second = r("Split", lined, axis=3, output_num=2)
    real = r("Sub", r("Mul", first, cos), r("Mul", second, sin))
    imaginary = r("Add", r("Mul", first, sin), r("Mul", second, cos))
    if node.attr("interleaved", 0):
        made = r.reshape(r("Stack", [real, imaginary], axis=4), (*lined.shape[:3], size))
    else:
        made = r("Concat", [real, imaginary], axis=3)
    made = made if rest is None else r("Concat", [made, rest], axis=3)
    return r.reshape(made, x.shape) if three else r.transpose(made, (0, 2, 1, 3))
