"""Random choices: classes, indices of True elements, and permutations."""

import jax
import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, Int, Kind, NonNegInt, Optional, PositiveInt, accept_value, check
from msnb.core.operator.cases import Values, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import BOOL, FLOAT, INDEX, dtype_in, rank
from msnb.ops.array.cast import Cast
from msnb.ops.array.sort import IndexType
from msnb.ops.random._stream import seed_of, stream


def _check_at_most_five_dimensions(op, x):
    dtype_in(op, "input_x", x, BOOL)
    rank(op, "input_x", x, 1, 2, 3, 4, 5)


@operator(random=True)
def RandomChoiceWithMask(key, input_x, *, count: PositiveInt = 256, seed: Int = 0, seed2: Int = 0):
    """Draw indices of True elements of a mask, without replacement.

    Args:
        count (int): Number of indices to draw. Default: 256.
        seed (int): Picks a stream of random numbers. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **input_x** (Tensor) - The mask, bool of 1 to 5 dimensions.

    Outputs:
        Two Tensors.

        - **index** - Indices, int32 of shape (count, input_x.ndim); padded with zeros if there are not enough.
        - **mask** - True for the rows of `index` that are valid, bool of shape (count,).

    Raises:
        TypeError: If `input_x` is not bool or an argument is not an int.
        ValueError: If `count` is not positive or `input_x` has more than 5 dimensions.

    Examples:
        >>> index, mask = ops.RandomChoiceWithMask(count=3)(Tensor(np.ones((4, 3)) > 0))
        >>> print(index.shape, mask)
        (3, 2) [ True  True  True]
    """
    _check_at_most_five_dimensions("RandomChoiceWithMask", input_x)
    flat = input_x.reshape(-1)
    score = jnp.where(flat, jax.random.uniform(stream(key, seed, seed2), flat.shape, jnp.float32), -1.0)
    score, place = jax.lax.top_k(score, min(count, flat.size))
    missing = count - place.size
    score, place = jnp.pad(score, (0, missing), constant_values=-1.0), jnp.pad(place, (0, missing))
    mask = score >= 0
    index = jnp.stack(jnp.unravel_index(jnp.where(mask, place, 0), input_x.shape), axis=1).astype(jnp.int32)
    return index, mask


def _accept_categorical_type(value):
    value = accept_value(DType, value)
    if value not in (mstype.int16, mstype.int32, mstype.int64):
        raise TypeError
    return value


CategoricalType = Kind("mindspore.int16, mindspore.int32 or mindspore.int64", _accept_categorical_type)


@operator(functional="random_categorical", called=("", "num_sample"), random=True)
def RandomCategorical(key, logits, num_samples: PositiveInt, seed: Int = 0, *, dtype: CategoricalType = mstype.int64):
    """Draw samples from categorical distributions given by logits.

    Args:
        dtype (mindspore.dtype): mindspore.int16, int32 or int64. Default: mindspore.int64.

    Inputs:
        - **logits** (Tensor) - Unnormalised log probabilities, floating point of shape (N, C).
        - **num_samples** (int) - Number of samples of each distribution, positive.
        - **seed** (int) - 0 draws new random numbers in each call. Any other seed gives the same samples in each call,
          as in r1.1: all distributions use one sequence of the "minimal standard" generator (Park and Miller, 1988).
          Default: 0.

    Outputs:
        Tensor of shape (N, num_samples) and element type `dtype`.

    Raises:
        TypeError: If `logits` is not floating point or an argument is not an int.
        ValueError: If `logits` does not have 2 dimensions or `num_samples` is not positive.

    Examples:
        >>> print(ops.RandomCategorical(mindspore.int64)(Tensor(np.ones((10, 5)), mindspore.float32), 8, 0).shape)
        (10, 8)
    """
    dtype_in("RandomCategorical", "logits", logits, FLOAT)
    rank("RandomCategorical", "logits", logits, 2)
    if seed:
        shares = jnp.cumsum(jax.nn.softmax(logits.astype(float), axis=-1), axis=-1)
        found = jax.vmap(jnp.searchsorted, (0, None))(shares, _draw_minstd_uniforms(seed, num_samples))
        samples = jnp.minimum(found, logits.shape[1] - 1)
    else:
        samples = jax.random.categorical(key, logits, axis=-1, shape=(num_samples, logits.shape[0])).T
    return samples.astype(np_dtype(dtype))


def _draw_minstd_uniforms(seed, count):
    """Return numbers in [0, 1) from the generator x <- 16807 x mod (2**31 - 1). As in C++'s standard library, two draws
    make one number."""
    modulus = 2**31 - 1
    state, values = seed % modulus or 1, np.empty(2 * count)
    for i in range(2 * count):
        state = state * 16807 % modulus
        values[i] = state - 1
    span = modulus - 1.0
    return (values[::2] + values[1::2] * span) / span**2


@operator(random=True)
def Multinomial(
    key,
    inputs,
    num_samples: PositiveInt,
    *,
    seed: NonNegInt = 0,
    seed2: NonNegInt = 0,
    dtype: IndexType = mstype.int32,
):
    """Draw samples with replacement from categorical distributions given by weights.

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.
        dtype (mindspore.dtype): int32 or int64. Default: mindspore.int32.

    Inputs:
        - **inputs** (Tensor) - Non-negative weights, float32 of shape (C,) or (N, C); they need not sum to 1.
        - **num_samples** (int) - Number of samples of each distribution, positive.

    Outputs:
        Tensor of `dtype`, of shape (num_samples,) or (N, num_samples).

    Raises:
        TypeError: If `inputs` is not floating point or an argument is not an int.
        ValueError: If `inputs` does not have 1 or 2 dimensions, or `num_samples` is not positive.

    Examples:
        >>> print(ops.Multinomial(seed=10)(Tensor([0., 9., 0.], mindspore.float32), 2))
        [1 1]
    """
    dtype_in("Multinomial", "inputs", inputs, FLOAT)
    rank("Multinomial", "inputs", inputs, 1, 2)
    logits = jnp.log(jnp.maximum(inputs, 0))
    samples = jax.random.categorical(stream(key, seed, seed2), logits, axis=-1, shape=(num_samples, *inputs.shape[:-1]))
    return (samples if inputs.ndim == 1 else samples.T).astype(np_dtype(dtype))


@operator(random=True)
def _MultinomialWithoutReplacement(key, inputs, num_samples: PositiveInt, *, seed: NonNegInt = 0):
    """Draw samples without replacement from categorical distributions given by weights.

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.

    Inputs:
        - **inputs** (Tensor) - Non-negative weights, floating point of shape (C,) or (N, C).
        - **num_samples** (int) - Number of samples of each distribution, at most C.

    Outputs:
        Tensor of int32.
    """
    op = "multinomial"
    dtype_in(op, "inputs", inputs, FLOAT)
    rank(op, "inputs", inputs, 1, 2)
    if num_samples > inputs.shape[-1]:
        raise ValueError(
            f"For '{op}', without replacement 'num_sample' should be at most {inputs.shape[-1]}, the "
            f"number of classes, but got {num_samples}."
        )
    noise = jax.random.gumbel(stream(key, seed), inputs.shape, jnp.float32)
    return jax.lax.top_k(jnp.log(jnp.maximum(inputs, 0)) + noise, num_samples)[1].astype(jnp.int32)


@spelling(Multinomial, _MultinomialWithoutReplacement, generation=1)
@keyword_aliases(input="inputs", num_samples="num_sample")
def multinomial(inputs: Tensor, num_sample: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """Draw samples from categorical distributions given by weights.

    Args:
        inputs (Tensor): Non-negative weights, float32 or integers, of shape (C,) or (N, C).
        num_sample (int): Number of samples of each distribution.
        replacement (bool): Whether a class may be drawn again. Default: True.
        seed (int): Picks a stream of random numbers, non-negative. Default: None, the same as 0.

    Returns:
        Tensor of int32, of shape (num_sample,) or (N, num_sample).

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If there are not enough classes to draw without replacement.

    Examples:
        >>> print(ops.multinomial(Tensor([0., 9., 0.], mindspore.float32), 2))
        [1 1]
    """
    replacement = check(Bool, replacement, "replacement", "multinomial")
    draw = Multinomial if replacement else _MultinomialWithoutReplacement
    if inputs.dtype in mstype.int_type:
        inputs = Cast.functional(inputs, mstype.float32)
    return draw(seed=seed_of("multinomial", seed))(inputs, num_sample)


@operator(random=True)
def Randperm(key, n, *, max_length: PositiveInt = 1, pad: Int = -1, dtype: DType = mstype.int32):
    """Return a random permutation of 0 to n - 1, padded to a fixed length.

    Args:
        max_length (int): Length of the result. Default: 1.
        pad (int): Padding after the n numbers. Default: -1.
        dtype (mindspore.dtype): Element type, of integers. Default: mindspore.int32.

    Inputs:
        - **n** (Tensor) - Length n of the permutation, int32 of shape (1,), at most `max_length`.

    Outputs:
        Tensor of shape (max_length,) and element type `dtype`.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If `n` does not have shape (1,).

    Examples:
        >>> print(ops.Randperm(max_length=3)(Tensor([3], mindspore.int32)).shape)
        (3,)
    """
    dtype_in("Randperm", "n", n, INDEX)
    if n.shape != (1,):
        raise ValueError(f"For 'Randperm', 'n' should have shape (1,), but got {n.shape}.")
    place = jnp.arange(max_length)
    order = jnp.argsort(jnp.where(place < n[0], jax.random.uniform(key, (max_length,)), 2.0))
    return jnp.where(place < n[0], order, pad).astype(np_dtype(dtype))


@operator(functional="randperm", generation=2, random=True)
def _RandpermOf(
    key, n: PositiveInt, *, seed: NonNegInt = 0, offset: NonNegInt = 0, dtype: Optional(DType) = mstype.int64
):
    """Return a random permutation of 0 to n - 1.

    Args:
        n (int): Length of the permutation.
        seed (int): Picks a stream of random numbers. Default: 0.
        offset (int): Picks one of the streams of a seed. Default: 0.
        dtype (mindspore.dtype): Element type. Default: mindspore.int64.

    Returns:
        Tensor of shape (n,).
    """
    return jax.random.permutation(stream(stream(key, seed), offset), n).astype(np_dtype(dtype or mstype.int64))


@spelling(RandomChoiceWithMask)
def choice_with_mask(input_x: Tensor, count: int = 256, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """Draw indices of True elements of a mask, without replacement.

    Args:
        input_x (Tensor): The mask, bool of 1 to 5 dimensions.
        count (int): Number of indices to draw. Default: 256.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.

    Returns:
        A tuple of two Tensors: the indices, int32 of shape (count, input_x.ndim), padded with zeros if there are not
        enough, and a mask of the valid rows, bool of shape (count,).

    Raises:
        TypeError: If `input_x` is not bool.
        ValueError: If `count` is not positive or `input_x` has more than 5 dimensions.
    """
    return RandomChoiceWithMask(count, seed_of("choice_with_mask", seed))(input_x)


@spelling(RandomCategorical, method="random_categorical")
def _tensor_random_categorical(self: Tensor, num_sample: int, seed: int = 0, dtype: DType = mstype.int64) -> Tensor:
    """Draw samples from categorical distributions given by logits; see `ops.random_categorical`."""
    return RandomCategorical(dtype)(self, num_sample, seed)


@spelling(Multinomial, _MultinomialWithoutReplacement, method="multinomial")
def _tensor_multinomial(self: Tensor, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """Draw samples from categorical distributions given by weights; see `ops.multinomial`."""
    return multinomial(self, num_samples, replacement, seed)


CASES = [
    refused(ValueError, multinomial, Values([1.0, 2.0]), 3, replacement=False),
]
