"""Gamma, Poisson and Beta distributions."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import NonNegInt
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, dtype_in
from msnb.ops.random._stream import PositiveShape, common_shape, seed_of, stream


def _as_float(op, argument, x):
    if x.weak_type:
        return x.astype(jnp.float32)
    dtype_in(op, argument, x, FLOAT)
    return x


@operator(random=True)
def Gamma(key, shape: PositiveShape, alpha, beta, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    """Draw random numbers from gamma distributions.

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **shape** (tuple[int]) - Shape of the result, of positive int.
        - **alpha** (Tensor) - Shape parameter, float32, positive.
        - **beta** (Tensor) - Rate, the inverse of the scale, float32, positive.

    Outputs:
        Tensor of float32, of the broadcast shape of all inputs.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If a seed is negative or an entry of `shape` is not positive.

    Examples:
        >>> output = ops.Gamma(seed=2)((2, 2), Tensor(1., mindspore.float32), Tensor(1., mindspore.float32))
        >>> print(output.shape)
        (2, 2)
    """
    alpha, beta = _as_float("Gamma", "alpha", alpha), _as_float("Gamma", "beta", beta)
    full = common_shape("Gamma", shape, alpha, beta)
    return jax.random.gamma(stream(key, seed, seed2), jnp.broadcast_to(alpha, full), dtype=alpha.dtype) / beta


@spelling(Gamma, generation=1)
def gamma(shape: tuple[int, ...], alpha: Tensor, beta: Tensor, seed: int | None = None) -> Tensor:
    """Draw random numbers from gamma distributions.

    Args:
        shape (tuple[int]): Shape of the numbers, broadcast with those of the parameters.
        alpha (Tensor): Shape parameter, float32.
        beta (Tensor): Rate, float32.
        seed (int): Picks a stream of random numbers, non-negative. Default: None, the same as 0.

    Returns:
        Tensor of float32.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If `seed` is negative or an entry of `shape` is not positive.

    Examples:
        >>> output = ops.gamma((2, 2), Tensor(1., mindspore.float32), Tensor(1., mindspore.float32), seed=5)
        >>> print(output.shape)
        (2, 2)
    """
    return Gamma(seed=seed_of("gamma", seed))(shape, alpha, beta)


@operator(random=True)
def Poisson(key, shape: PositiveShape, mean, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    """Draw random numbers from Poisson distributions.

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **shape** (tuple[int]) - Shape of the result, of positive int.
        - **mean** (Tensor) - Means, float32, positive.

    Outputs:
        Tensor of int32, of the broadcast shape of the inputs.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If a seed is negative or an entry of `shape` is not positive.

    Examples:
        >>> output = ops.Poisson(seed=2)((2, 2), Tensor(5., mindspore.float32))
        >>> print(output.shape)
        (2, 2)
    """
    mean = _as_float("Poisson", "mean", mean)
    full = common_shape("Poisson", shape, mean)
    return jax.random.poisson(stream(key, seed, seed2), mean, full, jnp.int32)


@spelling(Poisson, generation=1)
def poisson(shape: tuple[int, ...], mean: Tensor, seed: int | None = None) -> Tensor:
    """Draw random numbers from Poisson distributions.

    Args:
        shape (tuple[int]): Shape of the numbers, broadcast with those of the parameters.
        mean (Tensor): Mean, float32.
        seed (int): Picks a stream of random numbers, non-negative. Default: None, the same as 0.

    Returns:
        Tensor of int32.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If `seed` is negative or an entry of `shape` is not positive.

    Examples:
        >>> output = ops.poisson((2, 2), Tensor(5., mindspore.float32), seed=5)
        >>> print(output.shape)
        (2, 2)
    """
    return Poisson(seed=seed_of("poisson", seed))(shape, mean)


@operator(random=True)
def _Beta(key, shape: PositiveShape, a, b, *, seed: NonNegInt = 0):
    """Draw random numbers from beta distributions. `jax.random.beta` computes with logarithms, so small parameters do
    not give 0 / 0.

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.

    Inputs:
        - **shape** (tuple[int]) - Shape of the result, of positive int.
        - **a** (Tensor) - First parameter, floating point, positive; its shape broadcasts to `shape`.
        - **b** (Tensor) - Second parameter, as `a`.

    Outputs:
        Tensor of the element type of `a`, of shape `shape`.
    """
    a, b = _as_float("Beta", "a", a), _as_float("Beta", "b", b)
    return jax.random.beta(stream(key, seed), a, b, common_shape("Beta", shape, a, b), a.dtype)
