"""Flatten operators, which join axes."""

import math

from msnb.common.kinds import Int, OneOf, Shape, check
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check

_Order = OneOf("C", "F")


@operator
def Flatten(input_x):
    """Joins all axes but axis 0 into one.

    Inputs:
        - **input_x** (Tensor) - at least 1-D.

    Outputs:
        Tensor, (N, product of the other lengths).
    """
    _check.tensor_only("Flatten", "input_x", input_x)
    if input_x.ndim == 0:
        raise ValueError("For 'Flatten', 'input_x' should have at least 1 dimension, but got a scalar.")
    return input_x.reshape(input_x.shape[0], input_x.size // max(input_x.shape[0], 1))


@operator
def FlattenGrad(x, shape: Shape):
    """Gradient of Flatten: the cotangent `x` reshaped to the shape of the input of Flatten."""
    if x.size != math.prod(shape):
        raise ValueError(f"For 'FlattenGrad', 'x' should have {math.prod(shape)} elements, but got shape {x.shape}.")
    return x.reshape(shape)


@operator
def FlattenExt(input, start_dim: Int = 0, end_dim: Int = -1):
    """Joins the axes from `start_dim` to `end_dim` into one.

    Inputs:
        - **input** (Tensor) - any shape.
        - **start_dim** (int) - first axis. Default: 0.
        - **end_dim** (int) - last axis. Default: -1.

    Outputs:
        Tensor, a vector if there is nothing to join.

    Raises:
        ValueError: If an axis is out of range, or `start_dim` is after `end_dim`.
    """
    op = "FlattenExt"
    _check.tensor_only(op, "input", input)
    if input.ndim < 2:
        return input.reshape(-1)
    first = _check.axis_in(op, start_dim, input.ndim, "start_dim")
    last = _check.axis_in(op, end_dim, input.ndim, "end_dim")
    if first > last:
        raise ValueError(f"For '{op}', 'start_dim' should not be after 'end_dim', but got {start_dim}, {end_dim}.")
    length = math.prod(input.shape[first : last + 1])
    return input.reshape(*input.shape[:first], length, *input.shape[last + 1 :])


def _transpose_to_order(order, x, axes):
    """Return `x` with its axes in the order `axes` for order "F", unchanged for "C"."""
    order = check(_Order, order, "order", "flatten")
    return x.transpose(axes) if order == "F" and len(axes) > 1 else x


@spelling(FlattenExt)
def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Joins the axes from `start_dim` to `end_dim` into one.

    Args:
        input (Tensor): Any shape.
        order (str): "C" for row-major order; "F" reverses the axes first. Default: "C".

    Keyword Args:
        start_dim (int): First axis. Default: 1.
        end_dim (int): Last axis. Default: -1.

    Returns:
        Tensor, a vector if there is nothing to join.
    """
    if order != "C":
        input = _transpose_to_order(order, input, tuple(range(input.ndim - 1, -1, -1)))
    return FlattenExt.functional(input, start_dim, end_dim)


@spelling(FlattenExt, method="flatten")
def _tensor_flatten(self: Tensor, order: str | int = "C", *last: int, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Join dimensions into one.

    Args:
        order (Union[str, int]): "C" for row-major order, "F" for column-major order. An int is `start_dim`. Default:
            "C".
        last (int): `end_dim`, if `order` is an int.

    Keyword Args:
        start_dim (int): The first dimension. Default: 0.
        end_dim (int): The last dimension. Default: -1.

    Returns:
        Tensor.
    """
    if len(last) > (0 if isinstance(order, str) else 1):
        raise TypeError(f"For 'flatten', (order) or (start_dim, end_dim) are taken, but got {(order, *last)}.")
    if order != "C":
        if isinstance(order, int) and not isinstance(order, bool):  # flatten(start_dim) or (start_dim, end_dim)
            order, start_dim, end_dim = "C", order, last[0] if last else end_dim
        self = _transpose_to_order(order, self, tuple(range(self.ndim - 1, -1, -1)))
    return FlattenExt.functional(self, start_dim, end_dim)


CASES = [
    case(Flatten, F(2, 3, 4)),
    case(FlattenGrad, F(2, 12), (2, 3, 4)),
    case(flatten, F(2, 3, 4, 2), start_dim=1, end_dim=2),
]
