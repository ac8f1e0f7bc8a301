"""Operators that permute the dimensions of a Tensor."""

from typing import Any

import jax.numpy as jnp

from msnb.common.kinds import Int, IntOrTuple, Ints, check
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axes_in, axis_in, tensor_argument, tensor_only
from msnb.ops._numpy import ArrayLike, as_tensor


@operator(functional="transpose", called=(("input", "input_x"), ("dims", "input_perm")), casts_inputs=False)
def Transpose(x, perm: Ints):
    """Permute the dimensions of a Tensor.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **perm** (tuple[int]) - For each dimension of the result, the index of the same dimension of `x`.

    Outputs:
        Tensor of shape (x.shape[perm[0]], x.shape[perm[1]], ...).

    Raises:
        TypeError: If `perm` is not a tuple of int.
        ValueError: If `perm` is not a permutation of the dimensions of `x`.

    Examples:
        >>> print(ops.Transpose()(Tensor([[1, 2], [3, 4]], mindspore.int32), (1, 0)))
        [[1 3]
         [2 4]]
    """
    tensor_only("Transpose", "x", x)
    axes = tuple(axis_in("Transpose", a, x.ndim, "perm") for a in perm)
    if len(axes) != x.ndim or len(set(axes)) < len(axes):
        raise ValueError(
            f"For 'Transpose', 'perm' should be a permutation of the {x.ndim} dimensions of 'x', but got {perm}."
        )
    return jnp.transpose(x, axes)


@spelling(Transpose, method="transpose", generation=1)
def _tensor_transpose(self: Tensor, *axes: Any, dim0: int | None = None, dim1: int | None = None) -> Tensor:
    """Permute the dimensions by a tuple or several ints, or reverse them. With `dim0` and `dim1`, exchange these two
    dimensions."""
    if dim0 is not None and dim1 is not None and not axes:
        return swapaxes(self, dim0, dim1)
    axes = _unpack_axes(axes)
    if not axes or axes == (None,):
        axes = tuple(reversed(range(self.ndim)))
    return Transpose.functional(self, axes)


@differs_in_api2("two ints are two dimensions to exchange; a tuple, or an int for each dimension, is an order")
@spelling(Transpose, method="transpose")
def _transpose_api2(self: Tensor, *axes: Any, dim0: int | None = None, dim1: int | None = None) -> Tensor:
    """Exchange two dimensions if there are two ints. Otherwise permute the dimensions by a tuple or several ints, or
    reverse them."""
    axes = (*axes, *(d for d in (dim0, dim1) if d is not None))
    exchanged = len(axes) == 2 and all(isinstance(a, int) for a in axes)
    return swapaxes(self, *axes) if exchanged else _tensor_transpose(self, *axes)


def _unpack_axes(axes):
    """Return the axes in the arguments of `f(*axes)`: one tuple, or several ints as a tuple."""
    return axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes


@spelling(Transpose)
def permute(input: Tensor, axis: tuple[int, ...]) -> Tensor:
    """Permute the dimensions of a Tensor.

    Args:
        input (Tensor): Any Tensor.
        axis (tuple[int]): For each dimension of the result, the index of the same dimension of `input`.

    Returns:
        Tensor.
    """
    return Transpose.functional(input, axis)


@spelling(Transpose, method="permute")
def _tensor_permute(self: Tensor, *axis: Any, dims: Any = None) -> Tensor:
    """Permute the dimensions by an order that comes as a tuple or as several ints."""
    return Transpose.functional(self, _unpack_axes(axis) if dims is None else dims)


@spelling(Transpose, method="t")
def _tensor_t(self: Tensor) -> Tensor:
    """Transpose a matrix; return a number or a vector unchanged."""
    if self.ndim > 2:
        raise ValueError(f"For 't', the Tensor should have at most 2 dimensions, but got shape {self.shape}.")
    return _tensor_transpose(self)


@spelling(Transpose, function="swapaxes", method="swapaxes")
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Exchange two dimensions of a Tensor.

    Args:
        input (Tensor): Any Tensor.
        axis0 (int): The first dimension.
        axis1 (int): The second dimension.

    Returns:
        Tensor.
    """
    a, b = axis_in("swapaxes", axis0, input.ndim, "axis0"), axis_in("swapaxes", axis1, input.ndim, "axis1")
    perm = list(range(input.ndim))
    perm[a], perm[b] = b, a
    return Transpose.functional(input, tuple(perm))


@spelling(Transpose, function="swapdims", method="swapdims")
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions of a Tensor.

    Args:
        input (Tensor): Any Tensor.
        dim0 (int): The first dimension.
        dim1 (int): The second dimension.

    Returns:
        Tensor.
    """
    return swapaxes(input, dim0, dim1)


spelling(Transpose, method="T", generation=1)(
    property(_tensor_transpose, doc="The Tensor with its dimensions in reverse order.")
)
spelling(Transpose, method="H")(property(lambda self: swapaxes(self, -1, -2), doc="Transpose a matrix."))
spelling(Transpose, method="mH")(
    property(lambda self: _Adjoint.functional(self), doc="The last two dimensions exchanged, and conjugated.")
)
spelling(Transpose, method="mT")(
    property(lambda self: swapaxes(self, -1, -2), doc="The last two dimensions exchanged.")
)


@operator(functional="movedim", generation=2, methods=("movedim", "moveaxis"))
def _MoveAxis(x, source: IntOrTuple, destination: IntOrTuple):
    """Move dimensions to other positions; the remaining ones keep their order.

    Inputs:
        - **x** (Tensor) - Any Tensor.
        - **source** (Union[int, tuple[int]]) - The dimensions to move.
        - **destination** (Union[int, tuple[int]]) - New positions of the dimensions.

    Outputs:
        Tensor.
    """
    tensor_only("movedim", "x", x)
    axes = [axes_in("movedim", p, x.ndim, name) for p, name in ((source, "source"), (destination, "destination"))]
    return jnp.moveaxis(x, *axes)


spelling(_MoveAxis, function="moveaxis")(_MoveAxis.functional)


@spelling(Transpose, numpy="transpose")
def _numpy_transpose(a: ArrayLike, axes: tuple[int, ...] | list[int] | None = None) -> Tensor:
    """Permute the dimensions of a Tensor.

    Args:
        a (Union[Tensor, list, tuple]): Any Tensor.
        axes (Union[tuple[int], list[int]]): For each dimension of the result, the index of the same dimension of `a`.
            Default: None, the reverse order.

    Returns:
        Tensor.

    Raises:
        TypeError: If `axes` does not consist of int.
        ValueError: If `axes` is not a permutation of the dimensions of `a`.
    """
    a = as_tensor(a, "transpose", "a")
    return Transpose.functional(a, tuple(reversed(range(a.ndim))) if axes is None else axes)


def _check_axis(function, axis, ndim, argument):
    return axis_in(function, check(Int, axis, argument, function), ndim, argument)


def _check_axes(function, axes, ndim, argument):
    axes = check(IntOrTuple, axes, argument, function)
    return axes_in(function, axes, ndim, argument) if axes != () else ()


@spelling(Transpose, numpy="swapaxes")
def _numpy_swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Tensor:
    """Exchange two dimensions of a Tensor.

    Args:
        x (Union[Tensor, list, tuple]): Any Tensor.
        axis1 (int): The first dimension.
        axis2 (int): The second dimension.

    Returns:
        Tensor.

    Raises:
        TypeError: If an axis is not an int.
        ValueError: If an axis is out of range.
    """
    x = as_tensor(x, "swapaxes", "x")
    return swapaxes(x, _check_axis("swapaxes", axis1, x.ndim, "axis1"), _check_axis("swapaxes", axis2, x.ndim, "axis2"))


@spelling(Transpose, numpy="rollaxis")
def rollaxis(x: ArrayLike, axis: int, start: int = 0) -> Tensor:
    """Move one dimension to the position before another.

    Args:
        x (Union[Tensor, list, tuple]): Any Tensor.
        axis (int): The dimension to move.
        start (int): The dimension before which it is inserted; x.ndim makes it the last. Default: 0.

    Returns:
        Tensor.

    Raises:
        TypeError: If `axis` or `start` is not an int.
        ValueError: If `axis` or `start` is out of range.

    Examples:
        >>> print(mindspore.numpy.rollaxis(mindspore.numpy.ones((2, 3, 4)), 2).shape)
        (4, 2, 3)
    """
    x, start = as_tensor(x, "rollaxis", "x"), check(Int, start, "start", "rollaxis")
    axis = _check_axis("rollaxis", axis, x.ndim, "axis")
    if not -x.ndim <= start <= x.ndim:
        raise ValueError(f"For 'rollaxis', 'start' should be in [{-x.ndim}, {x.ndim}], but got {start}.")
    order = [d for d in range(x.ndim) if d != axis]
    start += x.ndim if start < 0 else 0
    order.insert(start - (start > axis), axis)
    return Transpose.functional(x, tuple(order))


@spelling(_MoveAxis, numpy="moveaxis")
def _numpy_moveaxis(
    a: ArrayLike, source: int | tuple[int, ...] | list[int], destination: int | tuple[int, ...] | list[int]
) -> Tensor:
    """Move dimensions to other positions; the remaining ones keep their order.

    Args:
        a (Union[Tensor, list, tuple]): Any Tensor.
        source (Union[int, tuple[int], list[int]]): The dimensions to move.
        destination (Union[int, tuple[int], list[int]]): New positions, one for each dimension in `source`.

    Returns:
        Tensor.

    Raises:
        TypeError: If an axis is not an int.
        ValueError: If an axis is out of range or repeated, or the arguments have different numbers of axes.
    """
    a = as_tensor(a, "moveaxis", "a")
    arguments = {"source": source, "destination": destination}
    moves = [_check_axes("moveaxis", axes, a.ndim, argument) for argument, axes in arguments.items()]
    if len(moves[0]) != len(moves[1]):
        raise ValueError(
            f"For 'moveaxis', 'source' and 'destination' should have one length, but got {source} and {destination}."
        )
    return _MoveAxis.functional(a, *moves)


@spelling(Transpose, function="t")
def _ops_t(input: Tensor) -> Tensor:
    """Transpose a matrix; return a number or a vector unchanged.

    Args:
        input (Tensor): Of at most 2 dimensions.

    Returns:
        Tensor.

    Raises:
        ValueError: If `input` has more than 2 dimensions.
    """
    return _tensor_t(tensor_argument("t", "input", input))


@operator
def TransposeView(input, input_perm: Ints):
    """Permute the dimensions of a Tensor; the same as Transpose.

    Inputs:
        - **input** (Tensor) - Of any shape and type.
        - **input_perm** (tuple[int]) - For each dimension of the result, the index of the same dimension of `input`.

    Outputs:
        Tensor.

    Raises:
        ValueError: If `input_perm` is not a permutation of the dimensions of `input`.
    """
    return Transpose.kernel(input, input_perm)


@operator(casts_inputs=False)
def TransposeExtView(input, dim0: Int, dim1: Int):
    """Exchange two dimensions of a Tensor.

    Inputs:
        - **input** (Tensor) - Of any shape and type.
        - **dim0** (int) - The first dimension.
        - **dim1** (int) - The second dimension.

    Outputs:
        Tensor.

    Raises:
        ValueError: If a dimension is out of range.
    """
    tensor_only("TransposeExtView", "input", input)
    if input.ndim == 0 and {dim0, dim1} <= {0, -1}:
        return input
    axes = (axis_in("TransposeExtView", d, input.ndim, name) for d, name in ((dim0, "dim0"), (dim1, "dim1")))
    return jnp.swapaxes(input, *axes)


@operator(functional="adjoint", methods=("adjoint",), generation=2)
def _Adjoint(x):
    """Conjugate transpose: exchange the last two dimensions, and conjugate each element.

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions.

    Outputs:
        Tensor.

    Raises:
        ValueError: If `x` has fewer than 2 dimensions.
    """
    if x.ndim < 2:
        raise ValueError(f"For 'adjoint', 'x' should have at least 2 dimensions, but got shape {x.shape}.")
    return jnp.conj(jnp.swapaxes(x, -1, -2))


CASES = [
    case(_Adjoint, F(2, 3, 4)),
    case(Transpose, F(2, 3, 4), (2, 0, 1)),
    case(_MoveAxis, F(2, 3), 0, 1),
    refused(ValueError, Transpose, F(2, 3), (0,)),
    case(_ops_t, F(2, 3)),
    case(_ops_t, F(3)),
    case(TransposeView, F(2, 3), (1, 0)),
    case(TransposeExtView, F(2, 3, 4), 0, -1),
]
