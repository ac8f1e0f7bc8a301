"""Elementwise primitives: functions, comparisons, logic and casts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..builder import Builder, Value, primitives


def _register_unary(name, op, real=False):
    @primitives.register(name)
    def lower(b: Builder, x: Value, **_: Any) -> Value:
        kind = b.computing(x.dtype)
        return b.op(op, b.cast(x, kind))


for _name, _op in {
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "asin": "Asin",
    "acos": "Acos",
    "atan": "Atan",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "tanh": "Tanh",
    "asinh": "Asinh",
    "acosh": "Acosh",
    "atanh": "Atanh",
    "logistic": "Sigmoid",
    "floor": "Floor",
    "ceil": "Ceil",
    "erf": "Erf",
    "neg": "Neg",
    "abs": "Abs",
    "sign": "Sign",
}.items():
    _register_unary(_name, _op)


@primitives.register(
    "copy", "copy_p", "stop_gradient", "reduce_precision", "optimization_barrier", "sharding_constraint"
)
def _lower_identity(b, *values, **_):
    return values


@primitives.register("square")
def _lower_square(b, x, **_):
    return b.op("Mul", x, x)


@primitives.register("integer_pow")
def _lower_integer_pow(b, x, y, **_):
    return b.op("Pow", x, b.like(y, x))


@primitives.register("pow")
def _lower_pow(b, x, y, **_):
    return b.op("Pow", x, b.cast(y, x.dtype))


@primitives.register("rsqrt")
def _lower_rsqrt(b, x, **_):
    return b.op("Reciprocal", b.op("Sqrt", x))


@primitives.register("cbrt")
def _lower_cbrt(b, x, **_):
    return b.op("Mul", b.op("Sign", x), b.op("Pow", b.op("Abs", x), b.like(1 / 3, x)))


@primitives.register("exp2")
def _lower_exp2(b, x, **_):
    return b.op("Exp", b.op("Mul", x, b.like(float(np.log(2)), x)))


@primitives.register("log2")
def _lower_log2(b, x, **_):
    return b.op("Div", b.op("Log", x), b.like(float(np.log(2)), x))


@primitives.register("one_minus_square")
def _lower_one_minus_square(b, x, **_):
    """Compute 1 - x * x without the loss of digits near 1 and -1."""
    one = b.like(1, x)
    return b.op("Mul", b.op("Add", one, x), b.op("Sub", one, x))


@primitives.register("polynomial")
def _lower_polynomial(b, x, *coefficients, **_):
    """Evaluate a polynomial by Horner's scheme. The coefficient of the highest power is the last one."""
    total = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = b.op("Add", b.op("Mul", total, x), coefficient)
    return total


@primitives.register("log1p")
def _lower_log1p(b, x, **_):
    """Compute log(1 + x) as x * log(u) / (u - 1) with u = 1 + x."""
    # log(1 + x) loses the digits of a small x. The ratio does not: log(u) and u - 1 use the same rounded u.
    one = b.like(1, x)
    u = b.op("Add", one, x)
    less = b.op("Sub", u, one)
    exact = b.op("Equal", less, b.like(0, x), dtype="bool")
    infinite = b.op("Equal", u, x, dtype="bool")
    safe = b.op("Where", exact, one, less, dtype=x.dtype)
    ratio = b.op("Div", b.op("Mul", x, b.op("Log", u)), safe)
    return b.op("Where", exact, x, b.op("Where", infinite, b.op("Log", u), ratio, dtype=x.dtype), dtype=x.dtype)


@primitives.register("expm1")
def _lower_expm1(b, x, **_):
    """Compute exp(x) - 1. Near 0 it is tanh(x / 2) * (exp(x) + 1), which loses no digits."""
    small = b.op("Less", b.op("Abs", x), b.like(1, x), dtype="bool")
    near = b.op("Mul", b.op("Tanh", b.op("Mul", x, b.like(0.5, x))), b.op("Add", b.op("Exp", x), b.like(1, x)))
    return b.op("Where", small, near, b.op("Sub", b.op("Exp", x), b.like(1, x)), dtype=x.dtype)


@primitives.register("erfc")
def _lower_erfc(b, x, **_):
    return b.op("Sub", b.like(1, x), b.op("Erf", x))


@primitives.register("round")
def _lower_round(b, x, rounding_method=1, **_):
    if int(rounding_method) == 1:  # round half to even
        return b.op("Round", x)
    up = b.op("Floor", b.op("Add", b.op("Abs", x), b.like(0.5, x)))
    return b.op("Mul", b.op("Sign", x), up)


@primitives.register("is_finite")
def _lower_is_finite(b, x, **_):
    x = b.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    bad = b.op("Or", b.op("IsNaN", x, dtype="bool"), b.op("IsInf", x, dtype="bool"), dtype="bool")
    return b.op("Not", bad)


def _register_binary(name, op):
    @primitives.register(name)
    def lower(b: Builder, *values: Value, **_: Any) -> Value:
        return arithmetic(b, op, values)


def arithmetic(b: Builder, op: str, values: Sequence[Value]) -> Value:
    """Apply a binary operator to all values from left to right, in the element type of the result."""
    kind = b.computing(b.dtype)
    result = b.cast(values[0], kind)
    for value in values[1:]:
        result = b.op(op, result, b.cast(value, kind))
    return result


for _name, _op in {"add": "Add", "sub": "Sub", "mul": "Mul", "AddN": "Add"}.items():
    _register_binary(_name, _op)


@primitives.register("div")
def _lower_div(b, x, y, **_):
    return arithmetic(b, "Div", (x, y))


@primitives.register("rem")
def _lower_rem(b, x, y, **_):
    """Compute the remainder with the sign of the dividend, like C's fmod."""
    kind = b.computing(x.dtype)
    return b.op("Mod", b.cast(x, kind), b.cast(y, kind), fmod=1)


def _register_min_or_max(name, op, logic):
    @primitives.register(name)
    def lower(b: Builder, x: Value, y: Value, **_: Any) -> Value:
        if x.dtype == "bool":
            return b.op(logic, x, y)
        return arithmetic(b, op, (x, y))


_register_min_or_max("max", "Max", "Or")
_register_min_or_max("min", "Min", "And")


@primitives.register("clamp")
def _lower_clamp(b, low, x, high, **_):
    return arithmetic(b, "Min", (b.op("Max", b.cast(x, b.computing(x.dtype)), b.cast(low, b.computing(x.dtype))), high))


@primitives.register("atan2")
def _lower_atan2(b, y, x, **_):
    """Compute atan2 as atan(y / x), shifted by pi or -pi if x is negative. The case x = 0 is handled separately."""
    zero, pi = b.like(0, x), b.like(float(np.pi), x)
    is_vertical = b.op("Equal", x, zero, dtype="bool")
    base = b.op("Atan", b.op("Div", y, b.op("Where", is_vertical, b.like(1, x), x, dtype=x.dtype)))
    is_below = b.op("Less", y, zero, dtype="bool")
    shifted = b.op("Where", is_below, b.op("Sub", base, pi), b.op("Add", base, pi), dtype=x.dtype)
    by_half_plane = b.op("Where", b.op("Less", x, zero, dtype="bool"), shifted, base, dtype=x.dtype)
    vertical = b.op("Mul", b.op("Sign", y), b.like(float(np.pi / 2), x))
    return b.op("Where", is_vertical, vertical, by_half_plane, dtype=x.dtype)


# ---------------------------------------------------------------------- comparisons and logic
def compare(b: Builder, op: str, x: Value, y: Value) -> Value:
    """Compare two values in their common type. `NotEqual` is written as Not(Equal): ONNX has no NotEqual."""
    x, y = b.common(x, y)
    if x.dtype == "bool" and op not in ("Equal", "NotEqual"):
        x, y = b.cast(x, "int32"), b.cast(y, "int32")
    kind = b.computing(x.dtype)
    result = b.op("Equal" if op == "NotEqual" else op, b.cast(x, kind), b.cast(y, kind), dtype="bool")
    return b.op("Not", result) if op == "NotEqual" else result


def _register_comparison(name, op):
    @primitives.register(name)
    def lower(b: Builder, x: Value, y: Value, **_: Any) -> Value:
        return compare(b, op, x, y)


for _name, _op in {
    "eq": "Equal",
    "ne": "NotEqual",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
}.items():
    _register_comparison(_name, _op)


def _register_logical(name, op, bits):
    @primitives.register(name)
    def lower(b: Builder, *values: Value, **_: Any) -> Value:
        return b.op(op if values[0].dtype == "bool" else bits, *values)


_register_logical("and", "And", "BitwiseAnd")
_register_logical("or", "Or", "BitwiseOr")
_register_logical("xor", "Xor", "BitwiseXor")
_register_logical("not", "Not", "BitwiseNot")


@primitives.register("shift_left")
def _lower_shift_left(b, x, y, **_):
    power = b.cast(b.op("Pow", b.const(2.0, "float64"), b.cast(y, "float64")), b.computing(x.dtype))
    return b.op("Mul", b.cast(x, b.computing(x.dtype)), power)


@primitives.register("shift_right_logical", "shift_right_arithmetic")
def _lower_shift_right(b, x, y, **_):
    """Compute floor(x / 2 ** y). A logical shift of a negative number gives the result of the arithmetic shift."""
    if x.dtype == "bool":
        return NotImplemented
    power = b.cast(b.op("Pow", b.const(2.0, "float64"), b.cast(y, "float64")), "float64")
    return b.cast(b.op("Floor", b.op("Div", b.cast(x, "float64"), power)), x.dtype)


@primitives.register("select_n")
def _lower_select_n(b, index, *cases, **_):
    if index.dtype != "bool" and len(cases) > 2:
        result = cases[-1]
        for number in range(len(cases) - 2, -1, -1):
            is_selected = b.op("LessOrEqual", index, b.like(number, index), dtype="bool")
            result = b.op("Where", is_selected, cases[number], result, dtype=result.dtype)
        return result
    kind = b.computing(cases[0].dtype) if cases[0].dtype != "uint8" else "uint8"
    first, second = (b.cast(c, kind) for c in cases)
    return b.op("Where", b.cast(index, "bool"), second, first, dtype=kind)


@primitives.register("convert_element_type")
def _lower_convert_element_type(b, x, **_):
    return cast_as_xla(b, x, b.dtype)


def cast_as_xla(b: Builder, x: Value, dtype: str) -> Value:
    """Cast a value. A float becomes a narrow integer by a cast to int64 first, so that it wraps around as in XLA."""
    if x.is_float and dtype.startswith(("int", "uint")) and dtype not in ("int32", "int64"):
        x = b.op("Cast", x, dtype="int64", shape=x.shape, to=7)
    return b.cast(x, dtype)
