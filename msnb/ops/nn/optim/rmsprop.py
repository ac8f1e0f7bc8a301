"""RMSProp and Adadelta: steps divided by the root of a running mean of squares."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import OneOf, StrictFloat
from msnb.core.operator.cases import F, U, Values, case
from msnb.core.operator.declare import operator
from msnb.ops._check import NO_RACE
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
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **mean_square**, **moment** (Parameter) - of the same shape; updated in place.
        - **learning_rate** (Union[Number, Tensor]) - a scalar.
        - **grad** (Tensor) - shape of `var`.
        - **decay**, **momentum**, **epsilon** (float) - scalars.

    Outputs:
        The variable, updated.
    """
    grad = check_slots("ApplyRMSProp", var=var, mean_square=mean_square, moment=moment, grad=grad)
    lr, decay, momentum, epsilon = map(as_scalar, (learning_rate, decay, momentum, epsilon))
    s = decay * mean_square + (1 - decay) * grad * grad
    m = momentum * moment + lr * grad * lax.rsqrt(s + epsilon)
    return cast_like(var, var - m, s, m)


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
    """RMSProp that divides by the standard deviation of the gradient: sqrt(mean of g^2 - (mean of g)^2 + epsilon).

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **mean_gradient**, **mean_square**, **moment** (Parameter) - of the same shape; updated in place.
        - **grad** (Tensor) - shape of `var`.
        - **learning_rate**, **decay**, **momentum**, **epsilon** (Union[Number, Tensor]) - scalars.

    Outputs:
        The variable, updated.
    """
    grad = check_slots(
        "ApplyCenteredRMSProp", var=var, mean_gradient=mean_gradient, mean_square=mean_square, moment=moment, grad=grad
    )
    lr, decay, momentum, epsilon = map(as_scalar, (learning_rate, decay, momentum, epsilon))
    mean = decay * mean_gradient + (1 - decay) * grad
    square = decay * mean_square + (1 - decay) * grad * grad
    m = momentum * moment + lr * grad * lax.rsqrt(square - mean * mean + epsilon)
    return cast_like(var, var - m, mean, square, m)


@operator(writes=("var", "accum", "accum_update"), returns="written")
@in_float32
def ApplyAdadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    """Adadelta (arXiv:1212.5701): the step is g * sqrt(accum_update + epsilon) / sqrt(accum + epsilon).

    Inputs:
        - **var**, **accum**, **accum_update** (Parameter) - of the same shape; updated in place.
        - **lr**, **rho**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var`, `accum` and `accum_update`, updated.
    """
    grad = check_slots("ApplyAdadelta", var=var, accum=accum, accum_update=accum_update, grad=grad)
    lr, rho, epsilon = map(as_scalar, (lr, rho, epsilon))
    accum = rho * accum + (1 - rho) * grad * grad
    step = jnp.sqrt(accum_update + epsilon) * lax.rsqrt(accum + epsilon) * grad
    accum_update = rho * accum_update + (1 - rho) * step * step
    return cast_like(var, var - lr * step, accum, accum_update)


@operator(writes=("var", "accum", "accum_update"), returns="written", checks=ROWS_EXIST, generation=2)
@in_float32
def SparseApplyAdadelta(
    var,
    accum,
    accum_update,
    lr,
    rho,
    grad,
    indices,
    *,
    epsilon: StrictFloat,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """Adadelta on the rows in `indices`, see `ApplyAdadelta`.

    Args:
        epsilon (float): added below both roots.
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **accum**, **accum_update** (Parameter) - of the same shape; updated in place.
        - **lr**, **rho** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `accum` and `accum_update`, updated.
    """
    slots = {"var": var, "accum": accum, "accum_update": accum_update}
    rows, summed = sum_duplicate_rows("SparseApplyAdadelta", grad, indices, **slots)
    lr, rho = map(as_scalar, (lr, rho))
    old, mean, steps = (read_rows(slot, rows) for slot in slots.values())
    mean = rho * mean + (1 - rho) * summed * summed
    step = jnp.sqrt(steps + epsilon) * lax.rsqrt(mean + epsilon) * summed
    updated = old - lr * step, mean, rho * steps + (1 - rho) * step * step
    return tuple(write_rows(slot, rows, value) for slot, value in zip(slots.values(), updated, strict=True))


@operator(writes=("var", "ms", "mom"), returns="written", checks=ROWS_EXIST, generation=2)
@in_float32
def SparseApplyRMSProp(
    var,
    ms,
    mom,
    lr,
    grad,
    indices,
    *,
    rho: StrictFloat,
    momentum: StrictFloat,
    epsilon: StrictFloat,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """RMSProp with momentum on the rows in `indices`: ms = rho * ms + (1 - rho) * g^2; mom = momentum * mom + lr * g /
    sqrt(ms + epsilon); var -= mom.

    Args:
        rho (float): decay rate of `ms`.
        momentum (float): decay rate of `mom`.
        epsilon (float): added below the root.
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **ms**, **mom** (Parameter) - of the same shape; updated in place.
        - **lr** (Union[Number, Tensor]) - a scalar.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `ms` and `mom`, updated.
    """
    slots = {"var": var, "ms": ms, "mom": mom}
    rows, summed = sum_duplicate_rows("SparseApplyRMSProp", grad, indices, **slots)
    old, mean, step = (read_rows(slot, rows) for slot in slots.values())
    mean = rho * mean + (1 - rho) * summed * summed
    step = momentum * step + as_scalar(lr) * summed * lax.rsqrt(mean + epsilon)
    updated = old - step, mean, step
    return tuple(write_rows(slot, rows, value) for slot, value in zip(slots.values(), updated, strict=True))


CASES = [
    case(ApplyRMSProp, F(3, 4), U(3, 4), F(3, 4), 0.1, F(3, 4), 0.9, 0.5, 1e-3).within(3e-4).results(),
    case(
        ApplyCenteredRMSProp, F(3, 4), U(3, 4, high=0.1), U(3, 4, low=0.5), F(3, 4), F(3, 4), 0.1, 0.9, 0.5, 1e-3
    ).results(),
    case(ApplyAdadelta, F(3, 4), U(3, 4), U(3, 4), 0.1, 0.9, 1e-3, F(3, 4)),
    case(
        SparseApplyAdadelta, F(3, 2), U(3, 2), U(3, 2), 0.1, 0.9, F(3, 2), Values([2, 0, 1], "int32"), epsilon=1e-3
    ).without("mindspore", "the CPU has no kernel"),
    case(
        SparseApplyRMSProp,
        *(F(3, 2), U(3, 2), F(3, 2), 0.1, F(3, 2), Values([2, 0, 1], "int32")),
        rho=0.9,
        momentum=0.5,
        epsilon=1e-3,
    ),
]
