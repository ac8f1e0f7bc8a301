"""Batch normalisation folded into a convolution, second part: correct the result of the convolution and add the
bias."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import NonNegInt, OneOf
from msnb.core.operator.cases import F, U, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32, widened
from msnb.ops.nn.norm.batch_norm import check_channels, column

_ALWAYS = "this form always takes the statistics of the batch"


def _normalise_by_batch_stats(x, beta, gamma, batch_std, batch_mean, running_std):
    """Return x * running_std / batch_std + beta - gamma * batch_mean / batch_std: the result for statistics of the
    batch. `x` is the result of a convolution with weights folded with the running deviation.
    """
    beta, gamma, batch_std, batch_mean, running_std = (
        column(v, x, 1) for v in (beta, gamma, batch_std, batch_mean, running_std)
    )
    return widened(x) * (running_std / batch_std) + (beta - gamma * batch_mean / batch_std)


def _normalise_by_running_stats(x, beta, gamma, running_std, running_mean):
    """Return x + beta - gamma * running_mean / running_std: the result for running statistics."""
    beta, gamma, running_std, running_mean = (column(v, x, 1) for v in (beta, gamma, running_std, running_mean))
    return widened(x) + (beta - gamma * running_mean / running_std)


def _check_inputs(op, x, **vectors):
    _check.dtype_in(op, "x", x, _check.FLOAT)
    if x.ndim < 2:
        raise ValueError(f"For '{op}', 'x' should have at least 2 dimensions, but got shape {x.shape}.")
    check_channels(op, x.shape[1], **vectors)


def _sum_cotangent_and_product(dout, x):
    """Return the sums of `dout` and of dout * x over each channel."""
    others = tuple(i for i in range(x.ndim) if i != 1)
    return jnp.sum(dout, others), jnp.sum(dout * x, others)


@operator
@shapes("x: n c *s, beta gamma batch_std batch_mean running_std running_mean: c, global_step: () | 1")
def BatchNormFold2(
    x, beta, gamma, batch_std, batch_mean, running_std, running_mean, global_step, *, freeze_bn: NonNegInt = 0
):
    """Corrects the result of a convolution with folded weights for the statistics of the batch, and adds the folded
    bias.

    x * running_std / batch_std + beta - gamma * batch_mean / batch_std; from the step `freeze_bn` on
    x + beta - gamma * running_mean / running_std.

    Args:
        freeze_bn (int): number of steps after which the running statistics are used. Default: 0.

    Inputs:
        - **x** (Tensor) - (N, C, ...), float: result of the convolution with folded weights.
        - **beta**, **gamma** (Tensor) - (C,).
        - **batch_std**, **batch_mean**, **running_std**, **running_mean** (Tensor) - (C,), from BatchNormFold.
        - **global_step** (Tensor) - number of steps before this one, a single integer.

    Outputs:
        Tensor, shape and type of `x`. The running statistics get no gradient.

    Raises:
        TypeError: If `x` is not a float Tensor.
        ValueError: If another input does not have one value per channel.
    """
    _check_inputs(
        "BatchNormFold2",
        x,
        beta=beta,
        gamma=gamma,
        batch_std=batch_std,
        batch_mean=batch_mean,
        running_std=running_std,
        running_mean=running_mean,
    )
    running_std, running_mean = lax.stop_gradient((running_std, running_mean))
    taken = global_step.reshape(()) < freeze_bn
    corrected = _normalise_by_batch_stats(x, beta, gamma, batch_std, batch_mean, running_std)
    return jnp.where(taken, corrected, _normalise_by_running_stats(x, beta, gamma, running_std, running_mean)).astype(
        x.dtype
    )


@operator
@shapes("dout x: n c *s, gamma batch_std batch_mean running_std running_mean: c, global_step: () | 1")
@in_float32
def BatchNormFold2Grad(
    dout, x, gamma, batch_std, batch_mean, running_std, running_mean, global_step, *, freeze_bn: NonNegInt = 0
):
    """Gradients of BatchNormFold2 with respect to `batch_std`, `batch_mean`, `beta`, `gamma` and `x`."""
    taken = global_step.reshape(()) < freeze_bn
    total, along = _sum_cotangent_and_product(dout, x)
    d_std, d_mean, d_gamma, dx = _compute_gradients(dout, total, along, gamma, batch_std, batch_mean, running_std)
    return (
        jnp.where(taken, d_std, 0),
        jnp.where(taken, d_mean, 0),
        total,
        jnp.where(taken, d_gamma, -total * running_mean / running_std),
        jnp.where(taken, dx, dout),
    )


def _compute_gradients(dout, total, along, gamma, batch_std, batch_mean, running_std):
    return (
        (total * batch_mean * gamma - along * running_std) / (batch_std * batch_std),
        -total * gamma / batch_std,
        -total * batch_mean / batch_std,
        dout * column(running_std / batch_std, dout, 1),
    )


@operator
def BatchNormFold2D(x, beta, gamma, batch_std, batch_mean, running_std, *, freeze_bn: OneOf(0, otherwise=_ALWAYS) = 0):
    """BatchNormFold2 that always uses the statistics of the batch.

    Args:
        freeze_bn (int): no effect. Default: 0.

    Inputs:
        - **x** (Tensor) - (N, C, ...), float.
        - **beta**, **gamma**, **batch_std**, **batch_mean**, **running_std** (Tensor) - (C,).

    Outputs:
        Tensor, shape and type of `x`.
    """
    _check_inputs(
        "BatchNormFold2D",
        x,
        beta=beta,
        gamma=gamma,
        batch_std=batch_std,
        batch_mean=batch_mean,
        running_std=running_std,
    )
    return _normalise_by_batch_stats(x, beta, gamma, batch_std, batch_mean, lax.stop_gradient(running_std)).astype(
        x.dtype
    )


@operator
@shapes("dout: n c *s, dout_reduce dout_x_reduce gamma batch_std batch_mean running_std: c")
@in_float32
def BatchNormFold2GradD(
    dout,
    dout_reduce,
    dout_x_reduce,
    gamma,
    batch_std,
    batch_mean,
    running_std,
    *,
    freeze_bn: OneOf(0, otherwise=_ALWAYS, among=NonNegInt) = 0,
):
    """Gradients of BatchNormFold2D with respect to `batch_std`, `batch_mean`, `gamma` and `x`, from the sums of
    BatchNormFold2GradReduce."""
    return _compute_gradients(dout, dout_reduce, dout_x_reduce, gamma, batch_std, batch_mean, running_std)


@operator
@in_float32
def BatchNormFold2GradReduce(dout, x, *, freeze_bn: OneOf(0, otherwise=_ALWAYS, among=NonNegInt) = 0):
    """Return the sums of dout, the gradient of `beta`, and of dout * x over each channel."""
    _check.same_shape("BatchNormFold2GradReduce", dout=dout, x=x)
    return _sum_cotangent_and_product(dout, x)


_STD = U(3, low=0.5, high=2)
_STAYING = "no gradient reaches the running statistics"

CASES = [
    case(BatchNormFold2, F(4, 3, 2, 2), F(3), F(3), _STD, F(3), _STD, F(3), Values([0]), freeze_bn=1).without(
        "differences", _STAYING
    ),
    case(BatchNormFold2, F(4, 3, 2, 2), F(3), F(3), _STD, F(3), _STD, F(3), Values([1]), freeze_bn=1).without(
        "differences", _STAYING
    ),
    case(BatchNormFold2Grad, F(4, 3, 2), F(4, 3, 2), F(3), _STD, F(3), _STD, F(3), Values([0]), freeze_bn=1),
    case(BatchNormFold2Grad, F(4, 3, 2), F(4, 3, 2), F(3), _STD, F(3), _STD, F(3), Values([1]), freeze_bn=1),
    case(BatchNormFold2D, F(4, 3, 2, 2), F(3), F(3), _STD, F(3), _STD).without("differences", _STAYING),
    case(BatchNormFold2GradD, F(4, 3), F(3), F(3), F(3), _STD, F(3), _STD),
    case(BatchNormFold2GradReduce, F(4, 3, 2), F(4, 3, 2)),
    refused(ValueError, BatchNormFold2D, F(4, 2), F(3), F(3), _STD, F(3), _STD),
    refused(ValueError, BatchNormFold2, F(4, 2), F(3), F(3), _STD, F(3), _STD, F(3), Values([0])),
]
