"""Operators that draw random numbers.

Every call takes the next key of the stream that `set_seed` fixes. The attributes `seed` and `seed2` pick another stream
of it: two operators with different seeds differ, and a program repeats itself after the same `set_seed`.
"""

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, Int, Kind, NonNegInt, PositiveInt, Shape, accept_value
from msnb.core.checks import label
from msnb.core.declare import operator
from msnb.core.dtype import np_dtype
from msnb.ops._check import BOOL, FLOAT, INDEX, dtype_in, rank


def stream(key, *seeds):
    """`key`, or the stream of it that `seeds` pick."""
    for seed in seeds:
        if seed:
            key = jax.random.fold_in(key, seed & 0xFFFFFFFF)
    return key


def _positive_shape(value):
    value = accept_value(Shape, value)
    if any(n < 1 for n in value):
        raise ValueError
    return value


PositiveShape = Kind("a tuple of positive int", _positive_shape)

_ARGS = """
    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **shape** (tuple[int]) - Shape of the result, of positive int.{inputs}

    Outputs:
        Tensor of {result}.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If a seed is negative or an entry of `shape` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> output = ops.{name}(seed=2)({call})
        >>> print(output.shape)
        (2, 2)
    """


def _declare(name, summary, fn, result, inputs="", call="(2, 2)", functional=None):
    fn.__doc__ = summary + "\n" + _ARGS.format(name=name, inputs=inputs, result=result, call=call)
    fn.__name__ = fn.__qualname__ = name
    return operator(name, functional=functional, random=True)(fn)


def _standard_normal(key, shape: PositiveShape, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    return jax.random.normal(stream(key, seed, seed2), shape, jnp.float32)


def _standard_laplace(key, shape: PositiveShape, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    return jax.random.laplace(stream(key, seed, seed2), shape, jnp.float32)


def _uniform_real(key, shape: PositiveShape, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    return jax.random.uniform(stream(key, seed, seed2), shape, jnp.float32)


def _common_shape(op, shape, *parameters):
    try:
        return jnp.broadcast_shapes(shape, *(p.shape for p in parameters))
    except ValueError:
        raise ValueError(
            f"For '{op}', the parameters of shapes {', '.join(str(p.shape) for p in parameters)} should "
            f"broadcast with 'shape' {shape}."
        ) from None


def _as_float(op, argument, x):
    if x.weak_type:
        return x.astype(jnp.float32)
    dtype_in(op, argument, x, FLOAT)
    return x


def _gamma(key, shape: PositiveShape, alpha, beta, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    alpha, beta = _as_float("Gamma", "alpha", alpha), _as_float("Gamma", "beta", beta)
    full = _common_shape("Gamma", shape, alpha, beta)
    return jax.random.gamma(stream(key, seed, seed2), jnp.broadcast_to(alpha, full), dtype=alpha.dtype) / beta


def _poisson(key, shape: PositiveShape, mean, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    mean = _as_float("Poisson", "mean", mean)
    full = _common_shape("Poisson", shape, mean)
    return jax.random.poisson(stream(key, seed, seed2), mean, full, jnp.int32)


def _uniform_int(key, shape: PositiveShape, minval, maxval, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    for argument, value in (("minval", minval), ("maxval", maxval)):
        if not value.weak_type:
            dtype_in("UniformInt", argument, value, frozenset({jnp.dtype("int32")}))
        rank("UniformInt", argument, value, 0)
    return jax.random.randint(
        stream(key, seed, seed2), shape, minval.astype(jnp.int32), maxval.astype(jnp.int32), jnp.int32
    )


_declare(
    "StandardNormal",
    "Numbers of the normal distribution with mean 0 and standard deviation 1.",
    _standard_normal,
    "float32, of shape `shape`",
)
_declare(
    "StandardLaplace",
    "Numbers of the Laplace distribution with mean 0 and scale 1.",
    _standard_laplace,
    "float32, of shape `shape`",
)
_declare("UniformReal", "Numbers of the uniform distribution over [0, 1).", _uniform_real, "float32, of shape `shape`")
_declare(
    "Gamma",
    "Numbers of Gamma distributions.",
    _gamma,
    "float32, of the broadcast shape of all inputs",
    "\n        - **alpha** (Tensor) - Shape parameter, float32, positive."
    "\n        - **beta** (Tensor) - Rate, the inverse of the scale, float32, positive.",
    "(2, 2), Tensor(1., mindspore.float32), Tensor(1., mindspore.float32)",
)
_declare(
    "Poisson",
    "Numbers of Poisson distributions.",
    _poisson,
    "int32, of the broadcast shape of the inputs",
    "\n        - **mean** (Tensor) - Means, float32, positive.",
    "(2, 2), Tensor(5., mindspore.float32)",
)
_declare(
    "UniformInt",
    "Whole numbers of the uniform distribution over [minval, maxval).",
    _uniform_int,
    "int32, of shape `shape`",
    "\n        - **minval** (Tensor) - The smallest number, an int32 scalar."
    "\n        - **maxval** (Tensor) - The number above the largest, an int32 scalar.",
    "(2, 2), Tensor(1, mindspore.int32), Tensor(5, mindspore.int32)",
)


@operator(random=True)
def TruncatedNormal(key, shape: PositiveShape, *, seed: Int = 0, dtype: DType = mstype.float32):
    """Numbers of the standard normal distribution, none further than 2 from 0.

    Args:
        seed (int): Picks a stream of random numbers. Default: 0.
        dtype (mindspore.dtype): Element type. Default: mindspore.float32.

    Inputs:
        - **shape** (tuple[int]) - Shape of the result, of positive int.

    Outputs:
        Tensor of shape `shape` and element type `dtype`.

    Raises:
        TypeError: If `seed` is not an int or `shape` not made of int.
        ValueError: If an entry of `shape` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.TruncatedNormal()((1, 2)).shape)
        (1, 2)
    """
    return jax.random.truncated_normal(stream(key, seed), -2, 2, shape, jnp.float32).astype(np_dtype(dtype))


def _up_to_five_dimensions(op, x):
    dtype_in(op, "input_x", x, BOOL)
    rank(op, "input_x", x, 1, 2, 3, 4, 5)


@operator(random=True)
def RandomChoiceWithMask(key, input_x, *, count: PositiveInt = 256, seed: Int = 0, seed2: Int = 0):
    """Random places at which a mask is True, each at most once.

    Args:
        count (int): How many places. Default: 256.
        seed (int): Picks a stream of random numbers. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **input_x** (Tensor) - The mask, bool of 1 to 5 dimensions.

    Outputs:
        Two Tensors.

        - **index** - Places, int32 of shape (count, input_x.ndim); zeros where there are not enough.
        - **mask** - Which rows of `index` are places, bool of shape (count,).

    Raises:
        TypeError: If `input_x` is not bool or an argument is not an int.
        ValueError: If `count` is not positive or `input_x` has more than 5 dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> index, mask = ops.RandomChoiceWithMask(count=3)(Tensor(np.ones((4, 3)) > 0))
        >>> print(index.shape, mask)
        (3, 2) [ True  True  True]
    """
    _up_to_five_dimensions("RandomChoiceWithMask", input_x)
    flat = input_x.reshape(-1)
    score = jnp.where(flat, jax.random.uniform(stream(key, seed, seed2), flat.shape, jnp.float32), -1.0)
    score, place = jax.lax.top_k(score, min(count, flat.size))
    missing = count - place.size
    score, place = jnp.pad(score, (0, missing), constant_values=-1.0), jnp.pad(place, (0, missing))
    mask = score >= 0
    index = jnp.stack(jnp.unravel_index(jnp.where(mask, place, 0), input_x.shape), axis=1).astype(jnp.int32)
    return index, mask


def _categorical_type(value):
    value = accept_value(DType, value)
    if value not in (mstype.int16, mstype.int32, mstype.int64):
        raise TypeError
    return value


CategoricalType = Kind("mindspore.int16, mindspore.int32 or mindspore.int64", _categorical_type)


@operator(functional="random_categorical", random=True)
def RandomCategorical(key, logits, num_samples: PositiveInt, seed: Int = 0, *, dtype: CategoricalType = mstype.int64):
    """Samples of categorical distributions given by logits.

    Args:
        dtype (mindspore.dtype): mindspore.int16, int32 or int64. Default: mindspore.int64.

    Inputs:
        - **logits** (Tensor) - Unnormalised log probabilities, floating point of shape (N, C).
        - **num_samples** (int) - How many samples of each distribution, positive.
        - **seed** (int) - Picks a stream of random numbers. Default: 0.

    Outputs:
        Tensor of shape (N, num_samples) and element type `dtype`.

    Raises:
        TypeError: If `logits` is not floating point or an argument is not an int.
        ValueError: If `logits` has not 2 dimensions or `num_samples` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.RandomCategorical(mindspore.int64)(Tensor(np.ones((10, 5)), mindspore.float32), 8, 0).shape)
        (10, 8)
    """
    dtype_in("RandomCategorical", "logits", logits, FLOAT)
    rank("RandomCategorical", "logits", logits, 2)
    shape = (num_samples, logits.shape[0])
    return jax.random.categorical(stream(key, seed), logits, axis=-1, shape=shape).T.astype(np_dtype(dtype))


@operator(random=True)
def Multinomial(key, inputs, num_samples: PositiveInt, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    """Samples, with replacement, of categorical distributions given by weights.

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **inputs** (Tensor) - Non-negative weights, float32 of shape (C,) or (N, C); they need not sum to 1.
        - **num_samples** (int) - How many samples of each distribution, positive.

    Outputs:
        Tensor of int32, of shape (num_samples,) or (N, num_samples).

    Raises:
        TypeError: If `inputs` is not floating point or an argument is not an int.
        ValueError: If `inputs` has not 1 or 2 dimensions, or `num_samples` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Multinomial(seed=10)(Tensor([0., 9., 0.], mindspore.float32), 2))
        [1 1]
    """
    dtype_in("Multinomial", "inputs", inputs, FLOAT)
    rank("Multinomial", "inputs", inputs, 1, 2)
    logits = jnp.log(jnp.maximum(inputs, 0))
    samples = jax.random.categorical(stream(key, seed, seed2), logits, axis=-1, shape=(num_samples, *inputs.shape[:-1]))
    return (samples if inputs.ndim == 1 else samples.T).astype(jnp.int32)


@operator(random=True)
def Randperm(key, n, *, max_length: PositiveInt = 1, pad: Int = -1, dtype: DType = mstype.int32):
    """The numbers 0 to n - 1 in random order, filled up to a fixed length.

    Args:
        max_length (int): Length of the result. Default: 1.
        pad (int): What fills the places after the n numbers. Default: -1.
        dtype (mindspore.dtype): Element type, of integers. Default: mindspore.int32.

    Inputs:
        - **n** (Tensor) - How many numbers, int32 of shape (1,), at most `max_length`.

    Outputs:
        Tensor of shape (max_length,) and element type `dtype`.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If `n` has not shape (1,).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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


def _sampler_inputs(op, true_classes, num_true, num_sampled, unique, range_max):
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


_TRUE_CLASSES = [label("true_classes", classes=lambda given: given["range_max"], always=False)]


@operator(functional="uniform_candidate_sampler", random=True, checks=_TRUE_CLASSES)
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
    """Classes drawn uniformly from [0, range_max), and how often each class is expected.

    Args:
        num_true (int): Number of true classes of each example.
        num_sampled (int): How many classes to draw.
        unique (bool): Whether the drawn classes are all different.
        range_max (int): Number of classes.
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        remove_accidental_hits (bool): Whether true classes are not drawn. Default: False.

    Inputs:
        - **true_classes** (Tensor) - int32 or int64 of shape (N, num_true).

    Outputs:
        Three Tensors.

        - **sampled_candidates** - The drawn classes, of the type of `true_classes`, of shape (num_sampled,).
        - **true_expected_count** - How often each true class is expected, float32 of shape (N, num_true).
        - **sampled_expected_count** - How often each drawn class is expected, float32 of shape (num_sampled,).

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If the shape does not fit, or there are not enough classes.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> sampler = ops.UniformCandidateSampler(1, 3, False, 4, 1)
        >>> print(sampler(Tensor([[1], [3]], mindspore.int32))[0].shape)
        (3,)
    """
    op = "UniformCandidateSampler"
    _sampler_inputs(op, true_classes, num_true, num_sampled, unique, range_max)
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


@operator(functional="log_uniform_candidate_sampler", random=True, checks=_TRUE_CLASSES)
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
    """Classes drawn from [0, range_max) with probabilities log((c + 2) / (c + 1)) / log(range_max + 1).

    Args:
        num_true (int): Number of true classes of each example. Default: 1.
        num_sampled (int): How many classes to draw. Default: 5.
        unique (bool): Whether the drawn classes are all different. Default: True.
        range_max (int): Number of classes. Default: 5.
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.

    Inputs:
        - **true_classes** (Tensor) - int64 of shape (N, num_true).

    Outputs:
        Three Tensors.

        - **sampled_candidates** - The drawn classes, of the type of `true_classes`, of shape (num_sampled,).
        - **true_expected_count** - How often each true class is expected, float32 of shape (N, num_true).
        - **sampled_expected_count** - How often each drawn class is expected, float32 of shape (num_sampled,).

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If the shape does not fit, or there are not enough classes.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> sampler = ops.LogUniformCandidateSampler(2, 5, True, 5)
        >>> print(sampler(Tensor([[1, 2], [0, 4], [3, 3]]))[1].shape)
        (3, 2)
    """
    _sampler_inputs("LogUniformCandidateSampler", true_classes, num_true, num_sampled, unique, range_max)
    classes = jnp.arange(range_max, dtype=jnp.float32)
    probability = jnp.log1p(1 / (classes + 1)) / jnp.log(jnp.float32(range_max + 1))
    key = stream(key, seed)
    if unique:
        drawn = jax.lax.top_k(jnp.log(probability) + jax.random.gumbel(key, (range_max,), jnp.float32), num_sampled)[1]
        tries = _tries(probability, num_sampled)
        expected = -jnp.expm1(tries * jnp.log1p(-jnp.minimum(probability, 1 - 1e-6)))
    else:
        drawn = jax.random.categorical(key, jnp.log(probability), shape=(num_sampled,))
        expected = probability * num_sampled
    true = jnp.take(expected, true_classes, mode="fill")
    return drawn.astype(true_classes.dtype), true, expected[drawn]


def _tries(probability, wanted):
    """How many draws with replacement give `wanted` different classes on average, by bisection."""
    log_rest = jnp.log1p(-jnp.minimum(probability, 1 - 1e-6))

    def halve(_, bounds):
        low, high = bounds
        middle = (low + high) / 2
        few = jnp.sum(-jnp.expm1(middle * log_rest)) < wanted
        return jnp.where(few, middle, low), jnp.where(few, high, middle)

    low, high = jax.lax.fori_loop(0, 60, halve, (jnp.float32(wanted), jnp.float32(1e6)))
    return (low + high) / 2


@operator
def NoRepeatNGram(state_seq, log_probs, *, ngram_size: PositiveInt = 1):
    """Log probabilities in which a word that would repeat an n-gram of its sequence gets the lowest number.

    Args:
        ngram_size (int): Length n of the n-grams, at most the length of a sequence. Default: 1.

    Inputs:
        - **state_seq** (Tensor) - Words so far, int32 of shape (batch, beam, length).
        - **log_probs** (Tensor) - Of the next word, floating point of shape (batch, beam, vocabulary).

    Outputs:
        Tensor of the shape and element type of `log_probs`.

    Raises:
        TypeError: If an input is not of the type given above.
        ValueError: If the shapes do not fit or `ngram_size` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
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
