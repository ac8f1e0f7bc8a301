"""Functions of mint that create Tensors, including Tensors of random numbers. Sizes come first, and `dtype` is a
keyword argument."""

from typing import Any

import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import DType, Shape, check, readable
from msnb.core.tensor.generator import Generator
from msnb.core.tensor.tensor import Tensor
from msnb.ops import functional as F
from msnb.ops._generators import drawn_from
from msnb.ops.array.cast import Cast
from msnb.ops.random.normal import StandardNormal

__all__ = [
    "bernoulli",
    "empty",
    "empty_like",
    "linspace",
    "multinomial",
    "normal",
    "ones",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "zeros",
]


@readable
def zeros(size: int | tuple[int, ...] | list[int], *, dtype: DType | None = None) -> Tensor:
    """Return a Tensor of zeros.

    Args:
        size (Union[int, tuple[int], list[int]]): The shape.
        dtype (mindspore.dtype): Element type. Default: None, float32.

    Returns:
        Tensor.
    """
    return F.zeros(check(Shape, size, "size", "zeros"), dtype or mstype.float32)


@readable
def ones(size: int | tuple[int, ...] | list[int], *, dtype: DType | None = None) -> Tensor:
    """Return a Tensor of ones.

    Args:
        size (Union[int, tuple[int], list[int]]): The shape.
        dtype (mindspore.dtype): Element type. Default: None, float32.

    Returns:
        Tensor.
    """
    return F.ones(check(Shape, size, "size", "ones"), dtype or mstype.float32)


def _unpack_shape(size):
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def _log_ignored_device(name, device):
    log.unused(name, "every Tensor is on the device of the context", device=device is not None)


@readable
def empty(*size: Any, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return a Tensor with a given shape and element type; here it contains zeros.

    Args:
        size (Union[int, tuple[int], list[int]]): The shape, as several ints or as one tuple or list.
        dtype (mindspore.dtype): Element type. Default: None, float32.
        device (str): No effect: every Tensor is on the device of the context. Default: None.

    Returns:
        Tensor.
    """
    _log_ignored_device("empty", device)
    return zeros(_unpack_shape(size), dtype=dtype)


@readable
def empty_like(input: Tensor, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return a Tensor with the shape of another; here it contains zeros.

    Args:
        input (Tensor): The Tensor whose shape is used.
        dtype (mindspore.dtype): Element type. Default: None, the type of `input`.
        device (str): No effect: every Tensor is on the device of the context. Default: None.

    Returns:
        Tensor.
    """
    _log_ignored_device("empty_like", device)
    return F.zeros_like(input, dtype=dtype)


@readable
def linspace(start: float, end: float, steps: int, *, dtype: DType | None = None) -> Tensor:
    """Return equally spaced numbers from `start` to `end`, both included.

    Args:
        start (Union[int, float]): The first number.
        end (Union[int, float]): The last number.
        steps (int): The number of elements.
        dtype (mindspore.dtype): Element type. Default: None, float32.

    Returns:
        Tensor.
    """
    kind = np.float64 if dtype == mstype.float64 else np.float32
    line = F.linspace(Tensor(kind(start)), Tensor(kind(end)), steps)
    return line if dtype is None else Cast.functional(line, dtype)


@readable
def rand(
    *size: Any,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str | None = None,
) -> Tensor:
    """Return random numbers, uniformly distributed in [0, 1).

    Args:
        size (Union[int, tuple[int], list[int]]): The shape.
        generator (msnb.Generator): Source of the numbers outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.
        dtype (mindspore.dtype): Element type. Default: None, float32.
        device (str): No effect: every Tensor is on the device of the context. Default: None.

    Returns:
        Tensor.
    """
    _log_ignored_device("rand", device)
    with drawn_from("rand", generator):
        return F.rand(*_unpack_shape(size), dtype=dtype)


@readable
def rand_like(input: Tensor, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return random numbers, uniformly distributed in [0, 1), in the shape of a Tensor.

    Args:
        input (Tensor): The Tensor whose shape is used.
        dtype (mindspore.dtype): Element type. Default: None, the type of `input`.
        device (str): No effect: every Tensor is on the device of the context. Default: None.

    Returns:
        Tensor.
    """
    _log_ignored_device("rand_like", device)
    return F.rand_like(input, dtype=dtype)


@readable
def randn(
    *size: Any,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str | None = None,
) -> Tensor:
    """Return random numbers of the standard normal distribution.

    Args:
        size (Union[int, tuple[int], list[int]]): The shape.
        generator (msnb.Generator): Source of the numbers outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.
        dtype (mindspore.dtype): Element type. Default: None, float32.
        device (str): No effect: every Tensor is on the device of the context. Default: None.

    Returns:
        Tensor.
    """
    _log_ignored_device("randn", device)
    with drawn_from("randn", generator):
        return F.randn(*_unpack_shape(size), dtype=dtype)


@readable
def randn_like(input: Tensor, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return random numbers of the standard normal distribution, in the shape of a Tensor.

    Args:
        input (Tensor): The Tensor whose shape is used.
        dtype (mindspore.dtype): Element type. Default: None, the type of `input`.
        device (str): No effect: every Tensor is on the device of the context. Default: None.

    Returns:
        Tensor.
    """
    _log_ignored_device("randn_like", device)
    return F.randn_like(input, dtype=dtype)


def _split_bounds_from_args(name, args, rest):
    """Return (low, high, *others) from positional arguments, where `others` has `rest` elements. A missing `low` is
    0."""
    if len(args) not in (rest + 1, rest + 2):
        raise TypeError(f"For '{name}', {rest + 1} or {rest + 2} arguments go by position, but got {len(args)}.")
    return (0, *args) if len(args) == rest + 1 else args


@readable
def randint(
    *args: Any,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str | None = None,
) -> Tensor:
    """Return random integers from `low` (default 0) to `high` - 1: `randint(high, size)` or `randint(low, high, size)`.

    Args:
        args: The smallest number, 0 by default; the exclusive upper bound; and the shape.
        generator (msnb.Generator): Source of the numbers outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.
        dtype (mindspore.dtype): Element type. Default: None, int64.
        device (str): No effect: every Tensor is on the device of the context. Default: None.

    Returns:
        Tensor.
    """
    _log_ignored_device("randint", device)
    low, high, size = _split_bounds_from_args("randint", args, 1)
    with drawn_from("randint", generator):
        return F.randint(low, high, size, dtype=dtype or mstype.int64)


@readable
def randint_like(input: Tensor, *args: Any, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return random integers from `low` (default 0) to `high` - 1 in the shape of a Tensor:
    `randint_like(input, high)`, `randint_like(input, low, high)`.

    Args:
        input (Tensor): The Tensor whose shape is used.
        args: The smallest number, 0 by default, and the exclusive upper bound.
        dtype (mindspore.dtype): Element type. Default: None, the type of `input`.
        device (str): No effect: every Tensor is on the device of the context. Default: None.

    Returns:
        Tensor.
    """
    _log_ignored_device("randint_like", device)
    low, high = _split_bounds_from_args("randint_like", args, 0)
    return F.randint(low, high, input.shape, dtype=dtype or input.dtype)


@readable
def randperm(n: int, *, generator: Generator | None = None, dtype: DType = mstype.int64) -> Tensor:
    """Return the numbers 0 to n - 1 in random order.

    Args:
        n (int): The number of elements.
        generator (msnb.Generator): Source of the numbers outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.
        dtype (mindspore.dtype): Element type. Default: mstype.int64.

    Returns:
        Tensor.
    """
    with drawn_from("randperm", generator):
        return F.randperm(n, dtype=dtype)


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Return random numbers 0 or 1, where each element of `input` is the probability of 1.

    Args:
        input (Tensor): Probabilities.
        generator (msnb.Generator): Source of the numbers outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.

    Returns:
        Tensor of the shape and element type of `input`.
    """
    return F.bernoulli_ext(input, generator=generator)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Return random indices whose probabilities are proportional to `input`.

    Args:
        input (Tensor): Weights, (C,) or (N, C).
        num_samples (int): Number of samples from each row.
        replacement (bool): Whether an index may be drawn again. Default: False.
        generator (msnb.Generator): Source of the numbers outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.

    Returns:
        Tensor of int64.
    """
    with drawn_from("multinomial", generator):
        return Cast.functional(F.multinomial(input, num_samples, replacement), mstype.int64)


def normal(
    mean: Tensor | float = 0.0,
    std: Tensor | float = 1.0,
    size: int | tuple[int, ...] | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Return random numbers of normal distributions.

    Args:
        mean (Union[float, Tensor]): Means of the distributions. Default: 0.0.
        std (Union[float, Tensor]): Standard deviations of the distributions. Default: 1.0.
        size (tuple): The shape, if `mean` and `std` are numbers. Default: None.
        generator (msnb.Generator): Source of the numbers outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.

    Returns:
        Tensor.
    """
    if size is None:
        shapes = [x.shape for x in (mean, std) if isinstance(x, Tensor)]
        if not shapes:
            raise ValueError("For 'normal', 'size' should be given where 'mean' and 'std' are numbers.")
        size = np.broadcast_shapes(*shapes)
    with drawn_from("normal", generator):
        return StandardNormal()(check(Shape, size, "size", "normal")) * std + mean
