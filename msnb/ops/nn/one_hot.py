"""Conversion of class indices to one-hot vectors."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Int, NonNegInt
from msnb.core.operator.cases import I, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check


@operator
def OneHot(indices, depth: NonNegInt, on_value, off_value, *, axis: Int = -1):
    """One-hot encoding: insert an axis of length `depth` with `on_value` at each index and `off_value` elsewhere.

    Args:
        axis (int): position of the new axis. Default: -1, last.

    Inputs:
        - **indices** (Tensor) - any shape, int; an index outside [0, depth) gives `off_value` everywhere.
        - **depth** (int) - length of the new axis.
        - **on_value** (Tensor) - a scalar.
        - **off_value** (Tensor) - a scalar of the same type.

    Outputs:
        Tensor, type of `on_value`.

    Raises:
        TypeError: If `indices` is not int.
        ValueError: If `axis` is out of range or `depth` is negative.

    Examples:
        >>> on, off = Tensor(1.0, mindspore.float32), Tensor(0.0, mindspore.float32)
        >>> print(ops.OneHot()(Tensor([0, 2]), 3, on, off))
        [[1. 0. 0.]
         [0. 0. 1.]]
    """
    op = "OneHot"
    _check.dtype_in(op, "indices", indices, _check.INT)
    on_value, off_value = jnp.asarray(on_value), jnp.asarray(off_value)
    if on_value.size != 1 or off_value.size != 1:
        raise ValueError(
            f"For '{op}', 'on_value' and 'off_value' should be scalars, but got shapes {on_value.shape} "
            f"and {off_value.shape}."
        )
    axis = _check.axis_in(op, axis, indices.ndim + 1)
    classes = lax.broadcasted_iota(indices.dtype, (*indices.shape[:axis], depth, *indices.shape[axis:]), axis)
    chosen = jnp.expand_dims(indices, axis) == classes
    on_value, off_value = lax.stop_gradient((on_value, off_value))
    return jnp.where(chosen, on_value.reshape(()), off_value.reshape(()).astype(on_value.dtype))


@spelling(OneHot)
def one_hot(
    indices: Tensor, depth: int, on_value: Tensor | float = 1, off_value: Tensor | float = 0, axis: int = -1
) -> Tensor:
    """One-hot encoding: insert an axis of length `depth` with `on_value` at each index and `off_value` elsewhere.

    Args:
        indices (Tensor): Any shape, int.
        depth (int): Length of the new axis.
        on_value (Union[Tensor, number]): Value at the index. Default: 1.
        off_value (Union[Tensor, number]): Value elsewhere. Default: 0.
        axis (int): Position of the new axis. Default: -1.

    Returns:
        Tensor, type of `on_value`.
    """
    on_value = on_value if isinstance(on_value, Tensor) else Tensor(on_value)
    off_value = off_value if isinstance(off_value, Tensor) else Tensor(off_value)
    return OneHot.functional(indices, depth, on_value, off_value, axis)


_CONSTANT = "no gradient reaches the two values, as in MindSpore"

CASES = [
    case(OneHot, I(3, 2, low=0, high=5), 4, Values(1.0), Values(0.5)).without("differences", _CONSTANT),
    case(OneHot, I(3, 2, low=0, high=4), 4, Values(2.0), Values(0.0), axis=0).without("differences", _CONSTANT),
    case(one_hot, I(2, 3, low=0, high=5), 5),
    refused(TypeError, OneHot, Values([0.5]), 3, Values(1.0), Values(0.0)),
]
