"""Import ONNX operators: layers with a state between calls, namely linear attention, causal convolution, caches."""

import math
from typing import Any

import numpy as np

from .attention import repeat_heads, split_heads
from .convolutions import convolution
from .products import matmul
from .reader import Reader
from .shapes import slice_axis
from .values import Attributes, Node, Ref, UnsupportedOperator, handles

_MAX_STEPS = 1024  # steps of an unrolled sequence


@handles("LinearAttention")
def _read_linear_attention(r: Reader, node: Node) -> Any:
    """Read LinearAttention, unrolled over the tokens. The state is a sum of outer products of keys and values.

    In each step a "gated" rule decays the state. A "delta" rule adds only the difference to the value that the state
    already returns for the key.
    """
    rule = node.attr("update_rule", "gated_delta")
    if rule not in ("linear", "gated", "delta", "gated_delta"):
        raise UnsupportedOperator(f"its update_rule is {rule!r}")
    node.attr("chunk_size")  # affects the computation but not the result
    heads, kv_heads = node.attr("q_num_heads"), node.attr("kv_num_heads")
    kind = node.inputs[0].dtype
    q, k, v = (
        split_heads(r, r.cast(x, np.float32), n)
        for x, n in zip(node.inputs[:3], (heads, kv_heads, kv_heads), strict=True)
    )
    past, decay, beta = (node.input(index) for index in (3, 4, 5))
    batch, _, steps, size = q.shape
    if steps > _MAX_STEPS:
        raise UnsupportedOperator(f"it has more than {_MAX_STEPS} steps")
    if decay is not None:
        decay = r("Exp", split_heads(r, r.cast(decay, np.float32), kv_heads))
    if beta is not None:
        beta = split_heads(r, r.cast(beta, np.float32), beta.shape[2])
    state_type = kind if past is None else past.dtype
    shape = (batch, kv_heads, size, v.shape[3])
    state = r.filled(shape, 0, np.float32) if past is None else r.cast(past, np.float32)
    scale = float(node.attr("scale") or 1 / math.sqrt(size))
    outputs = []
    for step in range(steps):
        query, key, value = (slice_axis(r, x, 2, step, step + 1) for x in (q, k, v))
        column = r.transpose(key, (0, 1, 3, 2))
        if rule.startswith("gated"):
            state = r("Mul", state, r.transpose(slice_axis(r, decay, 2, step, step + 1), (0, 1, 3, 2)))
        if rule.endswith("delta"):
            value = r("Mul", r("Sub", value, matmul(r, key, state)), slice_axis(r, beta, 2, step, step + 1))
        state = r("Add", state, r("Mul", column, value))
        outputs.append(matmul(r, query, repeat_heads(r, state, heads // kv_heads)))
    y = r("Concat", outputs, axis=2) if len(outputs) > 1 else outputs[0]
    y = r.transpose(r("Mul", y, r.like(scale, y)), (0, 2, 1, 3))
    return r.cast(r.reshape(y, (batch, steps, heads * v.shape[3])), kind), r.cast(state, state_type)


@handles("CausalConvWithState")
def _read_causal_conv(r: Reader, node: Node) -> Any:
    """Read a causal convolution of each channel. Its input is preceded by the end of the previous call's input."""
    x, w, bias, past = node.inputs[0], node.inputs[1], node.input(2), node.input(3)
    past_length = w.shape[2] - 1
    past = r.filled((*x.shape[:2], past_length), 0, x.dtype) if past is None else past
    sequence = r("Concat", [past, x], axis=2) if past_length else x
    result = convolution(r, node._replace(attrs=Attributes({"group": x.shape[1]})), sequence, w)
    result = result if bias is None else r("BiasAdd", result, bias)
    activation = node.attr("activation", "none")
    if activation in ("silu", "swish"):
        result = r.cast(r("SiLU", r.cast(result, np.float32)), x.dtype)
    elif activation != "none":
        raise UnsupportedOperator(f"its activation is {activation!r}")
    return result, slice_axis(r, sequence, 2, sequence.shape[2] - past_length, sequence.shape[2])


@handles("TensorScatter")
def _read_tensor_scatter(r: Reader, node: Node) -> Ref:
    """Write new rows to a cache, from a start index per batch entry."""
    cache, update, starts = node.inputs[0], node.inputs[1], node.input(2)
    axis, rank = node.attr("axis", -2) % cache.rank, cache.rank
    batch, count = update.shape[0], update.shape[axis]
    rows = r.const(np.arange(count).reshape(1, count))
    if starts is not None:
        rows = r("Add", rows, r.reshape(r.cast(starts, np.int64), (batch, 1)))
        if node.attr("mode", "linear") == "circular":
            rows = r("FloorMod", rows, r.like(cache.shape[axis], rows))
    else:
        node.attr("mode")
        rows = r.const(np.broadcast_to(rows.value, (batch, count)))
    index = []
    for i, n in enumerate(update.shape[: axis + 1]):
        aligned_shape = [1] * (axis + 1)
        if i == axis:
            aligned_shape[0], aligned_shape[axis] = batch, count
            axis_index = r.reshape(rows, aligned_shape)
        else:
            aligned_shape[i] = n
            axis_index = r.const(np.arange(n).reshape(aligned_shape))
        index.append(r("BroadcastTo", axis_index, shape=update.shape[: axis + 1]))
    if rank > axis + 1 and not axis:
        raise UnsupportedOperator("its cache has no batch")
    return r("TensorScatterUpdate", cache, r("Stack", index, axis=-1), update)
