"""Lowerings to ONNX: elementwise operators, reductions and matrix products."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from msnb.ops import operations as ops
from msnb.ops.array.where import _Where
from msnb.ops.math.division import _TrueDiv
from msnb.ops.math.matmul import _MatMulBroadcast

from .builder import Builder, Value, lowerings
from .primitives import arithmetic, cast_as_xla, compare, reduced

Axis = int | Sequence[int]


def axes_of(axis: Any, rank: int) -> list[int]:
    """Return the non-negative axes of a reduction; () means all."""
    if axis is None or axis == ():
        return list(range(rank))
    return sorted({int(a) % rank for a in ([axis] if isinstance(axis, int) else axis)})


# ---------------------------------------------------------------------- unary operators
def _register_unary(operator, op):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value) -> Any:
        if not x.is_float and op not in ("Neg", "Abs", "Sign"):
            return NotImplemented
        return b.op(op, b.cast(x, b.computing(x.dtype)))


for _operator, _op in {
    ops.Exp: "Exp",
    ops.Log: "Log",
    ops.Sqrt: "Sqrt",
    ops.Neg: "Neg",
    ops.Abs: "Abs",
    ops.Sign: "Sign",
    ops.Floor: "Floor",
    ops.Ceil: "Ceil",
    ops.Erf: "Erf",
    ops.Sin: "Sin",
    ops.Cos: "Cos",
    ops.Tan: "Tan",
    ops.Asin: "Asin",
    ops.ACos: "Acos",
    ops.Atan: "Atan",
    ops.Sinh: "Sinh",
    ops.Cosh: "Cosh",
    ops.Asinh: "Asinh",
    ops.Acosh: "Acosh",
    ops.Atanh: "Atanh",
    ops.Reciprocal: "Reciprocal",
    ops.Inv: "Reciprocal",
}.items():
    _register_unary(_operator, _op)


@lowerings.register(ops.Square)
def _lower_square(b, x):
    return arithmetic(b, "Mul", (x, x))


@lowerings.register(ops.LogicalNot)
def _lower_logical_not(b, x):
    return b.op("Not", b.cast(x, "bool"))


@lowerings.register(ops.IsNan)
def _lower_is_nan(b, x):
    return b.op("IsNaN", x, dtype="bool") if x.dtype in ("float32", "float64") else NotImplemented


@lowerings.register(ops.IsInf)
def _lower_is_inf(b, x):
    return b.op("IsInf", x, dtype="bool") if x.dtype in ("float32", "float64") else NotImplemented


@lowerings.register(ops.Identity)
def _lower_identity(b, x):
    return x


@lowerings.register(ops.StopGradient)
def _lower_stop_gradient(b, x):
    return x


@lowerings.register(ops.Cast)
def _lower_cast(b, x, type):
    if b.dtype == "bool" or x.dtype == "bool" or x.is_float == ("float" in b.dtype):
        return cast_as_xla(b, x, b.dtype)
    return cast_as_xla(b, x, b.dtype) if "float" in b.dtype else NotImplemented


# ---------------------------------------------------------------------- binary operators
def _register_binary(operator, op):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, y: Value) -> Any:
        return NotImplemented if b.dtype in ("bool", "complex64", "complex128") else arithmetic(b, op, (x, y))


for _operator, _op in {
    ops.Add: "Add",
    ops.Sub: "Sub",
    ops.Mul: "Mul",
    ops.Maximum: "Max",
    ops.Minimum: "Min",
}.items():
    _register_binary(_operator, _op)


def _register_division(operator):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, y: Value) -> Any:
        return arithmetic(b, "Div", (x, y)) if "float" in b.dtype else NotImplemented


for _operator in (ops.RealDiv, ops.Div, _TrueDiv):
    _register_division(_operator)


@lowerings.register(ops.Pow)
def _lower_pow(b, x, y):
    if "float" not in b.dtype:
        return NotImplemented
    return arithmetic(b, "Pow", (x, y))


@lowerings.register(ops.AddN)
def _lower_add_n(b, inputs):
    return arithmetic(b, "Add", inputs) if b.dtype != "bool" else NotImplemented


def _register_comparison(operator, op):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, y: Value) -> Value:
        return compare(b, op, x, y)


for _operator, _op in {
    ops.Equal: "Equal",
    ops.NotEqual: "NotEqual",
    ops.Less: "Less",
    ops.LessEqual: "LessOrEqual",
    ops.Greater: "Greater",
    ops.GreaterEqual: "GreaterOrEqual",
}.items():
    _register_comparison(_operator, _op)


def _register_logical(operator, op):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, y: Value) -> Value:
        return b.op(op, b.cast(x, "bool"), b.cast(y, "bool"))


for _operator, _op in {ops.LogicalAnd: "And", ops.LogicalOr: "Or"}.items():
    _register_logical(_operator, _op)


@lowerings.register(ops.Select, _Where)
def _lower_select(b, condition, x, y):
    kind = b.computing(b.dtype)
    return b.op("Where", b.cast(condition, "bool"), b.cast(x, kind), b.cast(y, kind), dtype=kind)


@lowerings.register(ops.MaskedFill)
def _lower_masked_fill(b, x, mask, value):
    kind = b.computing(b.dtype)
    return b.op("Where", b.cast(mask, "bool"), b.cast(value, kind), b.cast(x, kind), dtype=kind)


# ---------------------------------------------------------------------- reductions
def _register_reduction(operator, op):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, axis: Axis, keep_dims: bool, skip_mode: bool = False) -> Any:
        if skip_mode or x.dtype == "bool" or (op == "ReduceMean" and not x.is_float):
            return NotImplemented
        return reduced(b, op, x, axes_of(axis, x.rank), keep_dims)


for _operator, _op in {
    ops.ReduceSum: "ReduceSum",
    ops.ReduceMean: "ReduceMean",
    ops.ReduceMax: "ReduceMax",
    ops.ReduceMin: "ReduceMin",
    ops.ReduceProd: "ReduceProd",
}.items():
    _register_reduction(_operator, _op)


def _register_arg_min_or_max(operator, op):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, axis: int, output_type: Any) -> Any:
        if x.dtype == "bool" or axis is None:
            return NotImplemented
        return b.op(op, b.cast(x, b.computing(x.dtype)), dtype="int64", axis=axis, keepdims=0)


_register_arg_min_or_max(ops.Argmax, "ArgMax")
_register_arg_min_or_max(ops.Argmin, "ArgMin")


def _register_arg_with_value(operator, arg, extreme):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value, axis: int, keep_dims: bool) -> Any:
        if x.dtype == "bool" or axis is None or not x.rank:
            return NotImplemented
        widened = b.cast(x, b.computing(x.dtype))
        index = b.op(arg, widened, dtype="int64", axis=axis, keepdims=int(keep_dims))
        return index, reduced(b, extreme, widened, axes_of(axis, x.rank), keep_dims)


_register_arg_with_value(ops.ArgMaxWithValue, "ArgMax", "ReduceMax")
_register_arg_with_value(ops.ArgMinWithValue, "ArgMin", "ReduceMin")


@lowerings.register(ops.CumSum)
def _lower_cumsum(b, x, axis, exclusive, reverse):
    if x.dtype == "bool":
        return NotImplemented
    widened = b.cast(x, b.computing(x.dtype))
    return b.op("CumSum", widened, b.const(np.int64(axis)), exclusive=int(exclusive), reverse=int(reverse))


# ---------------------------------------------------------------------- matrix products
@lowerings.register(ops.MatMul, ops.BatchMatMul)
def _lower_matmul(b, x, y, transpose_a, transpose_b):
    if "int" in b.dtype and b.dtype not in ("int32", "int64"):
        return NotImplemented
    kind = b.computing(b.dtype)
    x, y = (b.cast(value, kind) for value in (x, y))
    operands = (b.transpose(x, _make_transpose_permutation(x.rank)) if transpose_a else x, y)
    if transpose_b:
        if y.rank == x.rank == 2 and "float" in kind:
            return b.op("Gemm", x, y, transA=int(transpose_a), transB=1)
        operands = (operands[0], b.transpose(y, _make_transpose_permutation(y.rank)))
    return b.op("MatMul", *operands)


@lowerings.register(_MatMulBroadcast)
def _lower_matmul_broadcast(b, x, y):
    if "float" not in b.dtype:
        return NotImplemented
    return b.op("MatMul", b.cast(x, b.computing(b.dtype)), b.cast(y, b.computing(b.dtype)))


def _make_transpose_permutation(rank):
    return [*range(rank - 2), rank - 1, rank - 2]


@lowerings.register(ops.Dense)
def _lower_dense(b, x, weight, bias):
    if "float" not in b.dtype or weight.rank != 2 or not x.rank:
        return NotImplemented
    product = b.op("MatMul", x, b.transpose(weight, [1, 0]))
    return product if bias is None else b.op("Add", product, bias)


@lowerings.register(ops.MatrixDeterminant)
def _lower_determinant(b, input):
    if b.dtype == "float64":  # runtimes implement float32 only
        return NotImplemented
    return b.op("Det", b.cast(input, "float32"))


@lowerings.register(ops.BiasAdd)
def _lower_bias_add(b, x, bias, data_format):
    if data_format != "NHWC" and x.rank > 2:
        bias = b.reshape(bias, (-1 if not isinstance(bias.shape[0], int) else bias.shape[0], *[1] * (x.rank - 2)))
    return arithmetic(b, "Add", (x, bias))
