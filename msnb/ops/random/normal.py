"""Normal, Laplace, and truncated distributions."""

from typing import Any

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, Int, NonNegInt, Shape
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.operator.cases import refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.generator import Generator
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._generators import drawn_from
from msnb.ops._in_place import take_over
from msnb.ops.array.cast import Cast
from msnb.ops.random._stream import PositiveShape, check_numbers, number_type, seed_of, size_of, stream


@operator(random=True)
def StandardNormal(key, shape: PositiveShape, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    """Draw random numbers from the normal distribution with mean 0 and standard deviation 1.

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **shape** (tuple[int]) - Shape of the result, of positive int.

    Outputs:
        Tensor of float32, of shape `shape`.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If a seed is negative or an entry of `shape` is not positive.

    Examples:
        >>> output = ops.StandardNormal(seed=2)((2, 2))
        >>> print(output.shape)
        (2, 2)
    """
    return jax.random.normal(stream(key, seed, seed2), shape, jnp.float32)


@spelling(StandardNormal)
def standard_normal(shape: tuple[int, ...], seed: int | None = None) -> Tensor:
    """Draw random numbers from the normal distribution with mean 0 and standard deviation 1.

    Args:
        shape (tuple[int]): Shape of the result.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.

    Returns:
        Tensor of float32.
    """
    return StandardNormal(seed=seed_of("standard_normal", seed))(shape)


def _convert_number_to_tensor(value):
    """Return a Python number as a Tensor, as MindSpore 2 does; other values unchanged."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Tensor(float(value), mstype.float32)
    return value


@spelling(StandardNormal, generation=1)
def normal(shape: tuple[int, ...], mean: Tensor | float, stddev: Tensor | float, seed: int | None = None) -> Tensor:
    """Draw random numbers from normal distributions.

    Args:
        shape (tuple[int]): Shape of the numbers, broadcast with those of the parameters.
        mean (Tensor): Mean, of numbers.
        stddev (Tensor): Standard deviation, of numbers.
        seed (int): Picks a stream of random numbers, non-negative. Default: None, the same as 0.

    Returns:
        Tensor of float32.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If `seed` is negative or an entry of `shape` is not positive.

    Examples:
        >>> output = ops.normal((2, 2), Tensor(1., mindspore.float32), Tensor(1., mindspore.float32), seed=5)
        >>> print(output.shape)
        (2, 2)
    """
    allowed = (*mstype.int_type, mstype.float16, mstype.float32)
    mean, stddev = _convert_number_to_tensor(mean), _convert_number_to_tensor(stddev)
    check_numbers("normal", "mean", mean, allowed)
    check_numbers("normal", "stddev", stddev, allowed)
    return StandardNormal(seed=seed_of("normal", seed))(shape) * stddev + mean


@spelling(StandardNormal)
def randn(*size: Any, dtype: DType | None = None, seed: int | None = None) -> Tensor:
    """Draw random numbers from the standard normal distribution.

    Args:
        size (Union[int, tuple[int]]): Shape of the result.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.float32.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.

    Returns:
        Tensor.
    """
    result = StandardNormal(seed=seed_of("randn", seed))(size_of("randn", size))
    return result if dtype in (None, mstype.float32) else Cast.functional(result, dtype)


@spelling(StandardNormal)
def randn_like(input: Tensor, seed: int | None = None, *, dtype: DType | None = None) -> Tensor:
    """Draw random numbers from the standard normal distribution, in the shape of a Tensor.

    Args:
        input (Tensor): Gives shape and type.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.
        dtype (mindspore.dtype): Element type. Default: None, that of `input`.

    Returns:
        Tensor.
    """
    return randn(input.shape, dtype=dtype or input.dtype, seed=seed)


@spelling(StandardNormal, numpy="randn")
def _numpy_randn(*shape: Shape, dtype: DType | str = mstype.float32) -> Tensor:
    """Draw random numbers from the normal distribution with mean 0 and variance 1.

    Args:
        shape (Union[int, tuple[int], list[int]]): The result has this shape. Default: (1,).
        dtype (Union[mindspore.dtype, str]): mindspore.float16, float32 or float64. Default: mindspore.float32.

    Returns:
        Tensor.

    Raises:
        TypeError: If `shape` does not consist of int.
        ValueError: If `dtype` is not floating point, or an entry of `shape` is not positive.
    """
    dtype = number_type("randn", dtype, mstype.float_type)
    return StandardNormal()(size_of("randn", shape or (1,))).astype(dtype)


@operator(random=True)
def StandardLaplace(key, shape: PositiveShape, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    """Draw random numbers from the Laplace distribution with mean 0 and scale 1.

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **shape** (tuple[int]) - Shape of the result, of positive int.

    Outputs:
        Tensor of float32, of shape `shape`.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If a seed is negative or an entry of `shape` is not positive.

    Examples:
        >>> output = ops.StandardLaplace(seed=2)((2, 2))
        >>> print(output.shape)
        (2, 2)
    """
    return jax.random.laplace(stream(key, seed, seed2), shape, jnp.float32)


@spelling(StandardLaplace)
def standard_laplace(shape: tuple[int, ...], seed: int | None = None) -> Tensor:
    """Draw random numbers from the Laplace distribution with mean 0 and scale 1.

    Args:
        shape (tuple[int]): Shape of the result.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.

    Returns:
        Tensor of float32.
    """
    return StandardLaplace(seed=seed_of("standard_laplace", seed))(shape)


@spelling(StandardLaplace, generation=1)
def laplace(shape: tuple[int, ...], mean: Tensor, lambda_param: Tensor, seed: int | None = None) -> Tensor:
    """Draw random numbers from Laplace distributions.

    Args:
        shape (tuple[int]): Shape of the numbers, broadcast with those of the parameters.
        mean (Tensor): Mean, float32.
        lambda_param (Tensor): Scale, float32.
        seed (int): Picks a stream of random numbers, non-negative. Default: None, the same as 0.

    Returns:
        Tensor of float32.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If `seed` is negative or an entry of `shape` is not positive.

    Examples:
        >>> output = ops.laplace((2, 2), Tensor(1., mindspore.float32), Tensor(1., mindspore.float32), seed=5)
        >>> print(output.shape)
        (2, 2)
    """
    check_numbers("laplace", "mean", mean, (mstype.float32,))
    check_numbers("laplace", "lambda_param", lambda_param, (mstype.float32,))
    return StandardLaplace(seed=seed_of("laplace", seed))(shape) * lambda_param + mean


@differs_in_api2("dtype stands before seed", "dtype", "seed", "seed2")
@operator(random=True)
def TruncatedNormal(key, shape: PositiveShape, *, seed: Int = 0, dtype: DType = mstype.float32, seed2: Int = 0):
    """Draw random numbers from the standard normal distribution truncated to [-2, 2].

    Args:
        seed (int): Picks a stream of random numbers. Default: 0.
        dtype (mindspore.dtype): Element type. Default: mindspore.float32.

    Inputs:
        - **shape** (tuple[int]) - Shape of the result, of positive int.

    Outputs:
        Tensor of shape `shape` and element type `dtype`.

    Raises:
        TypeError: If `seed` is not an int or `shape` does not consist of int.
        ValueError: If an entry of `shape` is not positive.

    Examples:
        >>> print(ops.TruncatedNormal()((1, 2)).shape)
        (1, 2)
    """
    return jax.random.truncated_normal(stream(key, seed, seed2), -2, 2, shape, jnp.float32).astype(np_dtype(dtype))


@spelling(StandardNormal, function="normal_", method="normal_")
def normal_(input: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill a Tensor in place with random numbers from a normal distribution, and return it.

    Args:
        input (Tensor): The Tensor to fill.
        mean (float): The mean. Default: 0.
        std (float): The standard deviation. Default: 1.
        generator (msnb.Generator): Generator to draw from, outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.

    Returns:
        Tensor, `input` itself.

    Raises:
        TypeError: If `input` is not a Tensor.
        NotImplementedError: If a generator is given within a compiled program.
    """
    tensor_argument("normal_", "input", input)
    with drawn_from("normal_", generator):
        return take_over("normal_", input, StandardNormal()(input.shape or (1,)).reshape(input.shape) * std + mean)


CASES = [
    refused(ValueError, StandardNormal, seed=-1, says="seed"),
    refused(ValueError, StandardNormal, (0,), says="shape"),
]
