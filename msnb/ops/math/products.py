"""Inner, outer, tensor, Kronecker and Einstein products of Tensors."""

import string

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Int, Kind, Str, Tensors, check
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, INT, NUMBER, axis_in, dtype_in, rank, same_dtype, tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensors, common_type
from msnb.ops._upcast import in_float32
from msnb.ops.array.cast import Cast
from msnb.ops.array.reshape import Reshape
from msnb.ops.math.arithmetic import Mul


def _check_dot_axes(axes):
    if isinstance(axes, int) and not isinstance(axes, bool):
        return axes
    if not isinstance(axes, (tuple, list)):
        raise TypeError
    if len(axes) != 2:
        raise ValueError
    sides = tuple((side,) if isinstance(side, int) else tuple(side) for side in axes)
    if len(sides[0]) != len(sides[1]) or any(len(set(s)) < len(s) for s in sides):
        raise ValueError
    return sides


DotAxes = Kind("an int, or two tuples of as many different axes each", _check_dot_axes)


@operator
def _TensorDot(x1, x2, axes: DotAxes):
    """Tensor contraction: the sum of products over pairs of axes.

    Inputs:
        - **x1** (Tensor) - Floating point; in MindSpore 2 any number.
        - **x2** (Tensor) - Of the element type of `x1`.
        - **axes** (Union[int, tuple]) - Number of last axes of `x1` that are paired with the first axes of `x2`, or a
          pair: the axes of `x1` and the axes of `x2`.

    Outputs:
        Tensor of the element type of the inputs, with the unpaired axes of `x1`, then the unpaired axes of `x2`.

    Raises:
        TypeError: If the element types differ or are not floating point.
        ValueError: If `axes` is out of range, or the paired dimensions differ.

    Examples:
        >>> print(ops.tensor_dot(Tensor(np.ones((1, 2, 3)), mindspore.float32),
        ...                      Tensor(np.ones((3, 1, 2)), mindspore.float32), ((0, 1), (1, 2))))
        [[2. 2. 2.]
         [2. 2. 2.]
         [2. 2. 2.]]
    """
    op = "TensorDot"
    dtype_in(op, "x1", x1, FLOAT, api2=NUMBER)
    dtype_in(op, "x2", x2, FLOAT, api2=NUMBER)
    same_dtype(op, x1=x1, x2=x2)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise ValueError(f"For '{op}', 'axes' should be in [0, {min(x1.ndim, x2.ndim)}], but got {axes}.")
        axes = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    for x, side in ((x1, axes[0]), (x2, axes[1])):
        if any(not -x.ndim <= a < x.ndim for a in side):
            raise ValueError(f"For '{op}', 'axes' {side} is out of range for shape {x.shape}.")
    pairs = [(x1.shape[a], x2.shape[b]) for a, b in zip(*axes, strict=True)]
    if any(a != b for a, b in pairs):
        # MindSpore also accepts axes whose lengths match after the axes of `x2` are reversed.
        axes = axes[0], axes[1][::-1]
        if any(x1.shape[a] != x2.shape[b] for a, b in zip(*axes, strict=True)):
            raise ValueError(f"For '{op}', the paired dimensions should agree, but got {pairs}.")
    return jnp.tensordot(x1, x2, axes if axes[0] else 0)


@spelling(_TensorDot, function="tensor_dot")
def tensor_dot(x1: Tensor, x2: Tensor, axes: int | tuple | list) -> Tensor:
    """Tensor contraction: the sum of products over pairs of axes.

    Args:
        x1 (Tensor): Floating point.
        x2 (Tensor): Of the element type of `x1`.
        axes (Union[int, tuple, list]): Number of last axes of `x1` that are paired with the first axes of `x2`, or a
            pair: the axes of `x1` and the axes of `x2`.

    Returns:
        Tensor.

    Raises:
        TypeError: If the element types differ or are not floating point.
        ValueError: If `axes` is out of range, or the paired dimensions differ.
    """
    return _TensorDot.functional(x1, x2, axes)


@spelling(_TensorDot, function="inner", method="inner")
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Inner product: the sum of products over the last dimensions of two Tensors.

    Args:
        input (Tensor): Floating point.
        other (Tensor): Of the element type of `input`.

    Returns:
        Tensor. If an input is a scalar, it multiplies the other input.
    """
    if not (input.ndim and other.ndim):
        return Mul.functional(input, other)
    return tensor_dot(input, other, ((-1,), (-1,)))


@operator(functional="dot", methods=("dot",))
def Dot(input, other):
    """Sum of products over the last axis of `input` and the second-to-last axis of `other`.

    Inputs:
        - **input** (Tensor) - Floating point.
        - **other** (Tensor) - Of the element type of `input`.

    Outputs:
        Tensor.
    """
    dtype_in("dot", "input", input, FLOAT)
    dtype_in("dot", "other", other, FLOAT)
    same_dtype("dot", input=input, other=other)
    try:
        return jnp.dot(input, other)
    except TypeError:
        raise ValueError(f"For 'dot', the shapes do not fit: {input.shape} and {other.shape}.") from None


@operator(functional="outer", methods=("outer",))
def Outer(input, vec2):
    """Outer product of two vectors: result[i, j] = input[i] * vec2[j].

    Inputs:
        - **input** (Tensor) - A vector.
        - **vec2** (Tensor) - A vector.

    Outputs:
        Tensor of shape (len(input), len(vec2)).
    """
    rank("outer", "input", input, 1)
    rank("outer", "vec2", vec2, 1)
    x, y = promote(input[:, None], vec2, op="outer")
    return x * y


@operator(functional="kron", called=("input", "other"))
def _Kron(x, y):
    """Kronecker product.

    Inputs:
        - **x** (Tensor) - Numbers or bool.
        - **y** (Tensor) - Numbers or bool.

    Outputs:
        Tensor.
    """
    if x.dtype == y.dtype == bool:
        return jnp.kron(x.astype(jnp.int8), y.astype(jnp.int8)).astype(bool)
    return jnp.kron(x, y)


@operator
def Einsum(operands: Tensors, *, equation: Str):
    """Sums of products in Einstein's notation.

    Args:
        equation (str): Subscripts, as in numpy's einsum.

    Inputs:
        - **operands** (tuple[Tensor]) - As many Tensors as the equation has terms.

    Outputs:
        Tensor.
    """
    same_dtype("einsum", **{f"operands[{i}]": x for i, x in enumerate(operands)})
    try:
        return jnp.einsum(equation, *operands)
    except (TypeError, IndexError, ValueError):
        shapes = ", ".join(str(x.shape) for x in operands)
        raise ValueError(f"For 'einsum', the equation {equation!r} does not fit Tensors of shapes {shapes}.") from None


@spelling(Einsum)
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products in Einstein's notation.

    Args:
        equation (str): Subscripts, as in numpy's einsum.
        operands (Tensor): As many Tensors as the equation has terms.

    Returns:
        Tensor.

    Examples:
        >>> print(ops.einsum("ij,j->i", Tensor([[1., 2.]]), Tensor([1., 1.])))
        [3.]
    """
    return Einsum.functional(operands, equation=equation)


def _contract_axes(function, x, y, pairs):
    """Contract `x` and `y`: sum products over pairs of nonnegative axes. Both operands have the same element type."""
    for a, b in pairs:
        if x.shape[a] != y.shape[b]:
            raise ValueError(
                f"For '{function}', the paired dimensions should agree, but got {x.shape[a]} and {y.shape[b]} from "
                f"shapes {x.shape} and {y.shape}."
            )
    letters = iter(string.ascii_letters)
    first = [next(letters) for _ in x.shape]
    second = [next(letters) for _ in y.shape]
    for a, b in pairs:
        second[b] = first[a]
    free = [n for n in first if n not in second] + [n for n in second if n not in first]
    equation = f"{''.join(first)},{''.join(second)}->{''.join(free)}"
    return Einsum.functional((x, y), equation=equation)


def _convert_to_common_type(function, a, b):
    return common_type(*as_tensors(function, a=a, b=b))


@spelling(Dot, Einsum, numpy="dot")
def _numpy_dot(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Sum of products over the last axis of `a` and the last but one axis of `b`. A vector `b` has only one axis.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers; a scalar multiplies the other operand.
        b (Union[Tensor, list, tuple, int, float, bool]): Numbers; a scalar multiplies the other operand.

    Returns:
        Tensor of the common element type of `a` and `b`.

    Raises:
        TypeError: If `a` or `b` has another type.
        ValueError: If the paired dimensions differ.

    Examples:
        >>> print(mindspore.numpy.dot([[1.0, 2.0]], [3.0, 4.0]))
        [11.]
    """
    x, y = _convert_to_common_type("dot", a, b)
    if not x.ndim or not y.ndim:
        return Mul.functional(x, y)
    return _contract_axes("dot", x, y, [(x.ndim - 1, max(y.ndim - 2, 0))])


@spelling(_TensorDot, Einsum, numpy="inner")
def _numpy_inner(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Inner product: the sum of products over the last axes of two Tensors.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers; a scalar multiplies the other operand.
        b (Union[Tensor, list, tuple, int, float, bool]): Numbers; a scalar multiplies the other operand.

    Returns:
        Tensor of the common element type of `a` and `b`.

    Raises:
        TypeError: If `a` or `b` has another type.
        ValueError: If the last dimensions differ.
    """
    x, y = _convert_to_common_type("inner", a, b)
    if not x.ndim or not y.ndim:
        return Mul.functional(x, y)
    return _contract_axes("inner", x, y, [(x.ndim - 1, y.ndim - 1)])


@spelling(_TensorDot, Einsum, numpy="tensordot")
def tensordot(a: ArrayLike, b: ArrayLike, axes: int | tuple | list = 2) -> Tensor:
    """Tensor contraction: the sum of products over pairs of axes.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        b (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axes (Union[int, tuple, list]): Number of last axes of `a` that are paired with the first axes of `b`, or a
            pair: the axes of `a` and the axes of `b`. Default: 2.

    Returns:
        Tensor of the common element type, with the unpaired axes of `a`, then the unpaired axes of `b`.

    Raises:
        TypeError: If `a` or `b` has another type, or `axes` does not consist of int.
        ValueError: If `axes` is out of range, or the paired dimensions differ.
    """
    x, y = _convert_to_common_type("tensordot", a, b)
    axes = check(DotAxes, axes, "axes", "tensordot")
    if isinstance(axes, int):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise ValueError(f"For 'tensordot', 'axes' should be in [0, {min(x.ndim, y.ndim)}], but got {axes}.")
        axes = range(x.ndim - axes, x.ndim), range(axes)
    sides = [[axis_in("tensordot", n, t.ndim, "axes") for n in side] for t, side in ((x, axes[0]), (y, axes[1]))]
    return _contract_axes("tensordot", x, y, list(zip(*sides, strict=True)))


@spelling(Outer, numpy="outer")
def _numpy_outer(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Outer product of the flattened operands: result[i, j] = a[i] * b[j].

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers; flattened first.
        b (Union[Tensor, list, tuple, int, float, bool]): Numbers; flattened first.

    Returns:
        Tensor of shape (a.size, b.size).

    Raises:
        TypeError: If `a` or `b` has another type.
    """
    return Outer.functional(
        *(x if x.ndim == 1 else Reshape.functional(x, (-1,)) for x in _convert_to_common_type("outer", a, b))
    )


@spelling(_Kron, numpy="kron")
def _numpy_kron(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Kronecker product: blocks of `b`, each scaled by an element of `a`.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        b (Union[Tensor, list, tuple, int, float, bool]): Numbers.

    Returns:
        Tensor. The length of each axis is the product of the lengths in `a` and `b`.

    Raises:
        TypeError: If `a` or `b` has another type.
    """
    x, y = _convert_to_common_type("kron", a, b)
    if x.dtype == mstype.bool_:
        return _Kron.functional(x.astype(mstype.int32), y.astype(mstype.int32)).astype(mstype.bool_)
    return _Kron.functional(x, y)


@operator
@in_float32
def _VecDot(x, y, *, axis: Int = -1):
    """Dot products of vectors along an axis; a complex `x` is conjugated.

    Args:
        axis (int): The axis. Default: -1.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **y** (Tensor) - Numbers, of a shape that broadcasts with that of `x`.

    Outputs:
        Tensor without the axis.

    Raises:
        TypeError: If the element types do not convert implicitly.
        ValueError: If the shapes do not fit, or `axis` is out of range.
    """
    x, y = promote(x, y, op="vecdot")
    axis = axis_in("vecdot", axis, max(x.ndim, y.ndim))
    return jnp.sum(jnp.conj(x) * y, axis)


@spelling(_VecDot)
def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    """Dot products of vectors along an axis; a complex `x` is conjugated.

    Args:
        x (Tensor): Numbers.
        y (Tensor): Numbers, of a shape that broadcasts with that of `x`.
        axis (int): The axis. Default: -1.

    Returns:
        Tensor without the axis.

    Raises:
        TypeError: If the element types do not convert implicitly.
        ValueError: If the shapes do not fit, or `axis` is out of range.
    """
    return _VecDot.functional(x, y, axis)


@operator(generation=2)
def Ger(x1, x2):
    """Outer product of two vectors: result[i, j] = x1[i] * x2[j].

    Inputs:
        - **x1** (Tensor) - A vector, floating point.
        - **x2** (Tensor) - A vector of the element type of `x1`.

    Outputs:
        Tensor of shape (len(x1), len(x2)).

    Raises:
        TypeError: If the element types differ.
        ValueError: If an input is no vector.
    """
    same_dtype("Ger", x1=x1, x2=x2)
    rank("Ger", "x1", x1, 1)
    rank("Ger", "x2", x2, 1)
    return jnp.outer(x1, x2)


@spelling(Outer, function="ger", method="ger")
def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """Outer product of two vectors: result[i, j] = input[i] * vec2[j].

    Args:
        input (Tensor): A vector.
        vec2 (Tensor): A vector.

    Returns:
        Tensor of shape (len(input), len(vec2)).

    Raises:
        ValueError: If an input is no vector.
    """
    return Outer.functional(input, vec2)


spelling(Einsum, function="einsum_ext")(einsum)


@spelling(_TensorDot)
def batch_dot(x1: Tensor, x2: Tensor, axes: int | tuple[int, int] | list[int] | None = None) -> Tensor:
    """Contract each pair x1[i], x2[i] of two batches: the sum of products over one dimension of each.

    Args:
        x1 (Tensor): Floating point, of shape (N, ...).
        x2 (Tensor): Of the element type of `x1`, of shape (N, ...).
        axes (Union[int, tuple[int], list[int]]): The dimension to sum over, or one dimension of each operand. Default:
            None, the last dimension of `x1` and the second-to-last dimension of `x2`. For a matrix `x2` it is the last
            dimension.

    Returns:
        Tensor of shape (N, other dimensions of `x1`, other dimensions of `x2`); (N, 1) if there are no other
        dimensions.

    Raises:
        TypeError: If the element types are not floating point, or differ.
        ValueError: If the batches or the dimensions differ in length, or `axes` has the batch dimension 0.
    """
    for name, x in (("x1", x1), ("x2", x2)):
        if tensor_argument("batch_dot", name, x).ndim < 2:
            raise ValueError(f"For 'batch_dot', '{name}' should have at least 2 dimensions, but got {x.shape}.")
    if axes is None:
        axes = (x1.ndim - 1, max(x2.ndim - 2, 1))
    first, second = (axes, axes) if isinstance(axes, int) else axes
    first, second = axis_in("batch_dot", first, x1.ndim, "axes"), axis_in("batch_dot", second, x2.ndim, "axes")
    if 0 in (first, second):
        raise ValueError(f"For 'batch_dot', 'axes' should not name the batch, dimension 0, but got {axes}.")
    letters = iter("bcdefghijklmnopqrstuvwxy")
    left = ["a", *["z" if axis == first else next(letters) for axis in range(1, x1.ndim)]]
    right = ["a", *["z" if axis == second else next(letters) for axis in range(1, x2.ndim)]]
    rest = [letter for letter in (*left[1:], *right[1:]) if letter != "z"]
    product = einsum(f"{''.join(left)},{''.join(right)}->a{''.join(rest)}", x1, x2)
    return product if rest else product.reshape(-1, 1)


@spelling(Einsum)
def bidense(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Bilinear layer: output[k] = input1 @ weight[k] @ input2 + bias[k].

    Args:
        input1 (Tensor): Of shape (*, A).
        input2 (Tensor): Of shape (*, B).
        weight (Tensor): Of shape (K, A, B).
        bias (Tensor): Of shape (K,). Default: None, 0.

    Returns:
        Tensor of shape (*, K). For integers without `bias`, the element type is int64.

    Raises:
        TypeError: If an input is not a Tensor.
        ValueError: If the shapes do not fit.
    """
    operands = input1, weight, input2
    is_integer = all(isinstance(x, Tensor) and x._array.dtype in INT for x in operands)
    if is_integer:  # add in int64, so that the sums do not overflow
        operands = [Cast.functional(x, mstype.int64) for x in operands]
    total = einsum("...a,kab,...b->...k", *operands)
    if bias is None:
        return total
    total = total + tensor_argument("bidense", "bias", bias)
    return Cast.functional(total, input1.dtype) if is_integer else total


CASES = [
    case(Ger, F(2), F(3)),
    case(batch_dot, F(2, 2, 3), F(2, 3, 2)),
    case(batch_dot, F(2, 2, 3), F(2, 3, 2), (1, 2)),
    case(batch_dot, F(2, 3), F(2, 3, 4)),
    case(batch_dot, F(2, 3), F(2, 3)),
    case(bidense, F(2, 3), F(2, 4), F(2, 3, 4), F(2)),
    case(bidense, F(2, 3), F(2, 3), F(2, 3, 3)),
    refused(ValueError, batch_dot, F(2, 3), F(3)),
    case(ger, F(2), F(3)),
    case(_TensorDot, F(2, 3), F(3, 2), 1),
    case(Dot, F(2, 3), F(3)),
    case(Outer, F(2), F(3)),
    case(_Kron, F(2, 2), F(2, 2)),
    case(Einsum, (F(2, 3), F(3, 2)), equation="ij,jk->ik"),
    case(vecdot, F(2, 3), F(2, 3)),
    case(vecdot, F(2, 3), F(1, 3), axis=0),
    case(vecdot, Values([1 + 2j, 3 - 1j], "complex64"), Values([0.5 - 1j, 2.0 + 1j], "complex64")),
]
