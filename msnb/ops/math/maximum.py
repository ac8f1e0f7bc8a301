"""Elementwise maximum and minimum of two Tensors, and clipping between two bounds."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import OneOf
from msnb.core.operator.cases import F16, F, I, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.ufunc import of_array
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import BOOL, NUMBER, tensor_argument
from msnb.ops._in_place import take_over
from msnb.ops._numpy import ArrayLike, array_type, as_tensor, in_type
from msnb.ops._shapes import shapes
from msnb.ops._subgradients import larger, smaller
from msnb.ops.array.cast import Cast
from msnb.ops.math._elementwise import of_two

BOTH_GRADIENTS = "both gradients are returned; XLA leaves out the one that nobody uses"


@of_two(
    x="[1., 5., 3.]",
    y="[4., 2., 6.]",
    output="[4. 5. 6.]",
    functional="maximum",
    methods=("maximum",),
    generation=2,
    allowed=NUMBER | BOOL,
    numpy=of_array("maximum"),
)
def Maximum(x, y):
    """Elementwise maximum of the operands."""
    return larger(x, y)


@of_two(
    x="[1., 5., 3.]",
    y="[4., 2., 6.]",
    output="[1. 2. 3.]",
    functional="minimum",
    methods=("minimum",),
    generation=2,
    allowed=NUMBER | BOOL,
    numpy=of_array("minimum"),
)
def Minimum(x, y):
    """Elementwise minimum of the operands."""
    return smaller(x, y)


@operator
@shapes("x y: ~s, dout: *s")
def MaximumGrad(
    x,
    y,
    dout,
    *,
    grad_x: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
    grad_y: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
):
    """Gradients of Maximum. Where both operands are equal, `x` gets the full gradient."""
    return _split_cotangent(x >= y, x, y, dout)


@operator
@shapes("x y: ~s, dout: *s")
def MinimumGrad(
    x,
    y,
    dout,
    *,
    grad_x: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
    grad_y: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
):
    """Gradients of Minimum. Where both operands are equal, `x` gets the full gradient."""
    return _split_cotangent(x <= y, x, y, dout)


def _split_cotangent(first, x, y, dout):
    none = jnp.zeros_like(dout)
    return _sum_to_shape(jnp.where(first, dout, none), x.shape), _sum_to_shape(jnp.where(first, none, dout), y.shape)


def _sum_to_shape(x, shape):
    """Sum `x` to the shape `shape`, which was broadcast to the shape of `x`."""
    x = x.sum(tuple(range(x.ndim - len(shape)))) if x.ndim > len(shape) else x
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1)
    return x.sum(axes, keepdims=True) if axes else x


@spelling(Maximum, Minimum, function=("clamp", "clip"), method=("clamp", "clip"))
def clamp(input: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """Clip every element to [min, max].

    Args:
        input (Tensor): Numbers.
        min (Union[Tensor, Number]): Lower bound. Default: None, no bound.
        max (Union[Tensor, Number]): Upper bound. Default: None, no bound.

    Returns:
        Tensor of the element type of `input`. The bounds are cast to this type.

    Raises:
        ValueError: If `min` and `max` are both None.

    Examples:
        >>> print(ops.clamp(Tensor([1., 5., 9.]), 2., 6.))
        [2. 5. 6.]
    """
    if min is None and max is None:
        raise ValueError("For 'clamp', at least one of 'min' and 'max' should be given.")
    input = tensor_argument("clamp", "input", input)
    if min is not None:
        input = Maximum.functional(input, _convert_bound(input, min))
    return input if max is None else Minimum.functional(input, _convert_bound(input, max))


def _convert_bound(input, bound):
    """Convert `bound` to the element type of `input`. For an integer `input`, a number is truncated to an integer and
    clipped to the range of the type.
    """
    if isinstance(bound, Tensor):
        return bound if bound.dtype == input.dtype else Cast.functional(bound, input.dtype)
    kind = np.dtype(input._array.dtype)
    if kind.kind not in "iu" or not isinstance(bound, (int, float)) or not math.isfinite(bound):
        return bound
    limits = np.iinfo(kind)
    return min(max(int(bound), int(limits.min)), int(limits.max))


@spelling(Maximum, Minimum, function="clamp_", method="clamp_")
def _clamp_inplace(input: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """Clip every element to [min, max] in place, and return the Tensor.

    Args:
        input (Tensor): Numbers.
        min (Union[Tensor, Number]): Lower bound. Default: None, no bound.
        max (Union[Tensor, Number]): Upper bound. Default: None, no bound.

    Returns:
        Tensor, `input` itself.

    Raises:
        ValueError: If `min` and `max` are both None.
    """
    return take_over("clamp_", input, clamp(input, min, max))


@spelling(Maximum, Minimum, numpy="clip")
def _numpy_clip(x: ArrayLike, xmin: ArrayLike | None, xmax: ArrayLike | None, dtype: Any = None) -> Tensor:
    """Clip every element to [xmin, xmax].

    Args:
        x (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        xmin (Union[Tensor, list, tuple, int, float, None]): Lower bound; None for no bound.
        xmax (Union[Tensor, list, tuple, int, float, None]): Upper bound; None for no bound.
        dtype (mindspore.dtype): Element type of the result. Default: None, the type of `x`, or its common type with
            the bounds that are arrays.

    Returns:
        Tensor of the broadcast shape of the arguments.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `xmin` and `xmax` are both None, or the shapes do not broadcast.
    """
    if xmin is None and xmax is None:
        raise ValueError("For 'clip', at least one of 'xmin' and 'xmax' should be given.")
    x = as_tensor(x, "clip", "x")
    for bound, argument, bounded in ((xmin, "xmin", Maximum), (xmax, "xmax", Minimum)):
        if bound is not None:
            x = bounded.functional(*array_type(x, as_tensor(bound, "clip", argument)))
    return in_type(x, dtype, "clip")


@operator(functional="fmax", methods=("fmax",), generation=2)
def Fmax(input, other):
    """Elementwise maximum. If one of two elements is nan, the result is the other element.

    Inputs:
        - **input** (Union[Tensor, Number]) - The first operand.
        - **other** (Union[Tensor, Number]) - The second operand.

    Outputs:
        Tensor of the broadcast shape and the common element type.

    Raises:
        TypeError: If the element types are not supported or do not convert implicitly.
        ValueError: If the shapes do not broadcast.
    """
    x, y = promote(input, other, op="fmax")
    return jnp.where((x >= y) | (y != y), x, y)  # of two equal numbers, `jnp.fmax` takes the second


@operator(functional="fmin", methods=("fmin",), generation=2)
def Fmin(input, other):
    """Elementwise minimum. If one of two elements is nan, the result is the other element.

    Inputs:
        - **input** (Union[Tensor, Number]) - The first operand.
        - **other** (Union[Tensor, Number]) - The second operand.

    Outputs:
        Tensor of the broadcast shape and the common element type.

    Raises:
        TypeError: If the element types are not supported or do not convert implicitly.
        ValueError: If the shapes do not broadcast.
    """
    x, y = promote(input, other, op="fmin")
    return jnp.where((x <= y) | (y != y), x, y)


CASES = [
    case(Fmax, F(2, 3), F(3)),
    case(Fmin, F(2, 3), F(3)),
    *(
        case(op, x, y)
        for op in (Maximum, Minimum)
        for x, y in (
            (F(2, 3), F(2, 3)),
            (F(2, 1, 3), F(4, 1)),
            (I(2, 3), I(2, 3)),
            (I(3), F(3)),
            (F16(3), F(3)),
            (I(3, dtype="uint8"), I(3, dtype="int8")),
            (I(3), 1.5),
        )
    ),
]
