"""Normalisation of each channel of each image."""

import math

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, Float, OneOf
from msnb.core.operator.cases import F, U, case
from msnb.core.operator.declare import operator, variant
from msnb.ops._shapes import shapes
from msnb.ops.nn._kinds import Epsilon, Momentum
from msnb.ops.nn.norm._standardize import moments, scale_and_shift
from msnb.ops.nn.norm.batch_norm import batch_norm_grad, channel_axis, check_channels, moved
from msnb.ops.nn.norm.fused_batch_norm import FROM_FORWARD


@operator
def InstanceNorm(
    x, gamma, beta, mean, variance, *, is_training: Bool = True, epsilon: Epsilon = 1e-5, momentum: Momentum = 0.1
):
    """Normalises each channel of each image separately (arXiv:1607.08022).

    Args:
        is_training (bool): True normalizes by the statistics of the image and updates `mean` and `variance`; False
            normalizes by `mean` and `variance`. Default: True.
        epsilon (float): added to the variance. Default: 1e-5.
        momentum (float): weight of the batch in the running statistics. Default: 0.1.

    Inputs:
        - **x** (Tensor) - (N, C, ...).
        - **gamma**, **beta** (Parameter) - (C,).
        - **mean**, **variance** (Parameter) - (C,); updated in place while training.

    Outputs:
        Tuple of the result, and mean and inverse deviation of each channel of each image, (N * C,).
    """
    _check_instance_norm_inputs(x, gamma, beta, mean, variance)
    mean, variance = (jnp.tile(lax.stop_gradient(v), (x.shape[0], 1)) for v in (mean, variance))
    return _normalise_instances(x, gamma, beta, mean, variance, epsilon)


@variant(InstanceNorm, lambda attributes: attributes["is_training"], writes=("mean", "variance"))
def _instance_norm_training(
    x, gamma, beta, mean, variance, *, is_training: Bool = True, epsilon: Epsilon = 1e-5, momentum: Momentum = 0.1
):
    _check_instance_norm_inputs(x, gamma, beta, mean, variance)
    flat = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    image_mean, image_variance = (v[..., 0] for v in moments(flat, 2))
    share = flat.shape[2] / max(flat.shape[2] - 1, 1)  # the running variance is the sample variance
    new_mean, new_variance = mean, variance
    if x.size:  # an empty batch has no statistics
        new_mean = moved(mean, jnp.mean(image_mean, 0), momentum)
        new_variance = moved(variance, jnp.mean(image_variance, 0) * share, momentum)
    return (new_mean, new_variance, *_normalise_instances(x, gamma, beta, image_mean, image_variance, epsilon))


def _check_instance_norm_inputs(x, gamma, beta, mean, variance):
    channel_axis("InstanceNorm", x, "NCHW")
    check_channels("InstanceNorm", x.shape[1], gamma=gamma, beta=beta, mean=mean, variance=variance)


def _normalise_instances(x, gamma, beta, mean, variance, epsilon):
    flat = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    y = scale_and_shift(flat, mean[..., None], variance[..., None], epsilon, gamma[:, None], beta[:, None])
    return y.reshape(x.shape).astype(x.dtype), mean.reshape(-1), lax.rsqrt(variance + epsilon).reshape(-1)


@operator
@shapes("dy x: n c *s, gamma: c, save_mean save_variance: n*c")
def InstanceNormGrad(
    dy,
    x,
    gamma,
    save_mean,
    save_variance,
    *,
    is_training: Bool = True,
    epsilon: OneOf(0.0, otherwise=FROM_FORWARD, among=Float) = 0.0,
    momentum: OneOf(0.1, otherwise=FROM_FORWARD, among=Momentum) = 0.1,
):
    """Gradients of InstanceNorm with respect to input, gamma and beta. `save_variance` is 1 / (standard deviation), as
    InstanceNorm returns it."""
    n, c = x.shape[:2]
    flat = (1, n * c, -1)
    dx, dgamma, dbeta = batch_norm_grad(
        dy.reshape(flat), x.reshape(flat), jnp.tile(gamma, n), save_mean, save_variance, 1, is_training
    )
    return dx.reshape(x.shape), dgamma.reshape(n, c).sum(0), dbeta.reshape(n, c).sum(0)


CASES = [
    case(InstanceNorm, F(4, 3, 2, 2), U(3, low=0.5), F(3), F(3), U(3, low=0.5)).wrt(0, 1, 2),
    case(InstanceNormGrad, F(4, 3, 2), F(4, 3, 2), F(3), F(12), U(12, low=0.5)),
]
