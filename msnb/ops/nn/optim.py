"""Update rules of the optimizers. Each writes the variable and its slots in place."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, ConstantAt, Float, OneOf, StrictFloat, is_constant
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops._check import NO_RACE
from msnb.ops._half import in_float32
from msnb.ops.nn._variant import refuse


def scalar(x):
    """A learning rate and the like, which may come as a Tensor of one element, as a scalar."""
    x = jnp.asarray(x)
    return x.reshape(()) if x.size == 1 else x


def like(var, *values):
    """`values` in the type of the variable: slots and variable keep their types."""
    return tuple(v.astype(var.dtype) for v in values)


def same_shapes(op, **arrays):
    """Raise unless a variable, its slots and its gradient have one shape and a float type."""
    _check.same_shape(op, **arrays)
    for name, x in arrays.items():
        _check.dtype_in(op, name, x, _check.FLOAT)


@operator(writes=("variable", "accumulation"))
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
        use_nesterov (bool): whether to look ahead. Default: False.
        use_locking (bool): no effect: updates here never interleave. Default: False.
        gradient_scale (float): multiplies the gradient. Default: 1.0.

    Inputs:
        - **variable**, **accumulation** (Parameter) - one shape; updated in place.
        - **learning_rate** (Union[Number, Tensor]) - a scalar.
        - **gradient** (Tensor) - shape of `variable`.
        - **momentum** (Union[Number, Tensor]) - a scalar.

    Outputs:
        The variable, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyMomentum", variable=variable, accumulation=accumulation, gradient=gradient)
    lr, momentum = scalar(learning_rate), scalar(momentum)
    if not is_constant(gradient_scale, 1.0):
        gradient = gradient * gradient_scale
    a = accumulation * momentum + gradient
    step = gradient * lr + a * momentum * lr if use_nesterov else a * lr
    return like(variable, variable - step, a)


def adam_rule(m, v, g, beta1, beta2, use_nesterov):
    """New moments and the direction of the step, without learning rate and root."""
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    return m, v, (beta1 * m + (1 - beta1) * g if use_nesterov else m)


def adam_rate(lr, beta1_power, beta2_power):
    """Learning rate corrected for the moments' start at zero."""
    return lr * jnp.sqrt(1 - beta2_power) / (1 - beta1_power)


@operator(writes=("var", "m", "v"), returns="written")
@in_float32
def Adam(
    var,
    m,
    v,
    beta1_power,
    beta2_power,
    lr,
    beta1,
    beta2,
    epsilon,
    gradient,
    *,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
    use_nesterov: Bool = False,
):
    """Adam (arXiv:1412.6980): var -= lr * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon).

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.
        use_nesterov (bool): whether the step looks ahead. Default: False.

    Inputs:
        - **var**, **m**, **v** (Parameter) - one shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **gradient** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("Adam", var=var, m=m, v=v, gradient=gradient)
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = map(
        scalar, (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
    )
    m, v, direction = adam_rule(m, v, gradient, beta1, beta2, use_nesterov)
    step = adam_rate(lr, beta1_power, beta2_power) * direction / (jnp.sqrt(v) + epsilon)
    return like(var, var - step, m, v)


@operator(writes=("m", "v"))
@in_float32
def AdamNoUpdateParam(
    m,
    v,
    beta1_power,
    beta2_power,
    lr,
    beta1,
    beta2,
    epsilon,
    gradient,
    *,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
    use_nesterov: Bool = False,
):
    """Adam that returns what is to be added to the variable instead of adding it.

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.
        use_nesterov (bool): whether the step looks ahead. Default: False.

    Inputs:
        - **m**, **v** (Parameter) - one shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **gradient** (Tensor) - shape of `m`.

    Outputs:
        Tensor, shape and type of `gradient`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("AdamNoUpdateParam", m=m, v=v, gradient=gradient)
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = map(
        scalar, (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
    )
    new_m, new_v, direction = adam_rule(m, v, gradient, beta1, beta2, use_nesterov)
    step = -adam_rate(lr, beta1_power, beta2_power) * direction / (jnp.sqrt(new_v) + epsilon)
    return (*like(m, new_m, new_v), step.astype(gradient.dtype))


@operator(writes=("var", "m", "v"), returns="written")
@in_float32
def AdamWeightDecay(
    var, m, v, lr, beta1, beta2, epsilon, decay, gradient, *, use_locking: OneOf(False, otherwise=NO_RACE) = False
):
    """Adam without bias correction and with decoupled weight decay (arXiv:1711.05101).

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **m**, **v** (Parameter) - one shape; updated in place.
        - **lr**, **beta1**, **beta2**, **epsilon**, **decay** (Union[Number, Tensor]) - scalars.
        - **gradient** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("AdamWeightDecay", var=var, m=m, v=v, gradient=gradient)
    lr, beta1, beta2, epsilon, decay = map(scalar, (lr, beta1, beta2, epsilon, decay))
    m, v, direction = adam_rule(m, v, gradient, beta1, beta2, False)
    return like(var, var - lr * (direction / (jnp.sqrt(v) + epsilon) + decay * var), m, v)


@operator(writes=("parameters", "accum", "stat"))
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
        dampening (float): share of the gradient kept out of the momentum. Default: 0.0.
        weight_decay (float): L2 penalty, added to the gradient. Default: 0.0.
        nesterov (bool): whether to look ahead; needs dampening 0. Default: False.

    Inputs:
        - **parameters**, **accum**, **stat** (Parameter) - one shape; updated in place. `stat` is positive before the
          first step.
        - **gradient** (Tensor) - shape of `parameters`.
        - **learning_rate**, **momentum** (Union[Number, Tensor]) - scalars.

    Outputs:
        The parameters, updated.

    Raises:
        ValueError: If `nesterov` is True and `dampening` is not 0.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("SGD", parameters=parameters, gradient=gradient, accum=accum, stat=stat)
    lr, momentum = scalar(learning_rate), scalar(momentum)
    g = gradient if is_constant(weight_decay, 0.0) else gradient + weight_decay * parameters
    a = jnp.where(stat > 0, g, momentum * accum + (1 - dampening) * g)
    step = g + momentum * a if nesterov else a
    a, step = jnp.where(momentum != 0, a, accum), jnp.where(momentum != 0, step, g)
    return (*like(parameters, parameters - lr * step, a), jnp.zeros_like(stat))


def _check_sgd(attributes):
    if attributes["nesterov"] and attributes["dampening"] != 0:
        raise ValueError(f"For 'SGD', 'dampening' should be 0 with nesterov=True, but got {attributes['dampening']}.")


refuse("SGD", _check_sgd)


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


def ftrl_rule(var, accum, linear, g, lr, l1, l2, lr_power, shrinkage=0.0):
    """One step of FTRL-proximal (McMahan et al., 2013): new variable, accumulator and linear term."""
    total = accum + g * g
    if not is_constant(shrinkage, 0.0):
        g = g + 2 * shrinkage * var
    power, before = total**-lr_power, accum**-lr_power
    linear = linear + g - (power - before) / lr * var
    quadratic = power / lr + 2 * l2
    shrunk = (jnp.sign(linear) * l1 - linear) / quadratic
    return jnp.where(jnp.abs(linear) > l1, shrunk, jnp.zeros_like(shrunk)), total, linear


@operator(writes=("var", "accum", "linear"))
@in_float32
def ApplyFtrl(var, accum, linear, grad, lr, l1, l2, lr_power, *, use_locking: OneOf(False, otherwise=NO_RACE) = False):
    """FTRL-proximal.

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **accum**, **linear** (Parameter) - one shape; updated in place.
        - **grad** (Tensor) - shape of `var`.
        - **lr**, **l1**, **l2**, **lr_power** (Union[Number, Tensor]) - scalars; `lr_power` at most 0.

    Outputs:
        The variable, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyFtrl", var=var, accum=accum, linear=linear, grad=grad)
    lr, l1, l2, lr_power = map(scalar, (lr, l1, l2, lr_power))
    return like(var, *ftrl_rule(var, accum, linear, grad, lr, l1, l2, lr_power))


@operator(writes=("var", "accum"), returns="written")
@in_float32
def ApplyAdagrad(var, accum, lr, grad, *, update_slots: Bool = True):
    """Adagrad: accum += g^2; var -= lr * g / sqrt(accum).

    Args:
        update_slots (bool): whether `accum` changes. Default: True.

    Inputs:
        - **var**, **accum** (Parameter) - one shape; updated in place.
        - **lr** (Union[Number, Tensor]) - a scalar.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `accum`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyAdagrad", var=var, accum=accum, grad=grad)
    if update_slots:
        accum = accum + grad * grad
    return like(var, var - scalar(lr) * grad * lax.rsqrt(accum), accum)


@operator(writes=("var", "accum"), returns="written")
@in_float32
def ApplyAdagradV2(var, accum, lr, grad, *, epsilon: StrictFloat, update_slots: Bool = True):
    """Adagrad: accum += g^2; var -= lr * g / (sqrt(accum) + epsilon).

    Args:
        epsilon (float): added to the root.
        update_slots (bool): whether `accum` changes. Default: True.

    Inputs:
        - **var**, **accum** (Parameter) - one shape; updated in place.
        - **lr** (Union[Number, Tensor]) - a scalar.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `accum`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyAdagradV2", var=var, accum=accum, grad=grad)
    if update_slots:
        accum = accum + grad * grad
    return like(var, var - scalar(lr) * grad / (jnp.sqrt(accum) + epsilon), accum)


def proximal(point, rate, l1, l2):
    """argmin of l1 |x| + l2/2 x^2 + (x - point)^2 / (2 rate): soft thresholding, then shrinking."""
    return jnp.sign(point) * jnp.maximum(jnp.abs(point) - rate * l1, 0) / (1 + l2 * rate)


@operator(writes=("var", "accum"), returns="written")
@in_float32
def ApplyProximalAdagrad(var, accum, lr, l1, l2, grad, *, use_locking: OneOf(False, otherwise=NO_RACE) = False):
    """Adagrad followed by a proximal step for l1 |var| + l2/2 var^2.

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **accum** (Parameter) - one shape; updated in place.
        - **lr**, **l1**, **l2** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `accum`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyProximalAdagrad", var=var, accum=accum, grad=grad)
    lr, l1, l2 = map(scalar, (lr, l1, l2))
    accum = accum + grad * grad
    rate = lr * lax.rsqrt(accum)
    return like(var, proximal(var - rate * grad, rate, l1, l2), accum)


@operator(writes=("var", "m", "v"), returns="written")
@in_float32
def ApplyAdaMax(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    """AdaMax (arXiv:1412.6980): v = max(beta2 * v, |g|); var -= lr / (1 - beta1^t) * m / (v + epsilon).

    Inputs:
        - **var**, **m**, **v** (Parameter) - one shape; updated in place.
        - **beta1_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyAdaMax", var=var, m=m, v=v, grad=grad)
    beta1_power, lr, beta1, beta2, epsilon = map(scalar, (beta1_power, lr, beta1, beta2, epsilon))
    m = beta1 * m + (1 - beta1) * grad
    v = jnp.maximum(beta2 * v, jnp.abs(grad))
    return like(var, var - lr / (1 - beta1_power) * m / (v + epsilon), m, v)


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


@operator(writes=("var", "m"), returns="written")
@in_float32
def ApplyAddSign(var, m, lr, alpha, sign_decay, beta, grad):
    """AddSign (arXiv:1709.07417): var -= lr * (alpha + sign_decay * sign(g) * sign(m)) * g.

    Inputs:
        - **var**, **m** (Parameter) - one shape; updated in place.
        - **lr**, **alpha**, **sign_decay**, **beta** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `m`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyAddSign", var=var, m=m, grad=grad)
    lr, alpha, sign_decay, beta = map(scalar, (lr, alpha, sign_decay, beta))
    m = beta * m + (1 - beta) * grad
    return like(var, var - lr * (alpha + sign_decay * jnp.sign(grad) * jnp.sign(m)) * grad, m)


@operator(writes=("var", "m"), returns="written")
@in_float32
def ApplyPowerSign(var, m, lr, logbase, sign_decay, beta, grad):
    """PowerSign (arXiv:1709.07417): var -= lr * exp(logbase * sign_decay * sign(g) * sign(m)) * g.

    Inputs:
        - **var**, **m** (Parameter) - one shape; updated in place.
        - **lr**, **logbase**, **sign_decay**, **beta** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `m`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyPowerSign", var=var, m=m, grad=grad)
    lr, logbase, sign_decay, beta = map(scalar, (lr, logbase, sign_decay, beta))
    m = beta * m + (1 - beta) * grad
    return like(var, var - lr * jnp.exp(logbase * sign_decay * jnp.sign(grad) * jnp.sign(m)) * grad, m)


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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyGradientDescent", var=var, delta=delta)
    return like(var, var - scalar(alpha) * delta)


@operator(writes=("var",))
@in_float32
def ApplyProximalGradientDescent(var, alpha, l1, l2, delta):
    """Gradient descent followed by a proximal step for l1 |var| + l2/2 var^2.

    Inputs:
        - **var** (Parameter) - updated in place.
        - **alpha**, **l1**, **l2** (Union[Number, Tensor]) - scalars.
        - **delta** (Tensor) - shape of `var`.

    Outputs:
        The variable, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("ApplyProximalGradientDescent", var=var, delta=delta)
    alpha, l1, l2 = map(scalar, (alpha, l1, l2))
    return like(var, proximal(var - alpha * delta, alpha, l1, l2))


@operator
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
    """Layer-wise adaptive rate scaling (arXiv:1708.03888): the gradient, decayed and scaled by a trust ratio.

    Args:
        epsilon (float): added to the divisor. Default: 1e-5.
        hyperpara (float): trust coefficient. Default: 0.001.
        use_clip (bool): whether the ratio is divided by the learning rate and kept below 1. Default: False.

    Inputs:
        - **weight**, **gradient** (Tensor) - one shape.
        - **norm_weight**, **norm_gradient** (Tensor) - scalars, sums of squares.
        - **weight_decay**, **learning_rate** (Union[Number, Tensor]) - scalars.

    Outputs:
        Tensor, the new gradient.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_shapes("LARSUpdate", weight=weight, gradient=gradient)
    size, slope = jnp.sqrt(scalar(norm_weight)), jnp.sqrt(scalar(norm_gradient))
    decay, lr = scalar(weight_decay), scalar(learning_rate)
    ratio = hyperpara * size / (slope + decay * size + epsilon)
    ratio = jnp.where((size > 0) & (slope > 0), ratio, jnp.ones_like(ratio))
    if use_clip:
        ratio = jnp.minimum(ratio / lr, 1.0)
    return ((gradient + decay * weight) * ratio).astype(gradient.dtype)
