"""Mean pooling."""

from msnb.common.kinds import Bool, IntOrTuple, NonNegInt, OneOf, Shape
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops.nn._kinds import Layout, Pads1, Pads2, PoolMode, Sides3, Window1, Window2, Window3
from msnb.ops.nn._pullback import apply_transpose
from msnb.ops.nn.conv._shared import both_sides
from msnb.ops.nn.pool._windows import (
    apply_batched,
    average_windows,
    from_channels_first,
    padded_average,
    to_channels_first,
    volume_pads,
    window_pads,
)


@operator
def AvgPool(
    x,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
    data_format: Layout = "NCHW",
):
    """The mean of each window. It does not include the padding of "same".

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid" or "same". Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor, (N, C, H_out, W_out) in the layout of `x`.
    """
    x = to_channels_first("AvgPool", x, data_format)
    padding = window_pads("AvgPool", pad_mode, x.shape[2:], kernel_size, strides)
    return from_channels_first(average_windows(x, kernel_size, strides, padding), data_format)


def _avg_pool_grad(shape, dy, kernel, strides, pad_mode, data_format="NCHW"):
    return apply_transpose(
        lambda x: AvgPool.kernel(x, kernel_size=kernel, strides=strides, pad_mode=pad_mode, data_format=data_format),
        shape,
        dy,
    )


@operator
def AvgPoolGrad(
    x_shape: Shape, grad, *, kernel_size: Window2 = (1, 1), strides: Window2 = (1, 1), pad_mode: PoolMode = "valid"
):
    """Gradient of AvgPool from the shape of its input and the cotangent."""
    return _avg_pool_grad(x_shape, grad, kernel_size, strides, pad_mode)


@operator(aliases=("AvgPoolGradCpu",))
def AvgPoolGradGpu(
    x_origin,
    out_origin,
    grad,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
    data_format: Layout = "NCHW",
):
    """Gradient of AvgPool, from the input and output of the forward pass and the cotangent."""
    return _avg_pool_grad(x_origin.shape, grad, kernel_size, strides, pad_mode, data_format)


@operator(functional="avg_pool1d", generation=2)
def AvgPool1D(
    input_x,
    *,
    kernel_size: Window1 = (1,),
    stride: Window1 = (1,),
    padding: Pads1 = (0, 0),
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
):
    """The mean of each window of a sequence.

    Args:
        kernel_size (int): length of the window. Default: 1.
        stride (int): step of the window. Default: 1.
        padding (int): zeros at each end. Default: 0.
        ceil_mode (bool): whether to include a last window that extends beyond the border. Default: False.
        count_include_pad (bool): whether to include the padding in the mean. Default: True.

    Inputs:
        - **input_x** (Tensor) - (N, C, L).

    Outputs:
        Tensor, (N, C, L_out).
    """
    return _average_windows("AvgPool1D", input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, 0)


@operator(functional="avg_pool2d", generation=2)
def AvgPool2D(
    input_x,
    *,
    kernel_size: Window2 = (1, 1),
    stride: Window2 = (1, 1),
    padding: Pads2 = (0,) * 4,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    divisor_override: NonNegInt = 0,
):
    """The mean of each window of an image.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): step of the window. Default: 1.
        padding (Union[int, tuple[int]]): zeros at each side. Default: 0.
        ceil_mode (bool): whether to include a last window that extends beyond the border. Default: False.
        count_include_pad (bool): whether to include the padding in the mean. Default: True.
        divisor_override (int): divisor of the sum in place of the number of pixels, if not 0. Default: 0.

    Inputs:
        - **input_x** (Tensor) - (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor, (N, C, H_out, W_out).
    """
    return _average_windows(
        "AvgPool2D", input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def _average_windows(op, x, kernel, *window):
    _check.dtype_in(op, "input_x", x, _check.FLOAT)
    return apply_batched(op, x, len(kernel), lambda x: padded_average(op, x, kernel, *window))


@operator
def AvgPool3D(
    x,
    *,
    kernel_size: Window3 = (1, 1, 1),
    strides: Window3 = (1, 1, 1),
    pad_mode: OneOf("valid", "same", "pad", fold=True) = "valid",
    pad: Sides3 = (0,) * 6,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    divisor_override: NonNegInt = 0,
    data_format: OneOf("NCDHW") = "NCDHW",
):
    """The mean of each window of a volume.

    Args:
        kernel_size (Union[int, tuple[int]]): depth, height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad (Union[int, tuple[int]]): padding at head, tail, top, bottom, left, right for "pad". Default: 0.
        ceil_mode (bool): whether to include a last window that reaches over the border. Default: False.
        count_include_pad (bool): whether to include the zeros of the padding in the mean. Default: True.
        divisor_override (int): divides the sum instead of the number of pixels, if not 0. Default: 0.
        data_format (str): "NCDHW". Default: "NCDHW".

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W).

    Outputs:
        Tensor, (N, C, D_out, H_out, W_out).
    """
    op = "AvgPool3D"
    padding = volume_pads(op, x, pad_mode, pad, kernel_size, strides, ceil_mode)
    if pad_mode != "same":
        return padded_average(op, x, kernel_size, strides, pad, ceil_mode, count_include_pad, divisor_override)
    return average_windows(x, kernel_size, strides, padding, count_include_pad, divisor_override)


@spelling(AvgPool3D)
def avg_pool3d(
    input_x: Tensor,
    kernel_size: IntOrTuple = 1,
    stride: IntOrTuple = 1,
    padding: IntOrTuple = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """The mean of each window of a volume.

    Args:
        input_x (Tensor): (N, C, D, H, W).
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.
        padding (Union[int, tuple[int]]): Zeros at each side. Default: 0.
        ceil_mode (bool): Whether to include a last window that extends beyond the border. Default: False.
        count_include_pad (bool): Whether to include the padding in the mean. Default: True.
        divisor_override (int): Divisor of the sum in place of the number of pixels, if not 0. Default: 0.

    Returns:
        Tensor, (N, C, D_out, H_out, W_out).
    """
    padding = padding if type(padding) is int else both_sides(padding, 3)
    return AvgPool3D.functional(
        input_x, kernel_size, stride, "pad", padding, ceil_mode, count_include_pad, divisor_override
    )


CASES = [
    case(AvgPool, F(2, 3, 8, 9), kernel_size=2, strides=2),
    case(AvgPool, F(2, 3, 8, 9), kernel_size=3, strides=2, pad_mode="same"),
    case(AvgPool, F(2, 3, 8, 9), kernel_size=(3, 2), strides=(1, 2)),
    case(AvgPool, F(2, 3, 8, 9), kernel_size=4, strides=2, pad_mode="SAME"),
    case(AvgPoolGrad, (1, 2, 4, 4), F(1, 2, 2, 2), kernel_size=2, strides=2),
    case(AvgPoolGradGpu, F(1, 2, 4, 4), F(1, 2, 2, 2), F(1, 2, 2, 2), kernel_size=2, strides=2),
    case(AvgPool1D, F(2, 3, 9), kernel_size=3, stride=2),
    case(AvgPool2D, F(2, 4, 6, 7), kernel_size=2, stride=2),
    case(AvgPool2D, F(2, 4, 6, 7), kernel_size=3, stride=2, padding=1),
    case(AvgPool2D, F(2, 4, 6, 7), kernel_size=2, stride=2, ceil_mode=True),
    case(AvgPool3D, F(1, 2, 4, 5, 6), kernel_size=2, strides=2, pad_mode="same"),
    refused(ValueError, AvgPool, F(3, 4, 4), kernel_size=2, strides=1),
]
