"""Reductions over axes, and running sums and products along one."""

import jax.numpy as jnp

from msnb.common.kinds import Axis, Bool
from msnb.core.declare import operator
from msnb.ops._check import ANY, BOOL, NUMBER, axes_in, dtype_in

_DOC = """{summary}

    Args:
        keep_dims (bool): Whether the reduced axes stay, with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - {given}.
        - **axis** (Union[int, tuple, list]) - Axes to reduce; all for (). Default: ().

    Outputs:
        Tensor of the element type of `x`, without the reduced axes or with length 1 in them.

    Raises:
        TypeError: If `keep_dims` is not a bool, `axis` is not made of int, or the element type is not supported.
        ValueError: If `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor({sample}, mindspore.{type_})
        >>> print(ops.{name}(keep_dims=False)(x, 1))
        {shown}
    """


def _declare(
    name,
    compute,
    summary,
    shown,
    *,
    functional,
    allowed=NUMBER,
    given="Numbers",
    sample="[[1., 2.], [3., 4.]]",
    type_="float32",
):
    """Declare reduction `name`: compute(x, axes, keepdims), in the element type of x."""

    def kernel(x, axis: Axis = (), *, keep_dims: Bool = False):
        dtype_in(name, "x", x, allowed)
        return compute(x, axes_in(name, axis, x.ndim), keep_dims)

    kernel.__name__ = kernel.__qualname__ = functional
    kernel.__doc__ = _DOC.format(summary=summary, given=given, name=name, sample=sample, type_=type_, shown=shown)
    return operator(name, functional=functional)(kernel)


def _max(x, axes, keep_dims):
    return jnp.max(x, axes, keepdims=keep_dims)


def _min(x, axes, keep_dims):
    return jnp.min(x, axes, keepdims=keep_dims)


def _all(x, axes, keep_dims):
    return jnp.all(x, axes, keepdims=keep_dims)


def _any(x, axes, keep_dims):
    return jnp.any(x, axes, keepdims=keep_dims)


_LOGIC = {"allowed": BOOL, "given": "Of bool", "sample": "[[True, False], [True, True]]", "type_": "bool_"}

reduce_max = _declare("ReduceMax", _max, "Largest element over axes.", "[2. 4.]", functional="reduce_max", allowed=ANY)
reduce_min = _declare("ReduceMin", _min, "Smallest element over axes.", "[1. 3.]", functional="reduce_min", allowed=ANY)
reduce_all = _declare(
    "ReduceAll", _all, "Whether all elements over axes are True.", "[False  True]", functional="reduce_all", **_LOGIC
)
reduce_any = _declare(
    "ReduceAny", _any, "Whether any element over axes is True.", "[ True  True]", functional="reduce_any", **_LOGIC
)
