"""im2col and col2im: extract the windows of images as columns, and sum columns back to images."""

import math

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import IntOrTuple, Shape
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.array.reshape import Reshape


@operator(functional="unfold", generation=2)
def Im2ColExt(input, kernel_size: Shape, dilation: Shape = (1,), padding: Shape = (0,), stride: Shape = (1,)):
    """Extract every window of an image as a column (im2col).

    Inputs:
        - **input** (Tensor) - (N, C, H, W).
        - **kernel_size** (Union[int, tuple[int]]) - height and width of the window.
        - **dilation** (Union[int, tuple[int]]) - spacing of the taps. Default: 1.
        - **padding** (Union[int, tuple[int]]) - zeros at each side. Default: 0.
        - **stride** (Union[int, tuple[int]]) - step of the window. Default: 1.

    Outputs:
        Tensor, (N, C * window, number of windows).
    """
    _check.rank("Im2ColExt", "input", input, 4)
    two = lambda v: tuple(v) * 2 if len(v) == 1 else tuple(v)
    taps = _extract_windows(input, two(kernel_size), two(dilation), two(padding), two(stride))
    images, channels, *window = taps.shape[:4]
    return taps.reshape(images, channels * math.prod(window), math.prod(taps.shape[4:]))


def _extract_windows(images, kernel, dilation, padding, stride):
    """Return the pixels of all windows, (N, C, *kernel, *windows). The two axes are sliced one after the other.

    Pixels are copied and never multiplied: a product with 0 would carry NaN and infinity into other windows.
    """
    pixels = lax.pad(images, images.dtype.type(0), [(0, 0, 0), (0, 0, 0), *((p, p, 0) for p in padding)])
    for axis, at, taps, apart, step in zip((2, 4), (2, 3), kernel, dilation, stride, strict=True):
        count = (pixels.shape[axis] - apart * (taps - 1) - 1) // step + 1
        if count < 1:
            raise ValueError(f"A window of {kernel} should fit into the padded images, but got shape {images.shape}.")
        reach = step * (count - 1) + 1
        starts = range(0, apart * taps, apart)
        pixels = jnp.stack([lax.slice_in_dim(pixels, i, i + reach, step, axis) for i in starts], at)
    return pixels


def _expand_to_int_pair(op, name, value):
    """Return two ints from an int, or from a list or tuple of one or two."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(isinstance(v, int) and not isinstance(v, bool) for v in values) or len(values) not in (1, 2):
        raise TypeError(f"For '{op}', '{name}' should be an int or two of them, but got {value!r}.")
    return values * 2 if len(values) == 1 else values


@operator
def Col2Im(
    x,
    output_size: Shape,
    *,
    kernel_size: Shape,
    dilation: Shape = (1, 1),
    padding: Shape = (0, 0),
    stride: Shape = (1, 1),
):
    """Sum windows into images (col2im): elements of overlapping windows are added.

    Args:
        kernel_size (tuple[int]): Height and width of the window.
        dilation (tuple[int]): Spacing of the taps. Default: (1, 1).
        padding (tuple[int]): Number of pixels to cut off from each side of the sum. Default: (0, 0).
        stride (tuple[int]): Step of the window. Default: (1, 1).

    Inputs:
        - **x** (Tensor) - Floating point or complex, of shape (N, C, window, number of windows).
        - **output_size** (Union[Tensor, tuple[int]]) - Height and width of the images.

    Outputs:
        Tensor of shape (N, C, H, W).

    Raises:
        TypeError: If `x` is neither floating point nor complex.
        ValueError: If the shapes do not fit.
    """
    _check.dtype_in("fold", "input", x, _check.FLOAT | _check.COMPLEX)
    _check.rank("fold", "input", x, 4)
    kernel, dilation, padding, stride, size = (
        _expand_to_int_pair("fold", name, value)
        for name, value in (
            ("kernel_size", kernel_size),
            ("dilation", dilation),
            ("padding", padding),
            ("stride", stride),
            ("output_size", output_size),
        )
    )

    def windows(images):
        taps = _extract_windows(images, kernel, dilation, padding, stride)
        return taps.reshape(*images.shape[:2], kernel[0] * kernel[1], math.prod(taps.shape[4:]))

    images = jax.ShapeDtypeStruct((*x.shape[:2], *size), x.dtype)
    expected = jax.eval_shape(windows, images).shape
    if x.shape != expected:
        raise ValueError(f"For 'fold', 'input' should have shape {expected} for these images, but got {x.shape}.")
    (back,) = jax.linear_transpose(windows, images)(x)
    return back


def _as_tuple_of_ints(value):
    return tuple(value.tolist()) if isinstance(value, Tensor) else value


@spelling(Col2Im, function="col2im", method="col2im")
def col2im(
    input_x: Tensor,
    output_size: Tensor | tuple[int, int],
    kernel_size: IntOrTuple,
    dilation: IntOrTuple,
    padding_value: IntOrTuple,
    stride: IntOrTuple,
) -> Tensor:
    """Sum windows into images (col2im): elements of overlapping windows are added.

    Args:
        input_x (Tensor): Floating point or complex, of shape (N, C, window, number of windows).
        output_size (Union[Tensor, tuple[int]]): Height and width of the images.
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        dilation (Union[int, tuple[int]]): Spacing of the taps.
        padding_value (Union[int, tuple[int]]): Number of pixels to cut off from each side of the sum.
        stride (Union[int, tuple[int]]): Step of the window.

    Returns:
        Tensor of shape (N, C, H, W).

    Raises:
        TypeError: If `input_x` is neither floating point nor complex.
        ValueError: If the shapes do not fit.
    """
    return Col2Im(kernel_size, dilation, padding_value, stride)(input_x, _as_tuple_of_ints(output_size))


@spelling(Col2Im, function="fold", method="fold")
def fold(
    input: Tensor,
    output_size: Tensor | tuple[int, int],
    kernel_size: IntOrTuple,
    dilation: IntOrTuple = 1,
    padding: IntOrTuple = 0,
    stride: IntOrTuple = 1,
) -> Tensor:
    """Sum windows into images (col2im): elements of overlapping windows are added.

    Args:
        input (Tensor): Floating point or complex, of shape (N, C, window, number of windows), or (N, C * window, number
            of windows).
        output_size (Union[Tensor, tuple[int]]): Height and width of the images.
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        dilation (Union[int, tuple[int]]): Spacing of the taps. Default: 1.
        padding (Union[int, tuple[int]]): Number of pixels to cut off from each side of the sum. Default: 0.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.

    Returns:
        Tensor of shape (N, C, H, W).

    Raises:
        TypeError: If `input` is neither floating point nor complex.
        ValueError: If the shapes do not fit.
    """
    if _check.tensor_argument("fold", "input", input).ndim == 3:
        window = kernel_size**2 if isinstance(kernel_size, int) else math.prod(kernel_size)
        if input.shape[1] % window:
            raise ValueError(
                f"For 'fold', axis 1 of 'input' should hold windows of {window} elements, but got shape {input.shape}."
            )
        input = Reshape()(input, (input.shape[0], -1, window, input.shape[2]))
    return col2im(input, output_size, kernel_size, dilation, padding, stride)


@operator(generation=2)
@shapes("x: n>0 _ _ _")
def Im2Col(x, *, ksizes: Shape, strides: Shape = (1,), dilations: Shape = (1,), pads: Shape = (0,)):
    """Extract every window of an image as a column (im2col).

    Args:
        ksizes (Union[int, tuple[int], list[int]]): Height and width of the window.
        strides (Union[int, tuple[int], list[int]]): Step of the window. Default: 1.
        dilations (Union[int, tuple[int], list[int]]): Spacing of the taps. Default: 1.
        pads (Union[int, tuple[int], list[int]]): Zeros at each side. Default: 0.

    Inputs:
        - **x** (Tensor) - Floating point, of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C, elements of the window, number of windows).

    Raises:
        TypeError: If `x` is bool.
        ValueError: If `x` does not have 4 dimensions.
    """
    _check.dtype_in("Im2Col", "x", x, _check.NUMBER)
    columns = Im2ColExt.kernel(x, ksizes, dilations, pads, strides)
    window = ksizes[0] ** 2 if len(ksizes) == 1 else math.prod(ksizes)
    return columns.reshape(*x.shape[:2], window, columns.shape[-1])


@spelling(Im2ColExt, method="unfold")
def _tensor_unfold(
    self: Tensor,
    kernel_size: int | tuple[int, ...] | list[int],
    dilation: int | tuple[int, ...] | list[int] = 1,
    padding: int | tuple[int, ...] | list[int] = 0,
    stride: int | tuple[int, ...] | list[int] = 1,
) -> Tensor:
    """Extract every window of an image as a column; see `ops.unfold`."""
    return Im2ColExt.functional(self, kernel_size, dilation, padding, stride)


CASES = [
    case(Im2Col, F(1, 2, 3, 4), ksizes=2, pads=1),
    case(Im2Col, F(2, 1, 5, 4), ksizes=(2, 3), strides=(2, 1)),
    case(fold, F(1, 2, 4, 4), Values([3, 3]), 2).wrt(0),
    case(fold, F(1, 8, 4), Values([3, 3]), 2).wrt(0),
    refused(ValueError, fold, F(1, 7, 4), (3, 3), 2),
    case(col2im, F(2, 2, 4, 9), Values([7, 7]), (2, 2), (1, 1), (1, 1), (3, 3)).wrt(0),
    case(Col2Im, F(1, 2, 4, 4), (3, 3), kernel_size=(2, 2)).without("mindspore", "2.7.1 takes the size as a Tensor"),
    refused(ValueError, fold, F(1, 2, 4, 5), (3, 3), 2),
    case(Im2ColExt, F(2, 4, 6, 7), 2, 1, 0, 2),
]
