"""L2 normalisation, and local response normalisation over neighbouring channels."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import ConstantAt, Float, Int, IntOrTuple, NonNegInt, OneOf, StrictFloat
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import widened
from msnb.ops.nn._pullback import pull


@operator
def L2Normalize(input_x, *, axis: IntOrTuple = 0, epsilon: Float = 1e-4):
    """x / sqrt(max(sum(x^2), epsilon)) along `axis`.

    Args:
        axis (Union[int, list[int], tuple[int]]): one axis. Default: 0.
        epsilon (float): lower bound of the sum of squares. Default: 1e-4.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.

    Raises:
        TypeError: If `axis` names more than one axis.
    """
    _check.dtype_in("L2Normalize", "input_x", input_x, _check.FLOAT)
    if not isinstance(axis, int) and len(axis) != 1:
        raise TypeError(f"For 'L2Normalize', 'axis' should name one axis, but got {axis}.")
    axes = _check.axes_in("L2Normalize", axis, input_x.ndim)
    x = widened(input_x)
    total = jnp.sum(x * x, axes, keepdims=True)
    return (x / jnp.sqrt(jnp.maximum(total, epsilon))).astype(input_x.dtype)


@operator
@shapes("input_x out dout: *s")
def L2NormalizeGrad(input_x, out, dout, *, axis: IntOrTuple = 0, epsilon: Float = 1e-4):
    """Gradient of L2Normalize."""
    return pull(lambda x: L2Normalize.kernel(x, axis=axis, epsilon=epsilon), input_x)(dout)[0]


@operator(functional="lrn", generation=2)
def LRN(
    x,
    *,
    depth_radius: NonNegInt = 5,
    bias: StrictFloat = 1.0,
    alpha: StrictFloat = 1.0,
    beta: ConstantAt(StrictFloat, 0.5) = 0.5,
    norm_region: OneOf("ACROSS_CHANNELS") = "ACROSS_CHANNELS",
):
    """Divides each value by (bias + alpha * sum of squares of neighbouring channels) ** beta (AlexNet).

    Args:
        depth_radius (int): number of neighbouring channels on each side. Default: 5.
        bias (float): offset. Default: 1.0.
        alpha (float): scale of the sum. Default: 1.0.
        beta (float): exponent. Default: 0.5.
        norm_region (str): "ACROSS_CHANNELS". Default: "ACROSS_CHANNELS".

    Inputs:
        - **x** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor, shape and type of `x`.
    """
    _check.dtype_in("LRN", "x", x, _check.FLOAT)
    _check.rank("LRN", "x", x, 4)
    wide = widened(x)
    total = lax.reduce_window(
        wide * wide,
        np.zeros((), wide.dtype),
        lax.add,
        (1, 2 * depth_radius + 1, 1, 1),
        (1, 1, 1, 1),
        ((0, 0), (depth_radius, depth_radius), (0, 0), (0, 0)),
    )
    return (wide * (bias + alpha * total) ** -beta).astype(x.dtype)


@operator
@shapes("grads x y: *s")
def LRNGrad(
    grads,
    x,
    y,
    *,
    depth_radius: Int = 5,
    bias: StrictFloat = 1.0,
    alpha: StrictFloat = 1.0,
    beta: ConstantAt(StrictFloat, 0.5) = 0.5,
):
    """Gradient of LRN."""
    return pull(lambda x: LRN.kernel(x, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta), x)(grads)[0]


_OTHER_RESULT = "it takes `out` for the result of the forward operator, which the row's is not"

CASES = [
    case(L2Normalize, F(3, 5), axis=1),
    case(L2NormalizeGrad, F(2, 3), F(2, 3), F(2, 3)).without("mindspore", _OTHER_RESULT),
    case(LRN, F(2, 7, 3, 3), depth_radius=2, bias=1.0, alpha=0.1, beta=0.5),
    case(LRNGrad, F(2, 7, 3, 3), F(2, 7, 3, 3), F(2, 7, 3, 3), depth_radius=2, bias=1.0, alpha=0.1, beta=0.5),
]
