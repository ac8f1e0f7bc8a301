"""Losses of the distance between prediction and target."""

import math

import jax.numpy as jnp
import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Float, PositiveFloat, StrictFloat, check
from msnb.core.operator.api_generations import called_as
from msnb.core.operator.cases import F, U, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype, promote
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._subgradients import magnitude
from msnb.ops._upcast import in_float32
from msnb.ops.array.cast import Cast
from msnb.ops.math._elementwise import floating
from msnb.ops.nn._kinds import AboveZero, Reduction
from msnb.ops.nn._pullback import pull
from msnb.ops.nn.loss._reduction import reduce


def _promote_pair(op, x, y):
    _check.tensor_only(op, "input", x)
    x, y = promote(x, y, op)
    if x.ndim and y.ndim and x.ndim != y.ndim:
        _warn_of_broadcast(x.shape, y.shape)
    return x, y


def _warn_of_broadcast(prediction_shape, target_shape):
    """Warn if shapes broadcast to more elements than either of them has, such as (4, 1) and (4,), which give 16
    distances.
    """
    joint_shape = np.broadcast_shapes(prediction_shape, target_shape)
    if math.prod(joint_shape) > max(math.prod(prediction_shape), math.prod(target_shape)):
        log.once(
            "A loss compares predictions of shape %s with targets of shape %s: they broadcast to %s, every prediction "
            "beside every target. Reshape one of them.",
            prediction_shape,
            target_shape,
            joint_shape,
        )


@operator(functional="mse_loss", generation=2)
@in_float32
def MSELossExt(input, target, reduction: Reduction = "mean"):
    """(input - target)^2.

    Inputs:
        - **input** (Tensor) - any shape.
        - **target** (Tensor) - broadcasts with `input`.
        - **reduction** (str) - "none", "mean" or "sum". Default: "mean".

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    x, y = map(floating, _promote_pair("MSELossExt", input, target))
    return reduce(jnp.square(x - y), reduction)


@operator(functional="l1_loss", generation=2)
@in_float32
def L1LossExt(input, target, reduction: Reduction = "mean"):
    """|input - target|.

    Inputs:
        - **input** (Tensor) - any shape.
        - **target** (Tensor) - broadcasts with `input`.
        - **reduction** (str) - "none", "mean" or "sum". Default: "mean".

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    x, y = _promote_pair("L1LossExt", input, target)
    if x.dtype == bool:
        return reduce(x ^ y, reduction).astype(bool)
    return reduce(magnitude(x - y), reduction).astype(x.real.dtype if jnp.iscomplexobj(x) else x.dtype)


@operator
@in_float32
def SmoothL1Loss(prediction, target, *, beta: AboveZero = 1.0, reduction: Reduction = "none"):
    """0.5 d^2 / beta where |d| < beta, |d| - 0.5 beta elsewhere, for d = prediction - target.

    Args:
        beta (float): the largest |d| of the quadratic part. Default: 1.0.
        reduction (str): "none", "mean" or "sum". Default: "none".

    Inputs:
        - **prediction** (Tensor) - any shape, float.
        - **target** (Tensor) - shape and type of `prediction`.

    Outputs:
        Tensor, shape and type of `prediction`, or a scalar of its type.
    """
    op = "SmoothL1Loss"
    _check.dtype_in(op, "prediction", prediction, _check.FLOAT)
    _check.same_dtype(op, prediction=prediction, target=target)
    _check.same_shape(op, prediction=prediction, target=target)
    d = prediction - target
    size = magnitude(d)
    return reduce(jnp.where(size < beta, 0.5 * d * d / beta, size - 0.5 * beta), reduction)


@spelling(SmoothL1Loss)
def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """0.5 d^2 / beta where |d| < beta, |d| - 0.5 beta elsewhere, for d = input - target.

    Args:
        input (Tensor): Any shape, float.
        target (Tensor): Shape of `input`, float; both are converted to the wider type.
        beta (number): The largest |d| of the quadratic part. Default: 1.0.
        reduction (str): "none", "mean" or "sum". Default: "none".

    Returns:
        Tensor, a scalar unless `reduction` is "none".
    """
    beta = beta if type(beta) is float else check(Float, beta, "beta", "smooth_l1_loss")
    for name, tensor in (("input", input), ("target", target)):
        _check.tensor_argument("SmoothL1Loss", name, tensor)
    if input.dtype != target.dtype and _is_float(input) and _is_float(target):
        wider = max(input.dtype, target.dtype, key=lambda dtype: np_dtype(dtype).itemsize)
        input, target = Cast.functional(input, wider), Cast.functional(target, wider)
    return SmoothL1Loss.functional(input, target, beta, reduction)


def _is_float(tensor):
    return tensor.dtype in (mstype.float16, mstype.float32, mstype.float64)


called_as(SmoothL1Loss, smooth_l1_loss, "the inputs may be of two float types; the loss has the wider one")


@operator
@shapes("prediction target dloss: *s")
def SmoothL1LossGrad(prediction, target, dloss, *, beta: StrictFloat = 1.0):
    """Gradient of SmoothL1Loss with respect to the prediction."""
    return pull(lambda p: SmoothL1Loss.kernel(p, target, beta=beta), prediction)(dloss)[0]


@operator(functional="huber_loss", generation=2)
@in_float32
def _HuberLoss(input, target, *, reduction: Reduction = "mean", delta: PositiveFloat = 1.0):
    """0.5 d^2 where |d| < delta, delta (|d| - 0.5 delta) elsewhere, for d = input - target.

    Args:
        reduction (str): "none", "mean" or "sum". Default: "mean".
        delta (float): the largest |d| of the quadratic part. Default: 1.0.

    Inputs:
        - **input** (Tensor) - any shape.
        - **target** (Tensor) - broadcasts with `input`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    x, y = map(floating, _promote_pair("huber_loss", input, target))
    d = x - y
    size = magnitude(d)
    return reduce(jnp.where(size < delta, 0.5 * d * d, delta * (size - 0.5 * delta)), reduction)


@operator(functional="gaussian_nll_loss", generation=2)
@shapes("x target var: ~s")
@in_float32
def _GaussianNLLLoss(x, target, var, *, full: Bool = False, eps: Float = 1e-6, reduction: Reduction = "mean"):
    """Negative log likelihood of `target` under normal distributions with means `x` and variances `var`.

    Args:
        full (bool): whether the constant log(2 pi) / 2 is included. Default: False.
        eps (float): lower bound of the variances. Default: 1e-6.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Inputs:
        - **x** (Tensor) - means.
        - **target** (Tensor) - shape of `x`.
        - **var** (Tensor) - variances, broadcast to `x`.

    Outputs:
        Tensor, a scalar unless `reduction` is "none".
    """
    x, target, var = floating(x), floating(target), jnp.maximum(floating(var), eps)
    values = 0.5 * (jnp.log(var) + jnp.square(x - target) / var)
    return reduce(values + 0.9189385332046727 if full else values, reduction)


@operator
@in_float32
def L2Loss(input_x):
    """sum(x^2) / 2.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, a scalar in the type of `input_x`.
    """
    _check.dtype_in("L2Loss", "input_x", input_x, _check.FLOAT)
    return jnp.sum(input_x * input_x) / 2


@spelling(MSELossExt)
def mse_loss_ext(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Mean of (input - target)^2; the same as `mse_loss`.

    Args:
        input (Tensor): Numbers.
        target (Tensor): Numbers that broadcast with `input`.
        reduction (str): "none", "mean" or "sum". Default: "mean".

    Returns:
        Tensor, a scalar unless `reduction` is "none".

    Raises:
        ValueError: If the shapes do not broadcast, or `reduction` is another word.
    """
    return MSELossExt.functional(input, target, reduction)


CASES = [
    *(case(loss, F(4, 5), F(4, 5), reduction) for loss in (MSELossExt, L1LossExt) for reduction in ("none", "mean")),
    case(SmoothL1Loss, F(4, 5), F(4, 5), beta=0.7),
    case(smooth_l1_loss, F(4, 5), F(4, 5), beta=0.5, reduction="mean"),
    case(_HuberLoss, F(4, 5), F(4, 5), delta=0.5, reduction="none"),
    case(_HuberLoss, F(4, 5), F(4, 5), delta=0.5, reduction="mean"),
    case(_GaussianNLLLoss, F(4, 3), F(4, 3), U(4, 3, low=0.1)),
    refused(ValueError, SmoothL1Loss, beta=0.0),
    case(mse_loss_ext, F(4, 5), F(5), "sum").without("mindspore", "the CPU has no kernel"),
]
