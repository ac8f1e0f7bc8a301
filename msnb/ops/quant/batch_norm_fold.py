"""Batch normalisation folded into a convolution, first part: the statistics (Jacob et al., 2018).

When a network is deployed, a convolution and the normalisation after it become one convolution. Training therefore
quantises the folded weights. Weights folded with statistics of the batch would change abruptly from step to step.
Therefore the weights are folded with the running deviation, and BatchNormFold2 corrects the result for the deviation of
the batch.
"""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, NonNegInt, OneOf
from msnb.core.operator.cases import F, U, Values, Written, case, refused
from msnb.core.operator.declare import operator, variant
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32, widened
from msnb.ops.nn._kinds import Epsilon, Momentum
from msnb.ops.nn.norm.batch_norm import check_channels, column, moved, unbiased


def _get_running_mean_and_std(mean, variance, epsilon, dtype):
    """Return the running mean and the running standard deviation, both without gradient."""
    deviation = jnp.sqrt(widened(variance) + epsilon)
    return tuple(lax.stop_gradient(v).astype(dtype) for v in (mean, deviation))


def _check_inputs(op, x, mean, variance):
    _check.dtype_in(op, "x", x, _check.FLOAT)
    if x.ndim < 2:
        raise ValueError(f"For '{op}', 'x' should have at least 2 dimensions, but got shape {x.shape}.")
    check_channels(op, x.shape[1], mean=mean, variance=variance)


def _list_axes_but_channel(x):
    return tuple(i for i in range(x.ndim) if i != 1)


@operator
@shapes("x: n c *s, mean variance: c, global_step: () | 1")
def BatchNormFold(
    x,
    mean,
    variance,
    global_step,
    *,
    momentum: Momentum = 0.9,
    epsilon: Epsilon = 1e-5,
    is_training: Bool = True,
    freeze_bn: NonNegInt = 0,
):
    """Return batch and running statistics for a convolution into which batch normalisation is folded.

    Args:
        momentum (float): weight of the running statistics in the update, momentum * running + (1 - momentum) * batch,
            with the unbiased variance. Default: 0.9.
        epsilon (float): added to each variance. Default: 1e-5.
        is_training (bool): False computes no statistics of the batch. Default: True.
        freeze_bn (int): number of steps after which no batch statistics are computed and the running statistics stay
            constant. Default: 0.

    Inputs:
        - **x** (Tensor) - (N, C, ...), float: result of the convolution.
        - **mean**, **variance** (Parameter) - (C,); updated in place while training, before step `freeze_bn`.
        - **global_step** (Tensor) - number of steps before this one, a single integer.

    Outputs:
        Tuple of mean and standard deviation of the batch, (C,), which are 0 and 1 if they are not computed, and the
        running mean and standard deviation before this step, which get no gradient.

    Raises:
        TypeError: If `x` is not a float Tensor.
        ValueError: If `mean` or `variance` does not have one value per channel, or a number is out of range.

    Examples:
        >>> from mindspore.ops.operations import _quant_ops as Q
        >>> x = Tensor([[1.0], [3.0]], mindspore.float32)
        >>> mean, variance = Parameter(Tensor([0.0], mindspore.float32)), Parameter(Tensor([4.0], mindspore.float32))
        >>> fold = Q.BatchNormFold(freeze_bn=10)
        >>> batch_mean, batch_std, running_mean, running_std = fold(x, mean, variance, Tensor([0], mindspore.int32))
        >>> print(batch_mean, running_mean, mean.asnumpy())
        [2.] [0.] [0.2]
    """
    _check_inputs("BatchNormFold", x, mean, variance)
    running_mean, running_deviation = _get_running_mean_and_std(mean, variance, epsilon, x.dtype)
    return jnp.zeros_like(running_mean), jnp.ones_like(running_mean), running_mean, running_deviation


@variant(BatchNormFold, lambda attributes: attributes["is_training"], writes=("mean", "variance"))
@shapes("x: n c *s, mean variance: c, global_step: () | 1", "BatchNormFold")
def _batch_norm_fold_training(
    x,
    mean,
    variance,
    global_step,
    *,
    momentum: Momentum = 0.9,
    epsilon: Epsilon = 1e-5,
    is_training: Bool = True,
    freeze_bn: NonNegInt = 0,
):
    _check_inputs("BatchNormFold", x, mean, variance)
    wide = widened(x)
    batch_mean, batch_variance = jnp.mean(wide, _list_axes_but_channel(x)), jnp.var(wide, _list_axes_but_channel(x))
    taken = global_step.reshape(()) < freeze_bn
    return (
        jnp.where(taken, moved(mean, batch_mean, 1 - momentum), mean),
        jnp.where(taken, moved(variance, unbiased(x, 1, batch_variance), 1 - momentum), variance),
        jnp.where(taken, batch_mean, 0).astype(x.dtype),
        jnp.where(taken, jnp.sqrt(batch_variance + epsilon), 1).astype(x.dtype),
        *_get_running_mean_and_std(mean, variance, epsilon, x.dtype),
    )


def _compute_statistics_grad(d_batch_mean, d_batch_std, x, batch_mean, batch_std):
    """Return the gradient with respect to `x` of the mean and the standard deviation of each channel."""
    d_mean, d_std, mean, std = (column(v, x, 1) for v in (d_batch_mean, d_batch_std, batch_mean, batch_std))
    return (d_mean + d_std * (x - mean) / std) / (x.size // x.shape[1])


@operator
@shapes("x: n c *s, d_batch_mean d_batch_std batch_mean batch_std: c, global_step: () | 1")
@in_float32
def BatchNormFoldGrad(
    d_batch_mean,
    d_batch_std,
    x,
    batch_mean,
    batch_std,
    global_step,
    *,
    epsilon: OneOf(1e-5, otherwise="'batch_std' has it already", among=Epsilon) = 1e-5,
    is_training: Bool = True,
    freeze_bn: NonNegInt = 0,
):
    """Gradient of BatchNormFold with respect to `x`; 0 if no statistics of the batch are computed."""
    dx = _compute_statistics_grad(d_batch_mean, d_batch_std, x, batch_mean, batch_std)
    return jnp.where((global_step.reshape(()) < freeze_bn) & is_training, dx, 0)


_ALWAYS = "this form always takes the statistics of the batch"


@operator
def BatchNormFoldD(
    x,
    x_sum,
    x_square_sum,
    mean,
    variance,
    *,
    momentum: Momentum = 0.9,
    epsilon: Epsilon = 1e-5,
    is_training: OneOf(True, otherwise=_ALWAYS) = True,
    freeze_bn: OneOf(0, otherwise=_ALWAYS) = 0,
):
    """BatchNormFold that computes the statistics of the batch from the sums of BNTrainingReduce.

    Args:
        momentum (float): weight of the running statistics in the update. Default: 0.9.
        epsilon (float): added to each variance. Default: 1e-5.
        is_training (bool): no effect: the statistics of the batch are always computed. Default: True.
        freeze_bn (int): no effect, as `is_training`. Default: 0.

    Inputs:
        - **x** (Tensor) - (N, C, ...), float.
        - **x_sum**, **x_square_sum** (Tensor) - (C,), from BNTrainingReduce.
        - **mean**, **variance** (Tensor) - (C,), the running statistics; they are not updated in place.

    Outputs:
        Tuple of `x`, mean and deviation of the batch, the running mean and deviation, and the updated running mean and
        variance.
    """
    _check_inputs("BatchNormFoldD", x, mean, variance)
    check_channels("BatchNormFoldD", x.shape[1], x_sum=x_sum, x_square_sum=x_square_sum)
    count = x.size // x.shape[1]
    batch_mean = widened(x_sum) / count
    batch_variance = widened(x_square_sum) / count - batch_mean * batch_mean
    return (
        x,
        batch_mean.astype(x.dtype),
        jnp.sqrt(batch_variance + epsilon).astype(x.dtype),
        *_get_running_mean_and_std(mean, variance, epsilon, x.dtype),
        moved(mean, batch_mean, 1 - momentum),
        moved(variance, unbiased(x, 1, batch_variance), 1 - momentum),
    )


@operator
@shapes("x: n c *s, d_batch_mean d_batch_std batch_mean batch_std: c")
@in_float32
def BatchNormFoldGradD(
    d_batch_mean,
    d_batch_std,
    x,
    batch_mean,
    batch_std,
    *,
    epsilon: OneOf(1e-5, otherwise="'batch_std' has it already", among=Epsilon) = 1e-5,
    is_training: OneOf(True, otherwise=_ALWAYS) = True,
    freeze_bn: OneOf(0, otherwise=_ALWAYS) = 0,
):
    """Gradient with respect to `x` of the mean and the standard deviation of the batch, two results of
    BatchNormFoldD."""
    return _compute_statistics_grad(d_batch_mean, d_batch_std, x, batch_mean, batch_std)


_STATISTICS = F(3), U(3, low=0.5, high=2)
_STEP = Values([0])
_STAYING = "no gradient reaches the running statistics"

CASES = [
    case(BatchNormFold, F(4, 3, 2, 2), *map(Written, _STATISTICS), _STEP, freeze_bn=1).without("differences", _STAYING),
    case(BatchNormFold, F(4, 3, 2, 2), *map(Written, _STATISTICS), Values([1]), freeze_bn=1).without(
        "differences", _STAYING
    ),
    case(BatchNormFold, F(4, 3, 2, 2), *_STATISTICS, _STEP, is_training=False).without("differences", _STAYING),
    case(BatchNormFoldGrad, F(3), F(3), F(4, 3, 2, 2), *_STATISTICS, _STEP, freeze_bn=1),
    case(BatchNormFoldD, F(4, 3, 2, 2), F(3), U(3, low=9, high=12), *_STATISTICS).without("differences", _STAYING),
    case(BatchNormFoldGradD, F(3), F(3), F(4, 3, 2, 2), *_STATISTICS),
    refused(ValueError, BatchNormFold, momentum=2.0),
    refused(ValueError, BatchNormFold, F(4, 2, 2, 2), *map(Written, _STATISTICS), _STEP),
]
