"""RMSProp and Adadelta: steps over the root of a running mean of squares."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import OneOf
from msnb.core.cases import F, U, case
from msnb.core.declare import operator
from msnb.ops._check import NO_RACE
from msnb.ops._half import in_float32
from msnb.ops.nn.optim._update import like, same_shapes, scalar


@operator(writes=("var", "mean_square", "moment"))
@in_float32
def ApplyRMSProp(
    var,
    mean_square,
    moment,
    learning_rate,
    grad,
    decay,
    momentum,
    epsilon,
    *,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """RMSProp: s = decay * s + (1 - decay) * g^2; m = momentum * m + lr * g / sqrt(s + epsilon); var -= m.

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **mean_square**, **moment** (Parameter) - one shape; updated in place.
        - **learning_rate** (Union[Number, Tensor]) - a scalar.
        - **grad** (Tensor) - shape of `var`.
        - **decay**, **momentum**, **epsilon** (float) - scalars.

    Outputs:
        The variable, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyRMSProp", var=var, mean_square=mean_square, moment=moment, grad=grad)
    lr, decay, momentum, epsilon = map(scalar, (learning_rate, decay, momentum, epsilon))
    s = decay * mean_square + (1 - decay) * grad * grad
    m = momentum * moment + lr * grad * lax.rsqrt(s + epsilon)
    return like(var, var - m, s, m)


@operator(writes=("var", "mean_gradient", "mean_square", "moment"))
@in_float32
def ApplyCenteredRMSProp(
    var,
    mean_gradient,
    mean_square,
    moment,
    grad,
    learning_rate,
    decay,
    momentum,
    epsilon,
    *,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """RMSProp that divides by the deviation of the gradient: sqrt(mean of g^2 - (mean of g)^2 + epsilon).

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **mean_gradient**, **mean_square**, **moment** (Parameter) - one shape; updated in place.
        - **grad** (Tensor) - shape of `var`.
        - **learning_rate**, **decay**, **momentum**, **epsilon** (Union[Number, Tensor]) - scalars.

    Outputs:
        The variable, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes(
        "ApplyCenteredRMSProp", var=var, mean_gradient=mean_gradient, mean_square=mean_square, moment=moment, grad=grad
    )
    lr, decay, momentum, epsilon = map(scalar, (learning_rate, decay, momentum, epsilon))
    mean = decay * mean_gradient + (1 - decay) * grad
    square = decay * mean_square + (1 - decay) * grad * grad
    m = momentum * moment + lr * grad * lax.rsqrt(square - mean * mean + epsilon)
    return like(var, var - m, mean, square, m)


@operator(writes=("var", "accum", "accum_update"), returns="written")
@in_float32
def ApplyAdadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    """Adadelta (arXiv:1212.5701): the step is g * sqrt(accum_update + epsilon) / sqrt(accum + epsilon).

    Inputs:
        - **var**, **accum**, **accum_update** (Parameter) - one shape; updated in place.
        - **lr**, **rho**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `accum` and `accum_update`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyAdadelta", var=var, accum=accum, accum_update=accum_update, grad=grad)
    lr, rho, epsilon = map(scalar, (lr, rho, epsilon))
    accum = rho * accum + (1 - rho) * grad * grad
    step = jnp.sqrt(accum_update + epsilon) * lax.rsqrt(accum + epsilon) * grad
    accum_update = rho * accum_update + (1 - rho) * step * step
    return like(var, var - lr * step, accum, accum_update)


CASES = [
    case(ApplyRMSProp, F(3, 4), U(3, 4), F(3, 4), 0.1, F(3, 4), 0.9, 0.5, 1e-3).within(3e-4).results(),
    case(
        ApplyCenteredRMSProp, F(3, 4), U(3, 4, high=0.1), U(3, 4, low=0.5), F(3, 4), F(3, 4), 0.1, 0.9, 0.5, 1e-3
    ).results(),
    case(ApplyAdadelta, F(3, 4), U(3, 4), U(3, 4), 0.1, 0.9, 1e-3, F(3, 4)),
]
