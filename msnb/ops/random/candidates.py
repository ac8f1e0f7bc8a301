"""Candidate samplers, which draw negative classes for a sampled softmax, and n-gram blocking."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool, Int, NonNegInt, PositiveInt
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator
from msnb.ops._check import FLOAT, INDEX, dtype_in, rank
from msnb.ops.random._stream import stream


def _check_sampler_inputs(op, true_classes, num_true, num_sampled, unique, range_max):
    dtype_in(op, "true_classes", true_classes, INDEX)
    rank(op, "true_classes", true_classes, 2)
    if true_classes.shape[1] != num_true:
        raise ValueError(
            f"For '{op}', 'true_classes' should have shape (N, {num_true}) for num_true {num_true}, "
            f"but got {true_classes.shape}."
        )
    if unique and num_sampled > range_max:
        raise ValueError(
            f"For '{op}', {num_sampled} different classes cannot be drawn from {range_max}: lower "
            f"'num_sampled' or set 'unique' to False."
        )


@operator(functional="uniform_candidate_sampler", random=True)
def UniformCandidateSampler(
    key,
    true_classes,
    *,
    num_true: Int,
    num_sampled: PositiveInt,
    unique: Bool,
    range_max: PositiveInt,
    seed: NonNegInt = 0,
    remove_accidental_hits: Bool = False,
):
    """Draw classes uniformly from [0, range_max), and return them with expected counts of the true and the drawn
    classes.

    Args:
        num_true (int): Number of true classes of each example.
        num_sampled (int): Number of classes to draw.
        unique (bool): Whether the drawn classes are all different.
        range_max (int): Number of classes.
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        remove_accidental_hits (bool): Whether to exclude true classes from the draw. Default: False.

    Inputs:
        - **true_classes** (Tensor) - int32 or int64 of shape (N, num_true).

    Outputs:
        Three Tensors.

        - **sampled_candidates** - The drawn classes, of the type of `true_classes`, of shape (num_sampled,).
        - **true_expected_count** - Expected number of draws of each true class, float32 of shape (N, num_true).
        - **sampled_expected_count** - Expected number of draws of each drawn class, float32 of shape (num_sampled,).

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If the shape does not fit, or there are not enough classes.

    Examples:
        >>> sampler = ops.UniformCandidateSampler(1, 3, False, 4, 1)
        >>> print(sampler(Tensor([[1], [3]], mindspore.int32))[0].shape)
        (3,)
    """
    op = "UniformCandidateSampler"
    _check_sampler_inputs(op, true_classes, num_true, num_sampled, unique, range_max)
    key = stream(key, seed)
    allowed = jnp.ones(range_max, bool)
    if remove_accidental_hits:
        allowed = allowed.at[true_classes.reshape(-1)].set(False, mode="drop")
    if unique:
        score = jax.random.uniform(key, (range_max,), jnp.float32)
        drawn = jax.lax.top_k(jnp.where(allowed, score, score - 1), num_sampled)[1]
    else:
        places = jnp.cumsum(allowed)
        drawn = jnp.searchsorted(places, jax.random.randint(key, (num_sampled,), 1, places[-1] + 1))
    expected = jnp.float32(num_sampled / range_max)
    return (
        drawn.astype(true_classes.dtype),
        jnp.full(true_classes.shape, expected),
        jnp.full((num_sampled,), expected),
    )


@operator(functional="log_uniform_candidate_sampler", random=True)
def LogUniformCandidateSampler(
    key,
    true_classes,
    *,
    num_true: PositiveInt = 1,
    num_sampled: PositiveInt = 5,
    unique: Bool = True,
    range_max: PositiveInt = 5,
    seed: NonNegInt = 0,
):
    """Draw classes c from [0, range_max) with probabilities log((c + 2) / (c + 1)) / log(range_max + 1).

    Args:
        num_true (int): Number of true classes of each example. Default: 1.
        num_sampled (int): Number of classes to draw. Default: 5.
        unique (bool): Whether the drawn classes are all different. Default: True.
        range_max (int): Number of classes. Default: 5.
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.

    Inputs:
        - **true_classes** (Tensor) - int64 of shape (N, num_true).

    Outputs:
        Three Tensors.

        - **sampled_candidates** - The drawn classes, of the type of `true_classes`, of shape (num_sampled,).
        - **true_expected_count** - Expected number of draws of each true class, float32 of shape (N, num_true).
        - **sampled_expected_count** - Expected number of draws of each drawn class, float32 of shape (num_sampled,).

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If the shape does not fit, or there are not enough classes.

    Examples:
        >>> sampler = ops.LogUniformCandidateSampler(2, 5, True, 5)
        >>> print(sampler(Tensor([[1, 2], [0, 4], [3, 3]]))[1].shape)
        (3, 2)
    """
    _check_sampler_inputs("LogUniformCandidateSampler", true_classes, num_true, num_sampled, unique, range_max)
    classes = jnp.arange(range_max, dtype=jnp.float32)
    probability = jnp.log1p(1 / (classes + 1)) / jnp.log(jnp.float32(range_max + 1))
    key = stream(key, seed)
    if unique:
        drawn, tries = _draw_different_classes(key, probability, num_sampled)

        def often(p):
            return -jnp.expm1(tries * jnp.log1p(-jnp.minimum(p, 1 - 1e-6)))
    else:
        drawn = jax.random.categorical(key, jnp.log(probability), shape=(num_sampled,))

        def often(p):
            return p * num_sampled

    # The formula also gives a probability for a class beyond the last one.
    true = jnp.log1p(1 / (true_classes.astype(jnp.float32) + 1)) / jnp.log(jnp.float32(range_max + 1))
    true = often(true)
    return drawn.astype(true_classes.dtype), true, often(probability[drawn])


def _draw_different_classes(key, probability, count):
    """Draw `count` different classes with replacement. Return them and the number of draws that this takes.

    Class i comes first at a time with the exponential distribution of rate probability[i]. The number of draws is the
    mean over what happens between these first times.
    """
    first = -jnp.log(probability) - jax.random.gumbel(key, probability.shape, jnp.float32)  # logarithm of the time
    drawn = jax.lax.top_k(-first, count)[1]
    times = jnp.exp(first[drawn])
    return drawn, count + jnp.sum(probability[drawn] * (times[-1] - times))


@operator
def NoRepeatNGram(state_seq, log_probs, *, ngram_size: PositiveInt = 1):
    """Set the log probability of each word that would repeat an n-gram of its sequence to the lowest number.

    Args:
        ngram_size (int): Length n of the n-grams, at most the length of a sequence. Default: 1.

    Inputs:
        - **state_seq** (Tensor) - Words so far, int32 of shape (batch, beam, length).
        - **log_probs** (Tensor) - Log probabilities of the next word, floating point of shape (batch, beam,
          vocabulary).

    Outputs:
        Tensor of the shape and element type of `log_probs`.

    Raises:
        TypeError: If an input is not of the type given above.
        ValueError: If the shapes do not fit or `ngram_size` is out of range.
    """
    op = "NoRepeatNGram"
    dtype_in(op, "state_seq", state_seq, INDEX)
    dtype_in(op, "log_probs", log_probs, FLOAT)
    rank(op, "state_seq", state_seq, 3)
    rank(op, "log_probs", log_probs, 3)
    length = state_seq.shape[2]
    if state_seq.shape[:2] != log_probs.shape[:2]:
        raise ValueError(
            f"For '{op}', batch and beam should agree, but got shapes {state_seq.shape} and {log_probs.shape}."
        )
    if ngram_size > length:
        raise ValueError(f"For '{op}', 'ngram_size' should be at most the length {length}, but got {ngram_size}.")
    starts = jnp.arange(length - ngram_size + 1)
    grams = state_seq[..., starts[:, None] + jnp.arange(ngram_size)]
    tail = state_seq[..., length - ngram_size + 1 :]
    same = jnp.all(grams[..., :-1] == tail[..., None, :], axis=-1)
    banned = jnp.zeros(log_probs.shape, bool)
    batch, beam = jnp.ogrid[: log_probs.shape[0], : log_probs.shape[1]]
    banned = banned.at[batch[..., None], beam[..., None], grams[..., -1]].max(same)
    return jnp.where(banned, jnp.finfo(log_probs.dtype).min, log_probs)


CASES = [
    case(NoRepeatNGram, Values([[[1, 2, 1]]]), F(1, 1, 4), ngram_size=2),
]
