"""JAX's primitives in ONNX: what an operator without a lowering of its own is written as.

Each function takes the inputs and the parameters of one equation. Names and meanings are those of `jax.lax`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .builder import Builder, Refused, Value, primitives


# ---------------------------------------------------------------------- element by element
def _unary(name, op, real=False):
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
    _unary(_name, _op)


@primitives.register(
    "copy", "copy_p", "stop_gradient", "reduce_precision", "optimization_barrier", "sharding_constraint"
)
def _same(b, *values, **_):
    return values


@primitives.register("square")
def _square(b, x, **_):
    return b.op("Mul", x, x)


@primitives.register("integer_pow")
def _integer_pow(b, x, y, **_):
    return b.op("Pow", x, b.like(y, x))


@primitives.register("pow")
def _pow(b, x, y, **_):
    return b.op("Pow", x, b.cast(y, x.dtype))


@primitives.register("rsqrt")
def _rsqrt(b, x, **_):
    return b.op("Reciprocal", b.op("Sqrt", x))


@primitives.register("cbrt")
def _cbrt(b, x, **_):
    return b.op("Mul", b.op("Sign", x), b.op("Pow", b.op("Abs", x), b.like(1 / 3, x)))


@primitives.register("exp2")
def _exp2(b, x, **_):
    return b.op("Exp", b.op("Mul", x, b.like(float(np.log(2)), x)))


@primitives.register("log1p")
def _log1p(b, x, **_):
    """log(1 + x) loses the digits of a small x; x * log(u) / (u - 1) with u = 1 + x, which rounds alike, does not."""
    one = b.like(1, x)
    u = b.op("Add", one, x)
    less = b.op("Sub", u, one)
    exact = b.op("Equal", less, b.like(0, x), dtype="bool")
    infinite = b.op("Equal", u, x, dtype="bool")
    safe = b.op("Where", exact, one, less, dtype=x.dtype)
    ratio = b.op("Div", b.op("Mul", x, b.op("Log", u)), safe)
    return b.op("Where", exact, x, b.op("Where", infinite, b.op("Log", u), ratio, dtype=x.dtype), dtype=x.dtype)


@primitives.register("expm1")
def _expm1(b, x, **_):
    """exp(x) - 1 without the loss of digits near 0: tanh(x / 2) * (exp(x) + 1)."""
    small = b.op("Less", b.op("Abs", x), b.like(1, x), dtype="bool")
    near = b.op("Mul", b.op("Tanh", b.op("Mul", x, b.like(0.5, x))), b.op("Add", b.op("Exp", x), b.like(1, x)))
    return b.op("Where", small, near, b.op("Sub", b.op("Exp", x), b.like(1, x)), dtype=x.dtype)


@primitives.register("erfc")
def _erfc(b, x, **_):
    return b.op("Sub", b.like(1, x), b.op("Erf", x))


@primitives.register("round")
def _round(b, x, rounding_method=1, **_):
    if int(rounding_method) == 1:  # to even
        return b.op("Round", x)
    up = b.op("Floor", b.op("Add", b.op("Abs", x), b.like(0.5, x)))
    return b.op("Mul", b.op("Sign", x), up)


@primitives.register("is_finite")
def _is_finite(b, x, **_):
    x = b.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    bad = b.op("Or", b.op("IsNaN", x, dtype="bool"), b.op("IsInf", x, dtype="bool"), dtype="bool")
    return b.op("Not", bad)


def _binary(name, op):
    @primitives.register(name)
    def lower(b: Builder, *values: Value, **_: Any) -> Value:
        return arithmetic(b, op, values)


def arithmetic(b: Builder, op: str, values: Sequence[Value]) -> Value:
    """An operation on values of the type of the result."""
    kind = b.computing(b.dtype)
    made = b.cast(values[0], kind)
    for value in values[1:]:
        made = b.op(op, made, b.cast(value, kind))
    return made


for _name, _op in {"add": "Add", "sub": "Sub", "mul": "Mul", "AddN": "Add"}.items():
    _binary(_name, _op)


@primitives.register("div")
def _div(b, x, y, **_):
    return arithmetic(b, "Div", (x, y))


@primitives.register("rem")
def _rem(b, x, y, **_):
    """The rest has the sign of the dividend, as C's fmod."""
    kind = b.computing(x.dtype)
    return b.op("Mod", b.cast(x, kind), b.cast(y, kind), fmod=1)


def _extreme(name, op, logic):
    @primitives.register(name)
    def lower(b: Builder, x: Value, y: Value, **_: Any) -> Value:
        if x.dtype == "bool":
            return b.op(logic, x, y)
        return arithmetic(b, op, (x, y))


_extreme("max", "Max", "Or")
_extreme("min", "Min", "And")


@primitives.register("clamp")
def _clamp(b, low, x, high, **_):
    return arithmetic(b, "Min", (b.op("Max", b.cast(x, b.computing(x.dtype)), b.cast(low, b.computing(x.dtype))), high))


@primitives.register("atan2")
def _atan2(b, y, x, **_):
    """The angle of a point, by quadrant."""
    zero, pi = b.like(0, x), b.like(float(np.pi), x)
    flat = b.op("Equal", x, zero, dtype="bool")
    base = b.op("Atan", b.op("Div", y, b.op("Where", flat, b.like(1, x), x, dtype=x.dtype)))
    below = b.op("Less", y, zero, dtype="bool")
    turned = b.op("Where", below, b.op("Sub", base, pi), b.op("Add", base, pi), dtype=x.dtype)
    left = b.op("Where", b.op("Less", x, zero, dtype="bool"), turned, base, dtype=x.dtype)
    upright = b.op("Mul", b.op("Sign", y), b.like(float(np.pi / 2), x))
    return b.op("Where", flat, upright, left, dtype=x.dtype)


# ---------------------------------------------------------------------- comparisons and logic
def compare(b: Builder, op: str, x: Value, y: Value) -> Value:
    """A comparison of two values of one type; `NotEqual` is none of ONNX's."""
    x, y = b.common(x, y)
    if x.dtype == "bool" and op not in ("Equal", "NotEqual"):
        x, y = b.cast(x, "int32"), b.cast(y, "int32")
    kind = b.computing(x.dtype)
    made = b.op("Equal" if op == "NotEqual" else op, b.cast(x, kind), b.cast(y, kind), dtype="bool")
    return b.op("Not", made) if op == "NotEqual" else made


def _comparison(name, op):
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
    _comparison(_name, _op)


def _logic(name, op, bits):
    @primitives.register(name)
    def lower(b: Builder, *values: Value, **_: Any) -> Value:
        return b.op(op if values[0].dtype == "bool" else bits, *values)


_logic("and", "And", "BitwiseAnd")
_logic("or", "Or", "BitwiseOr")
_logic("xor", "Xor", "BitwiseXor")
_logic("not", "Not", "BitwiseNot")


@primitives.register("shift_left")
def _shift_left(b, x, y, **_):
    power = b.cast(b.op("Pow", b.const(2.0, "float64"), b.cast(y, "float64")), b.computing(x.dtype))
    return b.op("Mul", b.cast(x, b.computing(x.dtype)), power)


@primitives.register("shift_right_logical", "shift_right_arithmetic")
def _shift_right(b, x, y, **_):
    """Floor of x / 2 ** y, for numbers that are not negative; a logical shift of others has no form."""
    if x.dtype == "bool":
        return NotImplemented
    power = b.cast(b.op("Pow", b.const(2.0, "float64"), b.cast(y, "float64")), "float64")
    return b.cast(b.op("Floor", b.op("Div", b.cast(x, "float64"), power)), x.dtype)


@primitives.register("select_n")
def _select_n(b, which, *cases, **_):
    if which.dtype != "bool" and len(cases) > 2:
        made = cases[-1]
        for number in range(len(cases) - 2, -1, -1):
            chosen = b.op("LessOrEqual", which, b.like(number, which), dtype="bool")
            made = b.op("Where", chosen, cases[number], made, dtype=made.dtype)
        return made
    kind = b.computing(cases[0].dtype) if cases[0].dtype != "uint8" else "uint8"
    first, second = (b.cast(c, kind) for c in cases)
    return b.op("Where", b.cast(which, "bool"), second, first, dtype=kind)


@primitives.register("convert_element_type")
def _convert(b, x, **_):
    return cast_as_xla(b, x, b.dtype)


def cast_as_xla(b: Builder, x: Value, dtype: str) -> Value:
    """A cast; to whole numbers by way of int64, since what does not fit wraps."""
    if x.is_float and dtype.startswith(("int", "uint")) and dtype not in ("int32", "int64"):
        x = b.op("Cast", x, dtype="int64", shape=x.shape, to=7)
    return b.cast(x, dtype)


# ---------------------------------------------------------------------- shapes
@primitives.register("reshape")
def _reshape(b, x, dimensions=None, **_):
    """`dimensions` is the order of axes in which the elements are taken."""
    return b.reshape(x if dimensions is None else b.transpose(x, dimensions), b.shape)


@primitives.register("squeeze")
def _squeeze(b, x, dimensions, **_):
    return b.squeeze(x, dimensions)


@primitives.register("expand_dims")
def _expand_dims(b, x, dimensions, **_):
    return b.unsqueeze(x, dimensions)


@primitives.register("broadcast_in_dim")
def _broadcast_in_dim(b, x, *_, broadcast_dimensions, **__):
    lined = [1] * len(b.shape)
    for axis, n in zip(broadcast_dimensions, x.shape, strict=True):
        lined[axis] = n
    if tuple(lined) != x.shape:
        x = b.reshape(x, lined)
    return b.expand(x, b.shape)


@primitives.register("transpose")
def _transpose(b, x, permutation, **_):
    return b.transpose(x, permutation)


@primitives.register("rev")
def _rev(b, x, dimensions, **_):
    count = len(dimensions)
    return b.slice(x, [-1] * count, [-(2**62)] * count, dimensions, [-1] * count) if count else x


@primitives.register("concatenate")
def _concatenate(b, *values, dimension, **_):
    return b.op("Concat", *values, axis=dimension)


@primitives.register("stack")
def _stack(b, *values, axis, **_):
    axis %= len(b.shape)
    return b.op("Concat", *[b.unsqueeze(v, [axis]) for v in values], axis=axis)


@primitives.register("unstack")
def _unstack(b, x, axis, **_):
    count, axis = len(b.types), axis % x.rank
    shapes = [(*x.shape[:axis], 1, *x.shape[axis + 1 :])] * count
    parts = b.ops("Split", x, b.ints([1] * count), count=count, dtypes=[x.dtype] * count, shapes=shapes, axis=axis)
    return [b.squeeze(part, [axis]) for part in parts]


@primitives.register("tile")
def _tile(b, x, reps, **_):
    return b.op("Tile", x, b.ints(reps))


@primitives.register("platform_index")
def _platform(b, platforms=(), **_):
    """A model is for any platform: the branch for all others, which stands last."""
    return b.const(len(platforms) - 1, b.dtype)


@primitives.register("split")
def _split(b, x, sizes, axis, **_):
    dtypes, shapes = zip(*b.types, strict=True)
    return b.ops("Split", x, b.ints(sizes), count=len(sizes), dtypes=list(dtypes), shapes=list(shapes), axis=axis)


@primitives.register("slice")
def _slice(b, x, start_indices, limit_indices, strides=None, **_):
    return b.slice(x, start_indices, limit_indices, None, strides)


@primitives.register("pad")
def _pad(b, x, value, padding_config, **_):
    low, high, inner = zip(*padding_config, strict=True) if padding_config else ((), (), ())
    for axis, gap in enumerate(inner):
        if gap:
            x = _spread(b, x, value, axis, gap)
    kind = b.computing(x.dtype)
    x, value = b.cast(x, kind), b.cast(value, kind)
    positive = [max(n, 0) for n in (*low, *high)]
    if any(positive):
        shape = (
            None
            if x.shape is None
            else tuple(n + p + q if p or q else n for n, p, q in zip(x.shape, positive, positive[len(low) :]))
        )
        x = b.op("Pad", x, b.ints(positive), b.reshape(value, ()) if value.shape else value, shape=shape)
    if any(n < 0 for n in (*low, *high)):
        begin = [max(-n, 0) for n in low]
        end = [n if n < 0 else 2**62 for n in high]
        x = b.slice(x, begin, end)
    return x


def _spread(b, x, value, axis, gap):
    """`x` with `gap` times `value` between its elements along an axis."""
    shape = list(x.shape)
    lined = b.reshape(x, [*shape[: axis + 1], 1, *shape[axis + 1 :]])
    pads = [0] * (2 * len(lined.shape))
    pads[len(lined.shape) + axis + 1] = gap
    wide = b.op("Pad", lined, b.ints(pads), value)
    whole = [*shape[:axis], shape[axis] * (gap + 1), *shape[axis + 1 :]]
    made = b.slice(b.reshape(wide, whole), [0], [shape[axis] * (gap + 1) - gap], [axis])
    made.shape = (*shape[:axis], shape[axis] * (gap + 1) - gap, *shape[axis + 1 :])
    return made


@primitives.register("iota")
def _iota(b, dimension, **_):
    count = b.shape[dimension]
    if isinstance(count, int):
        line = b.const(np.arange(count), b.dtype)
    else:
        zero, one = b.const(np.int64(0)), b.const(np.int64(1))
        line = b.cast(b.op("Range", zero, b.squeeze(b.length(count), [0]), one, dtype="int64"), b.dtype)
    lined = [1] * len(b.shape)
    lined[dimension] = count
    return b.expand(b.reshape(line, lined) if len(lined) != 1 else line, b.shape)


def start_of(b: Builder, starts: Sequence[Value], shape: Sequence[Any], lengths: Sequence[Any]) -> list[Any]:
    """First indices of a window, as numbers where they are known, moved so that the window lies within."""
    found: list[Any] = []
    for start, n, length in zip(starts, shape, lengths, strict=True):
        if n == length:
            found.append(0)
        elif start.known is not None:
            found.append(min(max(int(start.known), 0), int(n) - int(length)))
        else:
            made = b.reshape(b.cast(start, "int64"), (1,))
            last = b.op("Sub", b.ints([n]), b.ints([length]))
            found.append(b.op("Max", b.op("Min", made, last), b.ints([0])))
    return found


def _joined(b, numbers):
    if all(not isinstance(n, Value) for n in numbers):
        return b.ints(numbers)
    return b.op("Concat", *[n if isinstance(n, Value) else b.ints([n]) for n in numbers], axis=0)


@primitives.register("dynamic_slice")
def _dynamic_slice(b, x, *starts, slice_sizes, **_):
    begins = start_of(b, starts, x.shape, slice_sizes)
    chosen = [i for i, (n, length) in enumerate(zip(x.shape, slice_sizes, strict=True)) if n != length]
    if not chosen:
        return x
    begin = _joined(b, [begins[i] for i in chosen])
    lengths = b.ints([slice_sizes[i] for i in chosen])
    known = all(not isinstance(begins[i], Value) for i in chosen)
    end = b.ints([begins[i] + slice_sizes[i] for i in chosen]) if known else b.op("Add", begin, lengths)
    return b.op("Slice", x, begin, end, b.ints(chosen))


@primitives.register("dynamic_update_slice")
def _dynamic_update_slice(b, x, update, *starts, **_):
    if not x.shape or update.shape == x.shape:
        return update
    begins = start_of(b, starts, x.shape, update.shape)
    index = None
    for axis, (begin, length) in enumerate(zip(begins, update.shape, strict=True)):
        line = b.const(np.arange(int(length)))
        line = b.op("Add", line, begin if isinstance(begin, Value) else b.ints([begin]))
        shape = [1] * len(x.shape) + [1]
        shape[axis] = length
        line = b.expand(b.reshape(line, shape), (*update.shape, 1))
        index = line if index is None else b.op("Concat", index, line, axis=-1)
    return b.op("ScatterND", x, index, update)


# ---------------------------------------------------------------------- reductions
def reduced(b: Builder, op: str, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
    """A reduction over these axes; over none it is the value itself."""
    if not axes:
        return x
    kind = b.computing(x.dtype)
    if op in ("ReduceMax", "ReduceMin"):  # these have the axes as an attribute until opset 18
        return b.op(op, b.cast(x, kind), b.ints(axes), keepdims=int(keep))
    return b.op(op, b.cast(x, kind), b.ints(axes), keepdims=int(keep))


def _reduction(name, op):
    @primitives.register(name)
    def lower(b: Builder, x: Value, axes: Sequence[int], **_: Any) -> Value:
        if x.dtype == "bool":
            made = reduced(b, {"ReduceSum": "ReduceMax"}.get(op, op), b.cast(x, "int32"), axes)
            return b.cast(made, "bool")
        return reduced(b, op, x, axes)


_reduction("reduce_sum", "ReduceSum")
_reduction("reduce_max", "ReduceMax")
_reduction("reduce_min", "ReduceMin")
_reduction("reduce_prod", "ReduceProd")


def _reduce_logic(name, op):
    @primitives.register(name)
    def lower(b: Builder, x: Value, axes: Sequence[int], **_: Any) -> Value:
        return b.cast(reduced(b, op, b.cast(x, "int32"), axes), "bool")


_reduce_logic("reduce_and", "ReduceMin")
_reduce_logic("reduce_or", "ReduceMax")


def _arg(name, op):
    @primitives.register(name)
    def lower(b: Builder, x: Value, axes: Sequence[int], **_: Any) -> Value:
        kind = "int32" if x.dtype == "bool" else b.computing(x.dtype)
        return b.op(op, b.cast(x, kind), dtype="int64", axis=axes[0], keepdims=0)


_arg("argmax", "ArgMax")
_arg("argmin", "ArgMin")


@primitives.register("cumsum")
def _cumsum(b, x, axis, reverse=False, **_):
    kind = b.computing(x.dtype)
    return b.op("CumSum", b.cast(x, kind), b.const(np.int64(axis)), reverse=int(reverse))


def _running(name, op):
    """A running product or extreme: every prefix is reduced, of a square with what is to come masked."""

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
        wide = b.unsqueeze(b.cast(x, kind), [axis])
        square = b.op("Where", b.const(mask), wide, b.const(np.asarray(fill, kind)), dtype=kind)
        return reduced(b, op, square, [axis + 1])


_running("cumprod", "ReduceProd")
_running("cummax", "ReduceMax")
_running("cummin", "ReduceMin")


# ---------------------------------------------------------------------- products
@primitives.register("dot_general")
def _dot_general(b, x, y, dimension_numbers, **_):
    """Einsum over letters, unless it is a product of matrices as ONNX has it."""
    (left, right), (batch_left, batch_right) = dimension_numbers
    kind = b.computing(b.dtype)
    x, y = b.cast(x, kind), b.cast(y, kind)
    n, m = len(x.shape), len(y.shape)
    batches = len(batch_left)
    if tuple(batch_left) == tuple(range(batches)) == tuple(batch_right) and len(left) == 1:
        plain = n == m == batches + 2
        if plain:
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
    kept = [first[i] for i in batch_left]
    kept += [first[i] for i in range(n) if i not in left and i not in batch_left]
    kept += [second[i] for i in range(m) if i not in right and i not in batch_right]
    if kind in ("int8", "uint8", "int16"):
        raise Refused(f"ONNX has no products of {kind}")
    return b.op("Einsum", x, y, equation=f"{''.join(first)},{''.join(second)}->{''.join(kept)}")


@primitives.register("conv_general_dilated")
def _conv(b, x, w, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, **more):
    """Conv, after its axes are in ONNX's order; a dilated input is spread with zeros."""
    if more.get("batch_group_count", 1) != 1:
        raise Refused("ONNX has no convolution in groups of the batch")
    data, kernel, out = dimension_numbers
    x, w = b.transpose(x, data), b.transpose(w, kernel)
    zero = b.like(0, x)
    for axis, gap in enumerate(lhs_dilation):
        if gap > 1:
            x = _spread(b, x, zero, axis + 2, gap - 1)
    if any(n < 0 for pair in padding for n in pair):
        x = _pad(b, x, zero, ((0, 0, 0), (0, 0, 0), *((min(p, 0), min(q, 0), 0) for p, q in padding)))
        padding = [(max(p, 0), max(q, 0)) for p, q in padding]
    made = b.op(
        "Conv",
        x,
        w,
        strides=list(window_strides),
        pads=[p for p, _ in padding] + [q for _, q in padding],
        dilations=list(rhs_dilation),
        group=feature_group_count,
    )
    return b.transpose(made, [int(i) for i in np.argsort(out)])
