"""Convolution, pooling, padding and resizing functions of mint."""

from typing import Any

from msnb.core.tensor.tensor import Tensor
from msnb.ops import functional as F
from msnb.ops.nn.image.resize import ResizeBicubic
from msnb.ops.nn.pool.adaptive_pool import adaptive_max_pool2d

__all__ = [
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "conv1d",
    "conv2d",
    "conv3d",
    "fold",
    "interpolate",
    "max_pool2d",
    "max_unpool2d",
    "pad",
    "upsample",
]

Sizes = int | tuple[int, ...] | list[int]


def _list_to_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _convolve_batch(name, fn, dims, input, weight, bias, stride, padding, dilation, groups):
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"For '{name}', 'padding' should be a number, 'same' or 'valid', but got {padding!r}.")
        padding_mode = padding, 0
    else:
        padding_mode = "pad", _list_to_tuple(padding)
    batch = input if input.ndim == dims + 2 else F.expand_dims(input, 0)
    result = fn(
        batch,
        weight,
        bias,
        _unwrap_single_size(stride, dims),
        padding_mode[0],
        _unwrap_single_size(padding_mode[1], dims),
        _unwrap_single_size(dilation, dims),
        groups,
    )
    return result if batch is input else F.squeeze(result, 0)


def _unwrap_single_size(value, dims):
    """Return the first number of a tuple if `dims` is 1 or the tuple has one number. Return any other value
    unchanged."""
    value = _list_to_tuple(value)
    return value[0] if isinstance(value, tuple) and (dims == 1 or len(value) == 1) else value


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlate sequences with a bank of filters.

    Args:
        input (Tensor): (N, C, L) or (C, L).
        weight (Tensor): (C_out, C / groups, kernel).
        bias (Tensor): (C_out,). Default: None.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.
        padding (Union[int, tuple[int], str]): Zeros at each end, "same" or "valid". Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        groups (int): Number of groups of channels. Default: 1.

    Returns:
        Tensor of as many dimensions as `input`.
    """
    return _convolve_batch("conv1d", F.conv1d, 1, input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolve along the first axis, time.

    Args:
        input (Tensor): (time, batch, in_channels).
        weight (Tensor): (kernel_size, in_channels, out_channels).
        bias (Tensor): (out_channels,).
        pad (int): Number of zeros added at both ends of time. Default: 0.

    Returns:
        Tensor, (time + 2 * pad - kernel_size + 1, batch, out_channels).
    """
    result = conv1d(F.transpose(input, (1, 2, 0)), F.transpose(weight, (2, 1, 0)), bias, padding=pad)
    return F.transpose(result, (2, 0, 1))


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlate images with a bank of filters.

    Args:
        input (Tensor): (N, C, H, W) or (C, H, W).
        weight (Tensor): (C_out, C / groups, kernel height, kernel width).
        bias (Tensor): (C_out,). Default: None.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.
        padding (Union[int, tuple[int], str]): Zeros at each side, "same" or "valid". Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        groups (int): Number of groups of channels. Default: 1.

    Returns:
        Tensor of as many dimensions as `input`.
    """
    return _convolve_batch("conv2d", F.conv2d, 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlate volumes with a bank of filters.

    Args:
        input (Tensor): (N, C, D, H, W) or (C, D, H, W).
        weight (Tensor): (C_out, C / groups, kernel depth, kernel height, kernel width).
        bias (Tensor): (C_out,). Default: None.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.
        padding (Union[int, tuple[int], str]): Zeros at each side, "same" or "valid". Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        groups (int): Number of groups of channels. Default: 1.

    Returns:
        Tensor of as many dimensions as `input`.
    """
    return _convolve_batch("conv3d", F.conv3d, 3, input, weight, bias, stride, padding, dilation, groups)


def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of a sequence.

    Args:
        input (Tensor): (N, C, L) or (C, L).
        kernel_size (Union[int, tuple[int]]): Length of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Zeros at each end. Default: 0.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.
        count_include_pad (bool): Whether the zeros count in the mean. Default: True.

    Returns:
        Tensor of as many dimensions as `input`.
    """
    batch = input if input.ndim == 3 else F.expand_dims(input, 0)
    step = kernel_size if stride is None else stride
    how = ceil_mode, count_include_pad
    result = F.avg_pool1d(
        batch, _unwrap_single_size(kernel_size, 1), _unwrap_single_size(step, 1), _unwrap_single_size(padding, 1), *how
    )
    return result if batch is input else F.squeeze(result, 0)


def avg_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window of an image.

    Args:
        input (Tensor): (N, C, H, W) or (C, H, W).
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Zeros at each side. Default: 0.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.
        count_include_pad (bool): Whether the zeros count in the mean. Default: True.
        divisor_override (int): Divisor of the sum, instead of the number of elements in the window. Default: None.

    Returns:
        Tensor of as many dimensions as `input`.
    """
    sizes = kernel_size, kernel_size if stride is None else stride, padding
    return _pool_average(F.avg_pool2d, 2, input, sizes, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window of a volume.

    Args:
        input (Tensor): (N, C, D, H, W) or (C, D, H, W).
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Zeros at each side. Default: 0.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.
        count_include_pad (bool): Whether the zeros count in the mean. Default: True.
        divisor_override (int): Divisor of the sum, instead of the number of elements in the window. Default: None.

    Returns:
        Tensor of as many dimensions as `input`.
    """
    sizes = kernel_size, kernel_size if stride is None else stride, padding
    return _pool_average(F.avg_pool3d, 3, input, sizes, ceil_mode, count_include_pad, divisor_override)


def _pool_average(fn, dims, input, sizes, ceil_mode, count_include_pad, divisor_override):
    batch = input if input.ndim == dims + 2 else F.expand_dims(input, 0)
    result = fn(
        batch, *(_unwrap_single_size(n, dims) for n in sizes), ceil_mode, count_include_pad, divisor_override or 0
    )
    return result if batch is input else F.squeeze(result, 0)


def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the largest value of each window.

    Args:
        input (Tensor): (N, C, H, W) or (C, H, W).
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Padding on each side. Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring elements of a window. Default: 1.
        ceil_mode (bool): Whether to include an incomplete window at the end. Default: False.
        return_indices (bool): Whether to return the indices of the values too. Default: False.

    Returns:
        Tensor with as many dimensions as the input, or a tuple (that Tensor, int64 indices).
    """
    window = _list_to_tuple(kernel_size), _list_to_tuple(stride), _list_to_tuple(padding), _list_to_tuple(dilation)
    return F.max_pool2d(input, *window, return_indices, ceil_mode)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: tuple[int, ...] | None = None,
) -> Tensor:
    """Inverse of `max_pool2d`: put each maximum back at its index, and 0 elsewhere.

    Args:
        input (Tensor): The values, (N, C, H, W) or (C, H, W).
        indices (Tensor): Indices of the values, as returned by the pooling.
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Padding on each side of the pool. Default: 0.
        output_size (tuple[int]): The shape of the result. Default: None, the smallest shape that fits.

    Returns:
        Tensor with as many dimensions as the input.
    """
    return F.max_unpool2d(input, indices, *map(_list_to_tuple, (kernel_size, stride, padding, output_size)))


def adaptive_max_pool1d(
    input: Tensor, output_size: int, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Adaptive max pooling: return the largest value of each of `output_size` windows of a sequence.

    Args:
        input (Tensor): (N, C, L) or (C, L).
        output_size (int): Length of the output.
        return_indices (bool): Whether to return the indices of the values too. Default: False.

    Returns:
        Tensor with as many dimensions as the input, or a tuple (that Tensor, int64 indices).
    """
    size = output_size[0] if isinstance(output_size, (tuple, list)) else output_size
    result = adaptive_max_pool2d(F.expand_dims(input, -2), (1, size), return_indices)
    if isinstance(result, tuple):
        return F.squeeze(result[0], -2), F.squeeze(result[1], -2)
    return F.squeeze(result, -2)


def pad(input: Tensor, pad: tuple[int, ...] | list[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad a Tensor at its borders.

    Args:
        input (Tensor): Any shape.
        pad (Union[tuple[int], list[int]]): Widths (before, after) of the last dimension, then of the one before it, and
            so on. Negative numbers crop.
        mode (str): "constant", "reflect", "replicate" or "circular". Default: "constant".
        value (number): The constant. Default: None, 0.

    Returns:
        Tensor.
    """
    return F.pad(input, pad, mode, value)


def upsample(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: float | tuple[float, ...] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Resize sequences, images or volumes, see `interpolate`.

    Args:
        input (Tensor): (N, C, ...).
        size (Union[int, tuple[int]]): New lengths of the dimensions after N and C. Default: None.
        scale_factor (Union[float, tuple[float]]): Scale factor of the dimensions. Default: None.
        mode (str): Interpolation method, see `interpolate`. Default: "nearest".
        align_corners (bool): Whether the corners keep their values. Default: None.

    Returns:
        Tensor.
    """
    return interpolate(input, size, scale_factor, mode, align_corners)


def interpolate(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: float | tuple[float, ...] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Resize sequences, images or volumes.

    Args:
        input (Tensor): (N, C, ...), with one to three further dimensions.
        size (Union[int, tuple[int]]): New lengths of the dimensions after N and C. Default: None.
        scale_factor (Union[float, tuple[float]]): Scale factor of the dimensions. Default: None.
        mode (str): "nearest", "linear", "bilinear", "bicubic", "trilinear" or "area". Default: "nearest".
        align_corners (bool): Whether the corners keep their values, for the linear modes and "bicubic". Default: None.
        recompute_scale_factor (bool): Whether sampling positions are computed from the lengths instead of
            `scale_factor`. Default: None.

    Returns:
        Tensor with as many dimensions as the input.

    Raises:
        ValueError: If not exactly one of `size` and `scale_factor` is given, or `mode` does not fit the dimensions.
    """
    if mode != "bicubic":
        return F.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)
    if input.ndim != 4 or (size is None) == (scale_factor is None):
        raise ValueError("For 'interpolate', mode 'bicubic' takes 4 dimensions, and one of 'size' and 'scale_factor'.")
    if scale_factor is not None:
        factors = scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor, scale_factor)
        size = tuple(int(length * factor) for length, factor in zip(input.shape[2:], factors, strict=True))
        if not recompute_scale_factor and any(
            new != length * factor for new, length, factor in zip(size, input.shape[2:], factors, strict=True)
        ):
            raise ValueError(
                "For 'interpolate', mode 'bicubic' takes a 'scale_factor' that gives whole lengths, or 'size'."
            )
    corners = bool(align_corners)
    return ResizeBicubic(align_corners=corners, half_pixel_centers=not corners)(input, _to_pair(size))


def fold(
    input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Sum windows, given as columns, into images: the transpose of `unfold`. Overlapping elements are added.

    Args:
        input (Tensor): (N, C * window, number of windows), or the same without N.
        output_size (Union[int, tuple[int]]): Height and width of the images.
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        padding (Union[int, tuple[int]]): Border removed on each side. Default: 0.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.

    Returns:
        Tensor, (N, C, H, W), or the same without N.
    """
    height, width = _to_pair(kernel_size)
    batch = input if input.ndim == 3 else F.expand_dims(input, 0)
    windows = batch.reshape(batch.shape[0], -1, height * width, batch.shape[-1])
    sizes = map(_to_pair, (output_size, kernel_size, dilation, padding, stride))
    images = F.fold(windows, *sizes)
    return images if batch is input else F.squeeze(images, 0)


def _to_pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)
