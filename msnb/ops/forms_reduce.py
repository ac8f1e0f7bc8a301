"""Functional forms of reductions: ops.sum, mean, max, std, norm, cumsum, argmax, and the Tensor methods alike."""

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, Bool, DType, Int, Kind, Number, Optional, accept_value
from msnb.core.declare import operator
from msnb.core.dtype import np_dtype
from msnb.core.errors import describe
from msnb.core.operator import FUNCTIONAL, REGISTRY
from msnb.core.tensor import Tensor
from msnb.ops._check import COMPLEX, FLOAT, NUMBER, axes_in, axis_in, dtype_in
from msnb.ops._half import in_float32
from msnb.ops._host import functional
from msnb.ops._kinks import magnitude
from msnb.ops.math.sum import ReduceSum
from msnb.ops.math.unary import floating

_cast = FUNCTIONAL["cast"]


def _reducer(name):
    """reduce(x, axis, keep_dims) by operator `name`, with the two primitives made once."""
    primitive = REGISTRY[name].primitive
    dropping, keeping = primitive(False), primitive(True)

    def reduce(x, axis=(), keep_dims=False):
        if keep_dims is False:
            return dropping(x, axis)
        return keeping(x, axis) if keep_dims is True else primitive(keep_dims)(x, axis)

    return reduce


_max, _min, _all, _any = (_reducer(f"Reduce{n}") for n in ("Max", "Min", "All", "Any"))
_argmax = REGISTRY["Argmax"].primitive
_argmin = REGISTRY["Argmin"].primitive


def _axis(axis):
    return () if axis is None else axis


def _tensor(op, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{op}', 'input' should be a Tensor, but got {describe(x)}.")
    return x


def _extreme(name, reduce, arg, summary):
    def form(input, axis=None, keepdims=False):
        _tensor(name, input)
        if axis is None:
            return reduce(input), Tensor(0)
        index = arg(axis=axis, output_type=mstype.int64)(input)
        place = FUNCTIONAL["expand_dims"](index, axis)
        value = FUNCTIONAL["gather_d"](input, axis, place)
        if keepdims:
            return value, place
        return FUNCTIONAL["squeeze"](value, axis), index

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"""{summary} along an axis, and where they stand.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis; None takes all elements. Default: None.
        keepdims (bool): Whether the axis stays, with length 1. Default: False.

    Returns:
        A tuple of two Tensors: the elements, and their indices (int64; 0 if `axis` is None).

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return functional(name)(form)


max_ = _extreme("max", _max, _argmax, "The largest elements")
min_ = _extreme("min", _min, _argmin, "The smallest elements")


def _plain_extreme(name, reduce, summary):
    def form(input, axis=None, keepdims=False):
        return reduce(_tensor(name, input), _axis(axis), keepdims)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"""{summary} over axes.

    Args:
        input (Tensor): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        keepdims (bool): Whether the axes stay, with length 1. Default: False.

    Returns:
        Tensor of the element type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return functional(name)(form)


amax = _plain_extreme("amax", _max, "The largest element")
amin = _plain_extreme("amin", _min, "The smallest element")


def _arg(name, primitive, word):
    def form(input, dim=None, keepdim=False):
        _tensor(name, input)
        if dim is None:
            input, dim, keepdim = FUNCTIONAL["reshape"](input, (-1,)), 0, False
        index = primitive(axis=dim, output_type=mstype.int64)(input)
        return FUNCTIONAL["expand_dims"](index, dim) if keepdim else index

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"""Index of the {word} element along an axis, the first one of equals.

    Args:
        input (Tensor): Numbers.
        dim (int): The axis; None counts through all elements. Default: None.
        keepdim (bool): Whether the axis stays, with length 1. Default: False.

    Returns:
        Tensor of int64.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `dim` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return functional(name)(form)


argmax = _arg("argmax", _argmax, "largest")
argmin = _arg("argmin", _argmin, "smallest")


def _logic(name, reduce, word):
    def form(input, axis=None, keep_dims=False):
        _tensor(name, input)
        if input.dtype != mstype.bool_:
            input = _cast(input, mstype.bool_)
        return reduce(input, _axis(axis), keep_dims)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"""Whether {word} over axes are True, where 0 counts as False and every other number as True.

    Args:
        input (Tensor): Numbers or bool.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        keep_dims (bool): Whether the axes stay, with length 1. Default: False.

    Returns:
        Tensor of bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return functional(name)(form)


all_ = _logic("all", _all, "all elements")
any_ = _logic("any", _any, "any elements")


@operator(functional="var")
@in_float32
def ReduceVar(input, axis: Axis = (), *, ddof: Int = 0, keepdims: Bool = False):
    """Variance over axes.

    Args:
        input (Tensor): Numbers; integers count as float32.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: ().
        ddof (int): The sum of squares is divided by the number of elements minus this. Default: 0.
        keepdims (bool): Whether the axes stay, with length 1. Default: False.

    Returns:
        Tensor, floating point.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.var(Tensor([[1, 2, 3]], mindspore.float32), 1, 1))
        [1.]
    """
    dtype_in("var", "input", input, NUMBER)
    return jnp.var(floating(input), axes_in("var", axis, input.ndim), ddof=ddof, keepdims=keepdims)


@operator(functional="std")
@in_float32
def ReduceStd(input, axis: Axis = (), *, ddof: Int = 0, keepdims: Bool = False):
    """Standard deviation over axes.

    Args:
        input (Tensor): Numbers; integers count as float32.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: ().
        ddof (int): The sum of squares is divided by the number of elements minus this. Default: 0.
        keepdims (bool): Whether the axes stay, with length 1. Default: False.

    Returns:
        Tensor, floating point.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.std(Tensor([[1, 2, 3]], mindspore.float32), 1, 1))
        [1.]
    """
    dtype_in("std", "input", input, NUMBER)
    return jnp.std(floating(input), axes_in("std", axis, input.ndim), ddof=ddof, keepdims=keepdims)


@operator(functional="logsumexp", methods=("logsumexp",))
@in_float32
def LogSumExp(input, dim: Axis, *, keepdim: Bool = False):
    """Logarithm of the sum of the exponentials over axes, without overflow.

    Args:
        input (Tensor): Floating point.
        dim (Union[int, tuple[int], list[int]]): Axes; all for ().
        keepdim (bool): Whether the axes stay, with length 1. Default: False.

    Returns:
        Tensor of the element type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.logsumexp(Tensor([[0., 0.]], mindspore.float32), 1))
        [0.6931472]
    """
    dtype_in("logsumexp", "input", input, FLOAT)
    return jax.scipy.special.logsumexp(input, axes_in("logsumexp", dim, input.ndim), keepdims=keepdim)


def _order(value):
    if value is None or value in ("fro", "nuc"):
        return value
    return accept_value(Number, value)


NormOrder = Kind("a number, 'fro', 'nuc' or None", _order)


@operator(functional="norm", methods=("norm",))
@in_float32
def Norm(A, ord: NormOrder = None, dim: Optional(Axis) = None, keepdim: Bool = False, *, dtype: Optional(DType) = None):
    """Norm of vectors or matrices.

    Args:
        A (Tensor): Floating point.
        ord (Union[None, int, float, "fro", "nuc"]): Which norm; None is the 2-norm of all elements. Default: None.
        dim (Union[None, int, tuple[int]]): Axes of the vectors (one) or matrices (two). Default: None.
        keepdim (bool): Whether the axes stay, with length 1. Default: False.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `A`.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.norm(Tensor([3., 4.], mindspore.float32)))
        5.0
    """
    dtype_in("norm", "A", A, FLOAT | COMPLEX)
    dim = None if dim is None or dim == () else dim
    if dtype is not None:
        A = A.astype(np_dtype(dtype))
    if ord is None and (dim is None or isinstance(dim, tuple)):
        axes = axes_in("norm", dim or (), A.ndim)
        return jnp.sqrt(jnp.sum(jnp.square(jnp.abs(A)), axes, keepdims=keepdim))
    # A vector's norm is that of its magnitudes, whose slopes at 0 are 0.
    return jnp.linalg.norm(magnitude(A) if isinstance(dim, int) else A, ord, dim, keepdim)


@functional("count_nonzero")
def count_nonzero(x, axis=(), keep_dims=False, dtype=mstype.int32):
    """Number of elements that are not 0, over axes.

    Args:
        x (Tensor): Numbers.
        axis (Union[int, tuple[int], list[int]]): Axes; all for (). Default: ().
        keep_dims (bool): Whether the axes stay, with length 1. Default: False.
        dtype (mindspore.dtype): Element type of the result, a number or bool. Default: mindspore.int32.

    Returns:
        Tensor of element type `dtype`.

    Raises:
        TypeError: If `axis` is not made of int, `keep_dims` not a bool, or `x` not made of numbers.
        ValueError: If `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.count_nonzero(Tensor([[0, 1, 0], [1, 1, 0]], mindspore.float32)))
        3
    """
    if _tensor("count_nonzero", x).dtype == mstype.bool_:
        raise TypeError("For 'count_nonzero', 'x' should be made of numbers, but got Bool; cast it first.")
    if dtype not in (*mstype.number_type, mstype.bool_):
        raise TypeError(f"For 'count_nonzero', 'dtype' should be a number type or bool, but got {dtype!r}.")
    counted = _cast(FUNCTIONAL["not_equal"](x, 0), mstype.int64)
    return _cast(ReduceSum.functional(counted, axis, keep_dims=keep_dims), dtype)


@operator(functional="median")
def Median(input, axis: Int = -1, *, keepdims: Bool = False):
    """Median along an axis, the lower one of two, and where it stands.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis. Default: -1.
        keepdims (bool): Whether the axis stays, with length 1. Default: False.

    Returns:
        A tuple of two Tensors: the medians, and their indices (int64).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("median", "input", input, NUMBER)
    axis = axis_in("median", axis, input.ndim)
    order = jnp.argsort(jax.lax.stop_gradient(input), axis, stable=True)
    place = jax.lax.slice_in_dim(order, (input.shape[axis] - 1) // 2, (input.shape[axis] - 1) // 2 + 1, axis=axis)
    value = jnp.take_along_axis(input, place, axis)
    place = place.astype(jnp.int64)
    return (value, place) if keepdims else (jnp.squeeze(value, axis), jnp.squeeze(place, axis))
