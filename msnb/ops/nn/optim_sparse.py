"""Update rules that touch only the rows a sparse gradient names. Gradients of a row named twice are summed first."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, ConstantAt, OneOf, StrictFloat
from msnb.core.checks import index
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops._check import NO_RACE
from msnb.ops._half import in_float32
from msnb.ops.nn._kinds import AboveZero, LrPower, NonNegFloat
from msnb.ops.nn.optim import adam_rate, adam_rule, ftrl_rule, like, proximal, same_shapes, scalar

_CHECKS = [index("indices", of="var", negative=False)]


def _rows(op, grad, indices, **slots):
    """The named rows, each once (the spare places point behind the last row), and their summed gradients."""
    same_shapes(op, **slots)
    var = next(iter(slots.values()))
    _check.dtype_in(op, "grad", grad, _check.FLOAT)
    _check.dtype_in(op, "indices", indices, _check.INDEX)
    _check.rank(op, "indices", indices, 1)
    if tuple(grad.shape) != (indices.shape[0], *var.shape[1:]):
        raise ValueError(
            f"For '{op}', 'grad' should have shape {(indices.shape[0], *var.shape[1:])}, a row for each "
            f"of the 'indices', but got {grad.shape}."
        )
    indices = jnp.where(indices < 0, var.shape[0], indices)  # no row either
    rows, place = jnp.unique(indices, return_inverse=True, size=indices.shape[0], fill_value=var.shape[0])
    summed = jnp.zeros_like(grad).at[place.reshape(-1)].add(grad)
    return rows, summed


def _put(slot, rows, values):
    return slot.at[rows].set(values.astype(slot.dtype), mode="drop")


def _take(slot, rows):
    return jnp.take(slot, rows, axis=0, mode="clip")


@operator(writes=("var", "m", "v"), returns="written", checks=_CHECKS)
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
    """Adam for a sparse gradient: moments of all rows decay and all rows move, as if missing rows had gradient 0.

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.
        use_nesterov (bool): whether the step looks ahead. Default: False.

    Inputs:
        - **var**, **m**, **v** (Parameter) - one shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _rows("FusedSparseAdam", grad, indices, var=var, m=m, v=v)
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = map(
        scalar, (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
    )
    dense = jnp.zeros_like(var).at[indices].add(grad.astype(var.dtype), mode="drop", wrap_negative_indices=False)
    m, v, direction = adam_rule(m, v, dense, beta1, beta2, use_nesterov)
    return like(var, var - adam_rate(lr, beta1_power, beta2_power) * direction / (jnp.sqrt(v) + epsilon), m, v)


@operator(writes=("var", "m", "v"), returns="written", checks=_CHECKS)
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
    """Adam that leaves rows without a gradient, and their moments, as they are.

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.
        use_nesterov (bool): whether the step looks ahead. Default: False.

    Inputs:
        - **var**, **m**, **v** (Parameter) - one shape; updated in place.
        - **beta1_power**, **beta2_power**, **lr**, **beta1**, **beta2**, **epsilon** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `m` and `v`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    rows, g = _rows("FusedSparseLazyAdam", grad, indices, var=var, m=m, v=v)
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = map(
        scalar, (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
    )
    new_m, new_v, direction = adam_rule(_take(m, rows), _take(v, rows), g, beta1, beta2, use_nesterov)
    step = adam_rate(lr, beta1_power, beta2_power) * direction / (jnp.sqrt(new_v) + epsilon)
    return _put(var, rows, _take(var, rows) - step), _put(m, rows, new_m), _put(v, rows, new_v)


def _sparse_ftrl(op, var, accum, linear, grad, indices, lr, l1, l2, lr_power, shrinkage=0.0):
    rows, g = _rows(op, grad, indices, var=var, accum=accum, linear=linear)
    new = ftrl_rule(_take(var, rows), _take(accum, rows), _take(linear, rows), g, lr, l1, l2, lr_power, shrinkage)
    return tuple(_put(slot, rows, n) for slot, n in zip((var, accum, linear), new, strict=True))


@operator(writes=("var", "accum", "linear"), returns="written", checks=_CHECKS)
@in_float32
def FusedSparseFtrl(
    var,
    accum,
    linear,
    grad,
    indices,
    *,
    lr: AboveZero,
    l1: NonNegFloat,
    l2: NonNegFloat,
    lr_power: LrPower,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """FTRL-proximal on the named rows.

    Args:
        lr (float): learning rate, positive.
        l1 (float): L1 strength, at least 0.
        l2 (float): L2 strength, at least 0.
        lr_power (float): how the rate falls, at most 0.
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **accum**, **linear** (Parameter) - one shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `accum` and `linear`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _sparse_ftrl("FusedSparseFtrl", var, accum, linear, grad, indices, lr, l1, l2, lr_power)


@operator(writes=("var", "accum", "linear"), returns="written", checks=_CHECKS)
@in_float32
def SparseApplyFtrl(
    var,
    accum,
    linear,
    grad,
    indices,
    *,
    lr: AboveZero,
    l1: NonNegFloat,
    l2: NonNegFloat,
    lr_power: LrPower,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """FTRL-proximal on the named rows.

    Args:
        lr (float): learning rate, positive.
        l1 (float): L1 strength, at least 0.
        l2 (float): L2 strength, at least 0.
        lr_power (float): how the rate falls, at most 0.
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **accum**, **linear** (Parameter) - one shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `accum` and `linear`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _sparse_ftrl("SparseApplyFtrl", var, accum, linear, grad, indices, lr, l1, l2, lr_power)


@operator(writes=("var", "accum", "linear"), returns="written", checks=_CHECKS)
@in_float32
def SparseApplyFtrlV2(
    var,
    accum,
    linear,
    grad,
    indices,
    *,
    lr: AboveZero,
    l1: NonNegFloat,
    l2: NonNegFloat,
    l2_shrinkage: ConstantAt(StrictFloat, 0.0),
    lr_power: LrPower,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """FTRL-proximal on the named rows, with an L2 shrinkage of the gradient.

    Args:
        lr (float): learning rate, positive.
        l1 (float): L1 strength, at least 0.
        l2 (float): L2 strength, at least 0.
        l2_shrinkage (float): weight of the variable added to the gradient.
        lr_power (float): how the rate falls, at most 0.
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **accum**, **linear** (Parameter) - one shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `accum` and `linear`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _sparse_ftrl("SparseApplyFtrlV2", var, accum, linear, grad, indices, lr, l1, l2, lr_power, l2_shrinkage)


def _sparse_proximal(op, var, accum, lr, l1, l2, grad, indices):
    rows, g = _rows(op, grad, indices, var=var, accum=accum)
    lr, l1, l2 = map(scalar, (lr, l1, l2))
    total = _take(accum, rows) + g * g
    rate = lr * lax.rsqrt(total)
    return _put(var, rows, proximal(_take(var, rows) - rate * g, rate, l1, l2)), _put(accum, rows, total)


@operator(writes=("var", "accum"), returns="written", checks=_CHECKS)
@in_float32
def FusedSparseProximalAdagrad(
    var, accum, lr, l1, l2, grad, indices, *, use_locking: OneOf(False, otherwise=NO_RACE) = False
):
    """Adagrad and a proximal step on the named rows.

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **accum** (Parameter) - one shape; updated in place.
        - **lr**, **l1**, **l2** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var` and `accum`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _sparse_proximal("FusedSparseProximalAdagrad", var, accum, lr, l1, l2, grad, indices)


@operator(writes=("var", "accum"), returns="written", checks=_CHECKS)
@in_float32
def SparseApplyProximalAdagrad(
    var, accum, lr, l1, l2, grad, indices, *, use_locking: OneOf(False, otherwise=NO_RACE) = False
):
    """Adagrad and a proximal step on the named rows.

    Args:
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **accum** (Parameter) - one shape; updated in place.
        - **lr**, **l1**, **l2** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var` and `accum`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _sparse_proximal("SparseApplyProximalAdagrad", var, accum, lr, l1, l2, grad, indices)


def _sparse_adagrad(op, var, accum, grad, indices, lr, update_slots, epsilon=0.0):
    rows, g = _rows(op, grad, indices, var=var, accum=accum)
    total = _take(accum, rows)
    if update_slots:
        total = total + g * g
    return _put(var, rows, _take(var, rows) - lr * g / (jnp.sqrt(total) + epsilon)), _put(accum, rows, total)


@operator(writes=("var", "accum"), returns="written", checks=_CHECKS)
@in_float32
def SparseApplyAdagrad(
    var,
    accum,
    grad,
    indices,
    *,
    lr: StrictFloat,
    update_slots: Bool = True,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
):
    """Adagrad on the named rows.

    Args:
        lr (float): learning rate.
        update_slots (bool): whether `accum` changes. Default: True.
        use_locking (bool): no effect: updates here never interleave. Default: False.

    Inputs:
        - **var**, **accum** (Parameter) - one shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var` and `accum`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _sparse_adagrad("SparseApplyAdagrad", var, accum, grad, indices, lr, update_slots)


@operator(writes=("var", "accum"), returns="written", checks=_CHECKS)
@in_float32
def SparseApplyAdagradV2(
    var,
    accum,
    grad,
    indices,
    *,
    lr: StrictFloat,
    epsilon: StrictFloat,
    use_locking: OneOf(False, otherwise=NO_RACE) = False,
    update_slots: Bool = True,
):
    """Adagrad on the named rows, with `epsilon` added to the root.

    Args:
        lr (float): learning rate.
        epsilon (float): added to the root.
        use_locking (bool): no effect: updates here never interleave. Default: False.
        update_slots (bool): whether `accum` changes. Default: True.

    Inputs:
        - **var**, **accum** (Parameter) - one shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var` and `accum`, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _sparse_adagrad("SparseApplyAdagradV2", var, accum, grad, indices, lr, update_slots, epsilon)
