"""Primitives that reduce: reductions, cumulative operations, matrix products and convolutions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..builder import Builder, Refused, Value, primitives
from .shapes import interleave, pad


def reduced(b: Builder, op: str, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
    """Reduce a value over axes. The value is returned unchanged if `axes` is empty."""
    if not axes:
        return x
    kind = b.computing(x.dtype)
    if op in ("ReduceMax", "ReduceMin"):  # their axes became an input in opset 18
        return b.op(op, b.cast(x, kind), b.ints(axes), keepdims=int(keep))
    return b.op(op, b.cast(x, kind), b.ints(axes), keepdims=int(keep))


def _register_reduction(name, op):
    @primitives.register(name)
    def lower(b: Builder, x: Value, axes: Sequence[int], **_: Any) -> Value:
        if x.dtype == "bool":
            result = reduced(b, {"ReduceSum": "ReduceMax"}.get(op, op), b.cast(x, "int32"), axes)
            return b.cast(result, "bool")
        return reduced(b, op, x, axes)


_register_reduction("reduce_sum", "ReduceSum")
_register_reduction("reduce_max", "ReduceMax")
_register_reduction("reduce_min", "ReduceMin")
_register_reduction("reduce_prod", "ReduceProd")


def _register_logical_reduction(name, op):
    @primitives.register(name)
    def lower(b: Builder, x: Value, axes: Sequence[int], **_: Any) -> Value:
        return b.cast(reduced(b, op, b.cast(x, "int32"), axes), "bool")


_register_logical_reduction("reduce_and", "ReduceMin")
_register_logical_reduction("reduce_or", "ReduceMax")


def _register_arg_min_or_max(name, op):
    @primitives.register(name)
    def lower(b: Builder, x: Value, axes: Sequence[int], **_: Any) -> Value:
        kind = "int32" if x.dtype == "bool" else b.computing(x.dtype)
        return b.op(op, b.cast(x, kind), dtype="int64", axis=axes[0], keepdims=0)


_register_arg_min_or_max("argmax", "ArgMax")
_register_arg_min_or_max("argmin", "ArgMin")


@primitives.register("cumsum")
def _lower_cumsum(b, x, axis, reverse=False, **_):
    kind = b.computing(x.dtype)
    return b.op("CumSum", b.cast(x, kind), b.const(np.int64(axis)), reverse=int(reverse))


def _register_cumulative(name, op):
    """Register the lowering of a cumulative product, maximum or minimum. `x` is repeated in a square matrix, later
    elements are masked, and each row is reduced.
    """

    @primitives.register(name)
    def lower(b: Builder, x: Value, axis: int, reverse: bool = False, **_: Any) -> Value:
        count, rank = int(x.shape[axis]), len(x.shape)
        kind = b.computing(x.dtype)
        fill = {"ReduceProd": 1}.get(op)
        if fill is None:
            edges = np.finfo if "float" in kind else np.iinfo
            fill = edges(kind).min if op == "ReduceMax" else edges(kind).max
        mask = np.tri(count, dtype=bool)
        mask = (mask.T if reverse else mask).reshape((1,) * axis + (count, count) + (1,) * (rank - axis - 1))
        expanded = b.unsqueeze(b.cast(x, kind), [axis])
        square = b.op("Where", b.const(mask), expanded, b.const(np.asarray(fill, kind)), dtype=kind)
        return reduced(b, op, square, [axis + 1])


_register_cumulative("cumprod", "ReduceProd")
_register_cumulative("cummax", "ReduceMax")
_register_cumulative("cummin", "ReduceMin")


# ---------------------------------------------------------------------- products
@primitives.register("dot_general")
def _lower_dot_general(b, x, y, dimension_numbers, **_):
    """Write a MatMul where the axes permit it, else an Einsum."""
    (left, right), (batch_left, batch_right) = dimension_numbers
    kind = b.computing(b.dtype)
    x, y = b.cast(x, kind), b.cast(y, kind)
    n, m = len(x.shape), len(y.shape)
    batches = len(batch_left)
    if tuple(batch_left) == tuple(range(batches)) == tuple(batch_right) and len(left) == 1:
        is_matmul = n == m == batches + 2
        if is_matmul:
            if left[0] == n - 2:
                x = b.transpose(x, [*range(batches), n - 1, n - 2])
            if right[0] == m - 1:
                y = b.transpose(y, [*range(batches), m - 1, m - 2])
            return b.op("MatMul", x, y)
        if not batches and m == 2 and left[0] == n - 1:
            return b.op("MatMul", x, b.transpose(y, [1, 0]) if right[0] == 1 else y)
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    first = [next(letters) for _ in range(n)]
    second = [next(letters) for _ in range(m)]
    for i, j in (*zip(left, right, strict=True), *zip(batch_left, batch_right, strict=True)):
        second[j] = first[i]
    output_letters = [first[i] for i in batch_left]
    output_letters += [first[i] for i in range(n) if i not in left and i not in batch_left]
    output_letters += [second[i] for i in range(m) if i not in right and i not in batch_right]
    if kind in ("int8", "uint8", "int16"):
        raise Refused(f"ONNX has no products of {kind}")
    return b.op("Einsum", x, y, equation=f"{''.join(first)},{''.join(second)}->{''.join(output_letters)}")


@primitives.register("conv_general_dilated")
def _lower_conv(
    b, x, w, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, **more
):
    """Write a Conv after transposition to ONNX's axis order. An input dilation inserts zeros between the elements."""
    if more.get("batch_group_count", 1) != 1:
        raise Refused("ONNX has no convolution in groups of the batch")
    data, kernel, out = dimension_numbers
    x, w = b.transpose(x, data), b.transpose(w, kernel)
    zero = b.like(0, x)
    for axis, gap in enumerate(lhs_dilation):
        if gap > 1:
            x = interleave(b, x, zero, axis + 2, gap - 1)
    if any(n < 0 for pair in padding for n in pair):
        x = pad(b, x, zero, ((0, 0, 0), (0, 0, 0), *((min(p, 0), min(q, 0), 0) for p, q in padding)))
        padding = [(max(p, 0), max(q, 0)) for p, q in padding]
    result = b.op(
        "Conv",
        x,
        w,
        strides=list(window_strides),
        pads=[p for p, _ in padding] + [q for _, q in padding],
        dilations=list(rhs_dilation),
        group=feature_group_count,
    )
    return b.transpose(result, [int(i) for i in np.argsort(out)])
