"""Random permutations of rows, and random numbers from distributions with Tensors of parameters."""

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, Int, PositiveInt, Shape
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, NUMBER, dtype_in, tensor_only
from msnb.ops.random._stream import seed_of, stream


@operator(random=True)
def RandomShuffle(key, x, *, seed: Int = 0, seed2: Int = 0):
    """Permute the slices along the first axis randomly.

    Args:
        seed (int): Picks a stream of random numbers. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **x** (Tensor) - Any Tensor.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not a Tensor.
    """
    tensor_only("RandomShuffle", "x", x)
    return jax.random.permutation(stream(key, seed, seed2), x) if x.ndim else x


@spelling(RandomShuffle)
def shuffle(x: Tensor, seed: int | None = None) -> Tensor:
    """Permute the slices along the first axis randomly.

    Args:
        x (Tensor): Any Tensor.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.

    Returns:
        Tensor of the shape and element type of `x`.
    """
    return RandomShuffle(seed_of("shuffle", seed))(x)


@operator(random=True)
def RandomGamma(key, shape: Shape, alpha, *, seed: Int = 0, seed2: Int = 0):
    """Draw random numbers from gamma distributions of scale 1.

    Args:
        seed (int): Picks a stream of random numbers. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **shape** (Union[Tensor, tuple[int]]) - Shape of the numbers of each distribution, a constant.
        - **alpha** (Tensor) - Shape parameters, floating point, positive.

    Outputs:
        Tensor of shape (*shape, *alpha.shape) and the element type of `alpha`.

    Raises:
        TypeError: If `alpha` is not floating point.
    """
    dtype_in("RandomGamma", "alpha", alpha, FLOAT)
    return jax.random.gamma(stream(key, seed, seed2), alpha, (*shape, *alpha.shape), alpha.dtype)


@spelling(RandomGamma)
def random_gamma(shape: Tensor | tuple[int, ...], alpha: Tensor, seed: int | None = None) -> Tensor:
    """Draw random numbers from gamma distributions of scale 1.

    Args:
        shape (Union[Tensor, tuple[int]]): Shape of the numbers of each distribution, a constant.
        alpha (Tensor): Shape parameters, floating point, positive.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.

    Returns:
        Tensor of shape (*shape, *alpha.shape).

    Raises:
        TypeError: If `alpha` is not floating point.
    """
    return RandomGamma(seed_of("random_gamma", seed))(shape, alpha)


@operator(random=True)
def RandomPoisson(key, shape: Shape, rate, *, seed: Int = 0, seed2: Int = 0, dtype: DType = mstype.int64):
    """Draw random numbers from Poisson distributions.

    Args:
        seed (int): Picks a stream of random numbers. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.
        dtype (mindspore.dtype): Element type of the numbers. Default: mindspore.int64.

    Inputs:
        - **shape** (Union[Tensor, tuple[int]]) - Shape of the numbers of each distribution, a constant.
        - **rate** (Tensor) - Means, numbers that are not negative.

    Outputs:
        Tensor of shape (*shape, *rate.shape).

    Raises:
        TypeError: If `rate` does not consist of numbers.
    """
    dtype_in("RandomPoisson", "rate", rate, NUMBER)
    found = jax.random.poisson(stream(key, seed, seed2), rate.astype(jnp.float32), (*shape, *rate.shape), jnp.int32)
    return found.astype(np_dtype(dtype))


@spelling(RandomPoisson)
def random_poisson(
    shape: Tensor | tuple[int, ...], rate: Tensor, seed: int | None = None, dtype: DType = mstype.float32
) -> Tensor:
    """Draw random numbers from Poisson distributions.

    Args:
        shape (Union[Tensor, tuple[int]]): Shape of the numbers of each distribution, a constant.
        rate (Tensor): Means, numbers that are not negative.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.
        dtype (mindspore.dtype): Element type of the numbers. Default: mindspore.float32.

    Returns:
        Tensor of shape (*shape, *rate.shape).

    Raises:
        TypeError: If `rate` does not consist of numbers.
    """
    return RandomPoisson(seed_of("random_poisson", seed), 0, dtype)(shape, rate)


@operator(random=True)
def MultinomialWithReplacement(key, x, seed: Int, offset: Int, *, numsamples: PositiveInt, replacement: Bool = False):
    """Draw classes with probabilities proportional to weights.

    Args:
        numsamples (int): Number of classes to draw for each row.
        replacement (bool): Whether a class may be drawn again. Default: False.

    Inputs:
        - **x** (Tensor) - Weights, floating point of shape (C,) or (N, C); they need not add up to 1.
        - **seed** (Union[Tensor, int]) - Picks a stream of random numbers, a constant.
        - **offset** (Union[Tensor, int]) - Picks a stream together with `seed`, a constant.

    Outputs:
        Tensor of int64, of shape (numsamples,) or (N, numsamples).

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If without replacement there are fewer classes than `numsamples`.
    """
    op = "MultinomialWithReplacement"
    dtype_in(op, "x", x, FLOAT)
    if not replacement and x.shape[-1] < numsamples:
        raise ValueError(f"For '{op}', 'numsamples' should be at most {x.shape[-1]}, but got {numsamples}.")
    scores, key = jnp.log(x.astype(jnp.float32)), stream(key, seed, offset)
    if replacement:
        found = jax.random.categorical(key, scores, -1, shape=(numsamples, *x.shape[:-1]))
        return jnp.moveaxis(found, 0, -1).astype(jnp.int64)
    # The largest of scores with Gumbel noise are a sample without replacement (arXiv:1903.06059).
    return jax.lax.top_k(scores + jax.random.gumbel(key, x.shape), numsamples)[1].astype(jnp.int64)


@spelling(MultinomialWithReplacement)
def multinomial_with_replacement(
    x: Tensor, seed: int, offset: int, numsamples: int, replacement: bool = False
) -> Tensor:
    """Draw classes with probabilities proportional to weights.

    Args:
        x (Tensor): Weights, floating point of shape (C,) or (N, C); they need not add up to 1.
        seed (int): Picks a stream of random numbers.
        offset (int): Picks a stream together with `seed`.
        numsamples (int): Number of classes to draw for each row.
        replacement (bool): Whether a class may be drawn again. Default: False.

    Returns:
        Tensor of int64, of shape (numsamples,) or (N, numsamples).

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If without replacement there are fewer classes than `numsamples`.
    """
    return MultinomialWithReplacement.functional(x, seed, offset, numsamples, replacement)


@operator(random=True)
def RandpermV2(key, n: PositiveInt, *, seed: Int = 0, offset: Int = 0, dtype: DType = mstype.int64):
    """Return a random permutation of 0 to n - 1.

    Args:
        seed (int): Picks a stream of random numbers. Default: 0.
        offset (int): Picks a stream together with `seed`. Default: 0.
        dtype (mindspore.dtype): Element type. Default: mindspore.int64.

    Inputs:
        - **n** (Union[Tensor, int]) - Length n of the permutation, a constant.

    Outputs:
        Tensor of shape (n,).

    Raises:
        TypeError: If `n` is not an int.
    """
    return jax.random.permutation(stream(key, seed, offset), n).astype(np_dtype(dtype))


@operator(random=True)
def NonDeterministicInts(key, shape: Shape, *, dtype: DType = mstype.int64):
    """Draw random integers uniformly from all values of an integer type.

    Args:
        dtype (mindspore.dtype): An integer type. Default: mindspore.int64.

    Inputs:
        - **shape** (Union[Tensor, tuple[int]]) - Shape of the result, a constant.

    Outputs:
        Tensor.

    Raises:
        TypeError: If `dtype` is not an integer type.
    """
    kind = np_dtype(dtype)
    if not jnp.issubdtype(kind, jnp.integer):
        raise TypeError(f"For 'NonDeterministicInts', 'dtype' should be an integer type, but got {dtype}.")
    return jax.random.bits(key, shape, f"uint{8 * jnp.dtype(kind).itemsize}").astype(kind)


@operator(random=True)
def ParameterizedTruncatedNormal(key, shape: Shape, mean, stdevs, min, max, *, seed: Int = 0, seed2: Int = 0):
    """Draw random numbers from normal distributions truncated to [min, max], one distribution for each index of axis 0.

    Args:
        seed (int): Picks a stream of random numbers. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **shape** (Union[Tensor, tuple[int]]) - Shape of the result, a constant.
        - **mean** (Tensor) - Means, floating point: a single one, or one for each index of axis 0.
        - **stdevs** (Tensor) - Standard deviations, of the element type of `mean`.
        - **min** (Tensor) - The lower ends.
        - **max** (Tensor) - The upper ends.

    Outputs:
        Tensor of shape `shape` and the element type of `mean`.

    Raises:
        TypeError: If `mean` is not floating point.
    """
    dtype_in("ParameterizedTruncatedNormal", "mean", mean, FLOAT)
    mean, stdevs, low, high = (x.reshape(-1, *[1] * (len(shape) - 1)) for x in (mean, stdevs, min, max))
    kind = jnp.promote_types(mean.dtype, jnp.float32)
    low, high = ((end - mean).astype(kind) / stdevs.astype(kind) for end in (low, high))
    drawn = jax.random.truncated_normal(stream(key, seed, seed2), low, high, shape, kind)
    return (drawn * stdevs + mean).astype(mean.dtype)
