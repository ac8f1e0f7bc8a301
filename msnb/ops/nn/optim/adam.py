"""Adam and variants: steps along a mean of gradients, divided by the root of a mean of squares."""

import jax.numpy as jnp

from msnb.common.kinds import Bool, Float, OneOf
from msnb.core.operator.cases import F, U, Values, case
from msnb.core.operator.declare import operator
from msnb.ops._check import NO_RACE
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.nn.optim._update import (
    ROWS_EXIST,
    as_scalar,
    cast_like,
    check_slots,
    read_rows,
    sum_duplicate_rows,
    write_rows,
)


def adam_rule(m, v, g, beta1, beta2, use_nesterov):
    """Return the new moments and the direction of the step, which is not yet divided by sqrt(v) or scaled by the
    learning rate.
    """
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    return m, v, (beta1 * m + (1 - beta1) * g if use_nesterov else m)


def adam_rate(lr, beta1_power, beta2_power):
    """Return the learning rate corrected for moments that start at zero."""
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
        use_locking (bool): no effect: updates here never race. Default: False.
        use_nesterov (bool): use Nesterov momentum. Default: False.

    Inputs:
        - **var**, **m**, **v** (Parameter) - of the same shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **gradient** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.
    """
    gradient = check_slots("Adam", var=var, m=m, v=v, gradient=gradient)
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = map(
        as_scalar, (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
    )
    m, v, direction = adam_rule(m, v, gradient, beta1, beta2, use_nesterov)
    step = adam_rate(lr, beta1_power, beta2_power) * direction / (jnp.sqrt(v) + epsilon)
    return cast_like(var, var - step, m, v)


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
    """Adam that returns the update of the variable instead of adding it.

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.
        use_nesterov (bool): use Nesterov momentum. Default: False.

    Inputs:
        - **m**, **v** (Parameter) - of the same shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **gradient** (Tensor) - shape of `m`.

    Outputs:
        Tensor, shape and type of `gradient`.
    """
    gradient = check_slots("AdamNoUpdateParam", m=m, v=v, gradient=gradient)
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = map(
        as_scalar, (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
    )
    new_m, new_v, direction = adam_rule(m, v, gradient, beta1, beta2, use_nesterov)
    step = -adam_rate(lr, beta1_power, beta2_power) * direction / (jnp.sqrt(new_v) + epsilon)
    return (*cast_like(m, new_m, new_v), step.astype(gradient.dtype))


@operator(writes=("var", "m", "v"), returns="written")
@in_float32
def AdamWeightDecay(
    var, m, v, lr, beta1, beta2, epsilon, decay, gradient, *, use_locking: OneOf(False, otherwise=NO_RACE) = False
):
    """Adam without bias correction and with decoupled weight decay (arXiv:1711.05101).

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **m**, **v** (Parameter) - of the same shape; updated in place.
        - **lr**, **beta1**, **beta2**, **epsilon**, **decay** (Union[Number, Tensor]) - scalars.
        - **gradient** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.
    """
    gradient = check_slots("AdamWeightDecay", var=var, m=m, v=v, gradient=gradient)
    lr, beta1, beta2, epsilon, decay = map(as_scalar, (lr, beta1, beta2, epsilon, decay))
    m, v, direction = adam_rule(m, v, gradient, beta1, beta2, False)
    return cast_like(var, var - lr * (direction / (jnp.sqrt(v) + epsilon) + decay * var), m, v)


@operator(writes=("var", "m", "v"), returns="written")
@in_float32
def ApplyAdaMax(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    """AdaMax (arXiv:1412.6980): v = max(beta2 * v, |g|); var -= lr / (1 - beta1^t) * m / (v + epsilon).

    Inputs:
        - **var**, **m**, **v** (Parameter) - of the same shape; updated in place.
        - **beta1_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.
    """
    grad = check_slots("ApplyAdaMax", var=var, m=m, v=v, grad=grad)
    beta1_power, lr, beta1, beta2, epsilon = map(as_scalar, (beta1_power, lr, beta1, beta2, epsilon))
    m = beta1 * m + (1 - beta1) * grad
    v = jnp.maximum(beta2 * v, jnp.abs(grad))
    return cast_like(var, var - lr / (1 - beta1_power) * m / (v + epsilon), m, v)


@operator(writes=("var", "m", "v"), returns="written", checks=ROWS_EXIST)
@shapes("beta1_power beta2_power lr beta1 beta2 epsilon: () | 1")
@in_float32
def FusedSparseAdam(
    var,
    m,
    v,
    beta1_power,
    beta2_power,
    lr,
    beta1,
    beta2,
    epsilon,
    grad,
    indices,
    *,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
    use_nesterov: Bool = False,
):
    """Adam for a sparse gradient. It updates all rows: those missing in `indices` have gradient 0.

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.
        use_nesterov (bool): use Nesterov momentum. Default: False.

    Inputs:
        - **var**, **m**, **v** (Parameter) - of the same shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.
    """
    sum_duplicate_rows("FusedSparseAdam", grad, indices, var=var, m=m, v=v)
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = map(
        as_scalar, (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
    )
    dense = jnp.zeros_like(var).at[indices].add(grad.astype(var.dtype), mode="drop", wrap_negative_indices=False)
    m, v, direction = adam_rule(m, v, dense, beta1, beta2, use_nesterov)
    return cast_like(var, var - adam_rate(lr, beta1_power, beta2_power) * direction / (jnp.sqrt(v) + epsilon), m, v)


@operator(writes=("var", "m", "v"), returns="written", checks=ROWS_EXIST)
@shapes("beta1_power beta2_power lr beta1 beta2 epsilon: () | 1")
@in_float32
def FusedSparseLazyAdam(
    var,
    m,
    v,
    beta1_power,
    beta2_power,
    lr,
    beta1,
    beta2,
    epsilon,
    grad,
    indices,
    *,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
    use_nesterov: Bool = False,
):
    """Adam for a sparse gradient. It updates only the rows in `indices` and their moments.

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.
        use_nesterov (bool): use Nesterov momentum. Default: False.

    Inputs:
        - **var**, **m**, **v** (Parameter) - of the same shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.
    """
    rows, g = sum_duplicate_rows("FusedSparseLazyAdam", grad, indices, var=var, m=m, v=v)
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = map(
        as_scalar, (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
    )
    new_m, new_v, direction = adam_rule(read_rows(m, rows), read_rows(v, rows), g, beta1, beta2, use_nesterov)
    step = adam_rate(lr, beta1_power, beta2_power) * direction / (jnp.sqrt(new_v) + epsilon)
    return write_rows(var, rows, read_rows(var, rows) - step), write_rows(m, rows, new_m), write_rows(v, rows, new_v)


_MOMENTS = F(3, 4), F(3, 4), U(3, 4, low=0.1)
_TABLES = F(6, 4), F(6, 4), U(6, 4, low=0.1)
_RATES = tuple(map(Values, (0.9, 0.999, 0.01, 0.9, 0.999, 1e-8)))


def _update_amsgrad(op, slots, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    var, m, v, vhat = slots.values()
    grad = check_slots(op, **slots, grad=grad)
    m, v = beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * grad * grad
    vhat = jnp.maximum(vhat, v)
    rate = adam_rate(as_scalar(lr), as_scalar(beta1_power), as_scalar(beta2_power))
    return cast_like(var, var - rate * m / (jnp.sqrt(vhat) + epsilon), m, v, vhat)


@operator(writes=("var", "m", "v", "vhat"), returns="written")
@shapes("beta1_power beta2_power lr: () | 1")
@in_float32
def ApplyAdamWithAmsgrad(
    var,
    m,
    v,
    vhat,
    beta1_power,
    beta2_power,
    lr,
    grad,
    *,
    beta1: Float = 0.9,
    beta2: Float = 0.999,
    epsilon: Float = 1e-8,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """Adam that divides by the largest second moment so far (AMSGrad, arXiv:1904.09237).

    Args:
        beta1 (float): decay rate of the first moment. Default: 0.9.
        beta2 (float): decay rate of the second moment. Default: 0.999.
        epsilon (float): added to the root, against division by 0. Default: 1e-8.
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **m**, **v**, **vhat** (Parameter) - of the same shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `m`, `v` and `vhat`, updated.
    """
    slots = {"var": var, "m": m, "v": v, "vhat": vhat}
    return _update_amsgrad("ApplyAdamWithAmsgrad", slots, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad)


@operator(writes=("var", "m", "v", "vhat"), returns="written")
@shapes("beta1_power beta2_power lr beta1 beta2 epsilon: () | 1")
@in_float32
def ApplyAdamWithAmsgradV2(
    var,
    m,
    v,
    vhat,
    beta1_power,
    beta2_power,
    lr,
    beta1,
    beta2,
    epsilon,
    grad,
    *,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """ApplyAdamWithAmsgrad with `beta1`, `beta2` and `epsilon` as inputs instead of attributes.

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **m**, **v**, **vhat** (Parameter) - of the same shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `m`, `v` and `vhat`, updated.
    """
    slots = {"var": var, "m": m, "v": v, "vhat": vhat}
    rates = map(as_scalar, (beta1, beta2, epsilon))
    return _update_amsgrad("ApplyAdamWithAmsgradV2", slots, beta1_power, beta2_power, lr, *rates, grad)


CASES = [
    case(Adam, *_MOMENTS, 0.9, 0.999, 0.01, 0.9, 0.999, 1e-8, F(3, 4)).results(),
    case(Adam, *_MOMENTS, 0.81, 0.99, 0.01, 0.9, 0.999, 1e-8, F(3, 4), use_nesterov=True).results(),
    case(AdamNoUpdateParam, *_MOMENTS[1:], 0.9, 0.999, 0.01, 0.9, 0.999, 1e-8, F(3, 4)),
    case(AdamWeightDecay, *_MOMENTS, 0.01, 0.9, 0.999, 1e-6, 0.1, F(3, 4)).results(),
    case(ApplyAdaMax, *_MOMENTS, 0.9, 0.01, 0.9, 0.99, 1e-8, F(3, 4)),
    case(FusedSparseAdam, *_TABLES, *_RATES, F(3, 4), Values([4, 1, 4])).results(),
    case(FusedSparseLazyAdam, *_TABLES, *_RATES, F(3, 4), Values([4, 1, 4])).results(),
    case(ApplyAdamWithAmsgrad, *_MOMENTS, U(3, 4), Values(0.9), Values(0.99), Values(0.01), F(3, 4)).results(),
    case(
        ApplyAdamWithAmsgradV2,
        *_MOMENTS,
        U(3, 4),
        *map(Values, (0.9, 0.99, 0.01, 0.9, 0.999, 1e-8)),
        F(3, 4),
    ).results(),
]
