"""Gradient descent: plain, with momentum, with a proximal step, and the trust ratio of LARS."""

import jax.numpy as jnp

from msnb.common.kinds import Bool, ConstantAt, Float, OneOf, StrictFloat, is_constant
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops._check import ANY, NO_RACE, NUMBER
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.nn.optim._update import as_scalar, cast_like, check_slots


@operator(writes=("variable", "accumulation"))
@shapes("learning_rate momentum: () | 1")
@in_float32
def ApplyMomentum(
    variable,
    accumulation,
    learning_rate,
    gradient,
    momentum,
    *,
    use_nesterov: Bool = False,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
    gradient_scale: ConstantAt(StrictFloat, 1.0) = 1.0,
):
    """Momentum: a = a * momentum + g; v -= lr * a, or v -= lr * (g + momentum * a) with Nesterov.

    Args:
        use_nesterov (bool): use Nesterov momentum. Default: False.
        use_locking (bool): no effect: updates here never race. Default: False.
        gradient_scale (float): multiplies the gradient. Default: 1.0.

    Inputs:
        - **variable**, **accumulation** (Parameter) - of the same shape; updated in place.
        - **learning_rate** (Union[Number, Tensor]) - a scalar.
        - **gradient** (Tensor) - shape of `variable`.
        - **momentum** (Union[Number, Tensor]) - a scalar.

    Outputs:
        The variable, updated.
    """
    gradient = check_slots("ApplyMomentum", NUMBER, variable=variable, accumulation=accumulation, gradient=gradient)
    lr, momentum = as_scalar(learning_rate), as_scalar(momentum)
    if not is_constant(gradient_scale, 1.0):
        gradient = gradient * gradient_scale
    a = accumulation * momentum + gradient
    step = gradient * lr + a * momentum * lr if use_nesterov else a * lr
    return cast_like(variable, variable - step, a)


def _check_nesterov_dampening(attributes):
    if attributes["nesterov"] and attributes["dampening"] != 0:
        raise ValueError(f"For 'SGD', 'dampening' should be 0 with nesterov=True, but got {attributes['dampening']}.")


@operator(writes=("parameters", "accum", "stat"), refuses=_check_nesterov_dampening)
@shapes("learning_rate momentum: () | 1")
@in_float32
def SGD(
    parameters,
    gradient,
    learning_rate,
    accum,
    momentum,
    stat,
    *,
    dampening: Float = 0.0,
    weight_decay: ConstantAt(Float, 0.0) = 0.0,
    nesterov: Bool = False,
):
    """Stochastic gradient descent with momentum: a = momentum * a + (1 - dampening) * g; p -= lr * a.

    The first step takes a = g. With Nesterov the step is lr * (g + momentum * a).

    Args:
        dampening (float): fraction of the gradient that is not added to the momentum. Default: 0.0.
        weight_decay (float): L2 penalty, added to the gradient. Default: 0.0.
        nesterov (bool): use Nesterov momentum; needs dampening 0. Default: False.

    Inputs:
        - **parameters**, **accum**, **stat** (Parameter) - of the same shape; updated in place. `stat` is positive
          before the first step.
        - **gradient** (Tensor) - shape of `parameters`.
        - **learning_rate**, **momentum** (Union[Number, Tensor]) - scalars.

    Outputs:
        The parameters, updated.

    Raises:
        ValueError: If `nesterov` is True and `dampening` is not 0.
    """
    gradient = check_slots("SGD", parameters=parameters, gradient=gradient, accum=accum, stat=stat)
    lr, momentum = as_scalar(learning_rate), as_scalar(momentum)
    g = gradient if is_constant(weight_decay, 0.0) else gradient + weight_decay * parameters
    a = jnp.where(stat > 0, g, momentum * accum + (1 - dampening) * g)
    step = g + momentum * a if nesterov else a
    a, step = jnp.where(momentum != 0, a, accum), jnp.where(momentum != 0, step, g)
    begun = jnp.where(momentum != 0, jnp.minimum(stat, 0), stat)
    return (parameters - lr * step).astype(parameters.dtype), a.astype(accum.dtype), begun


@operator(writes=("var",))
@in_float32
def ApplyGradientDescent(var, alpha, delta):
    """Gradient descent: var -= alpha * delta.

    Inputs:
        - **var** (Parameter) - updated in place.
        - **alpha** (Union[Number, Tensor]) - a scalar.
        - **delta** (Tensor) - shape of `var`.

    Outputs:
        The variable, updated.
    """
    delta = check_slots("ApplyGradientDescent", ANY, var=var, delta=delta)
    return cast_like(var, var - as_scalar(alpha) * delta)


def proximal(point, rate, l1, l2):
    """Return argmin over x of l1 |x| + l2/2 x^2 + (x - point)^2 / (2 rate), by soft thresholding, then shrinking."""
    return jnp.sign(point) * jnp.maximum(jnp.abs(point) - rate * l1, 0) / (1 + l2 * rate)


@operator(writes=("var",))
@in_float32
def ApplyProximalGradientDescent(var, alpha, l1, l2, delta):
    """Gradient descent, followed by a proximal step for the penalty l1 |var| + l2/2 var^2.

    Inputs:
        - **var** (Parameter) - updated in place.
        - **alpha**, **l1**, **l2** (Union[Number, Tensor]) - scalars.
        - **delta** (Tensor) - shape of `var`.

    Outputs:
        The variable, updated.
    """
    delta = check_slots("ApplyProximalGradientDescent", var=var, delta=delta)
    alpha, l1, l2 = map(as_scalar, (alpha, l1, l2))
    return cast_like(var, proximal(var - alpha * delta, alpha, l1, l2))


@operator
@shapes("norm_weight norm_gradient weight_decay learning_rate: () | 1")
@in_float32
def LARSUpdate(
    weight,
    gradient,
    norm_weight,
    norm_gradient,
    weight_decay,
    learning_rate,
    *,
    epsilon: StrictFloat = 1e-5,
    hyperpara: StrictFloat = 0.001,
    use_clip: Bool = False,
):
    """Layer-wise adaptive rate scaling (arXiv:1708.03888): return the gradient with weight decay, times a trust ratio.

    Args:
        epsilon (float): added to the divisor. Default: 1e-5.
        hyperpara (float): trust coefficient. Default: 0.001.
        use_clip (bool): whether the ratio is divided by the learning rate and limited to 1. Default: False.

    Inputs:
        - **weight**, **gradient** (Tensor) - of the same shape.
        - **norm_weight**, **norm_gradient** (Tensor) - scalars, sums of squares.
        - **weight_decay**, **learning_rate** (Union[Number, Tensor]) - scalars.

    Outputs:
        Tensor, the new gradient.
    """
    gradient = check_slots("LARSUpdate", weight=weight, gradient=gradient)
    size, slope = jnp.sqrt(as_scalar(norm_weight)), jnp.sqrt(as_scalar(norm_gradient))
    decay, lr = as_scalar(weight_decay), as_scalar(learning_rate)
    ratio = hyperpara * size / (slope + decay * size + epsilon)
    ratio = jnp.where((size > 0) & (slope > 0), ratio, jnp.ones_like(ratio))
    if use_clip:
        ratio = jnp.minimum(ratio / lr, 1.0)
    return ((gradient + decay * weight) * ratio).astype(gradient.dtype)


@operator(writes=("variable", "accumulation"))
@in_float32
def FusedWeightScaleApplyMomentum(weight_decay, loss_scale, variable, accumulation, learning_rate, gradient, momentum):
    """Momentum with weight decay and a scaled gradient: g = gradient * scale + decay * v; a = a * momentum + g; v -= lr
    * a.

    Inputs:
        - **weight_decay**, **loss_scale** (Tensor) - scalars.
        - **variable**, **accumulation** (Parameter) - of the same shape; updated in place.
        - **learning_rate** (Union[Number, Tensor]) - a scalar.
        - **gradient** (Tensor) - shape of `variable`.
        - **momentum** (Union[Number, Tensor]) - a scalar.

    Outputs:
        The variable, updated.
    """
    gradient = check_slots(
        "FusedWeightScaleApplyMomentum", variable=variable, accumulation=accumulation, gradient=gradient
    )
    g = gradient * as_scalar(loss_scale) + as_scalar(weight_decay) * variable
    a = accumulation * as_scalar(momentum) + g
    return cast_like(variable, variable - as_scalar(learning_rate) * a, a)


@operator(writes=("var", "accum"), returns="written")
@shapes("lr momentum: () | 1")
@in_float32
def ApplyKerasMomentum(
    var,
    accum,
    lr,
    grad,
    momentum,
    *,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
    use_nesterov: Bool = False,
):
    """Momentum as in Keras: a = a * momentum - lr * g; v += a, or v += a * momentum - lr * g with Nesterov.

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.
        use_nesterov (bool): use Nesterov momentum. Default: False.

    Inputs:
        - **var**, **accum** (Parameter) - of the same shape; updated in place.
        - **lr** (Union[Number, Tensor]) - a scalar.
        - **grad** (Tensor) - shape of `var`.
        - **momentum** (Union[Number, Tensor]) - a scalar.

    Outputs:
        Tuple of `var` and `accum`, updated.
    """
    grad = check_slots("ApplyKerasMomentum", var=var, accum=accum, grad=grad)
    lr, momentum = as_scalar(lr), as_scalar(momentum)
    a = accum * momentum - lr * grad
    return cast_like(var, var + (a * momentum - lr * grad if use_nesterov else a), a)


CASES = [
    case(ApplyMomentum, F(3, 4), F(3, 4), 0.1, F(3, 4), 0.9),
    case(ApplyMomentum, F(3, 4), F(3, 4), Values(0.1), F(3, 4), Values(0.9)),
    case(SGD, F(2), F(2), Values(0.1), F(2), Values(0.9), Values([1.0, 1.0]), weight_decay=0.2, nesterov=True),
    case(SGD, F(2), F(2), Values(0.1), F(2), Values(0.9), Values([0.0, 0.0]), dampening=0.1, weight_decay=0.2),
    case(ApplyGradientDescent, F(3, 4), 0.1, F(3, 4)),
    case(ApplyProximalGradientDescent, F(3, 4), 0.1, 0.3, 0.2, F(3, 4)),
    case(LARSUpdate, F(3, 4), F(3, 4), Values(4.0), Values(2.0), Values(0.1), Values(0.5)),
    refused(ValueError, SGD, dampening=0.5, nesterov=True),
    case(FusedWeightScaleApplyMomentum, 0.1, 2.0, F(3, 4), F(3, 4), 0.1, F(3, 4), 0.9),
    case(ApplyKerasMomentum, F(3, 4), F(3, 4), Values(0.1), F(3, 4), Values(0.9)),
    case(ApplyKerasMomentum, F(3, 4), F(3, 4), Values(0.1), F(3, 4), Values(0.9), use_nesterov=True),
]
