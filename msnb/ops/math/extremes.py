"""The largest and the smallest element over axes, and their indices."""

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, Bool
from msnb.core.errors.messages import describe
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.operator.cases import F, I, Values, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, axes_in, dtype_in, some, tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor, in_type
from msnb.ops.array.gather import GatherD
from msnb.ops.array.reshape import ExpandDims, Squeeze
from msnb.ops.array.where import _Where
from msnb.ops.math.argmax import Argmax, Argmin
from msnb.ops.math.maximum import Maximum, Minimum

_BY_DIM = (
    "a number in the first place asks for values and indices along that axis since 2.6 (before, for the values), and "
    "`axis=` for the values alone"
)


@operator(functional="reduce_max")
def ReduceMax(x, axis: Axis = (), *, keep_dims: Bool = False):
    """Return the largest element over axes.

    Args:
        keep_dims (bool): Keep the reduced axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **axis** (Union[int, tuple, list]) - Axes to reduce; () stands for all. Default: ().

    Outputs:
        Tensor of the element type of `x`, without the reduced axes; with `keep_dims` they have length 1.

    Raises:
        TypeError: If `keep_dims` is not a bool, `axis` does not consist of int, or the element type is not supported.
        ValueError: If `axis` is out of range.

    Examples:
        >>> x = Tensor([[1., 2.], [3., 4.]], mindspore.float32)
        >>> print(ops.ReduceMax(keep_dims=False)(x, 1))
        [2. 4.]
    """
    dtype_in("ReduceMax", "x", x, ANY)
    axes = axes_in("ReduceMax", axis, x.ndim)
    some("ReduceMax", "x", x, *axes)
    return jnp.max(x, axes, keepdims=keep_dims)


@operator(functional="reduce_min")
def ReduceMin(x, axis: Axis = (), *, keep_dims: Bool = False):
    """Return the smallest element over axes.

    Args:
        keep_dims (bool): Keep the reduced axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **axis** (Union[int, tuple, list]) - Axes to reduce; () stands for all. Default: ().

    Outputs:
        Tensor of the element type of `x`, without the reduced axes; with `keep_dims` they have length 1.

    Raises:
        TypeError: If `keep_dims` is not a bool, `axis` does not consist of int, or the element type is not supported.
        ValueError: If `axis` is out of range.

    Examples:
        >>> x = Tensor([[1., 2.], [3., 4.]], mindspore.float32)
        >>> print(ops.ReduceMin(keep_dims=False)(x, 1))
        [1. 3.]
    """
    dtype_in("ReduceMin", "x", x, ANY)
    axes = axes_in("ReduceMin", axis, x.ndim)
    some("ReduceMin", "x", x, *axes)
    return jnp.min(x, axes, keepdims=keep_dims)


def _apply_initial_and_where(op, of_two, x, initial, where):
    """Return of_two(x, initial) for each element, and `initial` where `where` is False. The reduction comes later."""
    x = tensor_argument(op, "input", x)
    if initial is None:
        if where is not None and where is not True:
            raise ValueError(f"For '{op}', 'where' leaves elements out and needs an 'initial' beside it.")
        return x
    if isinstance(initial, bool) or not isinstance(initial, (int, float, Tensor)):
        raise TypeError(f"For '{op}', 'initial' should be a number, but got {describe(initial)}.")
    if isinstance(initial, float) and not (x.is_floating_point() or x.is_complex()):
        initial = int(initial)  # the result keeps the element type of `x`
    if where is not None and where is not True:
        x = _Where.functional(where, x, initial)
    return of_two.functional(x, initial)


def _find_extreme_with_index(op, reduction, arg, x, axis, keepdims):
    """Return the extreme elements along an axis, and their indices."""
    if axis is None:
        return reduction.functional(tensor_argument(op, "input", x)), Tensor(0)
    if tensor_argument(op, "input", x).ndim == 0 and axis in (0, -1):
        return x, Tensor(0)
    index = arg.functional(tensor_argument(op, "input", x), axis, mstype.int64)
    expanded_index = ExpandDims.functional(index, axis)
    value = GatherD.functional(x, axis, expanded_index)
    return (value, expanded_index) if keepdims else (Squeeze.functional(value, axis), index)


def _reduce_like_r1_1(with_indices, reduction, of_two, x, axis, keepdims, initial, where, return_indices, dim, keepdim):
    """Return r1.1's `Tensor.max` or `Tensor.min`: values, or (values, indices) as `with_indices` returns them."""
    if dim is not None:
        return with_indices(x, dim, bool(keepdim))
    x = x if where is True else _Where.functional(where, x, initial)
    keepdims = bool(keepdims if keepdim is None else keepdim)
    if return_indices:
        return with_indices(x, axis, keepdims, initial=initial)
    value = reduction.functional(x, axis, keepdims)
    return value if initial is None else of_two.functional(value, initial)


def _reduce_like_mindspore_2(with_indices, values, of_two, x, dim, keepdim, axis, keepdims, **more):
    """Return MindSpore 2's `Tensor.max` or `Tensor.min`: (values, indices) along one `dim`, else `values(...)`."""
    if isinstance(dim, int) and more["initial"] is None and more["where"] is True:
        return with_indices(x, dim, keepdim)
    axis, keepdims = (axis, keepdims) if dim is None else (dim, keepdim)
    if isinstance(axis, int) and not more["return_indices"]:
        # The first of several equal elements gets the full gradient; a reduction shares it.
        x = x if more["where"] is True else _Where.functional(more["where"], x, more["initial"])
        extreme = with_indices(x, axis, keepdims)[0]
        return extreme if more["initial"] is None else of_two.functional(extreme, more["initial"])
    return values(x, axis, keepdims, **more)


@spelling(ReduceMax, Argmax, function="max")
@keyword_aliases(x="input", keep_dims="keepdims")
def max_(
    input: Tensor,
    axis: int | None = None,
    keepdims: Bool = False,
    *,
    initial: float | None = None,
    where: Tensor | bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the largest elements along an axis and their indices.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis; None takes all elements. Default: None.
        keepdims (bool): Keep the axis with length 1. Default: False.
        initial (Number): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: None, all.

    Returns:
        A tuple of two Tensors: the elements, and their indices (int64; 0 if `axis` is None).

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `axis` is out of range.
    """
    return _find_extreme_with_index(
        "max", ReduceMax, Argmax, _apply_initial_and_where("max", Maximum, input, initial, where), axis, keepdims
    )


@spelling(ReduceMax, function="amax", method="amax")
def amax(
    input: Tensor,
    axis: Axis = None,
    keepdims: Bool = False,
    *,
    initial: float | None = None,
    where: Tensor | bool | None = None,
) -> Tensor:
    """Return the largest element over axes.

    Args:
        input (Tensor): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.
        initial (Number): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: None, all.

    Returns:
        Tensor of the element type of `input`.
    """
    return ReduceMax.functional(_apply_initial_and_where("amax", Maximum, input, initial, where), axis, keepdims)


@spelling(ReduceMax, Argmax, method="max", generation=1)
def _tensor_max(
    self: Tensor,
    axis: Axis = None,
    keepdims: Bool = False,
    *,
    initial: float | None = None,
    where: Tensor | bool = True,
    return_indices: Bool = False,
    dim: int | None = None,
    keepdim: Bool | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """The maximum over axes.

    Args:
        axis (Union[None, int, tuple[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.
        initial (Number): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: True.
        return_indices (bool): Also return indices. Default: False.

    Returns:
        Tensor. If `return_indices` is True or the axis is given as `dim`, a tuple of values and indices.
    """
    rest = axis, keepdims, initial, where, return_indices, dim, keepdim
    return _reduce_like_r1_1(max_, ReduceMax, Maximum, self, *rest)


@differs_in_api2(_BY_DIM, given="dim")
@spelling(ReduceMax, Argmax, method="max")
def _max_api2(
    self: Tensor,
    dim: Axis = None,
    keepdim: Bool = False,
    *,
    axis: Axis = None,
    keepdims: Bool = False,
    initial: float | None = None,
    where: Tensor | bool = True,
    return_indices: Bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest elements along `dim` and their indices, or the largest over `axis`.

    Args:
        dim (Union[None, int, tuple[int]]): An axis, or a tuple with the meaning of `axis`. Default: None.
        keepdim (bool): Keep this axis with length 1. Default: False.
        axis (Union[None, int, tuple[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep these axes with length 1. Default: False.
        initial (Number): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: True.
        return_indices (bool): Also return indices. Default: False.

    Returns:
        A tuple of values and indices if `return_indices` is True, or if `dim` is an int and neither `initial` nor
        `where` is given. Otherwise a Tensor.
    """
    more = {"initial": initial, "where": where, "return_indices": return_indices}
    return _reduce_like_mindspore_2(max_, _tensor_max, Maximum, self, dim, keepdim, axis, keepdims, **more)


@spelling(ReduceMin, Argmin, function="min")
@keyword_aliases(x="input", keep_dims="keepdims")
def min_(
    input: Tensor,
    axis: int | None = None,
    keepdims: Bool = False,
    *,
    initial: float | None = None,
    where: Tensor | bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the smallest elements along an axis and their indices.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis; None takes all elements. Default: None.
        keepdims (bool): Keep the axis with length 1. Default: False.
        initial (Number): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: None, all.

    Returns:
        A tuple of two Tensors: the elements, and their indices (int64; 0 if `axis` is None).

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `axis` is out of range.
    """
    return _find_extreme_with_index(
        "min", ReduceMin, Argmin, _apply_initial_and_where("min", Minimum, input, initial, where), axis, keepdims
    )


@spelling(ReduceMin, function="amin", method="amin")
def amin(
    input: Tensor,
    axis: Axis = None,
    keepdims: Bool = False,
    *,
    initial: float | None = None,
    where: Tensor | bool | None = None,
) -> Tensor:
    """Return the smallest element over axes.

    Args:
        input (Tensor): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.
        initial (Number): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: None, all.

    Returns:
        Tensor of the element type of `input`.
    """
    return ReduceMin.functional(_apply_initial_and_where("amin", Minimum, input, initial, where), axis, keepdims)


@spelling(ReduceMin, Argmin, method="min", generation=1)
def _tensor_min(
    self: Tensor,
    axis: Axis = None,
    keepdims: Bool = False,
    *,
    initial: float | None = None,
    where: Tensor | bool = True,
    return_indices: Bool = False,
    dim: int | None = None,
    keepdim: Bool | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """The minimum over axes.

    Args:
        axis (Union[None, int, tuple[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.
        initial (Number): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: True.
        return_indices (bool): Also return indices. Default: False.

    Returns:
        Tensor. If `return_indices` is True or the axis is given as `dim`, a tuple of values and indices.
    """
    rest = axis, keepdims, initial, where, return_indices, dim, keepdim
    return _reduce_like_r1_1(min_, ReduceMin, Minimum, self, *rest)


@differs_in_api2(_BY_DIM, given="dim")
@spelling(ReduceMin, Argmin, method="min")
def _min_api2(
    self: Tensor,
    dim: Axis = None,
    keepdim: Bool = False,
    *,
    axis: Axis = None,
    keepdims: Bool = False,
    initial: float | None = None,
    where: Tensor | bool = True,
    return_indices: Bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The smallest elements along `dim` and their indices, or the smallest over `axis`.

    Args:
        dim (Union[None, int, tuple[int]]): An axis, or a tuple with the meaning of `axis`. Default: None.
        keepdim (bool): Keep this axis with length 1. Default: False.
        axis (Union[None, int, tuple[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep these axes with length 1. Default: False.
        initial (Number): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: True.
        return_indices (bool): Also return indices. Default: False.

    Returns:
        A tuple of values and indices if `return_indices` is True, or if `dim` is an int and neither `initial` nor
        `where` is given. Otherwise a Tensor.
    """
    more = {"initial": initial, "where": where, "return_indices": return_indices}
    return _reduce_like_mindspore_2(min_, _tensor_min, Minimum, self, dim, keepdim, axis, keepdims, **more)


@spelling(ReduceMax, ReduceMin, method="ptp", generation=1)
def _tensor_ptp(self: Tensor, axis: Axis = None, keepdims: Bool = False) -> Tensor:
    """Return the largest minus the smallest element over axes."""
    return ReduceMax.functional(self, axis, keepdims) - ReduceMin.functional(self, axis, keepdims)


def _reduce_array_like(function, reduction, of_two, a, axis, keepdims, initial, where):
    x = as_tensor(a, function, "a")
    if initial is not None:
        initial = in_type(as_tensor(initial, function, "initial"), x.dtype, function)
        if initial.ndim:
            raise TypeError(f"For '{function}', 'initial' should be a number, but got shape {initial.shape}.")
    if where is not True:
        if initial is None:
            raise ValueError(f"For '{function}', 'where' leaves elements out and needs an 'initial' beside it.")
        x = _Where.functional(in_type(as_tensor(where, function, "where"), mstype.bool_, function), x, initial)
    reduced = reduction.functional(x, axis, keepdims)
    return reduced if initial is None else of_two.functional(reduced, initial)


@spelling(ReduceMax, Maximum, numpy=("amax", "max"))
def _numpy_amax(
    a: ArrayLike,
    axis: Axis = None,
    keepdims: Bool = False,
    initial: float | None = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the largest element over axes.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers or bool.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.
        initial (Union[int, float]): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: True.

    Returns:
        Tensor of the element type of `a`.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range, or `where` is given without `initial`.
    """
    return _reduce_array_like("amax", ReduceMax, Maximum, a, axis, keepdims, initial, where)


@spelling(ReduceMin, Minimum, numpy=("amin", "min"))
def _numpy_amin(
    a: ArrayLike,
    axis: Axis = None,
    keepdims: Bool = False,
    initial: float | None = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the smallest element over axes.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers or bool.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.
        initial (Union[int, float]): An additional element of each reduction. Default: None.
        where (Tensor): A bool Tensor, True for the elements to compare; it needs `initial`. Default: True.

    Returns:
        Tensor of the element type of `a`.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range, or `where` is given without `initial`.
    """
    return _reduce_array_like("amin", ReduceMin, Minimum, a, axis, keepdims, initial, where)


@spelling(ReduceMax, ReduceMin, numpy="ptp")
def _numpy_ptp(x: ArrayLike, axis: Axis = None, keepdims: Bool = False) -> Tensor:
    """Return the largest minus the smallest element over axes.

    Args:
        x (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `x` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    return _tensor_ptp(as_tensor(x, "ptp", "x"), axis, keepdims)


@spelling(ReduceMin, ReduceMax, function="aminmax", method="aminmax")
def aminmax(input: Tensor, *, axis: int | None = 0, keepdims: Bool = False) -> tuple[Tensor, Tensor]:
    """The smallest and the largest elements along an axis.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis; None takes all elements. Default: 0.
        keepdims (bool): Keep the axis with length 1. Default: False.

    Returns:
        A tuple of two Tensors, the smallest elements and the largest.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `axis` is out of range.
    """
    if axis is None:
        return amin(input, axis, keepdims), amax(input, axis, keepdims)
    return min_(input, axis, keepdims)[0], max_(input, axis, keepdims)[0]


CASES = [
    case(aminmax, F(2, 3)),
    case(aminmax, F(2, 3), axis=1, keepdims=True),
    *(
        case(reduce, *inputs)
        for reduce in (ReduceMax, ReduceMin)
        for inputs in ((F(2, 3, 2),), (F(2, 3, 2), 1), (I(2, 3), 1))
    ),
    *(
        case(function, F(2, 3), axis=1, keepdims=True, initial=0.5, where=Values([[True, False, True]]))
        for function in (max_, min_, amax, amin)
    ),
    case(amax, F(2, 3), initial=1.5),
    refused(ValueError, amin, F(2, 3), where=Values([[True, False, True]])),
    refused(TypeError, max_, F(2, 3), initial="a"),
    case(ReduceMax, F(2, 3, 2), (0, -1), keep_dims=True),
    case(ReduceMin, F(2, 3, 2), (0, -1), keep_dims=True),
]
