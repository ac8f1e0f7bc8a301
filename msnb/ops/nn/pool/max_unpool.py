"""Inverse of max pooling: values at their original indices, zeros elsewhere."""

import math

import jax.numpy as jnp

from msnb.common.kinds import Int, IntOrTuple, OneOf, Optional, Shape
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import INDEX, dtype_in, rank, tensor_only


def _expand_per_dimension(value, dims):
    """Return `dims` ints from one int, from `dims` ints, or from ints for all dimensions (N and C first)."""
    return (value,) * dims if isinstance(value, int) else tuple(value)[-dims:]


def _compute_output_lengths(x, dims, ksize, strides, pads, output_shape):
    """Return the spatial lengths of the result for pooled values `x`."""
    if output_shape:
        return tuple(output_shape)[-dims:]
    sizes = _expand_per_dimension(ksize, dims)
    steps = sizes if strides in (0, None, ()) else _expand_per_dimension(strides, dims)
    if min(*sizes, *steps) < 1:
        raise ValueError(f"For 'MaxUnpool{dims}D', windows and strides should be positive, but got {sizes}, {steps}.")
    sides = zip(x.shape[-dims:], sizes, steps, _expand_per_dimension(pads, dims), strict=True)
    return tuple((n - 1) * step - 2 * pad + size for n, size, step, pad in sides)


def _scatter_to_positions(x, argmax, dims, sides):
    flat = jnp.zeros((*x.shape[:-dims], math.prod(sides)), x.dtype)
    indices = argmax.reshape(*x.shape[:-dims], -1)
    lead = tuple(jnp.indices(flat.shape[:-1], sparse=True))
    flat = flat.at[(*(i[..., None] for i in lead), indices)].set(x.reshape(indices.shape), mode="drop")
    return flat.reshape(*x.shape[:-dims], *sides)


def _unpool_windows(op, x, argmax, dims, ksize, strides, pads, output_shape, data_format):
    tensor_only(op, "x", x)
    dtype_in(op, "argmax", argmax, INDEX)
    rank(op, "x", x, dims + 2)
    if argmax.shape != x.shape:
        raise ValueError(f"For '{op}', 'argmax' should have the shape of 'x', {x.shape}, but got {argmax.shape}.")
    last = data_format[-1] == "C"
    if last:
        x, argmax = jnp.moveaxis(x, -1, 1), jnp.moveaxis(argmax, -1, 1)
        output_shape = (*output_shape[:1], *output_shape[-1:], *output_shape[1:-1])
    images = _scatter_to_positions(
        x, argmax, dims, _compute_output_lengths(x, dims, ksize, strides, pads, output_shape)
    )
    return jnp.moveaxis(images, 1, -1) if last else images


@operator
def MaxUnpool2D(
    x,
    argmax,
    *,
    ksize: IntOrTuple,
    strides: IntOrTuple = 0,
    pads: IntOrTuple = 0,
    output_shape: Shape = (),
    data_format: OneOf("NCHW", "NHWC") = "NCHW",
):
    """Reverse a max pooling of images: write the values to their original positions, and zeros elsewhere.

    Args:
        ksize (Union[int, tuple[int]]): Size of the window.
        strides (Union[int, tuple[int]]): Step of the window. Default: 0, `ksize`.
        pads (Union[int, tuple[int]]): Padding at each side. Default: 0.
        output_shape (tuple[int]): Shape of the result. Default: (), which computes it from window, stride and padding.
        data_format (str): The order of the dimensions. Default: "NCHW".

    Inputs:
        - **x** (Tensor) - The values, in the order `data_format`.
        - **argmax** (Tensor) - int32 or int64, of the shape of `x`: flat indices within a plane of the result.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `argmax` does not consist of integers.
        ValueError: If the shapes do not fit.
    """
    return _unpool_windows("MaxUnpool2D", x, argmax, 2, ksize, strides, pads, output_shape, data_format)


@operator
def MaxUnpool3D(
    x,
    argmax,
    *,
    ksize: IntOrTuple,
    strides: IntOrTuple = 0,
    pads: IntOrTuple = 0,
    output_shape: Shape = (),
    data_format: OneOf("NCDHW", "NDHWC") = "NCDHW",
):
    """Reverse a max pooling of volumes: write the values to their original positions, and zeros elsewhere.

    Args:
        ksize (Union[int, tuple[int]]): Size of the window.
        strides (Union[int, tuple[int]]): Step of the window. Default: 0, `ksize`.
        pads (Union[int, tuple[int]]): Padding at each side. Default: 0.
        output_shape (tuple[int]): Shape of the result. Default: (), which computes it from window, stride and padding.
        data_format (str): The order of the dimensions. Default: "NCDHW".

    Inputs:
        - **x** (Tensor) - The values, in the order `data_format`.
        - **argmax** (Tensor) - int32 or int64, of the shape of `x`: flat indices within a volume of the result.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `argmax` does not consist of integers.
        ValueError: If the shapes do not fit.
    """
    return _unpool_windows("MaxUnpool3D", x, argmax, 3, ksize, strides, pads, output_shape, data_format)


@operator
def _MaxUnpool(
    x,
    indices,
    *,
    dims: Int,
    kernel_size: IntOrTuple,
    stride: Optional(IntOrTuple) = None,
    padding: IntOrTuple = 0,
    output_size: Optional(Shape) = None,
):
    """Write values to their original indices, and zeros elsewhere, see `max_unpool1d`. N and C, or only C, are the
    first dimensions."""
    op = f"max_unpool{dims}d"
    tensor_only(op, "x", x)
    dtype_in(op, "indices", indices, INDEX)
    rank(op, "x", x, dims + 1, dims + 2)
    if indices.shape != x.shape:
        raise ValueError(f"For '{op}', 'indices' should have the shape of 'x', {x.shape}, but got {indices.shape}.")
    sides = _compute_output_lengths(x, dims, kernel_size, stride, padding, output_size)
    return _scatter_to_positions(x, indices, dims, sides)


def _declare_max_unpool(dims, letters):
    def unpool(
        x: Tensor,
        indices: Tensor,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] | None = None,
        padding: int | tuple[int, ...] = 0,
        output_size: tuple[int, ...] | None = None,
    ) -> Tensor:
        return _MaxUnpool.functional(x, indices, dims, kernel_size, stride, padding, output_size)

    unpool.__name__ = unpool.__qualname__ = f"max_unpool{dims}d"
    unpool.__doc__ = f"""Reverse a max pooling: write the values to their original positions, and zeros elsewhere.

    Args:
        x (Tensor): The values, (N, C, {letters}) or (C, {letters}).
        indices (Tensor): int32 or int64, of the shape of `x`: flat indices in the spatial dimensions of the result.
        kernel_size (Union[int, tuple[int]]): Size of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Padding at each side. Default: 0.
        output_size (tuple[int]): Shape of the result, or its spatial lengths. Default: None, which computes it from
            window, step and padding.

    Returns:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `indices` is not made of integers.
        ValueError: If the shapes do not fit.
    """
    return spelling(_MaxUnpool)(unpool)


max_unpool1d = _declare_max_unpool(1, "L")
max_unpool2d = _declare_max_unpool(2, "H, W")
max_unpool3d = _declare_max_unpool(3, "D, H, W")

_INDICES = Values([[[[5, 7], [8, 2]]]], "int64")
CASES = [
    case(MaxUnpool2D, F(1, 1, 2, 2), _INDICES, ksize=2).without("gradient", "MindSpore's does not run on the CPU"),
    case(MaxUnpool2D, F(1, 2, 2, 1), Values([[[[5], [7]], [[8], [2]]]], "int64"), ksize=2, data_format="NHWC").without(
        "gradient", "MindSpore's does not run on the CPU"
    ),
    case(MaxUnpool3D, F(1, 1, 1, 2, 2), Values([[[[[5, 7], [8, 2]]]]], "int64"), ksize=2).without(
        "gradient", "MindSpore's does not run on the CPU"
    ),
    case(max_unpool1d, F(1, 2), Values([[1, 3]], "int64"), 2, 2).without("gradient", "MindSpore's does not run"),
    case(max_unpool2d, F(1, 1, 2, 2), _INDICES, 2, None, 0, (1, 1, 4, 5)).without(
        "gradient", "MindSpore's does not run on the CPU"
    ),
    case(max_unpool3d, F(1, 1, 1, 2, 2), Values([[[[[5, 7], [8, 2]]]]], "int64"), 2).without(
        "gradient", "MindSpore's does not run on the CPU"
    ),
    case(_MaxUnpool, F(2, 2), Values([[1, 3], [0, 2]]), dims=1, kernel_size=2).without("mindspore", "it has three"),
    refused(ValueError, MaxUnpool2D, F(1, 1, 2, 2), Values([[[[5]]]]), ksize=2),
]
