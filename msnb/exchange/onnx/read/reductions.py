"""Import ONNX operators: reductions and cumulative operators."""

import math
from typing import Any

import numpy as np

from .reader import Reader
from .values import Node, Ref, handles


def axes_of(r: Reader, node: Node, since: int, rank: int, index: int = 1) -> tuple[int, ...] | None:
    """Return the axes of a reduction. If the node lists none, return all axes, or None if the node then does nothing.

    The axes are an attribute before opset `since`, and the input `index` from then on.
    """
    source = node.attr("axes") if node.version < since else node.input(index)
    axes = r.ints(source) if isinstance(source, Ref) else tuple(source or ())
    does_nothing = node.attr("noop_with_empty_axes", 0)  # also read where it has no effect: the node lists its axes
    if not axes:
        return None if does_nothing else tuple(range(rank))
    return tuple(sorted({a % rank for a in axes}))


def _register_reduction(name, since, prepare, op, finish):
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        x, keep = node.inputs[0], bool(node.attr("keepdims", 1))
        axes = axes_of(r, node, since, x.rank)
        x = prepare(r, x)
        if axes is not None and axes:
            kind = x.dtype
            if op == "ReduceMean" and not x.is_float:
                x = r("ReduceSum", x, axes, keep_dims=keep)
                count = math.prod(node.inputs[0].shape[a] for a in axes)
                x = r.cast(r("FloorDiv", x, r.like(count, x)), kind)
            elif op == "LogSumExp":
                x = r("LogSumExp", x, axes, keepdim=keep)
            elif kind.name == "bool":
                x = r("ReduceAny" if op == "ReduceMax" else "ReduceAll", x, axes, keep_dims=keep)
            elif 0 in x.shape and op in ("ReduceMax", "ReduceMin"):
                x = _reduce_empty_array(r, x, axes, keep, op)
            else:
                x = r.cast(r(op, x, axes, keep_dims=keep), kind)
        return finish(r, x)


def _reduce_empty_array(r, x, axes, keep, op):
    shape = [n for i, n in enumerate(x.shape) if i not in axes]
    if keep:
        shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    if "float" in x.dtype.name:
        edge: Any = -np.inf if op == "ReduceMax" else np.inf
    else:
        edge = np.iinfo(x.dtype).min if op == "ReduceMax" else np.iinfo(x.dtype).max
    return r.filled(shape, edge, x.dtype)


def _return_unchanged(r, x):
    return x


def _square_elements(r, x):
    return r("Square", x) if x.is_float else r("Mul", x, x)


for _name, _since, _prepare, _msnb_name, _finish in (
    ("ReduceSum", 13, _return_unchanged, "ReduceSum", _return_unchanged),
    ("ReduceMean", 18, _return_unchanged, "ReduceMean", _return_unchanged),
    ("ReduceMax", 18, _return_unchanged, "ReduceMax", _return_unchanged),
    ("ReduceMin", 18, _return_unchanged, "ReduceMin", _return_unchanged),
    ("ReduceProd", 18, _return_unchanged, "ReduceProd", _return_unchanged),
    ("ReduceL1", 18, lambda r, x: r("Abs", x), "ReduceSum", _return_unchanged),
    ("ReduceL2", 18, _square_elements, "ReduceSum", lambda r, x: r("Sqrt", x)),
    ("ReduceLogSum", 18, _return_unchanged, "ReduceSum", lambda r, x: r("Log", x)),
    ("ReduceLogSumExp", 18, _return_unchanged, "LogSumExp", _return_unchanged),
    ("ReduceSumSquare", 18, _square_elements, "ReduceSum", _return_unchanged),
):
    _register_reduction(_name, _since, _prepare, _msnb_name, _finish)


def _register_arg_min_or_max(name, op):
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        x, axis = node.inputs[0], node.attr("axis", 0) % node.inputs[0].rank
        selects_last = node.attr("select_last_index", 0)
        x = r("ReverseV2", x, axis=(axis,)) if selects_last else x
        x = r.cast(x, np.int32) if x.dtype == bool else x
        index = r.cast(r(op, x, axis=axis), np.int64)
        if selects_last:
            index = r("Sub", r.const(np.int64(x.shape[axis] - 1)), index)
        return r("ExpandDims", index, axis) if node.attr("keepdims", 1) else index


_register_arg_min_or_max("ArgMax", "Argmax")
_register_arg_min_or_max("ArgMin", "Argmin")


def _register_cumulative(op):
    @handles(op)
    def _read_cumulative(r, node):
        x = node.inputs[0]
        axis = int(r.ints(node.inputs[1])[0]) % x.rank
        result = r(op, x, axis, exclusive=bool(node.attr("exclusive", 0)), reverse=bool(node.attr("reverse", 0)))
        return r.cast(result, x.dtype)


_register_cumulative("CumSum")
_register_cumulative("CumProd")
