"""Functional forms of arithmetic: matrix products of several kinds, clamping, interpolation, rounding."""

import jax.numpy as jnp

from msnb.common.kinds import Axis, Int, Str, Tensors
from msnb.core.declare import operator
from msnb.core.dtype import promote
from msnb.core.errors import describe
from msnb.core.operator import FUNCTIONAL, REGISTRY
from msnb.core.tensor import Tensor
from msnb.ops._check import FLOAT, NUMBER, dtype_in, rank, same_dtype, tensor_only
from msnb.ops._half import in_float32
from msnb.ops._host import functional
from msnb.ops.math.unary import floating

_mat_mul = REGISTRY["MatMul"].primitive()
_batch_mat_mul = REGISTRY["BatchMatMul"].primitive()
_broadcast_mat_mul = REGISTRY["MatMulBroadcast"].primitive()
_tensor_dot = REGISTRY["TensorDot"]
_maximum, _minimum = REGISTRY["Maximum"].primitive(), REGISTRY["Minimum"].primitive()

# Names that r1.1's functional module gives to operators.
for _name, _operator in (
    ("tensor_add", "add"),
    ("tensor_sub", "sub"),
    ("tensor_mul", "mul"),
    ("tensor_pow", "pow"),
    ("tensor_floordiv", "floor_div"),
    ("tensor_mod", "floor_mod"),
    ("neg_tensor", "neg"),
    ("tensor_lt", "less"),
    ("tensor_le", "less_equal"),
    ("tensor_gt", "greater"),
    ("tensor_ge", "greater_equal"),
    ("floor_divide", "floor_div"),
    ("gt", "greater"),
    ("ge", "greater_equal"),
    ("lt", "less"),
    ("le", "less_equal"),
    ("eq", "equal"),
    ("ne", "not_equal"),
    ("arccos", "acos"),
    ("arcsin", "asin"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("negative", "neg"),
    ("absolute", "abs"),
    ("remainder", "floor_mod"),
    ("fmod", "mod"),
    ("subtract", "sub"),
    ("multiply", "mul"),
):
    functional(_name)(FUNCTIONAL[_operator])
functional("tensor_div")(REGISTRY["RealDiv"].primitive())
functional("real_div")(FUNCTIONAL["tensor_div"])


@functional("div")
def div(input, other, *, rounding_mode=None):
    """Quotient of two Tensors.

    Args:
        input (Union[Tensor, Number]): Dividend.
        other (Union[Tensor, Number]): Divisor.
        rounding_mode (str): None, "floor" (down) or "trunc" (towards zero). Default: None.

    Returns:
        Tensor; float32 for integers unless the quotient is rounded.

    Raises:
        ValueError: If `rounding_mode` is none of those.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if rounding_mode not in (None, "floor", "trunc"):
        raise ValueError(f"For 'div', 'rounding_mode' should be None, 'floor' or 'trunc', but got {rounding_mode!r}.")
    form = {None: "true_divide", "floor": "floor_div", "trunc": "truncate_div"}[rounding_mode]
    return FUNCTIONAL[form](input, other)


functional("divide")(div)


@functional("matmul")
def matmul(input, other):
    """Matrix product in which vectors are rows or columns and batch dimensions broadcast.

    Args:
        input (Tensor): Of at least 1 dimension.
        other (Tensor): Of at least 1 dimension and the element type of `input`.

    Returns:
        Tensor.

    Raises:
        TypeError: If the element types differ or are not supported.
        ValueError: If the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor(np.ones((2, 3)), mindspore.float32)
        >>> print(ops.matmul(x, Tensor(np.ones((3, 1)), mindspore.float32)))
        [[3.]
         [3.]]
    """
    for name, value in (("input", input), ("other", other)):
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'matmul', '{name}' should be a Tensor, but got {describe(value)}.")
    if input.ndim == 2 and other.ndim == 2:
        return _mat_mul(input, other)
    if input.ndim == other.ndim > 2 and input.shape[:-2] == other.shape[:-2]:
        return _batch_mat_mul(input, other)
    return _broadcast_mat_mul(input, other)


@functional("mm")
def mm(input, mat2):
    """Product of two matrices.

    Args:
        input (Tensor): Of shape (N, C).
        mat2 (Tensor): Of shape (C, M).

    Returns:
        Tensor of shape (N, M).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _mat_mul(input, mat2)


@functional("bmm")
def bmm(input_x, mat2):
    """Products of two batches of matrices.

    Args:
        input_x (Tensor): Of shape (B, N, C).
        mat2 (Tensor): Of shape (B, C, M).

    Returns:
        Tensor of shape (B, N, M).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _batch_mat_mul(input_x, mat2)


@functional("tensor_dot")
def tensor_dot(x1, x2, axes):
    """Sum of products over pairs of axes.

    Args:
        x1 (Tensor): Floating point.
        x2 (Tensor): Of the element type of `x1`.
        axes (Union[int, tuple, list]): How many last axes of `x1` meet first axes of `x2`, or the pairs of axes.

    Returns:
        Tensor.

    Raises:
        TypeError: If the element types differ or are not floating point.
        ValueError: If `axes` is out of range, or the paired dimensions differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _tensor_dot({}, (x1, x2, axes))


functional("tensordot")(tensor_dot)


@operator(functional="dot", methods=("dot",))
def Dot(input, other):
    """Sum of products over the last axis of one Tensor and the last but one of the other.

    Inputs:
        - **input** (Tensor) - Floating point.
        - **other** (Tensor) - Of the element type of `input`.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
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
    """Products of all pairs of elements of two vectors.

    Inputs:
        - **input** (Tensor) - A vector.
        - **vec2** (Tensor) - A vector.

    Outputs:
        Tensor of shape (len(input), len(vec2)).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    rank("outer", "input", input, 1)
    rank("outer", "vec2", vec2, 1)
    x, y = promote(input[:, None], vec2, op="outer")
    return x * y


@operator(functional="cross", methods=("cross",))
def Cross(input, other, dim: Axis = ()):
    """Vector product along a dimension of length 3.

    Inputs:
        - **input** (Tensor) - Numbers.
        - **other** (Tensor) - Numbers.
        - **dim** (int) - The dimension; the first of length 3 for (). Default: ().

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    x, y = promote(input, other, op="cross")
    if dim == ():
        if 3 not in x.shape:
            raise ValueError(f"For 'cross', a dimension should have length 3, but the shape is {x.shape}.")
        dim = x.shape.index(3)
    return jnp.cross(x, y, axis=dim)


@operator(functional="trace")
def Trace(input):
    """Sum of the diagonal of a matrix.

    Inputs:
        - **input** (Tensor) - Numbers, of 2 dimensions.

    Outputs:
        Tensor, a scalar of the element type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("trace", "input", input, NUMBER)
    rank("trace", "input", input, 2)
    return jnp.trace(input, dtype=input.dtype)


@operator
def Einsum(operands: Tensors, *, equation: Str):
    """Sums of products by Einstein's convention.

    Args:
        equation (str): Subscripts, as in numpy's einsum.

    Inputs:
        - **operands** (tuple[Tensor]) - As many Tensors as the equation has terms.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_dtype("einsum", **{f"operands[{i}]": x for i, x in enumerate(operands)})
    try:
        return jnp.einsum(equation, *operands)
    except (TypeError, IndexError) as problem:
        raise ValueError(
            f"For 'einsum', the equation {equation!r} does not fit shapes {[x.shape for x in operands]}: {problem}"
        ) from None


@functional("einsum")
def einsum(equation, *operands):
    """Sums of products by Einstein's convention.

    Args:
        equation (str): Subscripts, as in numpy's einsum.
        operands (Tensor): As many Tensors as the equation has terms.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.einsum("ij,j->i", Tensor([[1., 2.]]), Tensor([1., 1.])))
        [3.]
    """
    return REGISTRY["Einsum"].primitive(equation)(operands)


@functional("clamp")
def clamp(input, min=None, max=None):
    """Every element brought into [min, max].

    Args:
        input (Tensor): Numbers.
        min (Union[Tensor, Number]): Lower bound. Default: None, there is none.
        max (Union[Tensor, Number]): Upper bound. Default: None, there is none.

    Returns:
        Tensor.

    Raises:
        ValueError: If there is no bound at all.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.clamp(Tensor([1., 5., 9.]), 2., 6.))
        [2. 5. 6.]
    """
    if min is None and max is None:
        raise ValueError("For 'clamp', at least one of 'min' and 'max' should be given.")
    if min is not None:
        input = _maximum(input, min)
    return input if max is None else _minimum(input, max)


functional("clip")(clamp)


@functional("round")
def round_(input, *, decimals=0):
    """Numbers rounded to a number of decimals; halves go to the even one.

    Args:
        input (Tensor): Numbers.
        decimals (int): How many decimals. Default: 0.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    form = REGISTRY["Round"].primitive()
    if not decimals:
        return form(input)
    scale = 10.0**decimals
    return form(input * scale) / scale


@operator(functional="lerp", methods=("lerp",))
def Lerp(input, end, weight):
    """Linear interpolation, input + weight * (end - input).

    Inputs:
        - **input** (Tensor) - Floating point.
        - **end** (Tensor) - Floating point.
        - **weight** (Union[Tensor, float]) - How far on the way.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("lerp", "input", input, FLOAT)
    same_dtype("lerp", input=input, end=end)
    return input + weight.astype(input.dtype) * (end - input)


def _scaled(name, combine, formula):
    def kernel(input, tensor1, tensor2, value=1):
        tensor_only(name, "input", input)
        a, b = promote(tensor1, tensor2, op=name)
        x, y = promote(input, combine(a, b), op=name)
        return x + jnp.asarray(value, x.dtype) * y

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"""{formula}

    Inputs:
        - **input** (Tensor) - Numbers.
        - **tensor1** (Tensor) - Numbers.
        - **tensor2** (Tensor) - Numbers.
        - **value** (Union[Tensor, Number]) - The factor. Default: 1.

    Outputs:
        Tensor of the broadcast shape.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return operator(name.capitalize(), functional=name, methods=(name,))(kernel)


addcmul = _scaled("addcmul", lambda a, b: a * b, "input + value * tensor1 * tensor2.")
addcdiv = _scaled("addcdiv", lambda a, b: a / b, "input + value * tensor1 / tensor2.")


def _pairwise(name, function, summary):
    def kernel(input, other):
        x, y = promote(input, other, op=name)
        return in_float32(function)(floating(x), floating(y))

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"""{summary}

    Inputs:
        - **input** (Tensor) - Numbers.
        - **other** (Tensor) - Numbers.

    Outputs:
        Tensor of the broadcast shape, floating point.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return operator(name.capitalize(), functional=name, methods=(name,))(kernel)


hypot = _pairwise("hypot", jnp.hypot, "Length of the hypotenuse, sqrt(x**2 + y**2).")
logaddexp = _pairwise("logaddexp", jnp.logaddexp, "Logarithm of the sum of the exponentials, without overflow.")
logaddexp2 = _pairwise("logaddexp2", jnp.logaddexp2, "Logarithm to base 2 of the sum of the powers of 2.")


@operator(functional="det", methods=("det",), aliases=("MatrixDeterminant",))
def Det(input):
    """Determinants of square matrices.

    Inputs:
        - **input** (Tensor) - Floating point, of shape (*, N, N).

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("det", "input", input, FLOAT)
    return jnp.linalg.det(input)


@operator(functional="kron")
def Kron(x, y):
    """Kronecker product.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **y** (Tensor) - Numbers.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return jnp.kron(x, y)


@operator(functional="diff")
def Diff(x, n: Int = 1, axis: Int = -1):
    """Differences of neighbours along an axis.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **n** (int) - How many times. Default: 1.
        - **axis** (int) - The axis. Default: -1.

    Outputs:
        Tensor, shorter by `n` along the axis.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return jnp.diff(x, n, axis)


@functional("addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * (mat1 @ mat2).

    Args:
        input (Tensor): Broadcasts to the product.
        mat1 (Tensor): A matrix.
        mat2 (Tensor): A matrix.
        beta (Number): Factor of `input`. Default: 1.
        alpha (Number): Factor of the product. Default: 1.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return input * beta + _mat_mul(mat1, mat2) * alpha


@functional("baddbmm")
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * (batch1 @ batch2), for batches of matrices.

    Args:
        input (Tensor): Broadcasts to the products.
        batch1 (Tensor): Matrices.
        batch2 (Tensor): Matrices.
        beta (Number): Factor of `input`. Default: 1.
        alpha (Number): Factor of the products. Default: 1.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return input * beta + _batch_mat_mul(batch1, batch2) * alpha


@functional("inner")
def inner(input, other):
    """Sum of products over the last dimensions of two Tensors.

    Args:
        input (Tensor): Floating point.
        other (Tensor): Of the element type of `input`.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return tensor_dot(input, other, ((-1,), (-1,)))


@functional("nansum")
def nansum(input, axis=None, keepdims=False, *, dtype=None):
    """Sum over axes in which nan counts as 0.

    Args:
        input (Tensor): Numbers.
        axis (Union[None, int, tuple[int]]): Axes; all for None. Default: None.
        keepdims (bool): Whether the axes stay, with length 1. Default: False.
        dtype (mindspore.dtype): Element type of the result. Default: None.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return FUNCTIONAL["sum"](FUNCTIONAL["where"](FUNCTIONAL["isnan"](input), 0, input), axis, keepdims, dtype=dtype)
