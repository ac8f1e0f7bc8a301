"""Import ONNX operators: elementwise functions, comparisons, casts and constants."""

import numpy as np

from msnb.formats import onnx

from .reader import Reader, get_mindspore_type
from .values import Node, Ref, UnsupportedOperator, handles


def _register_unary(**table):
    """Register ONNX's unary operators that have another name in msnb."""
    for name, op in table.items():

        def read(r: Reader, node: Node, op: str = op) -> Ref:
            return r(op, node.inputs[0])

        handles(name)(read)


_register_unary(
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
def _read_identity(r, node):
    return node.inputs[0]


@handles("BitCast")
def _read_bit_cast(r, node):
    return r("BitCast", node.inputs[0], type=get_mindspore_type(onnx.DTYPES[node.attr("to")]))


@handles("OptionalHasElement")
def _read_optional_has_element(r, node):
    return r.const(np.bool_(node.input(0) is not None))


@handles("OptionalGetElement")
def _read_optional_get_element(r, node):
    if node.input(0) is None:
        raise UnsupportedOperator("its input is omitted")
    return node.inputs[0]


@handles("Dropout")
def _read_dropout(r, node):
    """Return the input, as in evaluation, and a mask of ones."""
    x = node.inputs[0]
    training = node.input(2)
    if (
        training is not None
        and np.any(r.static(training))
        and (node.input(1) is None or np.any(r.static(node.input(1))))
    ):
        raise UnsupportedOperator("it draws at random, in training")
    return x, r.filled(x.shape, True, bool)


@handles("IsInf")
def _read_is_inf(r, node):
    x = node.inputs[0]
    up, down = node.attr("detect_positive", 1), node.attr("detect_negative", 1)
    is_infinite = r("IsInf", x)
    if up and down:
        return is_infinite
    if not up and not down:
        return r.filled(x.shape, False, bool)
    return r("LogicalAnd", is_infinite, r("Greater" if up else "Less", x, r.like(0, x)))


# ---------------------------------------------------------------------- binary and variadic operators
def _register_binary(**table):
    for name, op in table.items():

        def read(r: Reader, node: Node, op: str = op) -> Ref:
            result = node.inputs[0]
            for other in node.inputs[1:]:
                result = r(op, result, other)
            return result

        handles(name)(read)


_register_binary(
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
def _read_mean(r, node):
    total = node.inputs[0]
    for other in node.inputs[1:]:
        total = r("Add", total, other)
    return r("RealDiv", total, r.like(len(node.inputs), total))


@handles("Div")
def _read_div(r, node):
    x, y = node.inputs
    if x.is_float:
        return r("RealDiv", x, y)
    return r.cast(r("TruncateDiv", x, y), x.dtype)


@handles("Mod")
def _read_mod(r, node):
    x, y = node.inputs
    return r.cast(r("TruncateMod" if node.attr("fmod", 0) else "FloorMod", x, y), x.dtype)


@handles("Pow")
def _read_pow(r, node):
    x, y = node.inputs
    if y.is_float and not x.is_float:
        return r.cast(r("Pow", r.cast(x, y.dtype), y), x.dtype)
    return r.cast(r("Pow", x, r.cast(y, x.dtype)), x.dtype)


@handles("BitShift")
def _read_bit_shift(r, node):
    x, y = node.inputs
    bits = 8 * x.dtype.itemsize
    steps = r("Where", r("Less", y, r.like(0, y)), r.like(bits, y), r("Minimum", y, r.like(bits, y)))
    if y.dtype.kind == "u":
        steps = r("Minimum", y, r.like(bits, y))
    power = r("Pow", r.const(2.0, np.float64), r.cast(steps, np.float64))
    if node.attr("direction") == "LEFT":
        is_shifted_out = r("GreaterEqual", steps, r.like(bits, y))
        factor = r.cast(r("Where", is_shifted_out, r.like(0.0, power), power), x.dtype)
        return r("Mul", x, factor)
    if bits == 64:
        return r.cast(r("FloorDiv", x, r.cast(power, x.dtype)), x.dtype)
    return r.cast(r.cast(r("Floor", r("RealDiv", r.cast(x, np.float64), power)), np.int64), x.dtype)


@handles("Where")
def _read_where(r, node):
    return r("Where", *node.inputs)


@handles("Clip")
def _read_clip(r, node):
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
def _read_cast(r, node):
    return _cast_to_onnx_type(r, node.inputs[0], node.attr("to"))


@handles("CastLike")
def _read_cast_like(r, node):
    return r.cast(node.inputs[0], node.inputs[1].dtype)


def _cast_to_onnx_type(r, x, number):
    if number not in onnx.DTYPES:
        raise UnsupportedOperator(f"it casts to the element type {number}, which msnb does not have")
    return r.cast(x, onnx.DTYPES[number])


@handles("Constant")
def _read_constant(r, node):
    for name, dtype in (("value_float", np.float32), ("value_int", np.int64)):
        if name in node.attrs:
            return r.const(node.attrs[name], dtype)
    for name, dtype in (("value_floats", np.float32), ("value_ints", np.int64)):
        if name in node.attrs:
            return r.const(np.array(node.attrs[name], dtype))
    if "value" not in node.attrs:
        raise UnsupportedOperator("it is a constant of text, or a sparse one")
    return r.const(onnx.array(node.attrs["value"], r.model.folder))
