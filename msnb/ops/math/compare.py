"""Comparison and logic, element by element."""

import jax.numpy as jnp

from msnb.common.kinds import Float
from msnb.core.declare import operator
from msnb.core.dtype import broadcast_check, promote
from msnb.ops._check import ANY, BOOL, FLOAT, dtype_in, same_dtype, same_shape, tensor_only

_DOC = """True where {meaning}.

    Inputs:
        - **x** (Union[Tensor, Number, bool]) - The first operand.
        - **y** (Union[Tensor, Number, bool]) - The second operand.

    Outputs:
        Tensor of bool, of the broadcast shape.

    Raises:
        TypeError: If the element types {types}.
        ValueError: If the shapes do not broadcast.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor({x}, mindspore.{type_})
        >>> y = Tensor({y}, mindspore.{type_})
        >>> print(ops.{name}()(x, y))
        {shown}
    """


def _comparison(name, compute, meaning, shown, functional, methods):
    def kernel(x, y):
        x, y = promote(x, y, op=name)
        return compute(x, y)

    kernel.__name__ = kernel.__qualname__ = functional
    kernel.__doc__ = _DOC.format(
        meaning=meaning,
        name=name,
        types="do not convert implicitly",
        x="[1, 2, 3]",
        y="[1, 1, 4]",
        type_="int32",
        shown=shown,
    )
    return operator(name, functional=functional, methods=methods)(kernel)


def _logical(name, compute, meaning, shown, functional, methods):
    def kernel(x, y):
        broadcast_check(x, y, name)
        for argument, value in (("x", x), ("y", y)):
            if value.dtype != bool:
                dtype_in(name, argument, value, BOOL)
        return compute(x, y)

    kernel.__name__ = kernel.__qualname__ = functional
    kernel.__doc__ = _DOC.format(
        meaning=meaning,
        name=name,
        types="are not bool",
        x="[True, False, True]",
        y="[True, True, False]",
        type_="bool_",
        shown=shown,
    )
    return operator(name, functional=functional, methods=methods)(kernel)


equal = _comparison("Equal", jnp.equal, "the operands are equal", "[ True False False]", "equal", ("equal", "eq"))
not_equal = _comparison(
    "NotEqual", jnp.not_equal, "the operands differ", "[False  True  True]", "not_equal", ("not_equal", "ne")
)
greater = _comparison(
    "Greater", jnp.greater, "the first operand is larger", "[False  True False]", "greater", ("greater", "gt", "__gt__")
)
greater_equal = _comparison(
    "GreaterEqual",
    jnp.greater_equal,
    "the first operand is not smaller",
    "[ True  True False]",
    "greater_equal",
    ("greater_equal", "ge", "__ge__"),
)
less = _comparison(
    "Less", jnp.less, "the first operand is smaller", "[False False  True]", "less", ("less", "lt", "__lt__")
)
less_equal = _comparison(
    "LessEqual",
    jnp.less_equal,
    "the first operand is not larger",
    "[ True False  True]",
    "less_equal",
    ("less_equal", "le", "__le__"),
)
logical_and = _logical(
    "LogicalAnd", jnp.logical_and, "both operands are", "[ True False False]", "logical_and", ("logical_and",)
)
logical_or = _logical(
    "LogicalOr", jnp.logical_or, "one operand or both are", "[ True  True  True]", "logical_or", ("logical_or",)
)
logical_xor = _logical(
    "LogicalXor", jnp.logical_xor, "exactly one operand is", "[False  True  True]", "logical_xor", ("logical_xor",)
)


@operator(functional="logical_not", methods=("logical_not",))
def LogicalNot(x):
    """True where an element is False.

    Inputs:
        - **x** (Tensor) - Of bool, of any shape.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Raises:
        TypeError: If `x` is not a Tensor of bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.LogicalNot()(Tensor([True, False], mindspore.bool_)))
        [False  True]
    """
    if x.dtype != bool:
        dtype_in("LogicalNot", "x", x, BOOL)
    return jnp.logical_not(x)


@operator(functional="approximate_equal")
def ApproximateEqual(x, y, *, tolerance: Float = 1e-05):
    """True where the operands differ by less than `tolerance`.

    Args:
        tolerance (float): Largest difference that still counts as equal. Default: 1e-05.

    Inputs:
        - **x** (Tensor) - Floating point numbers.
        - **y** (Tensor) - Of the shape and element type of `x`.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Raises:
        TypeError: If the inputs are not floating point of one type.
        ValueError: If the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x, y = Tensor([1., 2.], mindspore.float32), Tensor([1.5, 3.5], mindspore.float32)
        >>> print(ops.ApproximateEqual(tolerance=1.)(x, y))
        [ True False]
    """
    dtype_in("ApproximateEqual", "x", x, FLOAT)
    same_dtype("ApproximateEqual", x=x, y=y)
    same_shape("ApproximateEqual", x=x, y=y)
    return jnp.abs(x - y) < jnp.asarray(tolerance, x.dtype)


@operator
def EqualCount(x, y):
    """Number of places in which two Tensors agree.

    Inputs:
        - **x** (Tensor) - Numbers or bool, of any shape.
        - **y** (Tensor) - Of the shape and element type of `x`.

    Outputs:
        Tensor of shape (1,) and the element type of `x`.

    Raises:
        TypeError: If an input is not a Tensor or the element types differ.
        ValueError: If the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.int32), Tensor([1, 2, 4], mindspore.int32)
        >>> print(ops.EqualCount()(x, y))
        [2]
    """
    tensor_only("EqualCount", "x", x)
    dtype_in("EqualCount", "y", y, ANY)
    same_dtype("EqualCount", x=x, y=y)
    same_shape("EqualCount", x=x, y=y)
    return jnp.sum(x == y).astype(x.dtype).reshape(1)
