"""Reductions over axes, and running sums and products along one."""

import jax.numpy as jnp

from msnb.common.kinds import Axis, Bool, Int
from msnb.core.declare import operator
from msnb.ops._check import ANY, BOOL, NUMBER, axes_in, axis_in, dtype_in
from msnb.ops._half import in_float32

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


def _sum(x, axes, keep_dims):
    return jnp.sum(x, axes, dtype=x.dtype, keepdims=keep_dims)


@in_float32
def _prod(x, axes, keep_dims):
    return jnp.prod(x, axes, dtype=x.dtype, keepdims=keep_dims)


def _mean(x, axes, keep_dims):
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return jnp.mean(x, axes, keepdims=keep_dims)
    # Integers have an integer mean: the exact sum, divided and cut.
    return jnp.mean(x, axes, dtype=jnp.float64, keepdims=keep_dims).astype(x.dtype)


def _max(x, axes, keep_dims):
    return jnp.max(x, axes, keepdims=keep_dims)


def _min(x, axes, keep_dims):
    return jnp.min(x, axes, keepdims=keep_dims)


def _all(x, axes, keep_dims):
    return jnp.all(x, axes, keepdims=keep_dims)


def _any(x, axes, keep_dims):
    return jnp.any(x, axes, keepdims=keep_dims)


_LOGIC = {"allowed": BOOL, "given": "Of bool", "sample": "[[True, False], [True, True]]", "type_": "bool_"}

reduce_sum = _declare("ReduceSum", _sum, "Sum over axes.", "[3. 7.]", functional="reduce_sum")
reduce_mean = _declare(
    "ReduceMean", _mean, "Mean over axes; integers give an integer.", "[1.5 3.5]", functional="reduce_mean"
)
reduce_max = _declare("ReduceMax", _max, "Largest element over axes.", "[2. 4.]", functional="reduce_max", allowed=ANY)
reduce_min = _declare("ReduceMin", _min, "Smallest element over axes.", "[1. 3.]", functional="reduce_min", allowed=ANY)
reduce_prod = _declare("ReduceProd", _prod, "Product over axes.", "[ 2. 12.]", functional="reduce_prod")
reduce_all = _declare(
    "ReduceAll", _all, "Whether all elements over axes are True.", "[False  True]", functional="reduce_all", **_LOGIC
)
reduce_any = _declare(
    "ReduceAny", _any, "Whether any element over axes is True.", "[ True  True]", functional="reduce_any", **_LOGIC
)


_RUNNING_DOC = """{summary}

    Args:
        exclusive (bool): Whether an element is left out of its own {noun}. Default: False.
        reverse (bool): Whether to run from the end. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **axis** (int) - Axis to run along.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not made of numbers, `axis` is not an int, or an argument is not a bool.
        ValueError: If `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[1., 2., 3.]], mindspore.float32)
        >>> print(ops.{name}()(x, 1))
        {shown}
    """


def _running(name, compute, start, summary, noun, shown):
    """Declare a running reduction: compute(x, axis) forwards, `start` before the first element."""

    def kernel(x, axis: Int, *, exclusive: Bool = False, reverse: Bool = False):
        dtype_in(name, "x", x, NUMBER)
        axis = axis_in(name, axis, x.ndim)
        if reverse:
            x = jnp.flip(x, axis)
        result = in_float32(lambda x: compute(x, axis=axis, dtype=x.dtype))(x)
        if exclusive:
            first = jnp.full_like(jnp.take(result, jnp.arange(min(1, x.shape[axis])), axis=axis), start)
            result = jnp.concatenate([first, jnp.take(result, jnp.arange(x.shape[axis] - 1), axis=axis)], axis)
        return jnp.flip(result, axis) if reverse else result

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = _RUNNING_DOC.format(summary=summary, noun=noun, name=name, shown=shown)
    return operator(name)(kernel)


cum_sum = _running("CumSum", jnp.cumsum, 0, "Running sum along an axis.", "sum", "[[1. 3. 6.]]")
cum_prod = _running("CumProd", jnp.cumprod, 1, "Running product along an axis.", "product", "[[1. 2. 6.]]")
