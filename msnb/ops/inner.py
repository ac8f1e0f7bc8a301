"""Operators that MindSpore keeps for its own tests and layers, under `mindspore.ops.operations._inner_ops`."""

import jax.numpy as jnp

from msnb.core.declare import operator
from msnb.ops._check import tensor_only


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
