"""Functional forms that make Tensors: constants, ranges, and random numbers with given parameters."""

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, NonNegInt, Number, Optional, PositiveInt, Shape, check
from msnb.core.declare import operator
from msnb.core.dtype import np_dtype
from msnb.core.errors import describe
from msnb.core.operator import FUNCTIONAL, REGISTRY
from msnb.core.tensor import Tensor
from msnb.ops._check import FLOAT, dtype_in, rank
from msnb.ops._host import functional
from msnb.ops.random import stream

_fill = REGISTRY["Fill"].primitive()
_cast = FUNCTIONAL["cast"]
_ones_like, _zeros_like = REGISTRY["OnesLike"].primitive(), REGISTRY["ZerosLike"].primitive()


@functional("fill")
def fill(type, shape, value):
    """A Tensor with one value in every place.

    Args:
        type (mindspore.dtype): Element type.
        shape (tuple[int]): Shape of the result.
        value (Union[Number, bool, Tensor]): The value.

    Returns:
        Tensor of shape `shape` and element type `type`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.fill(mindspore.float32, (2, 2), 1))
        [[1. 1.]
         [1. 1.]]
    """
    return _fill(type, shape, value)


def _natural(value):
    """Element type of a Python number or Tensor."""
    if isinstance(value, Tensor):
        return value.dtype
    return mstype.bool_ if isinstance(value, bool) else mstype.int64 if isinstance(value, int) else mstype.float32


@functional("full")
def full(size, fill_value, *, dtype=None):
    """A Tensor with one value in every place.

    Args:
        size (Union[int, tuple[int]]): Shape of the result.
        fill_value (Union[Number, bool]): The value.
        dtype (mindspore.dtype): Element type. Default: None, that of the value.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _fill(_natural(fill_value) if dtype is None else dtype, size, fill_value)


@functional("full_like")
def full_like(input, fill_value, *, dtype=None):
    """A Tensor with one value in every place, of the shape of another.

    Args:
        input (Tensor): Gives shape and type.
        fill_value (Union[Number, bool]): The value.
        dtype (mindspore.dtype): Element type. Default: None, that of `input`.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _fill(input.dtype if dtype is None else dtype, input.shape, fill_value)


def _like(name, primitive, word):
    def form(input, *, dtype=None):
        if isinstance(input, (tuple, list)):
            return tuple(form(v, dtype=dtype) for v in input)
        if isinstance(input, (bool, int, float)):
            return type(input)(name == "ones_like")
        result = primitive(input)
        return result if dtype is None else _cast(result, dtype)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"""A Tensor of {word}, of the shape of another.

    Args:
        input (Union[Tensor, tuple, list]): Gives shape and type; for a sequence of Tensors the result is one, too.
        dtype (mindspore.dtype): Element type. Default: None, that of `input`.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return functional(name)(form)


ones_like = _like("ones_like", _ones_like, "ones")
zeros_like = _like("zeros_like", _zeros_like, "zeros")


@functional("eye")
def eye(n, m=None, dtype=None):
    """A matrix with ones on its diagonal and zeros elsewhere.

    Args:
        n (int): Number of rows.
        m (int): Number of columns. Default: None, as many as rows.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.float32.

    Returns:
        Tensor of shape (n, m).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return REGISTRY["Eye"].primitive()(n, n if m is None else m, mstype.float32 if dtype is None else dtype)


@operator
def Arange(start: Number, end: Number, step: Number, dtype: DType):
    """Numbers at even distances.

    Inputs:
        - **start** (Number) - The first number.
        - **end** (Number) - Where they end, not included.
        - **step** (Number) - The distance.
        - **dtype** (mindspore.dtype) - Element type.

    Outputs:
        Tensor of 1 dimension.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if step == 0:
        raise ValueError("For 'arange', 'step' should not be 0.")
    return jnp.arange(start, end, step, dtype=np_dtype(dtype))


@functional("arange")
def arange(start=0, end=None, step=1, *, dtype=None):
    """Numbers from `start` up to `end`, not included, at distances of `step`.

    Args:
        start (Union[int, float]): The first number; the end if it is the only argument. Default: 0.
        end (Union[int, float]): Where the numbers end. Default: None.
        step (Union[int, float]): The distance. Default: 1.
        dtype (mindspore.dtype): Element type. Default: None, int64 for int and float32 for float.

    Returns:
        Tensor of 1 dimension.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.arange(1, 6, 2))
        [1 3 5]
    """
    if end is None:
        start, end = 0, start
    if dtype is None:
        values = [v.asnumpy().item() if isinstance(v, Tensor) else v for v in (start, end, step)]
        dtype = mstype.int64 if all(isinstance(v, int) for v in values) else mstype.float32
    return REGISTRY["Arange"].primitive()(start, end, step, dtype)


functional("range")(arange)


# ---------------------------------------------------------------------- random numbers
def _number_type(op, name, value, allowed):
    if not isinstance(value, Tensor):
        raise TypeError(f"For '{op}', '{name}' should be a Tensor, but got {describe(value)}.")
    if value.dtype not in allowed:
        raise TypeError(f"For '{op}', '{name}' should be {' or '.join(map(str, allowed))}, but got {value.dtype}.")


def _seed(op, seed):
    return 0 if seed is None else check(NonNegInt, seed, "seed", op)


_RANDOM = """{summary}

    Args:
        shape (tuple[int]): Shape of the numbers, broadcast with those of the parameters.
{parameters}        seed (int): Picks a stream of random numbers, non-negative. Default: None, 0.

    Returns:
        Tensor of {result}.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If `seed` is negative or an entry of `shape` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> output = ops.{name}((2, 2), {call}, seed=5)
        >>> print(output.shape)
        (2, 2)
    """


def _documented(name, summary, result, call, **parameters):
    def decorate(fn):
        lines = "".join(f"        {p} (Tensor): {text}.\n" for p, text in parameters.items())
        fn.__doc__ = _RANDOM.format(name=name, summary=summary, parameters=lines, result=result, call=call)
        return functional(name)(fn)

    return decorate


@_documented(
    "normal",
    "Numbers of normal distributions.",
    "float32",
    "Tensor(1., mindspore.float32), Tensor(1., mindspore.float32)",
    mean="Mean, of numbers",
    stddev="Standard deviation, of numbers",
)
def normal(shape, mean, stddev, seed=None):
    allowed = (*mstype.int_type, mstype.float16, mstype.float32)
    mean, stddev = _parameter(mean), _parameter(stddev)
    _number_type("normal", "mean", mean, allowed)
    _number_type("normal", "stddev", stddev, allowed)
    return REGISTRY["StandardNormal"].primitive(_seed("normal", seed))(shape) * stddev + mean


def _parameter(value):
    """Python numbers are taken as Tensors, as 2.x does."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Tensor(float(value), mstype.float32)
    return value


@_documented(
    "laplace",
    "Numbers of Laplace distributions.",
    "float32",
    "Tensor(1., mindspore.float32), Tensor(1., mindspore.float32)",
    mean="Mean, float32",
    lambda_param="Scale, float32",
)
def laplace(shape, mean, lambda_param, seed=None):
    _number_type("laplace", "mean", mean, (mstype.float32,))
    _number_type("laplace", "lambda_param", lambda_param, (mstype.float32,))
    return REGISTRY["StandardLaplace"].primitive(_seed("laplace", seed))(shape) * lambda_param + mean


@functional("uniform")
def uniform(shape, minval, maxval, seed=None, dtype=mstype.float32):
    """Numbers of uniform distributions over [minval, maxval).

    Args:
        shape (tuple[int]): Shape of the numbers, broadcast with those of the bounds.
        minval (Tensor): Lower bound, of element type `dtype`; a scalar for int32.
        maxval (Tensor): Upper bound, of element type `dtype`; a scalar for int32.
        seed (int): Picks a stream of random numbers, non-negative. Default: None, 0.
        dtype (mindspore.dtype): mindspore.float32 or mindspore.int32. Default: mindspore.float32.

    Returns:
        Tensor of element type `dtype`.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If `seed` is negative or an entry of `shape` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> low, high = Tensor(0., mindspore.float32), Tensor(1., mindspore.float32)
        >>> print(ops.uniform((2, 2), low, high, seed=5).shape)
        (2, 2)
    """
    if dtype not in (mstype.float32, mstype.int32):
        raise TypeError(f"For 'uniform', 'dtype' should be mindspore.float32 or mindspore.int32, but got {dtype!r}.")
    _number_type("uniform", "minval", minval, (dtype,))
    _number_type("uniform", "maxval", maxval, (dtype,))
    seed = _seed("uniform", seed)
    if dtype == mstype.int32:
        return REGISTRY["UniformInt"].primitive(seed)(shape, minval, maxval)
    return REGISTRY["UniformReal"].primitive(seed)(shape) * (maxval - minval) + minval


@_documented(
    "gamma",
    "Numbers of Gamma distributions.",
    "float32",
    "Tensor(1., mindspore.float32), Tensor(1., mindspore.float32)",
    alpha="Shape parameter, float32",
    beta="Rate, float32",
)
def gamma(shape, alpha, beta, seed=None):
    return REGISTRY["Gamma"].primitive(_seed("gamma", seed))(shape, alpha, beta)


@_documented(
    "poisson", "Numbers of Poisson distributions.", "int32", "Tensor(5., mindspore.float32)", mean="Mean, float32"
)
def poisson(shape, mean, seed=None):
    return REGISTRY["Poisson"].primitive(_seed("poisson", seed))(shape, mean)


@operator(random=True)
def MultinomialWithoutReplacement(key, inputs, num_samples: PositiveInt, *, seed: NonNegInt = 0):
    """Samples, each class at most once, of categorical distributions given by weights.

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.

    Inputs:
        - **inputs** (Tensor) - Non-negative weights, floating point of shape (C,) or (N, C).
        - **num_samples** (int) - How many samples of each distribution, at most C.

    Outputs:
        Tensor of int32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
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


@functional("multinomial")
def multinomial(inputs, num_sample, replacement=True, seed=None):
    """Samples of categorical distributions given by weights.

    Args:
        inputs (Tensor): Non-negative weights, float32 of shape (C,) or (N, C).
        num_sample (int): How many samples of each distribution.
        replacement (bool): Whether a class may be drawn again. Default: True.
        seed (int): Picks a stream of random numbers, non-negative. Default: None, 0.

    Returns:
        Tensor of int32, of shape (num_sample,) or (N, num_sample).

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If there are not enough classes to draw without replacement.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.multinomial(Tensor([0., 9., 0.], mindspore.float32), 2))
        [1 1]
    """
    replacement = check(Bool, replacement, "replacement", "multinomial")
    name = "Multinomial" if replacement else "MultinomialWithoutReplacement"
    return REGISTRY[name].primitive(seed=_seed("multinomial", seed))(inputs, num_sample)


@functional("standard_normal")
def standard_normal(shape, seed=None):
    """Numbers of the normal distribution with mean 0 and standard deviation 1.

    Args:
        shape (tuple[int]): Shape of the result.
        seed (int): Picks a stream of random numbers. Default: None, 0.

    Returns:
        Tensor of float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return REGISTRY["StandardNormal"].primitive(_seed("standard_normal", seed))(shape)


@functional("standard_laplace")
def standard_laplace(shape, seed=None):
    """Numbers of the Laplace distribution with mean 0 and scale 1.

    Args:
        shape (tuple[int]): Shape of the result.
        seed (int): Picks a stream of random numbers. Default: None, 0.

    Returns:
        Tensor of float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return REGISTRY["StandardLaplace"].primitive(_seed("standard_laplace", seed))(shape)


def _size(op, size):
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    return check(Shape, tuple(size), "size", op)


@functional("randn")
def randn(*size, dtype=None, seed=None):
    """Numbers of the standard normal distribution.

    Args:
        size (Union[int, tuple[int]]): Shape of the result.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.float32.
        seed (int): Picks a stream of random numbers. Default: None, 0.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    result = REGISTRY["StandardNormal"].primitive(_seed("randn", seed))(_size("randn", size))
    return result if dtype in (None, mstype.float32) else _cast(result, dtype)


@functional("rand")
def rand(*size, dtype=None, seed=None):
    """Numbers of the uniform distribution over [0, 1).

    Args:
        size (Union[int, tuple[int]]): Shape of the result.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.float32.
        seed (int): Picks a stream of random numbers. Default: None, 0.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    result = REGISTRY["UniformReal"].primitive(_seed("rand", seed))(_size("rand", size))
    return result if dtype in (None, mstype.float32) else _cast(result, dtype)


@functional("randn_like")
def randn_like(input, seed=None, *, dtype=None):
    """Numbers of the standard normal distribution, of the shape of a Tensor.

    Args:
        input (Tensor): Gives shape and type.
        seed (int): Picks a stream of random numbers. Default: None, 0.
        dtype (mindspore.dtype): Element type. Default: None, that of `input`.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return randn(input.shape, dtype=dtype or input.dtype, seed=seed)


@functional("rand_like")
def rand_like(input, seed=None, *, dtype=None):
    """Numbers of the uniform distribution over [0, 1), of the shape of a Tensor.

    Args:
        input (Tensor): Gives shape and type.
        seed (int): Picks a stream of random numbers. Default: None, 0.
        dtype (mindspore.dtype): Element type. Default: None, that of `input`.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return rand(input.shape, dtype=dtype or input.dtype, seed=seed)


@functional("randint")
def randint(low, high, size, seed=None, *, dtype=None):
    """Whole numbers of the uniform distribution over [low, high).

    Args:
        low (int): The smallest number.
        high (int): The number above the largest.
        size (tuple[int]): Shape of the result.
        seed (int): Picks a stream of random numbers. Default: None, 0.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.int64.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    low, high = Tensor(low, mstype.int32), Tensor(high, mstype.int32)
    drawn = REGISTRY["UniformInt"].primitive(_seed("randint", seed))(size, low, high)
    return _cast(drawn, dtype or mstype.int64)


@operator(functional="randperm", random=True)
def RandpermOf(key, n: PositiveInt, *, seed: NonNegInt = 0, dtype: Optional(DType) = mstype.int64):
    """The numbers 0 to n - 1 in random order.

    Args:
        n (int): How many numbers.
        seed (int): Picks a stream of random numbers. Default: 0.
        dtype (mindspore.dtype): Element type. Default: mindspore.int64.

    Returns:
        Tensor of shape (n,).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return jax.random.permutation(stream(key, seed), n).astype(np_dtype(dtype or mstype.int64))
