"""Sums, differences and products of two Tensors."""

import functools
import operator as operators
from typing import Any

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Int, NonNegInt, Tensors, check
from msnb.core.operator.cases import F16, F, I, case
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.operator.ufunc import number
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import (
    ANY,
    BOOL,
    FLOAT,
    NUMBER,
    axis_in,
    dtype_in,
    same_dtype,
    same_shape,
    tensor_argument,
    tensor_only,
)
from msnb.ops._in_place import take_over
from msnb.ops._numpy import ArrayLike, as_tensor, common_type
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.join import Concat
from msnb.ops.math._elementwise import broadcasting, of_two


@of_two(
    x="[1., 2., 3.]",
    y="[4., 5., 6.]",
    output="[5. 7. 9.]",
    functional="add",
    methods=("__add__", "__radd__", "__iadd__"),
    aliases=("TensorAdd",),
    generation=2,
    allowed=NUMBER | BOOL,
    numpy="add",
)
@broadcasting
def Add(x, y):
    """Sum of the operands."""
    return x + y


spelling(Add, function="tensor_add", generation=1)(Add.functional)


@spelling(Add, method="add")
@keyword_aliases(y="other")
def _tensor_add(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return self + alpha * other."""
    return Add.functional(*scaled_operands(self, other, alpha))


def scaled_operands(x: Any, y: Any, alpha: float) -> tuple[Any, Any]:
    """Return `x` and alpha * y. Two Tensors are first cast to their common element type."""
    if alpha == 1:
        return x, y
    if all(isinstance(operand, Tensor) and not operand._array.weak_type for operand in (x, y)):
        x, y = common_type(x, y)
        alpha = bool(alpha) if y.dtype == mstype.bool_ else alpha
    return x, y * alpha


@of_two(
    x="[1., 2., 3.]",
    y="[4., 5., 6.]",
    output="[-3. -3. -3.]",
    functional="sub",
    methods=("__sub__", "__rsub__", "__isub__"),
    generation=2,
    api2=BOOL,
    numpy=number("subtract"),
)
@broadcasting
def Sub(x, y):
    """Difference of the operands, x - y. For bool, the result is True where they differ."""
    return x ^ y if x.dtype == bool else x - y


spelling(Sub, function="tensor_sub", generation=1)(Sub.functional)


@spelling(Sub, function="subtract")
def subtract(input: Tensor | float, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Difference of the operands.

    Args:
        input (Union[Tensor, Number]): The first operand.
        other (Union[Tensor, Number]): The subtrahend.
        alpha (Number): The factor of `other`: input - alpha * other. Default: 1.

    Returns:
        Tensor of the broadcast shape and the common element type.

    Raises:
        TypeError: If the element types are not supported or do not convert implicitly.
        ValueError: If the shapes do not broadcast.
    """
    is_bool = isinstance(input, Tensor) and isinstance(other, Tensor) and input.dtype == other.dtype == mstype.bool_
    return Sub.functional(input, other if alpha == 1 and not is_bool else Mul.functional(other, alpha))


@spelling(Sub, method=("sub", "subtract"))
@keyword_aliases(y="other")
def _tensor_sub(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return self - alpha * other."""
    return Sub.functional(*scaled_operands(self, other, alpha))


@of_two(
    x="[1., 2., 3.]",
    y="[4., 5., 6.]",
    output="[ 4. 10. 18.]",
    functional="mul",
    called=("input", ("other", "value")),
    methods=("mul", "multiply", "__mul__", "__rmul__", "__imul__"),
    generation=2,
    allowed=NUMBER | BOOL,
    numpy="multiply",
)
@broadcasting
def Mul(x, y):
    """Product of the operands."""
    return x * y


spelling(Mul, function="tensor_mul", generation=1)(Mul.functional)
spelling(Mul, function="multiply")(Mul.functional)


@of_two(x="[1., 2., 3.]", y="[2., 4., 6.]", output="[1. 4. 9.]")
@in_float32
def SquaredDifference(x, y):
    """Square of the difference of the operands."""
    return jnp.square(x - y)


@operator
def SquareSumAll(x1, x2):
    """Sum of the squares of each of two Tensors.

    Inputs:
        - **x1** (Tensor) - Floating point numbers.
        - **x2** (Tensor) - Of the shape and element type of `x1`.

    Outputs:
        Two scalar Tensors, of the element type of the inputs.

    Raises:
        TypeError: If an input is not floating point.
        ValueError: If the shapes differ.

    Examples:
        >>> x = Tensor([1., 2.], mindspore.float32)
        >>> print(ops.SquareSumAll()(x, x)[0])
        5.0
    """
    dtype_in("SquareSumAll", "x1", x1, FLOAT)
    dtype_in("SquareSumAll", "x2", x2, FLOAT)
    same_shape("SquareSumAll", x1=x1, x2=x2)
    return jnp.sum(jnp.square(x1), dtype=x1.dtype), jnp.sum(jnp.square(x2), dtype=x2.dtype)


def _sum_tensors(op, xs):
    if not xs:
        raise ValueError(f"For '{op}', there should be at least 1 Tensor, but got none.")
    for i, x in enumerate(xs):
        dtype_in(op, f"inputs[{i}]", x, ANY)
    named = {f"inputs[{i}]": x for i, x in enumerate(xs)}
    same_dtype(op, **named)
    same_shape(op, **named)
    return functools.reduce(operators.add, xs)


@operator(functional="addn", called=("x",))
def AddN(inputs: Tensors):
    """Sum of several Tensors.

    Inputs:
        - **inputs** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one shape and element type.

    Outputs:
        Tensor of that shape and element type.

    Raises:
        TypeError: If `inputs` is not a tuple or list, or the element types differ.
        ValueError: If there is no Tensor, or the shapes differ.

    Examples:
        >>> x, y = Tensor([1., 2.], mindspore.float32), Tensor([4., 5.], mindspore.float32)
        >>> print(ops.AddN()([x, y, x]))
        [6. 9.]
    """
    return _sum_tensors("AddN", inputs)


@operator(functional="accumulate_n", called=("x",))
def AccumulateNV2(inputs: Tensors):
    """Sum of several Tensors.

    Inputs:
        - **inputs** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one shape and element type.

    Outputs:
        Tensor of that shape and element type.

    Raises:
        TypeError: If `inputs` is not a tuple or list, or the element types differ.
        ValueError: If there is no Tensor, or the shapes differ.

    Examples:
        >>> x, y = Tensor([1., 2.], mindspore.float32), Tensor([4., 5.], mindspore.float32)
        >>> print(ops.AccumulateNV2()([x, y]))
        [5. 7.]
    """
    return _sum_tensors("AccumulateNV2", inputs)


@operator(functional="lerp", methods=("lerp",))
@shapes("input end weight: ~s")
def Lerp(input, end, weight):
    """Linear interpolation, input + weight * (end - input).

    Inputs:
        - **input** (Tensor) - Floating point.
        - **end** (Tensor) - Floating point.
        - **weight** (Union[Tensor, float]) - Fraction of the way from `input` to `end`.

    Outputs:
        Tensor.
    """
    dtype_in("lerp", "input", input, FLOAT)
    same_dtype("lerp", input=input, end=end)
    return input + weight.astype(input.dtype) * (end - input)


@operator(functional="addcmul", methods=("addcmul",), generation=2)
def Addcmul(input, tensor1, tensor2, value=1):
    """Return input + value * tensor1 * tensor2.

    Inputs:
        - **input** (Tensor) - Numbers.
        - **tensor1** (Tensor) - Numbers.
        - **tensor2** (Tensor) - Numbers.
        - **value** (Union[Tensor, Number]) - The factor. Default: 1.

    Outputs:
        Tensor of the broadcast shape.
    """
    tensor_only("addcmul", "input", input)
    a, b = promote(tensor1, tensor2, op="addcmul")
    x, y = promote(input, a * b, op="addcmul")
    return x + jnp.asarray(value, x.dtype) * y


@operator(functional="addcdiv", methods=("addcdiv",), generation=2)
@in_float32
def Addcdiv(input, tensor1, tensor2, value=1):
    """Return input + value * tensor1 / tensor2.

    Inputs:
        - **input** (Tensor) - Numbers.
        - **tensor1** (Tensor) - Numbers.
        - **tensor2** (Tensor) - Numbers.
        - **value** (Union[Tensor, Number]) - The factor. Default: 1.

    Outputs:
        Tensor of the broadcast shape.
    """
    tensor_only("addcdiv", "input", input)
    a, b = promote(tensor1, tensor2, op="addcdiv")
    x, y = promote(input, a / b, op="addcdiv")
    return x + jnp.asarray(value, x.dtype) * y


@operator
@shapes("x: ... n")
def _Diff(x, n: Int = 1, axis: Int = -1):
    """Compute the differences x[i + 1] - x[i] along an axis, `n` times.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **n** (int) - Number of times that differences are taken. Default: 1.
        - **axis** (int) - The axis. Default: -1.

    Outputs:
        Tensor, shorter by `n` along the axis.
    """
    return jnp.diff(x, n, axis)


@spelling(_Diff, function="diff", method="diff")
def diff(x: Tensor, n: Int = 1, axis: Int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """Compute the differences x[i + 1] - x[i] along an axis, `n` times.

    Args:
        x (Tensor): Numbers.
        n (int): Number of times that differences are taken. Default: 1.
        axis (int): The axis. Default: -1.
        prepend (Tensor): Values before `x` along the axis. Default: None, nothing.
        append (Tensor): Values after `x` along the axis. Default: None, nothing.

    Returns:
        Tensor, shorter by `n` along the axis than the concatenation of `prepend`, `x` and `append`.

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If the shapes of the joined Tensors do not fit.
    """
    pieces = [part for part in (prepend, tensor_argument("diff", "x", x), append) if part is not None]
    return _Diff.functional(Concat(axis)(pieces) if len(pieces) > 1 else x, n, axis)


@spelling(_Diff)
def diff_ext(
    input: Tensor, n: Int = 1, dim: Int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Compute the differences input[i + 1] - input[i] along a dimension, `n` times.

    Args:
        input (Tensor): Numbers.
        n (int): Number of times that differences are taken. Default: 1.
        dim (int): The dimension. Default: -1.
        prepend (Tensor): Values before `input` along the dimension. Default: None, nothing.
        append (Tensor): Values after `input` along the dimension. Default: None, nothing.

    Returns:
        Tensor, shorter by `n` along the dimension than the concatenation of `prepend`, `input` and `append`.
    """
    return diff(input, n, dim, prepend, append)


@spelling(_Diff, numpy="diff")
def _numpy_diff(
    a: ArrayLike, n: Int = 1, axis: Int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> Tensor:
    """Compute the differences a[i + 1] - a[i] along an axis, `n` times.

    Args:
        a (Union[Tensor, list, tuple]): Numbers, of at least 1 dimension; for bool, the result is True where neighbours
            differ.
        n (int): Number of times that differences are taken, not negative. Default: 1.
        axis (int): The axis. Default: -1.
        prepend (Union[Tensor, list, tuple, int, float]): Values before `a` along the axis. A number stands for one
            slice with this number. Default: None, nothing.
        append (Union[Tensor, list, tuple, int, float]): Values after `a`. Default: None, nothing.

    Returns:
        Tensor, shorter by `n` along the axis than the concatenation of `prepend`, `a` and `append`.

    Raises:
        TypeError: If `a` has another type, or `n` or `axis` is not an int.
        ValueError: If `n` is negative, or `axis` is out of range.

    Examples:
        >>> print(mindspore.numpy.diff([1, 2, 4, 7], prepend=0))
        [1 1 2 3]
    """
    x, n = as_tensor(a, "diff", "a"), check(NonNegInt, n, "n", "diff")
    axis = axis_in("diff", check(Int, axis, "axis", "diff"), x.ndim)
    if not n:
        return x
    one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    pieces = []
    for part, argument in ((prepend, "prepend"), (x, "a"), (append, "append")):
        if part is not None:
            part = as_tensor(part, "diff", argument)
            pieces.append(part if part.ndim else BroadcastTo.functional(part, one))
    return _Diff.functional(Concat(axis)(common_type(*pieces)) if len(pieces) > 1 else x, n, axis)


@spelling(Mul, method="mul_")
def _mul_inplace(self: Tensor, other: Tensor | float) -> Tensor:
    """Multiply in place, and return the Tensor."""
    return take_over("mul_", self, Mul.functional(self, other))


@spelling(Sub, method="sub_")
def _sub_inplace(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Subtract `alpha` times `other` in place, and return the Tensor."""
    return take_over("sub_", self, Sub.functional(*scaled_operands(self, other, alpha)))


spelling(Mul, function="tensor_muls")(Mul.functional)


@spelling(Add, method="add_")
def _add_inplace(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Add `alpha` times `other` in place, and return the Tensor."""
    return take_over("add_", self, Add.functional(*scaled_operands(self, other, alpha)))


CASES = [
    case(subtract, F(2, 3), F(3), alpha=2),
    case(diff, F(2, 4), prepend=F(2, 1), append=F(2, 2)).without("half", "the test does not cast keyword arguments"),
    case(diff, I(6), 2),
    *(
        case(op, x, y)
        for op in (Add, Sub, Mul)
        for x, y in (
            (F(2, 3), F(2, 3)),
            (F(2, 1, 3), F(4, 1)),
            (I(2, 3), I(2, 3)),
            (I(3), F(3)),
            (F16(3), F(3)),
            (I(3, dtype="uint8"), I(3, dtype="int8")),
            (I(3), 1.5),
            (F16(3), 1.5),
            (I(3, dtype="int8"), 3),
        )
    ),
    case(SquaredDifference, F(2, 1, 3), F(4, 1)),
    case(Addcdiv, F(3), F(3), F(3, low=0.5)),
]
