"""Readers of reductions and running sums."""

import math
from typing import Any

import numpy as np

from .reader import Reader
from .values import Node, Ref, handles


def axes_of(r: Reader, node: Node, since: int, rank: int, place: int = 1) -> tuple[int, ...] | None:
    """The axes of an operator that has them as an attribute before a version, as an input since; None for no reduction.

    All of them where none are given.
    """
    found = node.attr("axes") if node.version < since else node.input(place)
    axes = r.ints(found) if isinstance(found, Ref) else tuple(found or ())
    if not axes:
        return None if node.attr("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted({a % rank for a in axes}))


def _reduction(name, since, before, ours, after):
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        x, keep = node.inputs[0], bool(node.attr("keepdims", 1))
        axes = axes_of(r, node, since, x.rank)
        x = before(r, x)
        if axes is not None and axes:
            kind = x.dtype
            if ours == "ReduceMean" and not x.is_float:
                x = r("ReduceSum", x, axes, keep_dims=keep)
                count = math.prod(node.inputs[0].shape[a] for a in axes)
                x = r.cast(r("FloorDiv", x, r.like(count, x)), kind)
            elif ours == "LogSumExp":
                x = r("LogSumExp", x, axes, keepdim=keep)
            elif kind.name == "bool":
                x = r("ReduceAny" if ours == "ReduceMax" else "ReduceAll", x, axes, keep_dims=keep)
            elif 0 in x.shape and ours in ("ReduceMax", "ReduceMin"):
                x = _of_nothing(r, x, axes, keep, ours)
            else:
                x = r.cast(r(ours, x, axes, keep_dims=keep), kind)
        return after(r, x)


def _of_nothing(r, x, axes, keep, ours):
    shape = [n for i, n in enumerate(x.shape) if i not in axes]
    if keep:
        shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    if "float" in x.dtype.name:
        edge: Any = -np.inf if ours == "ReduceMax" else np.inf
    else:
        edge = np.iinfo(x.dtype).min if ours == "ReduceMax" else np.iinfo(x.dtype).max
    return r.filled(shape, edge, x.dtype)


def _same(r, x):
    return x


def _square(r, x):
    return r("Square", x) if x.is_float else r("Mul", x, x)


for _name, _since, _before, _ours, _after in (
    ("ReduceSum", 13, _same, "ReduceSum", _same),
    ("ReduceMean", 18, _same, "ReduceMean", _same),
    ("ReduceMax", 18, _same, "ReduceMax", _same),
    ("ReduceMin", 18, _same, "ReduceMin", _same),
    ("ReduceProd", 18, _same, "ReduceProd", _same),
    ("ReduceL1", 18, lambda r, x: r("Abs", x), "ReduceSum", _same),
    ("ReduceL2", 18, _square, "ReduceSum", lambda r, x: r("Sqrt", x)),
    ("ReduceLogSum", 18, _same, "ReduceSum", lambda r, x: r("Log", x)),
    ("ReduceLogSumExp", 18, _same, "LogSumExp", _same),
    ("ReduceSumSquare", 18, _square, "ReduceSum", _same),
):
    _reduction(_name, _since, _before, _ours, _after)


def _arg(name, ours):
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        x, axis = node.inputs[0], node.attr("axis", 0) % node.inputs[0].rank
        last = node.attr("select_last_index", 0)
        x = r("ReverseV2", x, axis=(axis,)) if last else x
        x = r.cast(x, np.int32) if x.dtype == bool else x
        found = r.cast(r(ours, x, axis=axis), np.int64)
        if last:
            found = r("Sub", r.const(np.int64(x.shape[axis] - 1)), found)
        return r("ExpandDims", found, axis) if node.attr("keepdims", 1) else found


_arg("ArgMax", "Argmax")
_arg("ArgMin", "Argmin")


@handles("CumSum")
def _cumsum(r, node):
    x = node.inputs[0]
    axis = int(r.ints(node.inputs[1])[0]) % x.rank
    made = r("CumSum", x, axis, exclusive=bool(node.attr("exclusive", 0)), reverse=bool(node.attr("reverse", 0)))
    return r.cast(made, x.dtype)


@handles("CumProd")
def _cumprod(r, node):
    x = node.inputs[0]
    axis = int(r.ints(node.inputs[1])[0]) % x.rank
    made = r("CumProd", x, axis, exclusive=bool(node.attr("exclusive", 0)), reverse=bool(node.attr("reverse", 0)))
    return r.cast(made, x.dtype)
