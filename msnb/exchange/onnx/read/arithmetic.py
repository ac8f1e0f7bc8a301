"""Readers of what works element by element, of reductions, products of matrices and casts."""

import math
from typing import Any

import numpy as np

from msnb.formats import onnx

from .reader import Node, Reader, Ref, Unread, handles


def _each(**table):
    """Readers of operators with one input and an operator of msnb that does the same."""
    for name, ours in table.items():

        def read(r: Reader, node: Node, ours: str = ours) -> Ref:
            return r(ours, node.inputs[0])

        handles(name)(read)


_each(
    Abs="Abs",
    Neg="Neg",
    Sign="Sign",
    Floor="Floor",
    Ceil="Ceil",
    Round="Rint",
    Sqrt="Sqrt",
    Exp="Exp",
    Log="Log",
    Erf="Erf",
    Sin="Sin",
    Cos="Cos",
    Tan="Tan",
    Asin="Asin",
    Acos="ACos",
    Atan="Atan",
    Sinh="Sinh",
    Cosh="Cosh",
    Tanh="Tanh",
    Asinh="Asinh",
    Acosh="Acosh",
    Atanh="Atanh",
    Reciprocal="Reciprocal",
    Sigmoid="Sigmoid",
    Relu="ReLU",
    Softsign="Softsign",
    Softplus="Softplus",
    HardSwish="HSwish",
    Mish="Mish",
    IsNaN="IsNan",
    Not="LogicalNot",
    BitwiseNot="Invert",
    Det="MatrixDeterminant",
)


@handles("Identity")
def _identity(r, node):
    return node.inputs[0]


@handles("Dropout")
def _dropout(r, node):
    """What it is in evaluation."""
    x = node.inputs[0]
    training = node.input(2)
    if training is not None and np.any(r.static(training)):
        raise Unread("it draws at random, in training")
    return x, r.const(np.ones(x.shape, bool))


@handles("IsInf")
def _is_inf(r, node):
    x = node.inputs[0]
    up, down = node.attr("detect_positive", 1), node.attr("detect_negative", 1)
    found = r("IsInf", x)
    if up and down:
        return found
    if not up and not down:
        return r.const(np.zeros(x.shape, bool))
    return r("LogicalAnd", found, r("Greater" if up else "Less", x, r.like(0, x)))


# ---------------------------------------------------------------------- two values and more
def _pairs(**table):
    for name, ours in table.items():

        def read(r: Reader, node: Node, ours: str = ours) -> Ref:
            found = node.inputs[0]
            for other in node.inputs[1:]:
                found = r(ours, found, other)
            return found

        handles(name)(read)


_pairs(
    Add="Add",
    Sub="Sub",
    Mul="Mul",
    Max="Maximum",
    Min="Minimum",
    Sum="Add",
    And="LogicalAnd",
    Or="LogicalOr",
    Xor="LogicalXor",
    Equal="Equal",
    Greater="Greater",
    GreaterOrEqual="GreaterEqual",
    Less="Less",
    LessOrEqual="LessEqual",
    BitwiseAnd="BitwiseAnd",
    BitwiseOr="BitwiseOr",
    BitwiseXor="BitwiseXor",
)


@handles("Mean")
def _mean(r, node):
    found = node.inputs[0]
    for other in node.inputs[1:]:
        found = r("Add", found, other)
    return r("RealDiv", found, r.like(len(node.inputs), found))


@handles("Div")
def _div(r, node):
    x, y = node.inputs
    if x.is_float:
        return r("RealDiv", x, y)
    return r.cast(r("TruncateDiv", x, y), x.dtype)


@handles("Mod")
def _mod(r, node):
    x, y = node.inputs
    return r.cast(r("TruncateMod" if node.attr("fmod", 0) else "FloorMod", x, y), x.dtype)


@handles("Pow")
def _pow(r, node):
    x, y = node.inputs
    if y.is_float and not x.is_float:
        return r.cast(r("Pow", r.cast(x, y.dtype), y), x.dtype)
    return r.cast(r("Pow", x, r.cast(y, x.dtype)), x.dtype)


@handles("BitShift")
def _bit_shift(r, node):
    x, y = node.inputs
    bits = 8 * x.dtype.itemsize
    steps = r("Where", r("Less", y, r.like(0, y)), r.like(bits, y), r("Minimum", y, r.like(bits, y)))
    if y.dtype.kind == "u":
        steps = r("Minimum", y, r.like(bits, y))
    power = r("Pow", r.const(2.0, np.float64), r.cast(steps, np.float64))
    if node.attr("direction") == "LEFT":
        gone = r("GreaterEqual", steps, r.like(bits, y))
        factor = r.cast(r("Where", gone, r.like(0.0, power), power), x.dtype)
        return r("Mul", x, factor)
    if bits == 64:
        return r.cast(r("FloorDiv", x, r.cast(power, x.dtype)), x.dtype)
    return r.cast(r.cast(r("Floor", r("RealDiv", r.cast(x, np.float64), power)), np.int64), x.dtype)


@handles("Where")
def _where(r, node):
    return r("Where", *node.inputs)


@handles("Clip")
def _clip(r, node):
    x = node.inputs[0]
    low, high = node.input(1), node.input(2)
    if node.version < 11:
        low = r.like(node.attr("min"), x) if node.attr("min") is not None else None
        high = r.like(node.attr("max"), x) if node.attr("max") is not None else None
    if low is not None:
        x = r("Maximum", x, low)
    return x if high is None else r("Minimum", x, high)


# ---------------------------------------------------------------------- casts and constants
@handles("Cast")
def _cast(r, node):
    return _cast_to(r, node.inputs[0], node.attr("to"))


@handles("CastLike")
def _cast_like(r, node):
    return r.cast(node.inputs[0], node.inputs[1].dtype)


def _cast_to(r, x, number):
    if number not in onnx.DTYPES:
        raise Unread(f"it casts to the element type {number}, which msnb does not have")
    return r.cast(x, onnx.DTYPES[number])


@handles("Constant")
def _constant(r, node):
    for name, dtype in (("value_float", np.float32), ("value_int", np.int64)):
        if name in node.attrs:
            return r.const(node.attrs[name], dtype)
    for name, dtype in (("value_floats", np.float32), ("value_ints", np.int64)):
        if name in node.attrs:
            return r.const(np.array(node.attrs[name], dtype))
    if "value" not in node.attrs:
        raise Unread("it is a constant of text, or a sparse one")
    return r.const(onnx.array(node.attrs["value"], r.model.folder))


# ---------------------------------------------------------------------- activations
@handles("LeakyRelu")
def _leaky(r, node):
    return r("LeakyReLUExt", node.inputs[0], alpha=float(node.attr("alpha", 0.01)))


@handles("Elu")
def _elu(r, node):
    x, alpha = node.inputs[0], float(node.attr("alpha", 1.0))
    if alpha == 1.0:
        return r("Elu", x)
    low = r("Mul", r("Expm1", r("Minimum", x, r.like(0, x))), r.like(alpha, x))
    return r("Add", r("ReLU", x), low)


@handles("Celu")
def _celu(r, node):
    return r("CeLU", node.inputs[0], alpha=float(node.attr("alpha", 1.0)))


@handles("Selu")
def _selu(r, node):
    x = node.inputs[0]
    alpha, gamma = node.attr("alpha", 1.6732632423543772), node.attr("gamma", 1.0507009873554805)
    if abs(alpha - 1.6732632423543772) < 1e-6 and abs(gamma - 1.0507009873554805) < 1e-6:
        return r("SeLU", x)
    low = r("Mul", r("Expm1", r("Minimum", x, r.like(0, x))), r.like(alpha, x))
    return r("Mul", r("Add", r("ReLU", x), low), r.like(gamma, x))


@handles("HardSigmoid")
def _hard_sigmoid(r, node):
    x = node.inputs[0]
    alpha, beta = node.attr("alpha", 0.2), node.attr("beta", 0.5)
    if abs(alpha - 1 / 6) < 1e-6 and beta == 0.5:
        return r("HSigmoid", x)
    line = r("Add", r("Mul", x, r.like(alpha, x)), r.like(beta, x))
    return r("Minimum", r("Maximum", line, r.like(0, x)), r.like(1, x))


@handles("ThresholdedRelu")
def _thresholded(r, node):
    x = node.inputs[0]
    return r("Where", r("Greater", x, r.like(node.attr("alpha", 1.0), x)), x, r.like(0, x))


@handles("PRelu")
def _prelu(r, node):
    x, slope = node.inputs
    return r("Where", r("Less", x, r.like(0, x)), r("Mul", x, slope), x)


@handles("Gelu")
def _gelu(r, node):
    return r("GeluExt", node.inputs[0], node.attr("approximate", "none"))


@handles("Swish")
def _swish(r, node):
    x, alpha = node.inputs[0], node.attr("alpha", 1.0)
    return r("SiLU", x) if alpha == 1.0 else r("Mul", x, r("Sigmoid", r("Mul", x, r.like(alpha, x))))


@handles("Shrink")
def _shrink(r, node):
    x, bias, edge = node.inputs[0], node.attr("bias", 0.0), node.attr("lambd", 0.5)
    high = r("Where", r("Greater", x, r.like(edge, x)), r("Sub", x, r.like(bias, x)), r.like(0, x))
    return r("Where", r("Less", x, r.like(-edge, x)), r("Add", x, r.like(bias, x)), high)


def _softmax_like(name, ours):
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        x = node.inputs[0]
        if node.version >= 13:
            return _by_axis(r, ours, x, node.attr("axis", -1))
        axis = node.attr("axis", 1) % max(x.rank, 1)  # all axes from here on, as one
        if axis == x.rank - 1:
            return _by_axis(r, ours, x, -1)
        flat = r.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))
        return r.reshape(_by_axis(r, ours, flat, -1), x.shape)


def _by_axis(r, ours, x, axis):
    if ours != "Hardmax":
        return r(ours, x, axis=axis)
    axis %= x.rank
    best = r("Argmax", x, axis=axis)
    return r("OneHot", best, x.shape[axis], r.like(1, x), r.like(0, x), axis=axis)


_softmax_like("Softmax", "Softmax")
_softmax_like("LogSoftmax", "LogSoftmax")
_softmax_like("Hardmax", "Hardmax")


# ---------------------------------------------------------------------- reductions
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
    return r.const(np.full(shape, edge, x.dtype))


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


# ---------------------------------------------------------------------- products of matrices
@handles("MatMul")
def _matmul(r, node):
    return matmul(r, *node.inputs)


def matmul(r: Reader, x: Ref, y: Ref) -> Ref:
    """numpy's product of matrices."""
    if x.rank == y.rank == 2:
        return r("MatMul", x, y)
    if x.rank == y.rank > 2 and x.shape[:-2] == y.shape[:-2]:
        return r("BatchMatMul", x, y)
    return r("MatMulBroadcast", x, y)


@handles("Gemm")
def _gemm(r, node):
    x, y = node.inputs[:2]
    made = r("MatMul", x, y, transpose_a=bool(node.attr("transA", 0)), transpose_b=bool(node.attr("transB", 0)))
    alpha, beta, c = node.attr("alpha", 1.0), node.attr("beta", 1.0), node.input(2)
    if alpha != 1.0:
        made = r("Mul", made, r.like(alpha, made))
    if c is None:
        return made
    c = c if beta == 1.0 else r("Mul", c, r.like(beta, c))
    return r("BiasAdd", made, c) if c.rank == 1 and c.shape[0] == made.shape[1] else r("Add", made, c)


@handles("Einsum")
def _einsum(r, node):
    return r("Einsum", node.inputs, equation=node.attr("equation").replace(" ", ""))


@handles("MatMulInteger")
def _matmul_integer(r, node):
    x, y = (r.cast(v, np.int32) for v in node.inputs[:2])
    for place in (2, 3):
        zero = node.input(place)
        if zero is not None:
            zero = r.cast(zero, np.int32)
            if place == 2:
                zero = r.reshape(zero, (*zero.shape, 1)) if zero.rank == 1 and zero.shape[0] > 1 else zero
                x = r("Sub", x, zero)
            else:
                y = r("Sub", y, zero)
    return matmul(r, x, y)


# ---------------------------------------------------------------------- quantisation
def _lined(r, v, x, axis):
    """One value for all, or one for each place of an axis."""
    if v.rank == 0 or v.shape == (1,) and x.rank == 0:
        return r.reshape(v, ())
    if v.rank == 1:
        return r.reshape(v, [v.shape[0] if i == axis % x.rank else 1 for i in range(x.rank)])
    raise Unread("it is quantised in blocks")


@handles("DequantizeLinear")
def _dequantize(r, node):
    x, scale, zero = node.inputs[0], node.inputs[1], node.input(2)
    axis = node.attr("axis", 1)
    wide = r.cast(x, np.int32)
    if zero is not None:
        wide = r("Sub", wide, r.cast(_lined(r, zero, x, axis), np.int32))
    return r("Mul", r.cast(wide, scale.dtype), _lined(r, scale, x, axis))


@handles("QuantizeLinear")
def _quantize(r, node):
    x, scale, zero = node.inputs[0], node.inputs[1], node.input(2)
    axis = node.attr("axis", 1)
    dtype = onnx.DTYPES.get(node.attr("output_dtype", 0) or 2, np.dtype(np.uint8)) if zero is None else zero.dtype
    if dtype.kind not in "iu":
        raise Unread(f"it quantises to {dtype.name}")
    wide = r("Rint", r("RealDiv", x, r.cast(_lined(r, scale, x, axis), x.dtype)))
    if zero is not None:
        wide = r("Add", wide, r.cast(_lined(r, zero, x, axis), wide.dtype))
    edges = np.iinfo(dtype)
    wide = r("Minimum", r("Maximum", wide, r.like(edges.min, wide)), r.like(edges.max, wide))
    return r.cast(r.cast(wide, np.int32), dtype)


@handles("DynamicQuantizeLinear")
def _dynamic_quantize(r, node):
    x = node.inputs[0]
    zero = r.like(0, x)
    low = r("Minimum", r("ReduceMin", x), zero)
    high = r("Maximum", r("ReduceMax", x), zero)
    scale = r("RealDiv", r("Sub", high, low), r.like(255, x))
    point = r("Rint", r("Minimum", r("Maximum", r("Neg", r("RealDiv", low, scale)), zero), r.like(255, x)))
    y = r("Add", r("Rint", r("RealDiv", x, scale)), point)
    y = r("Minimum", r("Maximum", y, zero), r.like(255, x))
    return r.cast(r.cast(y, np.int32), np.uint8), scale, r.cast(r.cast(point, np.int32), np.uint8)
