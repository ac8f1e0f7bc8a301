"""Operators at the path `mindspore.ops.operations._inner_ops`, which MindSpore's own tests and layers use."""

import jax.numpy as jnp

from msnb.core.operator.declare import operator
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_only
from msnb.ops._host import HostPrimitive, host_operator


@operator
def GpuConvertToDynamicShape(x):
    """Return the input. Shapes in msnb are always static, so no shape becomes dynamic.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Tensor equal to `x`.

    Raises:
        ValueError: If `x` is a scalar.
    """
    tensor_only("GpuConvertToDynamicShape", "x", x)
    if not x.ndim:
        raise ValueError("For 'GpuConvertToDynamicShape', 'x' should have at least 1 dimension, but got a scalar.")
    return jnp.array(x, copy=True)


@host_operator()
class ErrorOnDynamicShapeInput(HostPrimitive):
    """Return the input. Shapes in msnb are always static, so a Tensor never causes an error.

    Inputs:
        - **x** (Union[Tensor, list, tuple]) - Any Tensor, or a shape.

    Outputs:
        `x` itself.

    Raises:
        ValueError: If a shape contains -1, an unknown length.
    """

    def __call__(self, x):
        if not isinstance(x, Tensor):
            self.infer_shape(x)
        return x

    def infer_shape(self, shape):
        """Return `shape`. Raise an error if a length in it is not known."""
        if any(length == -1 for length in shape):
            raise ValueError(f"Input is dynamically shaped: {tuple(shape)}.")
        return shape

    def infer_type(self, x_dtype):
        """Return `x_dtype`."""
        return x_dtype

    def infer_value(self, x):
        """Return None, which means that the value is unknown at compile time."""
        return None
