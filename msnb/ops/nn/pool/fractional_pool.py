"""Fractional max pooling: window distances vary, so any factor of reduction is possible (arXiv:1412.6071)."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import IntOrTuple, OneOf, check
from msnb.core.errors.messages import describe
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, NUMBER, dtype_in, tensor_argument
from msnb.ops.random.uniform import rand


def _repeat_per_dimension(value, dims):
    return (value,) * dims if isinstance(value, int) else tuple(value)


def _compute_window_starts(share, length, size, count):
    """Return the start indices of `count` windows of length `size` on an axis of length `length`, for the random
    numbers `share` in [0, 1) of shape (N, C)."""
    if count == 1:
        return jnp.full((*share.shape, 1), length - size)
    step = (length - size) / (count - 1)
    wide = share[..., None].astype(jnp.float32)
    starts = jnp.floor((jnp.arange(count) + wide) * step) - jnp.floor(wide * step)
    return jnp.where(jnp.arange(count) == count - 1, length - size, starts.astype(int))


def _compute_fractional_max_pool(op, x, shares, dims, sizes, sides):
    dtype_in(op, "input_x", x, NUMBER)
    dtype_in(op, "random_samples", shares, FLOAT)
    if x.ndim != dims + 2 or shares.shape != (*x.shape[:2], dims):
        raise ValueError(
            f"For '{op}', 'input_x' should have {dims + 2} dimensions and 'random_samples' shape "
            f"{(*x.shape[:2], dims)}, but got {x.shape} and {shares.shape}."
        )
    lengths = x.shape[2:]
    if any(side < 1 or side + size - 1 > n for side, size, n in zip(sides, sizes, lengths)):
        raise ValueError(f"For '{op}', windows of {sizes} for an output of {sides} do not fit into {lengths}.")
    flat = jnp.zeros((*x.shape[:2], *(1,) * (2 * dims)), int)
    # For images, the first random number of a pair is for the width.
    order = range(dims) if dims == 3 else (1, 0)
    for axis, part in zip(range(dims), order):
        begins = _compute_window_starts(shares[..., part], lengths[axis], sizes[axis], sides[axis])
        indices = begins[..., None] + jnp.arange(sizes[axis])
        shape = [*x.shape[:2], *(1,) * (2 * dims)]
        shape[2 + axis], shape[2 + dims + axis] = sides[axis], sizes[axis]
        flat = flat * lengths[axis] + indices.reshape(shape)
    flat = flat.reshape(*x.shape[:2], -1, math.prod(sizes))
    values = jnp.take_along_axis(x.reshape(*x.shape[:2], 1, -1), flat, -1)
    best = jnp.argmax(jax.lax.stop_gradient(values), -1, keepdims=True)
    results = [jnp.take_along_axis(v, best, -1).reshape(*x.shape[:2], *sides) for v in (values, flat)]
    return results[0], results[1].astype(jnp.int64)


@operator(generation=2)
def FractionalMaxPoolWithFixedKsize(
    input_x, random_samples, *, ksize: IntOrTuple, output_shape: IntOrTuple, data_format: OneOf("NCHW") = "NCHW"
):
    """Fractional max pooling: the largest element of each window of an image. The distances of windows vary randomly.

    Args:
        ksize (Union[int, tuple[int]]): Height and width of the window.
        output_shape (Union[int, tuple[int]]): Height and width of the result.
        data_format (str): "NCHW". Default: "NCHW".

    Inputs:
        - **input_x** (Tensor) - Numbers, of shape (N, C, H, W).
        - **random_samples** (Tensor) - Random numbers in [0, 1), of shape (N, C, 2), which shift the windows:
          the first along the width, the second along the height.

    Outputs:
        A tuple of two Tensors of shape (N, C, *output_shape): the elements, and their flat indices in an image, int64.

    Raises:
        TypeError: If an input does not consist of numbers.
        ValueError: If the shapes do not fit.
    """
    sizes, sides = _repeat_per_dimension(ksize, 2), _repeat_per_dimension(output_shape, 2)
    return _compute_fractional_max_pool("FractionalMaxPoolWithFixedKsize", input_x, random_samples, 2, sizes, sides)


@operator(generation=2)
def FractionalMaxPool3DWithFixedKsize(
    input_x, random_samples, *, ksize: IntOrTuple, output_shape: IntOrTuple, data_format: OneOf("NCDHW") = "NCDHW"
):
    """Fractional max pooling: the largest element of each window of a volume. The distances of windows vary randomly.

    Args:
        ksize (Union[int, tuple[int]]): Depth, height and width of the window.
        output_shape (Union[int, tuple[int]]): Depth, height and width of the result.
        data_format (str): "NCDHW". Default: "NCDHW".

    Inputs:
        - **input_x** (Tensor) - Numbers, of shape (N, C, D, H, W).
        - **random_samples** (Tensor) - Random numbers in [0, 1), of shape (N, C, 3), which shift the windows.

    Outputs:
        A tuple of two Tensors of shape (N, C, *output_shape): the elements, and their flat indices in a volume, int64.

    Raises:
        TypeError: If an input does not consist of numbers.
        ValueError: If the shapes do not fit.
    """
    sizes, sides = _repeat_per_dimension(ksize, 3), _repeat_per_dimension(output_shape, 3)
    return _compute_fractional_max_pool("FractionalMaxPool3DWithFixedKsize", input_x, random_samples, 3, sizes, sides)


def _call_fractional_pool(
    function, operator, dims, input, kernel_size, output_size, output_ratio, return_indices, shares
):
    x = tensor_argument(function, "input", input)
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"For '{function}', one of 'output_size' and 'output_ratio' should be given.")
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * dims
        if not all(isinstance(r, float) and 0 < r < 1 for r in ratios):
            raise ValueError(f"For '{function}', 'output_ratio' should be in (0, 1), but got {describe(output_ratio)}.")
        output_size = tuple(int(n * r) for n, r in zip(x.shape[-dims:], ratios))
    batched = x if x.ndim == dims + 2 else x.reshape(1, *x.shape)
    if shares is None:
        shares = rand(*batched.shape[:2], dims)
    results = operator(check(IntOrTuple, kernel_size, "kernel_size", function), output_size)(batched, shares)
    results = results if batched is x else tuple(f.reshape(f.shape[1:]) for f in results)
    return results if return_indices else results[0]


@spelling(FractionalMaxPoolWithFixedKsize)
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: int | tuple[int, int],
    output_size: int | tuple[int, int] | None = None,
    output_ratio: float | tuple[float, float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Fractional max pooling: the largest element of each window of an image. The distances of windows vary randomly.

    Args:
        input (Tensor): Numbers, of shape (N, C, H, W) or (C, H, W).
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        output_size (Union[int, tuple[int]]): Height and width of the result. Default: None.
        output_ratio (Union[float, tuple[float]]): Size of the result as a fraction of the size of `input`, instead of
            `output_size`. Default: None.
        return_indices (bool): Also return the indices. Default: False.
        _random_samples (Tensor): Random numbers in [0, 1) of shape (N, C, 2), which shift the windows. Default: None,
            which draws them.

    Returns:
        Tensor, or with `return_indices` a tuple of the elements and their flat indices in an image, int64.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If none or both of `output_size` and `output_ratio` are given, or the shapes do not fit.
    """
    name, operator = "fractional_max_pool2d", FractionalMaxPoolWithFixedKsize
    return _call_fractional_pool(
        name, operator, 2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


@spelling(FractionalMaxPool3DWithFixedKsize)
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: int | tuple[int, int, int],
    output_size: int | tuple[int, int, int] | None = None,
    output_ratio: float | tuple[float, float, float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Fractional max pooling: the largest element of each window of a volume. The distances of windows vary randomly.

    Args:
        input (Tensor): Numbers, of shape (N, C, D, H, W) or (C, D, H, W).
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window.
        output_size (Union[int, tuple[int]]): Depth, height and width of the result. Default: None.
        output_ratio (Union[float, tuple[float]]): Size of the result as a fraction of the size of `input`, instead of
            `output_size`. Default: None.
        return_indices (bool): Also return the indices. Default: False.
        _random_samples (Tensor): Random numbers in [0, 1) of shape (N, C, 3), which shift the windows. Default: None,
            which draws them.

    Returns:
        Tensor, or with `return_indices` a tuple of the elements and their flat indices in a volume, int64.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If none or both of `output_size` and `output_ratio` are given, or the shapes do not fit.
    """
    name, operator = "fractional_max_pool3d", FractionalMaxPool3DWithFixedKsize
    return _call_fractional_pool(
        name, operator, 3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


_TWO = Values(np.linspace(0.1, 0.9, 4).reshape(1, 2, 2).tolist())
_THREE = Values([[[0.2, 0.6, 0.9]]])
CASES = [
    case(FractionalMaxPoolWithFixedKsize, F(1, 2, 8, 9), _TWO, ksize=2, output_shape=(4, 5)).wrt(0, of=0),
    case(FractionalMaxPoolWithFixedKsize, F(1, 2, 6, 7), _TWO, ksize=(3, 2), output_shape=(3, 3)).wrt(0, of=0),
    case(FractionalMaxPool3DWithFixedKsize, F(1, 1, 5, 6, 7), _THREE, ksize=2, output_shape=(3, 4, 3)).wrt(0, of=0),
    case(fractional_max_pool2d, F(1, 2, 7, 7), 2, output_ratio=(0.5, 0.6), _random_samples=_TWO).wrt(0),
    refused(ValueError, fractional_max_pool2d, F(1, 2, 7, 7), 2),
    refused(ValueError, FractionalMaxPoolWithFixedKsize, F(1, 2, 3, 3), _TWO, ksize=2, output_shape=3),
]
