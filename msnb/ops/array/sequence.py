"""Sequences of numbers at even distances."""

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, Number, Optional, PositiveInt, StrictFloat
from msnb.core.cases import F, Values, case
from msnb.core.declare import operator, spelling
from msnb.core.dtype import np_dtype
from msnb.core.tensor import Tensor
from msnb.ops._check import FLOAT, NUMBER, dtype_in, rank, same_dtype


@operator(functional="linspace")
def LinSpace(start, stop, num: PositiveInt):
    """`num` numbers at even distances from `start` to `stop`, both included.

    Inputs:
        - **start** (Tensor) - The first number, a scalar.
        - **stop** (Tensor) - The last number, a scalar of the element type of `start`.
        - **num** (int) - How many numbers, at least 1.

    Outputs:
        Tensor of shape (num,) and the element type of `start`.

    Raises:
        TypeError: If the bounds are not floating point or `num` is not an int.
        ValueError: If `num` is not positive or a bound is not a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
    """Numbers at even distances.

    Inputs:
        - **start** (Number) - The first number.
        - **end** (Number) - Where they end, not included.
        - **step** (Number) - The distance.
        - **dtype** (mindspore.dtype) - Element type.

    Outputs:
        Tensor of 1 dimension.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if step == 0:
        raise ValueError("For 'arange', 'step' should not be 0.")
    return jnp.arange(start, end, step, dtype=np_dtype(dtype))


@spelling(Arange, function=("arange", "range"))
def arange(start: float = 0, end: float | None = None, step: float = 1, *, dtype: DType | None = None) -> Tensor:
    """Numbers from `start` up to `end`, not included, at distances of `step`.

    Args:
        start (Union[int, float]): The first number; the end if it is the only argument. Default: 0.
        end (Union[int, float]): Where the numbers end. Default: None.
        step (Union[int, float]): The distance. Default: 1.
        dtype (mindspore.dtype): Element type. Default: None, int64 for int and float32 for float.

    Returns:
        Tensor of 1 dimension.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
    """The numbers start + delta * i for a vector of places i; what `nn.Range` is made of.

    Args:
        start (float): The first number; the end, from 0.0, if there is no `limit`.
        limit (float): Where the numbers end. Default: None.
        delta (float): Their distance, not 0. Default: 1.0.

    Inputs:
        - **x** (Tensor) - The places 0, 1, 2, ..., of numbers.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If an argument is not a float.
        ValueError: If `delta` is 0 or leads away from `limit`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("Range", "x", x, NUMBER)
    return (x * delta + (0.0 if limit is None else start)).astype(x.dtype)


CASES = [
    case(LinSpace, Values(1.0), Values(3.0), 5).without("gradient", "MindSpore has none"),
    case(Range, F(3), start=0.0, limit=3.0),
]
