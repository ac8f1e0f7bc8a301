"""Readers of layers that hand a state on from call to call: linear attention, causal convolution, caches."""

import math
from typing import Any

import numpy as np

from .attention import repeated, split_heads
from .convolutions import convolution
from .products import matmul
from .reader import Reader
from .shapes import part
from .values import Attributes, Node, Ref, Unread, handles

_STEPS = 1024  # that are written out


@handles("LinearAttention")
def _linear_attention(r: Reader, node: Node) -> Any:
    """A memory of outer products of keys and values, which each step decays, corrects, writes to and reads.

    Its rule says which: "delta" writes only what the memory does not give for the key already, "gated" decays.
    """
    rule = node.attr("update_rule", "gated_delta")
    if rule not in ("linear", "gated", "delta", "gated_delta"):
        raise Unread(f"its update_rule is {rule!r}")
    node.attr("chunk_size")  # how to compute it, not what
    heads, shared = node.attr("q_num_heads"), node.attr("kv_num_heads")
    kind = node.inputs[0].dtype
    q, k, v = (
        split_heads(r, r.cast(x, np.float32), n) for x, n in zip(node.inputs[:3], (heads, shared, shared), strict=True)
    )
    past, decay, beta = (node.input(place) for place in (3, 4, 5))
    batch, _, steps, size = q.shape
    if steps > _STEPS:
        raise Unread(f"it has more than {_STEPS} steps")
    if decay is not None:
        decay = r("Exp", split_heads(r, r.cast(decay, np.float32), shared))
    if beta is not None:
        beta = split_heads(r, r.cast(beta, np.float32), beta.shape[2])
    told = kind if past is None else past.dtype
    shape = (batch, shared, size, v.shape[3])
    state = r.filled(shape, 0, np.float32) if past is None else r.cast(past, np.float32)
    scale = float(node.attr("scale") or 1 / math.sqrt(size))
    rows = []
    for step in range(steps):
        query, key, value = (part(r, x, 2, step, step + 1) for x in (q, k, v))
        column = r.transpose(key, (0, 1, 3, 2))
        if rule.startswith("gated"):
            state = r("Mul", state, r.transpose(part(r, decay, 2, step, step + 1), (0, 1, 3, 2)))
        if rule.endswith("delta"):
            value = r("Mul", r("Sub", value, matmul(r, key, state)), part(r, beta, 2, step, step + 1))
        state = r("Add", state, r("Mul", column, value))
        rows.append(matmul(r, query, repeated(r, state, heads // shared)))
    y = r("Concat", rows, axis=2) if len(rows) > 1 else rows[0]
    y = r.transpose(r("Mul", y, r.like(scale, y)), (0, 2, 1, 3))
    return r.cast(r.reshape(y, (batch, steps, heads * v.shape[3])), kind), r.cast(state, told)


@handles("CausalConvWithState")
def _causal_conv(r: Reader, node: Node) -> Any:
    """A convolution of each channel over what came before, the end of the last call included."""
    x, w, bias, past = node.inputs[0], node.inputs[1], node.input(2), node.input(3)
    before = w.shape[2] - 1
    past = r.filled((*x.shape[:2], before), 0, x.dtype) if past is None else past
    whole = r("Concat", [past, x], axis=2) if before else x
    made = convolution(r, node._replace(attrs=Attributes({"group": x.shape[1]})), whole, w)
    made = made if bias is None else r("BiasAdd", made, bias)
    activation = node.attr("activation", "none")
    if activation in ("silu", "swish"):
        made = r.cast(r("SiLU", r.cast(made, np.float32)), x.dtype)
    elif activation != "none":
        raise Unread(f"its activation is {activation!r}")
    return made, part(r, whole, 2, whole.shape[2] - before, whole.shape[2])


@handles("TensorScatter")
def _tensor_scatter(r: Reader, node: Node) -> Ref:
    """A cache with new rows from a place on, which each of the batch has for itself."""
    cache, update, places = node.inputs[0], node.inputs[1], node.input(2)
    axis, rank = node.attr("axis", -2) % cache.rank, cache.rank
    batch, count = update.shape[0], update.shape[axis]
    rows = r.const(np.arange(count).reshape(1, count))
    if places is not None:
        rows = r("Add", rows, r.reshape(r.cast(places, np.int64), (batch, 1)))
        if node.attr("mode", "linear") == "circular":
            rows = r("FloorMod", rows, r.like(cache.shape[axis], rows))
    else:
        node.attr("mode")
        rows = r.const(np.broadcast_to(rows.value, (batch, count)))
    index = []
    for i, n in enumerate(update.shape[: axis + 1]):
        lined = [1] * (axis + 1)
        if i == axis:
            lined[0], lined[axis] = batch, count
            line = r.reshape(rows, lined)
        else:
            lined[i] = n
            line = r.const(np.arange(n).reshape(lined))
        index.append(r("BroadcastTo", line, shape=update.shape[: axis + 1]))
    if rank > axis + 1 and not axis:
        raise Unread("its cache has no batch")
    return r("TensorScatterUpdate", cache, r("Stack", index, axis=-1), update)
