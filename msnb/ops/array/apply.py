"""Functions that apply the user's function along axes or to pieces of a Tensor."""

from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.common.kinds import Int, IntOrTuple, check
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axis_in
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops.array.join import Stack, in_one_type
from msnb.ops.array.where import numpy_select


@spelling(numpy="apply_along_axis")
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Tensor:
    """Apply a function to each vector along an axis.

    Args:
        func1d (Callable): Called as ``func1d(vector, *args, **kwargs)``; it returns a Tensor or a number. All results
            have the same shape.
        axis (int): The axis along which the vectors are taken.
        arr (Union[Tensor, list, tuple]): Of at least 1 dimension.
        args (Any): Further arguments of `func1d`.
        kwargs (Any): Further arguments of `func1d`.

    Returns:
        Tensor of the shape of `arr`, with the axis replaced by the dimensions of a result of `func1d`.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range, or `arr` is empty.

    Examples:
        >>> print(mindspore.numpy.apply_along_axis(lambda v: v[0] + v[-1], 1, [[1, 2, 3], [4, 5, 6]]))
        [ 4 10]
    """
    arr = as_tensor(arr, "apply_along_axis", "arr")
    axis = axis_in("apply_along_axis", check(Int, axis, "axis", "apply_along_axis"), arr.ndim)
    lengths = arr.shape[:axis] + arr.shape[axis + 1 :]
    vectors = arr.moveaxis(axis, -1)
    if 0 in lengths:
        raise ValueError(f"For 'apply_along_axis', 'arr' of shape {arr.shape} has no vector along axis {axis}.")
    results = [func1d(vectors[index] if index else vectors, *args, **kwargs) for index in np.ndindex(lengths)]
    joined = Stack.functional(in_one_type("apply_along_axis", results, "func1d"))
    shape = joined.shape[1:]
    joined = joined.reshape((*lengths, *shape))
    return joined.moveaxis(tuple(range(-len(shape), 0)), tuple(range(axis, axis + len(shape)))) if shape else joined


@spelling(numpy="apply_over_axes")
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: int | tuple[int, ...] | list[int]) -> Tensor:
    """Apply a function over several axes, one after another.

    Args:
        func (Callable): Called as ``func(result, axis=axis)`` for each axis. `result` is the result of the previous
            call, at first `a`. If `func` removes the axis, the axis is restored with length 1.
        a (Union[Tensor, list, tuple, Number]): Any Tensor.
        axes (Union[int, tuple[int], list[int]]): The axes, in the order of the calls.

    Returns:
        Tensor of as many dimensions as `a`.

    Raises:
        TypeError: If `axes` does not consist of int.
        ValueError: If an axis is out of range, or `func` returns another number of dimensions.
    """
    a, axes = as_tensor(a, "apply_over_axes", "a"), check(IntOrTuple, axes, "axes", "apply_over_axes")
    result = a
    for axis in (axes,) if isinstance(axes, int) else axes:
        axis = axis_in("apply_over_axes", axis, a.ndim, "axes")
        result = func(result, axis=axis)
        if result.ndim == a.ndim - 1:
            result = result.expand_dims(axis)
        if result.ndim != a.ndim:
            raise ValueError(
                f"For 'apply_over_axes', 'func' should return a Tensor of {a.ndim} dimensions or one less, but got "
                f"shape {result.shape}."
            )
    return result


@spelling(numpy="piecewise")
def piecewise(x: ArrayLike, condlist: ArrayLike, funclist: Any, *args: Any, **kw: Any) -> Tensor:
    """Evaluate a piecewise function.

    Args:
        x (Union[Tensor, list, tuple, Number]): The arguments of the piecewise function. Each function in `funclist`
            gets all of `x`.
        condlist (Union[list, tuple, Tensor, bool]): One bool condition for each piece. An element belongs to the piece
            of the first condition that is True.
        funclist (Union[list, tuple]): For each condition a function, called as ``function(x, *args, **kw)``, or a
            value. An additional last entry is for elements without a True condition. Without it they are 0.
        args (Any): Further arguments of the functions.
        kw (Any): Further arguments of the functions.

    Returns:
        Tensor of the shape of `x`, in the common element type of the pieces.

    Raises:
        ValueError: If the number of entries of `funclist` is neither that of `condlist` nor one more.

    Examples:
        >>> x = mindspore.numpy.linspace(-2, 2, 5)
        >>> print(mindspore.numpy.piecewise(x, [x < 0, x > 0], [lambda v: -v, lambda v: v * v]))
        [2. 1. 0. 1. 4.]
    """
    x = as_tensor(x, "piecewise", "x")
    if not isinstance(condlist, (list, tuple)) or not _has_several_conditions(condlist, x):
        condlist = [condlist]
    pieces = [f(x, *args, **kw) if callable(f) else f for f in funclist]
    if len(pieces) - len(condlist) not in (0, 1):
        raise ValueError(
            f"For 'piecewise', there should be as many functions as conditions or one more, but got {len(pieces)} for "
            f"{len(condlist)} conditions."
        )
    default = pieces.pop() if len(pieces) > len(condlist) else 0
    return numpy_select(condlist, pieces, default)


def _has_several_conditions(condlist, x):
    """Return True if `condlist` is a list of conditions rather than one condition."""
    return not x.ndim or isinstance(condlist[0], (list, tuple, Tensor))
