"""Operators that MindSpore keeps for its own tests and layers, under `mindspore.ops.operations._inner_ops`."""

import jax.numpy as jnp

from msnb.common.kinds import Optional, StrictFloat
from msnb.core.declare import operator
from msnb.ops._check import NUMBER, dtype_in, tensor_only


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


@operator
def GpuConvertToDynamicShape(x):
    """Its input. Shapes are always known here, so nothing becomes dynamic.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Tensor equal to `x`.

    Raises:
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("GpuConvertToDynamicShape", "x", x)
    if not x.ndim:
        raise ValueError("For 'GpuConvertToDynamicShape', 'x' should have at least 1 dimension, but got a scalar.")
    return jnp.array(x, copy=True)


@operator
def ErrorOnDynamicShapeInput(x):
    """Its input. Shapes are always known here, so there is never an error.

    Inputs:
        - **x** (Tensor) - Any Tensor.

    Outputs:
        Tensor equal to `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("ErrorOnDynamicShapeInput", "x", x)
    return jnp.array(x, copy=True)
