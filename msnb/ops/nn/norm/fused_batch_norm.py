"""Batch normalization in training, with an update of the running statistics."""

from jax import lax

from msnb.common.kinds import Float, OneOf
from msnb.core.operator.cases import F, U, case
from msnb.core.operator.declare import operator
from msnb.ops._shapes import shapes
from msnb.ops.nn._kinds import Epsilon, Layout, Momentum
from msnb.ops.nn.norm.batch_norm import batch_norm_grad, channel_axis, check_channels, normalise_batch

PER_CHANNEL = "the statistics are per channel in either mode"
FROM_FORWARD = "the statistics that the forward operator returned hold it already"


def _compute_fused_batch_norm(op, x, scale, bias, mean, variance, epsilon, momentum, data_format="NCHW"):
    axis = channel_axis(op, x, data_format)
    check_channels(op, x.shape[axis], scale=scale, bias=bias, mean=mean, variance=variance)
    new_mean, new_variance, y, batch_mean, batch_variance = normalise_batch(
        x, scale, bias, mean, variance, axis, epsilon, momentum
    )
    return new_mean, new_variance, y, new_mean, new_variance, batch_mean, lax.rsqrt(batch_variance + epsilon)


@operator(writes=("mean", "variance"))
def FusedBatchNorm(
    x,
    scale,
    b,
    mean,
    variance,
    *,
    mode: OneOf(0, otherwise=PER_CHANNEL, among=OneOf(0, 1)) = 0,
    epsilon: Epsilon = 1e-5,
    momentum: Momentum = 0.1,
):
    """Batch normalisation in training. It also updates the running mean and variance.

    running = (1 - momentum) * running + momentum * batch, with the unbiased variance of the batch.

    Args:
        mode (int): 0 or 1; no effect: the statistics are always per channel. Default: 0.
        epsilon (float): added to the variance. Default: 1e-5.
        momentum (float): weight of the batch in the running statistics. Default: 0.1.

    Inputs:
        - **x** (Tensor) - (N, C) or (N, C, ...).
        - **scale**, **b** (Parameter) - (C,).
        - **mean**, **variance** (Parameter) - (C,); updated in place.

    Outputs:
        Tuple of the result, the running mean, the running variance, the mean and the inverse deviation of the batch.
    """
    return _compute_fused_batch_norm("FusedBatchNorm", x, scale, b, mean, variance, epsilon, momentum)


@operator(writes=("mean", "variance"))
def FusedBatchNormEx(
    x,
    scale,
    b,
    mean,
    variance,
    *,
    mode: OneOf(0, otherwise=PER_CHANNEL, among=OneOf(0, 1)) = 0,
    epsilon: Epsilon = 1e-5,
    momentum: Momentum = 0.1,
    data_format: Layout = "NCHW",
):
    """FusedBatchNorm with an argument for the data layout and one more output, which is reserved.

    Args:
        mode (int): 0 or 1; no effect: the statistics are always per channel. Default: 0.
        epsilon (float): added to the variance. Default: 1e-5.
        momentum (float): weight of the batch in the running statistics. Default: 0.1.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C) or (N, C, ...).
        - **scale**, **b** (Parameter) - (C,).
        - **mean**, **variance** (Parameter) - (C,); updated in place.

    Outputs:
        Tuple of the result, the running mean, the running variance, the mean and the inverse deviation of the batch,
        and the mean again as reserved space.
    """
    out = _compute_fused_batch_norm("FusedBatchNormEx", x, scale, b, mean, variance, epsilon, momentum, data_format)
    return (*out, out[5])


@operator
@shapes("dy x: n c *s, scale save_mean save_inv_variance: c")
def FusedBatchNormGrad(
    dy,
    x,
    scale,
    save_mean,
    save_inv_variance,
    *,
    epsilon: OneOf(0.0, otherwise=FROM_FORWARD, among=Float) = 0.0,
    momentum: OneOf(0.1, otherwise=FROM_FORWARD, among=Momentum) = 0.1,
):
    """Gradients of FusedBatchNorm with respect to input, scale and bias."""
    return batch_norm_grad(dy, x, scale, save_mean, save_inv_variance, 1, True)


@operator
@shapes("dy x: n c *s, scale bias save_mean save_inv_variance: c")
def FusedBatchNormGradCPU(
    dy,
    x,
    scale,
    bias,
    save_mean,
    save_inv_variance,
    *,
    epsilon: OneOf(0.0, otherwise=FROM_FORWARD, among=Float) = 0.0,
    momentum: OneOf(0.1, otherwise=FROM_FORWARD, among=Momentum) = 0.1,
):
    """Gradients of FusedBatchNorm with respect to input, scale and bias."""
    return batch_norm_grad(dy, x, scale, save_mean, save_inv_variance, 1, True)


@operator
@shapes("dy x: *s")
def FusedBatchNormGradEx(
    dy,
    x,
    scale,
    save_mean,
    save_inv_variance,
    reserve,
    *,
    epsilon: OneOf(0.0, otherwise=FROM_FORWARD, among=Float) = 0.0,
    momentum: OneOf(0.1, otherwise=FROM_FORWARD, among=Momentum) = 0.1,
    data_format: Layout = "NCHW",
):
    """Gradients of FusedBatchNormEx with respect to input, scale and bias."""
    axis = channel_axis("FusedBatchNormGradEx", x, data_format)
    vectors = {"scale": scale, "save_mean": save_mean, "save_inv_variance": save_inv_variance}
    check_channels("FusedBatchNormGradEx", x.shape[axis], **vectors)
    return batch_norm_grad(dy, x, scale, save_mean, save_inv_variance, axis, True)


_STATISTICS = U(3, low=0.5), F(3), F(3), U(3, low=0.5)
_STAYING = "no gradient reaches the moving statistics"

CASES = [
    case(FusedBatchNorm, F(4, 3, 2, 2), *_STATISTICS).without("differences", _STAYING),
    case(FusedBatchNormEx, F(4, 3, 2, 2), *_STATISTICS).without("differences", _STAYING),
    case(FusedBatchNormGrad, F(4, 3), F(4, 3), U(3), F(3), U(3, low=0.5)),
    case(FusedBatchNormGradCPU, F(4, 3), F(4, 3), U(3), F(3), F(3), U(3, low=0.5)),
    case(FusedBatchNormGradEx, F(4, 3), F(4, 3), U(3), F(3), U(3, low=0.5), F(3)),
]
