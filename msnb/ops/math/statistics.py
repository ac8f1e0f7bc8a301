"""Variance, deviation, median, norms, and other statistics."""

import math

import jax
import jax.numpy as jnp

from msnb.common.kinds import Axis, Bool, DType, Int, Kind, Number, OneOf, Optional, PositiveInt, accept_value
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, NUMBER, axes_in, axis_in, dtype_in, some, tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops._numpy import floating as real_numbers
from msnb.ops._subgradients import magnitude
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import floating
from msnb.ops.math.sum import ReduceMean


def _check_degrees_of_freedom(value):
    return accept_value(Int, int(value) if isinstance(value, bool) else value)


Freedom = Kind("an int, or a bool for 1 and 0", _check_degrees_of_freedom, examples=(0,))


@operator(functional="var")
@in_float32
def _ReduceVar(input, axis: Axis = (), *, ddof: Freedom = 0, keepdims: Bool = False):
    """Variance over axes.

    Args:
        input (Tensor): Numbers; integers are converted to float32.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: ().
        ddof (Union[int, bool]): Delta degrees of freedom: the sum of squares is divided by the number of elements minus
            `ddof`. Default: 0.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor, floating point.

    Examples:
        >>> print(ops.var(Tensor([[1, 2, 3]], mindspore.float32), 1, 1))
        [1.]
    """
    dtype_in("var", "input", input, NUMBER)
    return jnp.var(floating(input), axes_in("var", axis, input.ndim), ddof=ddof, keepdims=keepdims)


def _default_correction_to_1(args, kwargs):
    """Add correction=1, MindSpore 2's default, to the keyword arguments unless `ddof` is given."""
    return kwargs if len(args) > 2 or "ddof" in kwargs else {"correction": 1, **kwargs}


@spelling(_ReduceVar, method="var", generation=1)
@keyword_aliases(_default_correction_to_1, dim="axis", correction="ddof", keepdim="keepdims")
def _tensor_var(self: Tensor, axis: Axis = None, ddof: int = 0, keepdims: Bool = False) -> Tensor:
    """Return the variance as `ops.var`, over all elements if no axis is set."""
    return _ReduceVar.functional(self, axis, int(ddof), keepdims)


@operator(functional="std")
@in_float32
def _Std(input, axis: Axis = (), *, ddof: Freedom = 0, keepdims: Bool = False):
    """Standard deviation over axes.

    Args:
        input (Tensor): Numbers; integers are converted to float32.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: ().
        ddof (Union[int, bool]): Delta degrees of freedom: the sum of squares is divided by the number of elements minus
            `ddof`. Default: 0.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor, floating point.

    Examples:
        >>> print(ops.std(Tensor([[1, 2, 3]], mindspore.float32), 1, 1))
        [1.]
    """
    dtype_in("std", "input", input, NUMBER)
    return jnp.std(floating(input), axes_in("std", axis, input.ndim), ddof=ddof, keepdims=keepdims)


@spelling(_Std, method="std", generation=1)
@keyword_aliases(dim="axis", correction="ddof", keepdim="keepdims")
def _tensor_std(self: Tensor, axis: Axis = None, ddof: int = 0, keepdims: Bool = False) -> Tensor:
    """Return the standard deviation as `ops.std`, over all elements if no axis is set."""
    return _Std.functional(self, axis, int(ddof), keepdims)


@operator(generation=2)
@in_float32
def ReduceStd(x, *, axis: Axis = (), unbiased: Bool = True, keep_dims: Bool = False):
    """Standard deviation and mean over axes.

    Args:
        axis (Union[int, tuple[int], list[int]]): Axes; all for (). Default: ().
        unbiased (bool): Divide the sum of squares by the number of elements minus 1. Default: True.
        keep_dims (bool): Keep the axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Floating point.

    Outputs:
        A tuple of two Tensors of the element type of `x`: the deviations, and the means.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If an axis is out of range.
    """
    dtype_in("ReduceStd", "x", x, FLOAT)
    axes = axes_in("ReduceStd", axis, x.ndim)
    return jnp.std(x, axes, ddof=int(unbiased), keepdims=keep_dims), jnp.mean(x, axes, keepdims=keep_dims)


@operator(functional="logsumexp", called=("", ("dim", "axis"), ("keepdim", "keep_dims")), methods=("logsumexp",))
@in_float32
def LogSumExp(input, dim: Axis, *, keepdim: Bool = False):
    """Logarithm of the sum of the exponentials over axes, without overflow.

    Args:
        input (Tensor): Floating point.
        dim (Union[int, tuple[int], list[int]]): Axes; all for ().
        keepdim (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of the element type of `input`.

    Examples:
        >>> print(ops.logsumexp(Tensor([[0., 0.]], mindspore.float32), 1))
        [0.6931472]
    """
    dtype_in("logsumexp", "input", input, FLOAT)
    return jax.scipy.special.logsumexp(input, axes_in("logsumexp", dim, input.ndim), keepdims=keepdim)


def _accept_norm_order(value):
    if value is None or value in ("fro", "nuc"):
        return value
    return accept_value(Number, value)


NormOrder = Kind("a number, 'fro', 'nuc' or None", _accept_norm_order)


@operator(functional="norm", called=("", "", ("dim", "axis"), ("keepdim", "keep_dims")), methods=("norm",))
@in_float32
def Norm(A, ord: NormOrder = None, dim: Optional(Axis) = None, keepdim: Bool = False, *, dtype: Optional(DType) = None):
    """Norm of vectors or matrices.

    Args:
        A (Tensor): Numbers; the norm of integers is float32.
        ord (Union[None, int, float, "fro", "nuc"]): Order of the norm; None is the 2-norm of all elements. Default:
            None.
        dim (Union[None, int, tuple[int]]): Axes of the vectors (one) or matrices (two). Default: None.
        keepdim (bool): Keep the axes with length 1. Default: False.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `A`.

    Returns:
        Tensor.

    Examples:
        >>> print(ops.norm(Tensor([3., 4.], mindspore.float32)))
        5.0
    """
    dtype_in("norm", "A", A, NUMBER)
    A = floating(A)
    dim = None if dim is None or dim == () else dim
    if not A.ndim and dim in (0, -1):  # a scalar counts as a vector of one element
        A, keepdim = A[None], False
    if dtype is not None:
        A = A.astype(np_dtype(dtype))
    if ord is None and (dim is None or isinstance(dim, tuple)):
        axes = axes_in("norm", dim or (), A.ndim)
        return jnp.sqrt(jnp.sum(jnp.square(jnp.abs(A)), axes, keepdims=keepdim))
    # The norm of a complex vector is that of its magnitudes, whose gradients at 0 are 0.
    return jnp.linalg.norm(magnitude(A) if isinstance(dim, int) else A, ord, dim, keepdim)


def _compute_lower_median(op, input, axis, keepdims, ignore_nan):
    """Return the lower of the two middle elements along an axis, and its index."""
    axis = axis_in(op, axis, input.ndim)
    some(op, "x", input, axis)
    order = jnp.argsort(jax.lax.stop_gradient(input), axis, stable=True)
    if ignore_nan:
        count = jnp.sum(~jnp.isnan(input), axis, keepdims=True)
        index = jnp.take_along_axis(order, jnp.maximum(count - 1, 0) // 2, axis)
    else:
        middle = (input.shape[axis] - 1) // 2
        index = jax.lax.slice_in_dim(order, middle, middle + 1, axis=axis)
        if jnp.issubdtype(input.dtype, jnp.floating):
            is_nan = jnp.isnan(input)  # one NaN makes the median NaN, with the index of the first NaN
            first = jnp.argmax(is_nan, axis, keepdims=True).astype(index.dtype)
            index = jnp.where(jnp.any(is_nan, axis, keepdims=True), first, index)
    value = jnp.take_along_axis(input, index, axis)
    index = index.astype(jnp.int64)
    return (value, index) if keepdims else (jnp.squeeze(value, axis), jnp.squeeze(index, axis))


@operator(generation=2)
def Median(x, *, global_median: Bool = False, axis: Int = 0, keep_dims: Bool = False, ignore_nan: Bool = False):
    """Median along an axis, and its index. Of two middle elements, the lower one is the median.

    Args:
        global_median (bool): Median of all elements, with index 0. Default: False.
        axis (int): The axis. Default: 0.
        keep_dims (bool): Keep the axis with length 1. Default: False.
        ignore_nan (bool): Ignore nan. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.

    Outputs:
        A tuple of two Tensors: the medians, and their indices (int64).

    Raises:
        TypeError: If `x` does not consist of numbers.
        ValueError: If `axis` is out of range.
    """
    dtype_in("Median", "x", x, NUMBER)
    if not global_median:
        return _compute_lower_median("Median", x, axis, keep_dims, ignore_nan)
    value, _ = _compute_lower_median("Median", x.reshape(-1), 0, False, ignore_nan)
    return value, jnp.zeros((), jnp.int64)


@spelling(Median, function="median")
def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Median along an axis, and its index. Of two middle elements, the lower one is the median.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis. Default: -1.
        keepdims (bool): Keep the axis with length 1. Default: False.

    Returns:
        A tuple of two Tensors: the medians, and their indices (int64).

    Raises:
        TypeError: If `input` does not consist of numbers.
        ValueError: If `axis` is out of range.
    """
    return Median(False, axis, keepdims)(input)


spelling(Median, method="median")(keyword_aliases(dim="axis", keepdim="keepdims")(median))


@operator
def HistogramFixedWidth(x, range, *, nbins: PositiveInt, dtype: OneOf("int32", "int64") = "int32"):
    """Count the elements in each of `nbins` bins of equal width.

    Elements at or below the lower bound count in the first bin, elements at or above the upper bound in the last.

    Args:
        nbins (int): Number of bins, at least 1.
        dtype (str): Element type of the counts, "int32" or "int64". Default: "int32".

    Inputs:
        - **x** (Tensor) - Numbers, of any shape.
        - **range** (Tensor) - Lower and upper bound, of shape (2,) and the element type of `x`.

    Outputs:
        Tensor of shape (nbins,) of int32 or int64.

    Raises:
        TypeError: If an input does not consist of numbers.
        ValueError: If `nbins` is not positive.

    Examples:
        >>> x = Tensor([-1.0, 0.0, 1.5, 2.0, 5.0, 15], mindspore.float16)
        >>> print(ops.HistogramFixedWidth(5)(x, Tensor([0.0, 5.0], mindspore.float16)))
        [2 1 1 0 2]
    """
    dtype_in("HistogramFixedWidth", "x", x, NUMBER)
    dtype_in("HistogramFixedWidth", "range", range, NUMBER)
    if range.shape != (2,):
        raise ValueError(f"For 'HistogramFixedWidth', 'range' should have shape (2,), but got shape {range.shape}.")
    low, high = range[0].astype(jnp.float32), range[1].astype(jnp.float32)
    bin_index = jnp.floor((x.reshape(-1).astype(jnp.float32) - low) / (high - low) * nbins)
    bin_index = jnp.clip(bin_index, 0, nbins - 1).astype(jnp.int32)
    return jnp.zeros(nbins, dtype).at[bin_index].add(1)


@spelling(_Std, numpy="std")
def _numpy_std(x: ArrayLike, axis: Axis = None, ddof: Int = 0, keepdims: Bool = False) -> Tensor:
    """Standard deviation over axes.

    Args:
        x (Union[Tensor, list, tuple, int, float, bool]): Numbers; integers are converted to float32.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        ddof (Union[int, bool]): Delta degrees of freedom: the sum of squares is divided by the number of elements minus
            `ddof`. Default: 0.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor, floating point.

    Raises:
        TypeError: If `x` has another type, or an argument has the wrong type.
        ValueError: If `axis` is out of range.
    """
    return _Std.functional(real_numbers(as_tensor(x, "std", "x")), axis, ddof, keepdims)


@spelling(_ReduceVar, numpy="var")
def _numpy_var(x: ArrayLike, axis: Axis = None, ddof: Int = 0, keepdims: Bool = False) -> Tensor:
    """Variance over axes.

    Args:
        x (Union[Tensor, list, tuple, int, float, bool]): Numbers; integers are converted to float32.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        ddof (Union[int, bool]): Delta degrees of freedom: the sum of squares is divided by the number of elements minus
            `ddof`. Default: 0.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor, floating point.

    Raises:
        TypeError: If `x` has another type, or an argument has the wrong type.
        ValueError: If `axis` is out of range.
    """
    return _ReduceVar.functional(real_numbers(as_tensor(x, "var", "x")), axis, ddof, keepdims)


@spelling(Norm, numpy="norm")
def _numpy_norm(x: ArrayLike, ord: float | str | None = None, axis: Axis = None, keepdims: Bool = False) -> Tensor:
    """Norm of vectors or matrices.

    Args:
        x (Union[Tensor, list, tuple, int, float, bool]): Numbers; integers are converted to float32.
        ord (Union[None, int, float, "fro", "nuc"]): Order of the norm; None is the 2-norm of all elements. Default:
            None.
        axis (Union[None, int, tuple[int]]): Axes of the vectors (one) or matrices (two). Default: None, all axes. If
            `ord` is set, there must be one axis or two.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor, floating point.

    Raises:
        TypeError: If `x` has another type, or an argument has the wrong type.
        ValueError: If `ord` is not a norm of vectors or of matrices, or the number of axes is not 1 or 2.

    Examples:
        >>> print(mindspore.numpy.norm([[3.0, 4.0], [0.0, 1.0]], axis=1))
        [5. 1.]
    """
    x = real_numbers(as_tensor(x, "norm", "x"))
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(axes) not in (1, 2) and (ord is not None or axis is not None):
        raise ValueError(f"For 'norm', one axis or two should be given, but got {axis} for shape {x.shape}.")
    single = ord is not None and len(axes) == 1
    return Norm.functional(x, ord, axes[0] if single else None if axis is None and ord is None else axes, keepdims)


def _default_to_all_axes(axis):
    """Return `axis`, with None changed to (), which means all axes."""
    return () if axis is None else axis


@spelling(_ReduceVar)
def var_mean(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: Bool = False) -> tuple[Tensor, Tensor]:
    """Variance and mean over axes.

    Args:
        input (Tensor): Numbers.
        axis (Union[None, int, tuple[int]]): Axes; all for None. Default: None.
        ddof (Union[int, bool]): Delta degrees of freedom: the sum of squares is divided by the number of elements minus
            `ddof`. Default: 0.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        A tuple of two Tensors.

    Raises:
        ValueError: If an axis is out of range.
    """
    return _ReduceVar.functional(input, _default_to_all_axes(axis), int(ddof), keepdims), _compute_mean_over_axes(
        input, axis, keepdims
    )


@spelling(_Std)
def std_mean(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: Bool = False) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean over axes.

    Args:
        input (Tensor): Numbers.
        axis (Union[None, int, tuple[int]]): Axes; all for None. Default: None.
        ddof (Union[int, bool]): Delta degrees of freedom: the sum of squares is divided by the number of elements minus
            `ddof`. Default: 0.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        A tuple of two Tensors.

    Raises:
        ValueError: If an axis is out of range.
    """
    return _Std.functional(input, _default_to_all_axes(axis), int(ddof), keepdims), _compute_mean_over_axes(
        input, axis, keepdims
    )


def _compute_mean_over_axes(input, axis, keepdims):
    return ReduceMean.functional(real_numbers(input), _default_to_all_axes(axis), keepdims)


@spelling(Median, method="nanmedian", function="nanmedian")
def nanmedian(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Median along an axis, ignoring NaN, and its index. Of two middle elements, the lower one is the median.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis. Default: -1.
        keepdims (bool): Keep the axis with length 1. Default: False.

    Returns:
        A tuple of two Tensors: the medians, and their indices (int64).

    Raises:
        TypeError: If `input` does not consist of numbers.
        ValueError: If `axis` is out of range.
    """
    return Median(False, axis, keepdims, True)(input)


@operator
@in_float32
def Quantile(input, q, *, dim: Optional(Int) = None, keep_dims: Bool = False, ignore_nan: Bool = False):
    """Quantiles, with linear interpolation between two elements.

    Args:
        dim (int): The axis; all elements for None. Default: None.
        keep_dims (bool): Keep the axis with length 1. Default: False.
        ignore_nan (bool): Ignore nan; if False, the result is nan where the input has nan. Default: False.

    Inputs:
        - **input** (Tensor) - float32 or float64.
        - **q** (Tensor) - The quantiles to compute, in [0, 1], of the element type of `input`: a scalar or a vector.

    Outputs:
        Tensor without the axis; for a vector `q`, the first dimension runs over the quantiles.

    Raises:
        TypeError: If `input` or `q` is not floating point.
        ValueError: If `dim` is out of range, or `q` has more than 1 dimension.
    """
    dtype_in("Quantile", "input", input, FLOAT)
    if q.ndim > 1:
        raise ValueError(f"For 'Quantile', 'q' should have at most 1 dimension, but got shape {q.shape}.")
    axis = None if dim is None else axis_in("Quantile", dim, input.ndim, "dim")
    some("Quantile", "input", input, *(() if axis is None else (axis,)))
    find = jnp.nanquantile if ignore_nan else jnp.quantile
    return find(input, q.astype(input.dtype), axis, keepdims=keep_dims)


def _compute_quantile(function, input, q, axis, keepdims, ignore_nan):
    tensor_argument(function, "input", input)
    if not isinstance(q, Tensor):
        q = Tensor(q, input.dtype)
    return Quantile.functional(input, q, axis, keepdims, ignore_nan)


@spelling(Quantile, function="quantile", method="quantile")
def quantile(input: Tensor, q: Tensor | float | list, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Quantiles, with linear interpolation between two elements.

    Args:
        input (Tensor): Floating point.
        q (Union[Tensor, float, list]): The quantiles to compute, in [0, 1]: one, or a vector.
        axis (int): The axis. Default: None, all elements.
        keepdims (bool): Keep the axis with length 1. Default: False.

    Returns:
        Tensor without the axis; for several quantiles, the first dimension runs over them.

    Raises:
        TypeError: If `input` is not floating point.
        ValueError: If `axis` is out of range, or `q` has more than 1 dimension.
    """
    return _compute_quantile("quantile", input, q, axis, keepdims, False)


@spelling(Quantile, function="nanquantile", method="nanquantile")
def nanquantile(input: Tensor, q: Tensor | float | list, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Quantiles without nan, with linear interpolation between two elements; see `quantile`.

    Args:
        input (Tensor): Floating point.
        q (Union[Tensor, float, list]): The quantiles to compute, in [0, 1]: one, or a vector.
        axis (int): The axis. Default: None, all elements.
        keepdims (bool): Keep the axis with length 1. Default: False.

    Returns:
        Tensor without the axis; for several quantiles, the first dimension runs over them.

    Raises:
        TypeError: If `input` is not floating point.
        ValueError: If `axis` is out of range, or `q` has more than 1 dimension.
    """
    return _compute_quantile("nanquantile", input, q, axis, keepdims, True)


CASES = [
    case(Norm, F(), None, 0),
    case(_Std, F(2, 3)),
    case(ReduceStd, F(2, 3), axis=1),
    case(ReduceStd, F(2, 3), unbiased=False, keep_dims=True),
    case(Median, F(2, 3)),
    case(Median, F(2, 3), axis=1, keep_dims=True),
    case(Median, F(2, 3), global_median=True).results(0),  # the index is not compared: it is uninitialized memory
    case(Median, Values([[1.0, math.nan, 5.0, 2.0], [3.0, 4.0, 2.0, 1.0]]), axis=1, ignore_nan=True),
    case(median, F(2, 3)),
    case(_ReduceVar, F(2, 3), 1, ddof=1),
    case(HistogramFixedWidth, F(9), Values([-1.0, 1.0]), nbins=4),
    case(var_mean, F(2, 3), 1),
    case(var_mean, F(2, 3), (0, 1), True, True),
    case(std_mean, F(2, 3)),
    case(nanmedian, F(2, 3)),
    case(nanmedian, Values([[1.0, math.nan, 5.0, 2.0], [3.0, 4.0, 2.0, 1.0]]), 1, True),
    case(Quantile, F(2, 3), Values([0.25, 0.6]), dim=1).wrt(0),
    case(quantile, F(2, 3), 0.4).wrt(0),
    case(nanquantile, Values([[1.0, math.nan, 5.0], [3.0, 4.0, 2.0]]), 0.3, 1, True).wrt(0),
]
