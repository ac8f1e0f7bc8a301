"""Arithmetic and geometric sequences of numbers."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, Int, NonNegInt, Number, OneOf, Optional, PositiveInt, StrictFloat, check
from msnb.core.operator.api_generations import replaces_in_api2
from msnb.core.operator.cases import F, U, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.primitive import Primitive
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, NUMBER, axis_in, dtype_in, rank, same_dtype
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor, common_type, element_type, floating, in_type
from msnb.ops._shapes import shapes


@operator(functional="linspace", called=("", "end", "steps"))
def LinSpace(start, stop, num: PositiveInt):
    """Return `num` evenly spaced numbers from `start` to `stop`, both included.

    Inputs:
        - **start** (Tensor) - The first number, a scalar.
        - **stop** (Tensor) - The last number, a scalar of the element type of `start`.
        - **num** (int) - Number of results, at least 1.

    Outputs:
        Tensor of shape (num,) and the element type of `start`.

    Raises:
        TypeError: If the bounds are not floating point or `num` is not an int.
        ValueError: If `num` is not positive or a bound is not a scalar.

    Examples:
        >>> print(ops.LinSpace()(Tensor(1., mindspore.float32), Tensor(10., mindspore.float32), 4))
        [ 1.  4.  7. 10.]
    """
    start, stop = (x.astype(jnp.float32) if x.dtype not in FLOAT or x.weak_type else x for x in (start, stop))
    same_dtype("LinSpace", start=start, stop=stop)
    rank("LinSpace", "start", start, 0)
    rank("LinSpace", "stop", stop, 0)
    if num == 1:
        return start.reshape(1)
    step = (stop - start) / (num - 1)
    return (start + step * jnp.arange(num, dtype=start.dtype)).at[-1].set(stop)


@operator
def Arange(start: Number, end: Number, step: Number, dtype: DType):
    """Evenly spaced numbers: start, start + step, and so on, up to `end` (exclusive).

    Inputs:
        - **start** (Number) - The first number.
        - **end** (Number) - End of the numbers, exclusive.
        - **step** (Number) - The distance between two numbers.
        - **dtype** (mindspore.dtype) - Element type.

    Outputs:
        Tensor of 1 dimension.
    """
    if step == 0:
        raise ValueError("For 'arange', 'step' should not be 0.")
    dtype = np_dtype(dtype)
    if all(isinstance(v, int) for v in (start, end, step)) and jnp.issubdtype(dtype, jnp.integer):
        return start + step * jnp.arange(len(range(start, end, step)), dtype=dtype)
    return jnp.asarray(np.arange(start, end, step).astype(dtype))  # computed in double precision, then rounded once


@spelling(Arange)
def arange(start: float = 0, end: float | None = None, step: float = 1, *, dtype: DType | None = None) -> Tensor:
    """Numbers from `start` to `end` (exclusive) with the distance `step`.

    Args:
        start (Union[int, float]): The first number; the end if it is the only argument. Default: 0.
        end (Union[int, float]): The end, exclusive. Default: None.
        step (Union[int, float]): The distance between two numbers. Default: 1.
        dtype (mindspore.dtype): Element type. Default: None, int64 for int and float32 for float.

    Returns:
        Tensor of 1 dimension.

    Examples:
        >>> print(ops.arange(1, 6, 2))
        [1 3 5]
    """
    if end is None:
        start, end = 0, start
    if dtype is None:
        values = [v.asnumpy().item() if isinstance(v, Tensor) else v for v in (start, end, step)]
        dtype = mstype.int64 if all(isinstance(v, int) for v in values) else mstype.float32
    return Arange.functional(start, end, step, dtype)


@spelling(Arange, function="range")
def range_(
    start: float = 0, end: float | None = None, step: float = 1, maxlen: int = 1000000, *, dtype: DType | None = None
) -> Tensor:
    """Numbers from `start` to `end` (exclusive) with the distance `step`.

    Args:
        start (Union[int, float]): The first number; the end if it is the only argument. Default: 0.
        end (Union[int, float]): The end, exclusive. Default: None.
        step (Union[int, float]): The distance between two numbers. Default: 1.
        maxlen (int): No limit here; in MindSpore the largest number of results. Default: 1000000.
        dtype (mindspore.dtype): Element type. Default: None, int64 for int and float32 for float.

    Returns:
        Tensor of 1 dimension.
    """
    log.unused("ops.range", "the result is as long as it has to be", maxlen=maxlen != 1000000)
    return arange(start, end, step, dtype=dtype)


@spelling(Arange, numpy="arange")
def _numpy_arange(
    start: float, stop: float | None = None, step: float | None = None, dtype: DType | str | None = None
) -> Tensor:
    """Numbers from `start` to `stop` (exclusive) with the distance `step`.

    Args:
        start (Union[int, float]): The first number. Without `stop` it is the end, and the first number is 0.
        stop (Union[int, float]): The end, exclusive. Default: None.
        step (Union[int, float]): The distance, not 0. Default: None, 1.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None, float32 if an argument is a float, else int32.

    Returns:
        Tensor of 1 dimension.

    Raises:
        TypeError: If an argument is not a number, or `dtype` is no element type.
        ValueError: If `step` is 0.

    Examples:
        >>> print(mindspore.numpy.arange(5))
        [0 1 2 3 4]
        >>> print(mindspore.numpy.arange(0, 1, 0.25))
        [0.   0.25 0.5  0.75]
    """
    numbers = [
        check(Number, v, n, "arange") for n, v in (("start", start), ("stop", stop), ("step", step)) if v is not None
    ]
    if dtype is None:
        dtype = mstype.int32 if all(isinstance(v, int) for v in numbers) else mstype.float32
    else:
        dtype = element_type(dtype, "arange")
    if stop is None:
        numbers.insert(0, 0)
    return Arange.functional(*numbers, *(() if step is not None else (1,)), dtype)


@operator
@shapes("start stop: ~s")
def _Spaced(start, stop, *, num: NonNegInt, endpoint: Bool, axis: Int):
    """Return `num` evenly spaced numbers from each `start` to its `stop`, along a new axis.

    Args:
        num (int): Number of results.
        endpoint (bool): Include `stop` as the last number.
        axis (int): Position of the new axis in the result.

    Inputs:
        - **start** (Tensor) - Floating point.
        - **stop** (Tensor) - Of a shape that broadcasts with that of `start`.

    Outputs:
        Tensor with one dimension more than `start` and `stop` broadcast.
    """
    return jnp.linspace(start, stop, num, endpoint, axis=axis)


@operator
@shapes("start stop: ~s")
def _SpacedGeometrically(start, stop, *, num: NonNegInt, endpoint: Bool, axis: Int):
    """Return `num` numbers in geometric progression from each `start` to its `stop`, along a new axis. See `_Spaced`.

    Args:
        num (int): Number of results.
        endpoint (bool): Include `stop` as the last number.
        axis (int): Position of the new axis in the result.

    Inputs:
        - **start** (Tensor) - Floating point, not 0.
        - **stop** (Tensor) - Last numbers, of the sign of `start`.

    Outputs:
        Tensor with one dimension more than `start` and `stop` broadcast.
    """
    zero = jnp.zeros(jnp.broadcast_shapes(start.shape, stop.shape), start.dtype)
    share = jnp.linspace(zero, zero + 1, num, endpoint, axis=axis)
    axis %= share.ndim
    start, ratio = jnp.expand_dims(zero + start, axis), jnp.expand_dims(zero + stop / start, axis)
    return start * ratio**share


def _convert_bounds(function, start, stop, num, endpoint, axis):
    """Convert `start` and `stop` to Tensors of one floating point type, and check the operator's attributes."""
    bounds = [as_tensor(v, function, n) for n, v in (("start", start), ("stop", stop))]
    settings = {
        "num": check(NonNegInt, num, "num", function),
        "endpoint": check(Bool, endpoint, "endpoint", function),
        "axis": axis_in(function, check(Int, axis, "axis", function), max(b.ndim for b in bounds) + 1),
    }
    return common_type(*map(floating, bounds)), settings


def _contains_no_tensor(value):
    return not isinstance(value, Tensor) and (
        not isinstance(value, (list, tuple)) or all(map(_contains_no_tensor, value))
    )


def _generate_numbers_between(function, by_numpy, by_operator, dtype, start, stop, *where):
    """Return numbers between two bounds. numpy computes them in double precision if no bound is a Tensor, else the
    operator computes them.
    """
    dtype = mstype.float32 if dtype is None else element_type(dtype, function)
    bounds, settings = _convert_bounds(function, start, stop, *where)
    if _contains_no_tensor((start, stop)):
        return Tensor(by_numpy(start, stop, **settings, dtype=np_dtype(dtype)))
    return by_operator(*bounds, **settings).astype(dtype)


@spelling(_Spaced, numpy="linspace")
def _numpy_linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DType | str | None = None,
    axis: int = 0,
) -> Tensor | tuple[Tensor, Any]:
    """Return `num` evenly spaced numbers from `start` to `stop`.

    Args:
        start (Union[int, float, list, tuple, Tensor]): The first number. For several numbers there are several
            sequences.
        stop (Union[int, float, list, tuple, Tensor]): The last number, or without `endpoint` the number after it.
        num (int): Number of results. Default: 50.
        endpoint (bool): Include `stop` as the last number. Default: True.
        retstep (bool): Also return the distance between two numbers. Default: False.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None, mindspore.float32.
        axis (int): Position of the new axis in the result. Default: 0.

    Returns:
        Tensor. With `retstep`, a tuple of this Tensor and the distance, which is nan if there is only one number.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `num` is negative or `axis` is out of range.

    Examples:
        >>> print(mindspore.numpy.linspace(0, 5, 6))
        [0. 1. 2. 3. 4. 5.]
    """

    def between(low, high, **settings):
        samples = _Spaced(**settings)(low, high)
        return (
            samples.floor() if dtype is not None and np_dtype(element_type(dtype, "linspace")).kind in "iu" else samples
        )

    samples = _generate_numbers_between("linspace", np.linspace, between, dtype, start, stop, num, endpoint, axis)
    if not check(Bool, retstep, "retstep", "linspace"):
        return samples
    (low, high), _ = _convert_bounds("linspace", start, stop, num, endpoint, axis)
    gaps = num - 1 if endpoint else num
    return samples, (high - low) / gaps if gaps > 0 else float("nan")


@spelling(_Spaced, numpy="logspace")
def _numpy_logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: DType | str | None = None,
    axis: int = 0,
) -> Tensor:
    """Powers of `base` with evenly spaced exponents from `start` to `stop`.

    Args:
        start (Union[int, float, list, tuple, Tensor]): The first exponent. For several numbers there are several
            sequences.
        stop (Union[int, float, list, tuple, Tensor]): The last exponent, or without `endpoint` the exponent after it.
        num (int): Number of results. Default: 50.
        endpoint (bool): Include `stop` as the last exponent. Default: True.
        base (Union[int, float]): The base. Default: 10.0.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None, mindspore.float32.
        axis (int): Position of the new axis in the result. Default: 0.

    Returns:
        Tensor.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `num` is negative or `axis` is out of range.

    Examples:
        >>> print(mindspore.numpy.logspace(0, 5, 6, base=2.0))
        [ 1.  2.  4.  8. 16. 32.]
    """
    if not isinstance(base, (int, float)):
        check(Number, base, "base", "logspace")

    def between(low, high, **settings):
        return base ** _Spaced(**settings)(low, high)

    by_numpy = functools.partial(np.logspace, base=base)
    return _generate_numbers_between("logspace", by_numpy, between, dtype, start, stop, num, endpoint, axis)


@spelling(_SpacedGeometrically, numpy="geomspace")
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DType | str | None = None,
    axis: int = 0,
) -> Tensor:
    """Return `num` numbers in geometric progression from `start` to `stop`.

    Args:
        start (Union[int, float, list, tuple, Tensor]): The first number, not 0. For several numbers there are several
            sequences.
        stop (Union[int, float, list, tuple, Tensor]): The last number, or without `endpoint` the number after it.
        num (int): Number of results. Default: 50.
        endpoint (bool): Include `stop` as the last number. Default: True.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None, mindspore.float32.
        axis (int): Position of the new axis in the result. Default: 0.

    Returns:
        Tensor.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `num` is negative, `axis` is out of range, or a bound is 0.

    Examples:
        >>> print(mindspore.numpy.geomspace(1, 256, num=9))
        [  1.   2.   4.   8.  16.  32.  64. 128. 256.]
    """
    between = _SpacedGeometrically.functional
    if _contains_no_tensor((start, stop)) and not (np.all(start) and np.all(stop)):
        raise ValueError(f"For 'geomspace', 'start' and 'stop' should not be 0, but got {start} and {stop}.")
    return _generate_numbers_between("geomspace", np.geomspace, between, dtype, start, stop, num, endpoint, axis)


def _check_range(attributes):
    start, limit, delta = attributes.values()
    start, limit = (0.0, start) if limit is None else (start, limit)
    if delta == 0 or start == limit or (limit > start) != (delta > 0):
        raise ValueError(
            f"For 'Range', 'delta' should lead from 'start' to 'limit', but got start {start}, limit "
            f"{limit} and delta {delta}."
        )


@operator(refuses=_check_range)
def Range(x, *, start: StrictFloat, limit: Optional(StrictFloat) = None, delta: StrictFloat = 1.0):
    """Compute start + delta * i for a vector of integers i. `nn.Range` uses this operator.

    Args:
        start (float): The first number. Without `limit` it is the end, and the first number is 0.0.
        limit (float): The end, exclusive. Default: None.
        delta (float): The distance between two numbers, not 0. Default: 1.0.

    Inputs:
        - **x** (Tensor) - The integers i, a vector of numbers.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If an argument is not a float.
        ValueError: If `delta` is 0 or leads away from `limit`.
    """
    dtype_in("Range", "x", x, NUMBER)
    return (x * delta + (0.0 if limit is None else start)).astype(x.dtype)


@replaces_in_api2(Range, "its inputs are the first number, the end and the distance")
class _Range(Primitive):
    """Numbers from `start` to `limit` (exclusive) with the distance `delta`.

    Args:
        maxlen (int): No limit here; in MindSpore the largest number of results. Default: 1000000.

    Inputs:
        - **start** (Union[Tensor, Number]) - The first number.
        - **limit** (Union[Tensor, Number]) - The end of the numbers, exclusive.
        - **delta** (Union[Tensor, Number]) - The distance between two numbers, not 0.

    Outputs:
        Tensor of 1 dimension: int64 for integers, and float32 otherwise.

    Raises:
        ValueError: If `delta` is 0 or leads away from `limit`.
    """

    def __init__(self, maxlen: int = 1000000) -> None:
        super().__init__("Range")
        self.add_prim_attr("maxlen", check(PositiveInt, maxlen, "maxlen", "Range"))

    def __call__(self, start: Any, limit: Any, delta: Any) -> Tensor:
        first, last, step = (check(Number, v, n, "Range") for v, n in zip((start, limit, delta), _BOUNDS, strict=True))
        if step == 0 or (last - first) * step < 0:
            raise ValueError(f"For 'Range', 'delta' should lead from {first} to {last}, but got {step}.")
        return range_(first, last, step, self.maxlen)


_BOUNDS = ("start", "limit", "delta")


@spelling(_Spaced, function="logspace")
def logspace(
    start: Tensor | float, end: Tensor | float, steps: int, base: int = 10, *, dtype: DType | None = mstype.float32
) -> Tensor:
    """Powers of `base` with evenly spaced exponents from `start` to `end`, both included.

    Args:
        start (Union[Tensor, float]): The first exponent.
        end (Union[Tensor, float]): The last exponent.
        steps (int): Number of results, not negative.
        base (int): The base. Default: 10.
        dtype (mindspore.dtype): float16, float32 or float64. Default: mindspore.float32.

    Returns:
        Tensor of shape (steps,).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `steps` is negative.
    """
    low, high = [as_tensor(v, "logspace", n).astype(mstype.float32) for n, v in (("start", start), ("end", end))]
    exponents = _Spaced(num=check(NonNegInt, steps, "steps", "logspace"), endpoint=True, axis=0)(low, high)
    return in_type(check(Number, base, "base", "logspace") ** exponents, dtype, "logspace")


@operator(generation=2)
def LogSpace(
    start, end, *, steps: NonNegInt = 10, base: NonNegInt = 10, dtype: OneOf(*mstype.float_type) = mstype.float32
):
    """Powers of `base` with evenly spaced exponents from `start` to `end`, both included.

    Args:
        steps (int): Number of results. Default: 10.
        base (int): The base. Default: 10.
        dtype (mindspore.dtype): float16, float32 or float64. Default: mindspore.float32.

    Inputs:
        - **start** (Tensor) - The first exponent, a scalar.
        - **end** (Tensor) - The last exponent, a scalar.

    Outputs:
        Tensor of shape (steps,).

    Raises:
        ValueError: If `start` or `end` is no scalar.
    """
    for name, value in (("start", start), ("end", end)):
        rank("LogSpace", name, value, 0)
    exponents = jnp.linspace(start.astype(jnp.float32), end.astype(jnp.float32), steps)
    return (jnp.float32(base) ** exponents).astype(np_dtype(dtype))


CASES = [
    case(LogSpace, F(low=0.5, high=1), F(low=2))
    .without("gradient", "2.7.1 has none")
    .without("differences", "it computes in float32, to numbers of a hundred"),
    case(LogSpace, F(low=0.5, high=1), F(low=2), steps=3, base=2)
    .without("gradient", "2.7.1 has none")
    .without("differences", "it computes in float32"),
    case(logspace, F(low=0.5, high=1), F(low=2), 3).without("gradient", "2.7.1 has none"),
    case(logspace, F(low=0.5, high=1), F(low=2), 5, 2).without("gradient", "2.7.1 has none"),
    case(Arange, 2, 9, 3, mstype.int32),
    case(Arange, 0, 1, 0.3, mstype.float32),
    case(_Spaced, F(2), F(2), num=3, endpoint=True, axis=0).without("mindspore", NUMPYS),
    case(_SpacedGeometrically, U(2), U(2), num=3, endpoint=False, axis=1).without("mindspore", NUMPYS),
    case(LinSpace, Values(1.0), Values(3.0), 5).without("gradient", "MindSpore has none"),
    case(Range, F(3), start=0.0, limit=3.0),
]
