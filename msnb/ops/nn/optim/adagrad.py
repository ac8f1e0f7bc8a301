"""Adagrad: steps divided by the root of the sum of squares, for dense gradients and for rows of a sparse one."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, OneOf, StrictFloat
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
from msnb.ops.nn.optim.momentum import proximal


@operator(writes=("var", "accum"), returns="written")
@in_float32
def ApplyAdagrad(var, accum, lr, grad, *, update_slots: Bool = True):
    """Adagrad: accum += g^2; var -= lr * g / sqrt(accum).

    Args:
        update_slots (bool): whether `accum` is updated. Default: True.

    Inputs:
        - **var**, **accum** (Parameter) - of the same shape; updated in place.
        - **lr** (Union[Number, Tensor]) - a scalar.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `accum`, updated.
    """
    grad = check_slots("ApplyAdagrad", var=var, accum=accum, grad=grad)
    if update_slots:
        accum = accum + grad * grad
    return cast_like(var, var - as_scalar(lr) * grad * lax.rsqrt(accum), accum)


@operator(writes=("var", "accum"), returns="written")
@in_float32
def ApplyAdagradV2(var, accum, lr, grad, *, epsilon: StrictFloat, update_slots: Bool = True):
    """Adagrad: accum += g^2; var -= lr * g / (sqrt(accum) + epsilon).

    Args:
        epsilon (float): added to the root.
        update_slots (bool): whether `accum` is updated. Default: True.

    Inputs:
        - **var**, **accum** (Parameter) - of the same shape; updated in place.
        - **lr** (Union[Number, Tensor]) - a scalar.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `accum`, updated.
    """
    grad = check_slots("ApplyAdagradV2", var=var, accum=accum, grad=grad)
    if update_slots:
        accum = accum + grad * grad
    return cast_like(var, var - as_scalar(lr) * grad / (jnp.sqrt(accum) + epsilon), accum)


def _update_sparse_adagrad(op, var, accum, grad, indices, lr, update_slots, epsilon=0.0):
    rows, g = sum_duplicate_rows(op, grad, indices, var=var, accum=accum)
    total = read_rows(accum, rows)
    if update_slots:
        total = total + g * g
    return write_rows(var, rows, read_rows(var, rows) - lr * g / (jnp.sqrt(total) + epsilon)), write_rows(
        accum, rows, total
    )


@operator(writes=("var", "accum"), returns="written", checks=ROWS_EXIST)
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
    """Adagrad on the rows in `indices`.

    Args:
        lr (float): learning rate.
        update_slots (bool): whether `accum` is updated. Default: True.
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **accum** (Parameter) - of the same shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var` and `accum`, updated.
    """
    return _update_sparse_adagrad("SparseApplyAdagrad", var, accum, grad, indices, lr, update_slots)


@operator(writes=("var", "accum"), returns="written", checks=ROWS_EXIST)
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
    """Adagrad on the rows in `indices`, with `epsilon` added to the root.

    Args:
        lr (float): learning rate.
        epsilon (float): added to the root.
        use_locking (bool): no effect: updates here never race. Default: False.
        update_slots (bool): whether `accum` is updated. Default: True.

    Inputs:
        - **var**, **accum** (Parameter) - of the same shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var` and `accum`, updated.
    """
    return _update_sparse_adagrad("SparseApplyAdagradV2", var, accum, grad, indices, lr, update_slots, epsilon)


@operator(writes=("var", "accum"), returns="written")
@in_float32
def ApplyProximalAdagrad(var, accum, lr, l1, l2, grad, *, use_locking: OneOf(False, otherwise=NO_RACE) = False):
    """Adagrad, followed by a proximal step for the penalty l1 |var| + l2/2 var^2.

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **accum** (Parameter) - of the same shape; updated in place.
        - **lr**, **l1**, **l2** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `accum`, updated.
    """
    grad = check_slots("ApplyProximalAdagrad", var=var, accum=accum, grad=grad)
    lr, l1, l2 = map(as_scalar, (lr, l1, l2))
    accum = accum + grad * grad
    rate = lr * lax.rsqrt(accum)
    return cast_like(var, proximal(var - rate * grad, rate, l1, l2), accum)


def _update_sparse_proximal_adagrad(op, var, accum, lr, l1, l2, grad, indices):
    rows, g = sum_duplicate_rows(op, grad, indices, var=var, accum=accum)
    lr, l1, l2 = map(as_scalar, (lr, l1, l2))
    total = read_rows(accum, rows) + g * g
    rate = lr * lax.rsqrt(total)
    return write_rows(var, rows, proximal(read_rows(var, rows) - rate * g, rate, l1, l2)), write_rows(
        accum, rows, total
    )


@operator(writes=("var", "accum"), returns="written", checks=ROWS_EXIST)
@shapes("lr l1 l2: () | 1")
@in_float32
def FusedSparseProximalAdagrad(
    var, accum, lr, l1, l2, grad, indices, *, use_locking: OneOf(False, otherwise=NO_RACE) = False
):
    """Adagrad and a proximal step on the rows in `indices`.

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **accum** (Parameter) - of the same shape; updated in place.
        - **lr**, **l1**, **l2** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var` and `accum`, updated.
    """
    return _update_sparse_proximal_adagrad("FusedSparseProximalAdagrad", var, accum, lr, l1, l2, grad, indices)


@operator(writes=("var", "accum"), returns="written", checks=ROWS_EXIST)
@shapes("lr l1 l2: () | 1")
@in_float32
def SparseApplyProximalAdagrad(
    var, accum, lr, l1, l2, grad, indices, *, use_locking: OneOf(False, otherwise=NO_RACE) = False
):
    """Adagrad and a proximal step on the rows in `indices`.

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **accum** (Parameter) - of the same shape; updated in place.
        - **lr**, **l1**, **l2** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var` and `accum`, updated.
    """
    return _update_sparse_proximal_adagrad("SparseApplyProximalAdagrad", var, accum, lr, l1, l2, grad, indices)


_RATES = Values(0.1), Values(0.3), Values(0.2)

CASES = [
    case(ApplyAdagrad, F(3, 4), U(3, 4), 0.1, F(3, 4)),
    case(ApplyAdagradV2, F(3, 4), U(3, 4), 0.1, F(3, 4), epsilon=1e-3),
    case(ApplyAdagradV2, F(3, 4), U(3, 4), 0.1, F(3, 4), epsilon=1e-3, update_slots=False),
    case(SparseApplyAdagrad, F(6, 4), U(6, 4), F(2, 4), Values([4, 1]), lr=0.1),
    case(SparseApplyAdagradV2, F(6, 4), U(6, 4), F(2, 4), Values([4, 1]), lr=0.1, epsilon=1e-3).within(3e-4),
    case(ApplyProximalAdagrad, F(3, 4), U(3, 4), 0.1, 0.3, 0.2, F(3, 4)),
    case(FusedSparseProximalAdagrad, F(6, 4), U(6, 4), *_RATES, F(3, 4), Values([4, 1, 4])).results(),
    case(SparseApplyProximalAdagrad, F(6, 4), U(6, 4), *_RATES, F(2, 4), Values([4, 1])),
]
