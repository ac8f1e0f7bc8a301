"""Random numbers from uniform distributions of real numbers and integers."""

from typing import Any

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, Int, NonNegInt, Shape, check
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.generator import Generator
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import dtype_in, rank, tensor_argument
from msnb.ops._generators import drawn_from
from msnb.ops._in_place import take_over
from msnb.ops.array.cast import Cast
from msnb.ops.random._stream import PositiveShape, check_numbers, number_type, seed_of, size_of, stream


@operator(random=True)
def UniformReal(key, shape: PositiveShape, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    """Draw random numbers uniformly from [0, 1).

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
        >>> output = ops.UniformReal(seed=2)((2, 2))
        >>> print(output.shape)
        (2, 2)
    """
    return jax.random.uniform(stream(key, seed, seed2), shape, jnp.float32)


@operator(random=True)
def UniformInt(key, shape: PositiveShape, minval, maxval, *, seed: NonNegInt = 0, seed2: NonNegInt = 0):
    """Draw random integers uniformly from [minval, maxval).

    Args:
        seed (int): Picks a stream of random numbers, non-negative. Default: 0.
        seed2 (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **shape** (tuple[int]) - Shape of the result, of positive int.
        - **minval** (Tensor) - The smallest number, an int32 scalar.
        - **maxval** (Tensor) - Exclusive upper bound, an int32 scalar.

    Outputs:
        Tensor of int32, of shape `shape`.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If a seed is negative or an entry of `shape` is not positive.

    Examples:
        >>> output = ops.UniformInt(seed=2)((2, 2), Tensor(1, mindspore.int32), Tensor(5, mindspore.int32))
        >>> print(output.shape)
        (2, 2)
    """
    for argument, value in (("minval", minval), ("maxval", maxval)):
        if not value.weak_type:
            dtype_in("UniformInt", argument, value, frozenset({jnp.dtype("int32")}))
        rank("UniformInt", argument, value, 0)
    return jax.random.randint(
        stream(key, seed, seed2), shape, minval.astype(jnp.int32), maxval.astype(jnp.int32), jnp.int32
    )


@spelling(UniformInt, UniformReal, generation=1)
def uniform(
    shape: tuple[int, ...],
    minval: Tensor,
    maxval: Tensor,
    seed: int | None = None,
    dtype: DType | None = mstype.float32,
) -> Tensor:
    """Draw random numbers uniformly from [minval, maxval).

    Args:
        shape (tuple[int]): Shape of the numbers, broadcast with those of the bounds.
        minval (Tensor): Lower bound, of element type `dtype`; a scalar for int32.
        maxval (Tensor): Upper bound, of element type `dtype`; a scalar for int32.
        seed (int): Picks a stream of random numbers, non-negative. Default: None, the same as 0.
        dtype (mindspore.dtype): mindspore.float32 or mindspore.int32. Default: mindspore.float32.

    Returns:
        Tensor of element type `dtype`.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If `seed` is negative or an entry of `shape` is not positive.

    Examples:
        >>> low, high = Tensor(0., mindspore.float32), Tensor(1., mindspore.float32)
        >>> print(ops.uniform((2, 2), low, high, seed=5).shape)
        (2, 2)
    """
    if dtype not in (mstype.float32, mstype.int32):
        raise TypeError(f"For 'uniform', 'dtype' should be mindspore.float32 or mindspore.int32, but got {dtype!r}.")
    check_numbers("uniform", "minval", minval, (dtype,))
    check_numbers("uniform", "maxval", maxval, (dtype,))
    seed = seed_of("uniform", seed)
    if dtype == mstype.int32:
        return UniformInt(seed=seed)(shape, minval, maxval)
    return UniformReal(seed=seed)(shape) * (maxval - minval) + minval


@spelling(UniformReal)
def rand(*size: Any, dtype: DType | None = None, seed: int | None = None) -> Tensor:
    """Draw random numbers uniformly from [0, 1).

    Args:
        size (Union[int, tuple[int]]): Shape of the result.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.float32.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.

    Returns:
        Tensor.
    """
    result = UniformReal(seed=seed_of("rand", seed))(size_of("rand", size))
    return result if dtype in (None, mstype.float32) else Cast.functional(result, dtype)


@spelling(UniformReal)
def rand_like(input: Tensor, seed: int | None = None, *, dtype: DType | None = None) -> Tensor:
    """Draw random numbers uniformly from [0, 1), in the shape of a Tensor.

    Args:
        input (Tensor): Gives shape and type.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.
        dtype (mindspore.dtype): Element type. Default: None, that of `input`.

    Returns:
        Tensor.
    """
    return rand(input.shape, dtype=dtype or input.dtype, seed=seed)


@spelling(UniformInt)
def randint(
    low: int, high: int, size: int | tuple[int, ...] | list[int], seed: int | None = None, *, dtype: DType | None = None
) -> Tensor:
    """Draw random integers uniformly from [low, high).

    Args:
        low (int): The smallest number.
        high (int): Exclusive upper bound.
        size (tuple[int]): Shape of the result.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.int64.

    Returns:
        Tensor.
    """
    low, high = Tensor(low, mstype.int32), Tensor(high, mstype.int32)
    drawn = UniformInt(seed=seed_of("randint", seed))(size, low, high)
    return Cast.functional(drawn, dtype or mstype.int64)


@spelling(UniformReal, numpy="rand")
def _numpy_rand(*shape: Shape, dtype: DType | str = mstype.float32) -> Tensor:
    """Draw random numbers uniformly from [0, 1).

    Args:
        shape (Union[int, tuple[int], list[int]]): The result has this shape. Default: (1,).
        dtype (Union[mindspore.dtype, str]): mindspore.float16, float32 or float64. Default: mindspore.float32.

    Returns:
        Tensor.

    Raises:
        TypeError: If `shape` does not consist of int.
        ValueError: If `dtype` is not floating point, or an entry of `shape` is not positive.
    """
    dtype = number_type("rand", dtype, mstype.float_type)
    return UniformReal()(size_of("rand", shape or (1,))).astype(dtype)


@spelling(UniformInt, numpy="randint")
def _numpy_randint(
    minval: int, maxval: int | None = None, shape: Shape | None = None, dtype: DType | str = mstype.int32
) -> Tensor:
    """Draw random integers uniformly from [minval, maxval).

    Args:
        minval (int): The smallest number. If `maxval` is None, it is the exclusive upper bound, and the smallest number
            is 0.
        maxval (int): Exclusive upper bound. Default: None.
        shape (Union[int, tuple[int], list[int]]): Shape of the result. Default: None, (1,).
        dtype (Union[mindspore.dtype, str]): A signed integer type. Default: mindspore.int32.

    Returns:
        Tensor.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If there is no number between the bounds, `dtype` is not a signed integer type, or an entry of
            `shape` is not positive.
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    low, high = check(Int, low, "minval", "randint"), check(Int, high, "maxval", "randint")
    if low >= high:
        raise ValueError(f"For 'randint', 'maxval' should be above 'minval', but got numbers from {low} to {high}.")
    dtype = number_type("randint", dtype, mstype.int_type)
    return UniformInt()((1,) if shape is None else shape, low, high).astype(dtype)


@spelling(UniformInt)
def randint_like(input: Tensor, low: int, high: int, seed: int | None = None, *, dtype: DType | None = None) -> Tensor:
    """Draw random integers uniformly from [low, high), in the shape of a Tensor.

    Args:
        input (Tensor): Gives shape and type.
        low (int): The smallest number.
        high (int): Exclusive upper bound.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.
        dtype (mindspore.dtype): Element type, of integers. Default: None, that of `input`.

    Returns:
        Tensor.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If the element type is not an integer type.
    """
    dtype = dtype or tensor_argument("randint_like", "input", input).dtype
    if dtype not in mstype.int_type:
        raise ValueError(f"For 'randint_like', 'dtype' should be a type of integers, but got {dtype}.")
    return randint(low, high, input.shape, seed, dtype=dtype)


@spelling(UniformReal, method="uniform")
def _tensor_uniform(self: Tensor, from_: float = 0.0, to: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw random numbers uniformly from [from_, to), in the shape and element type of the Tensor."""
    with drawn_from("uniform", generator):
        return (UniformReal()(_get_shape_to_draw(self)).reshape(self.shape) * (to - from_) + from_).astype(self.dtype)


def _get_shape_to_draw(x):
    """Return the shape in which to draw random numbers for a Tensor: its shape, or (1,) for a scalar."""
    return x.shape or (1,)


@spelling(UniformReal, function="uniform_", method="uniform_")
def uniform_(input: Tensor, from_: float = 0, to: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill a Tensor in place with random numbers drawn uniformly from [from_, to), and return it.

    Args:
        input (Tensor): The Tensor to fill.
        from_ (float): The lower end. Default: 0.
        to (float): The upper end. Default: 1.
        generator (msnb.Generator): Generator to draw from, outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.

    Returns:
        Tensor, `input` itself.

    Raises:
        TypeError: If `input` is not a Tensor.
        NotImplementedError: If a generator is given within a compiled program.
    """
    with drawn_from("uniform_", generator):
        return take_over("uniform_", tensor_argument("uniform_", "input", input), _tensor_uniform(input, from_, to))


@spelling(UniformInt, function="random_", method="random_")
def random_(input: Tensor, from_: int = 0, to: int | None = None, *, generator: Generator | None = None) -> Tensor:
    """Fill a Tensor in place with random integers drawn uniformly from [from_, to), and return it.

    Args:
        input (Tensor): The Tensor to fill.
        from_ (int): The smallest number. Default: 0.
        to (int): Exclusive upper bound. Default: None, a bound below which the element type represents all integers, at
            most 2 ** 31 - 1.
        generator (msnb.Generator): Generator to draw from, outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.

    Returns:
        Tensor, `input` itself.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If there is no number between the bounds.
        NotImplementedError: If a generator is given within a compiled program.
    """
    tensor_argument("random_", "input", input)
    low, high = from_, _compute_exclusive_upper_bound(input.dtype) if to is None else to
    if low >= high:
        raise ValueError(f"For 'random_', there should be a number in [{low}, {high}).")
    with drawn_from("random_", generator):
        return take_over("random_", input, randint(low, high, _get_shape_to_draw(input)).reshape(input.shape))


def _compute_exclusive_upper_bound(dtype):
    """Return the exclusive upper bound of random integers of a type: 2 ** (number of its digits), at most 2 ** 31 -
    1."""
    kind = np_dtype(dtype)
    digits = jnp.finfo(kind).nmant + 1 if jnp.issubdtype(kind, jnp.floating) else jnp.iinfo(kind).bits - 1
    return 2 ** min(digits, 31) - 1 if digits >= 31 else 2**digits
