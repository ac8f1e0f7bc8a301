"""Group normalization and root-mean-square normalization."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Float, PositiveInt
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator
from msnb.ops._check import FLOAT, dtype_in
from msnb.ops._upcast import widened
from msnb.ops.nn.norm._standardize import scale_and_shift, standardise
from msnb.ops.nn.norm.batch_norm import check_channels, column


@operator(functional="group_norm", generation=2)
def GroupNorm(input, num_groups: PositiveInt, weight=None, bias=None, *, eps: Float = 1e-5):
    """Normalises each group of channels of each example (arXiv:1803.08494).

    Args:
        eps (float): added to the variance. Default: 1e-5.

    Inputs:
        - **input** (Tensor) - (N, C, ...).
        - **num_groups** (int) - divides C.
        - **weight**, **bias** (Tensor, optional) - (C,).

    Outputs:
        Tensor, shape and type of `input`.

    Raises:
        TypeError: If `input` does not consist of floating point numbers.
    """
    dtype_in("GroupNorm", "input", input, FLOAT)
    if input.ndim < 2 or input.shape[1] % num_groups:
        raise ValueError(
            f"For 'GroupNorm', 'num_groups' should divide the channels of 'input', but got {num_groups} "
            f"for shape {input.shape}."
        )
    check_channels("GroupNorm", input.shape[1], weight=weight, bias=bias)
    count = input[:1].size // num_groups
    y = standardise(input.reshape(input.shape[0], num_groups, count), 2, eps)[0].reshape(input.shape)
    y = y if weight is None else y * column(weight, y, 1)
    return (y if bias is None else y + column(bias, y, 1)).astype(input.dtype)


@operator(functional="rms_norm", generation=2)
def RmsNorm(x, gamma, *, epsilon: Float = 1e-6):
    """x / sqrt(mean(x^2) + epsilon) * gamma over the trailing dimensions that `gamma` has (arXiv:1910.07467).

    Args:
        epsilon (float): added to the mean of squares. Default: 1e-6.

    Inputs:
        - **x** (Tensor) - any shape, float.
        - **gamma** (Tensor) - trailing dimensions of `x`.

    Outputs:
        Tuple of the result and the reciprocal of the root, float32.
    """
    if tuple(x.shape[x.ndim - gamma.ndim :]) != tuple(gamma.shape):
        raise ValueError(
            f"For 'RmsNorm', 'gamma' should have the trailing dimensions of 'x', but got {gamma.shape} for {x.shape}."
        )
    wide = widened(x)
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    square = jnp.mean(wide * wide, axes, keepdims=True)
    return scale_and_shift(x, 0, square, epsilon, gamma).astype(x.dtype), lax.rsqrt(square + epsilon)


CASES = [
    case(GroupNorm, F(2, 4, 6, 7), 2, F(4), F(4)).results(0),
    case(RmsNorm, F(2, 3, 4), F(4)),
]
