"""FTRL ("follow the regularized leader"), for dense gradients and for rows of a sparse one."""

import jax.numpy as jnp

from msnb.common.kinds import ConstantAt, OneOf, StrictFloat, is_constant
from msnb.core.operator.cases import F, U, Values, case
from msnb.core.operator.declare import operator
from msnb.ops._check import NO_RACE
from msnb.ops._upcast import in_float32
from msnb.ops.nn._kinds import AboveZero, LrPower, NonNegFloat
from msnb.ops.nn.optim._update import (
    ROWS_EXIST,
    as_scalar,
    cast_like,
    check_slots,
    read_rows,
    sum_duplicate_rows,
    write_rows,
)


def ftrl_rule(var, accum, linear, g, lr, l1, l2, lr_power, shrinkage=0.0):
    """Return new variable, accumulator and linear term after one step of FTRL-proximal (McMahan et al., 2013)."""
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
    """One step of FTRL-proximal.

    Args:
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **accum**, **linear** (Parameter) - of the same shape; updated in place.
        - **grad** (Tensor) - shape of `var`.
        - **lr**, **l1**, **l2**, **lr_power** (Union[Number, Tensor]) - scalars; `lr_power` at most 0.

    Outputs:
        The variable, updated.
    """
    grad = check_slots("ApplyFtrl", var=var, accum=accum, linear=linear, grad=grad)
    lr, l1, l2, lr_power = map(as_scalar, (lr, l1, l2, lr_power))
    return cast_like(var, *ftrl_rule(var, accum, linear, grad, lr, l1, l2, lr_power))


def _update_sparse_ftrl(op, var, accum, linear, grad, indices, lr, l1, l2, lr_power, shrinkage=0.0):
    rows, g = sum_duplicate_rows(op, grad, indices, var=var, accum=accum, linear=linear)
    new = ftrl_rule(
        read_rows(var, rows), read_rows(accum, rows), read_rows(linear, rows), g, lr, l1, l2, lr_power, shrinkage
    )
    return tuple(write_rows(slot, rows, n) for slot, n in zip((var, accum, linear), new, strict=True))


@operator(writes=("var", "accum", "linear"), returns="written", checks=ROWS_EXIST)
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
    """One step of FTRL-proximal on the rows in `indices`.

    Args:
        lr (float): learning rate, positive.
        l1 (float): L1 strength, at least 0.
        l2 (float): L2 strength, at least 0.
        lr_power (float): exponent of the accumulated squares in the learning rate, at most 0.
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **accum**, **linear** (Parameter) - of the same shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `accum` and `linear`, updated.
    """
    return _update_sparse_ftrl("FusedSparseFtrl", var, accum, linear, grad, indices, lr, l1, l2, lr_power)


@operator(writes=("var", "accum", "linear"), returns="written", checks=ROWS_EXIST)
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
    """One step of FTRL-proximal on the rows in `indices`.

    Args:
        lr (float): learning rate, positive.
        l1 (float): L1 strength, at least 0.
        l2 (float): L2 strength, at least 0.
        lr_power (float): exponent of the accumulated squares in the learning rate, at most 0.
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **accum**, **linear** (Parameter) - of the same shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `accum` and `linear`, updated.
    """
    return _update_sparse_ftrl("SparseApplyFtrl", var, accum, linear, grad, indices, lr, l1, l2, lr_power)


@operator(writes=("var", "accum", "linear"), returns="written", checks=ROWS_EXIST)
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
    """One step of FTRL-proximal on the rows in `indices`, with L2 shrinkage of the gradient.

    Args:
        lr (float): learning rate, positive.
        l1 (float): L1 strength, at least 0.
        l2 (float): L2 strength, at least 0.
        l2_shrinkage (float): factor of the variable that is added to the gradient.
        lr_power (float): exponent of the accumulated squares in the learning rate, at most 0.
        use_locking (bool): no effect: updates here never race. Default: False.

    Inputs:
        - **var**, **accum**, **linear** (Parameter) - of the same shape; updated in place.
        - **grad** (Tensor) - a row for each index.
        - **indices** (Tensor) - (n,), int32 or int64.

    Outputs:
        Tuple of `var`, `accum` and `linear`, updated.
    """
    return _update_sparse_ftrl(
        "SparseApplyFtrlV2", var, accum, linear, grad, indices, lr, l1, l2, lr_power, l2_shrinkage
    )


_TABLES = F(6, 4), U(6, 4, low=0.1), F(6, 4)
_RATES = {"lr": 0.1, "l1": 0.2, "l2": 0.1, "lr_power": -0.5}
_WRONG_SIGN = "MindSpore 2.7.1 adds `l1` where `linear` is negative: test_nn_behaviour.py has the formula"

CASES = [
    case(ApplyFtrl, F(3, 4), U(3, 4, low=0.1), F(3, 4), F(3, 4), 0.1, 0.2, 0.3, -0.5).without("mindspore", _WRONG_SIGN),
    case(FusedSparseFtrl, *_TABLES, F(3, 4), Values([4, 1, 4]), **_RATES).results(),
    case(SparseApplyFtrl, *_TABLES, F(2, 4), Values([4, 1]), **_RATES),
    case(SparseApplyFtrlV2, *_TABLES, F(2, 4), Values([4, 1]), **_RATES, l2_shrinkage=0.1),
]
