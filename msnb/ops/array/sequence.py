"""Sequences of numbers at even distances."""

import jax.numpy as jnp

from msnb.common.kinds import PositiveInt
from msnb.core.declare import operator
from msnb.ops._check import FLOAT, rank, same_dtype


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
