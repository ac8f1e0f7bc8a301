"""The p-norm."""

import jax.numpy as jnp

from msnb.common.kinds import Bool, Float, IntOrTuple, NonNegInt
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._upcast import in_float32


@operator
@in_float32
def LpNorm(input, *, axis: IntOrTuple, p: NonNegInt = 2, keep_dims: Bool = False, epsilon: Float = 1e-12):
    r"""The p-norm :math:`(\sum |x|^p)^{1/p}` along axes. Results below `epsilon` are replaced by `epsilon`.

    Args:
        axis (Union[int, list[int], tuple[int]]): The axes to reduce.
        p (int): The order of the norm; 0 counts the nonzero elements. Default: 2.
        keep_dims (bool): Keep the reduced axes with length 1. Default: False.
        epsilon (float): Lower bound of the result. Default: 1e-12.

    Inputs:
        - **input** (Tensor) - Floating point, of any shape.

    Outputs:
        Tensor of the element type of `input`.

    Raises:
        TypeError: If `input` is not floating point, or `axis` or `p` does not consist of int.
        ValueError: If an axis is out of range, or `p` is negative.

    Examples:
        >>> print(ops.LpNorm(axis=1)(Tensor([[3., 4.], [0., 2.]], mindspore.float32)))
        [5. 2.]
    """
    _check.dtype_in("LpNorm", "input", input, _check.FLOAT)
    axes = _check.axes_in("LpNorm", axis, input.ndim)
    if p == 0:
        total = jnp.sum(input != 0, axes, keepdims=keep_dims).astype(input.dtype)
    else:
        total = jnp.sum(jnp.abs(input) ** p, axes, keepdims=keep_dims)
        nothing = total == 0  # the root is not differentiable at 0, so it is not computed there
        total = jnp.where(nothing, 0, jnp.where(nothing, 1, total) ** (1 / p))
    return jnp.maximum(total, epsilon)


CASES = [
    case(LpNorm, F(2, 3, 4), axis=1),
    case(LpNorm, F(2, 3, 4), axis=(0, -1), p=3, keep_dims=True),
    case(LpNorm, F(2, 3), axis=[0], p=1),
    case(LpNorm, F(2, 3), axis=0, p=0).without("gradient", "a count has none"),
    case(LpNorm, F(2, 3), axis=1, epsilon=1.5).without(
        "gradient", "MindSpore has the slope of the norm, not of epsilon"
    ),
    refused(ValueError, LpNorm, F(2, 3), axis=2),
    refused(ValueError, LpNorm, axis=0, p=-1),
]
