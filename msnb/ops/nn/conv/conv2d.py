"""Convolution of images and of sequences."""

import jax.numpy as jnp

from msnb.common.kinds import IntOrTuple, OneOf, PositiveInt
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn._kinds import Layout, PadMode, Pads1, Sides2, Window1, Window2
from msnb.ops.nn.conv._shared import add_bias, both_sides, check_weight, convolve, filter_attributes, pad_check


@operator(refuses=pad_check("Conv2D"))
@shapes("x: _ _ _ _, weight: out_channel _ _ _")
def Conv2D(
    x,
    weight,
    *,
    out_channel: PositiveInt,
    kernel_size: Window2,
    mode: OneOf(1) = 1,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0, 0, 0, 0),
    stride: Window2 = (1, 1),
    dilation: Window2 = (1, 1),
    group: PositiveInt = 1,
    data_format: Layout = "NCHW",
):
    """Cross-correlation of images with a bank of filters.

    Args:
        out_channel (int): number of filters.
        kernel_size (Union[int, tuple[int]]): height and width of a filter.
        mode (int): only 1, cross-correlation. Default: 1.
        pad_mode (str): "valid": no padding; "same": the padding that gives ceil(size / stride) outputs; "pad": the
            padding in `pad`. Default: "valid".
        pad (Union[int, tuple[int]]): padding at top, bottom, left, right for "pad". Default: 0.
        stride (Union[int, tuple[int]]): step of the window. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the filter's taps. Default: 1.
        group (int): number of groups of channels, which are convolved separately. Default: 1.
        data_format (str): "NCHW" or "NHWC" for `x` and the result. Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".
        - **weight** (Tensor) - (out_channel, C / group, kernel height, kernel width), or with C last for "NHWC".

    Outputs:
        Tensor, (N, out_channel, H_out, W_out) in the layout of `x`.

    Raises:
        TypeError: If an attribute or input has a wrong type.
        ValueError: If shapes and attributes do not fit.

    Examples:
        >>> x = Tensor(np.ones((10, 32, 32, 32)), mindspore.float32)
        >>> w = Tensor(np.ones((32, 32, 3, 3)), mindspore.float32)
        >>> ops.Conv2D(out_channel=32, kernel_size=3)(x, w).shape
        (10, 32, 30, 30)
    """
    last = data_format == "NHWC"
    if last:
        _check.rank("Conv2D", "x", x, 4)
        x, weight = jnp.moveaxis(x, -1, 1), jnp.moveaxis(weight, -1, 1)
    weight = check_weight("Conv2D", weight, out_channel, kernel_size)
    y = convolve("Conv2D", x, weight, pad_mode, pad, stride, dilation, group)
    return jnp.moveaxis(y, 1, -1) if last else y


@spelling(Conv2D)
@keyword_aliases(inputs="input", group="groups")
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: IntOrTuple = 1,
    pad_mode: str = "valid",
    padding: IntOrTuple = 0,
    dilation: IntOrTuple = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of images with a bank of filters.

    Args:
        input (Tensor): (N, C, H, W).
        weight (Tensor): (C_out, C / groups, kernel height, kernel width).
        bias (Tensor): (C_out,). Default: None.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (Union[int, tuple[int]]): Padding for "pad": one number, (height, width), or top, bottom, left, right.
            Default: 0.
        dilation (Union[int, tuple[int]]): Spacing of the taps. Default: 1.
        groups (int): Number of groups of channels. Default: 1.

    Returns:
        Tensor, (N, C_out, H_out, W_out).
    """
    number, window = filter_attributes("conv2d", weight)
    padding = padding if type(padding) is int else both_sides(padding, 2)
    y = Conv2D.functional(input, weight, number, window, 1, pad_mode, padding, stride, dilation, groups)
    return y if bias is None else add_bias(y, bias)


@operator
def _Conv1D(
    input,
    weight,
    *,
    stride: Window1 = (1,),
    pad_mode: PadMode = "valid",
    padding: Pads1 = (0, 0),
    dilation: Window1 = (1,),
    groups: PositiveInt = 1,
):
    """Cross-correlation of sequences with a bank of filters. MindSpore builds it from ExpandDims, Conv2D and
    Squeeze."""
    _check.rank("conv1d", "input", input, 3)
    _check.rank("conv1d", "weight", weight, 3)
    x, w = input[:, :, None], weight[:, :, None]
    return convolve("conv1d", x, w, pad_mode, (0, 0, *padding), (1, *stride), (1, *dilation), groups)[:, :, 0]


@spelling(_Conv1D)
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: IntOrTuple = 1,
    pad_mode: str = "valid",
    padding: IntOrTuple = 0,
    dilation: IntOrTuple = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of sequences with a bank of filters.

    Args:
        input (Tensor): (N, C, L).
        weight (Tensor): (C_out, C / groups, kernel).
        bias (Tensor): (C_out,). Default: None.
        stride (int): Step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (Union[int, tuple[int]]): Padding at both ends for "pad". Default: 0.
        dilation (int): Spacing of the taps. Default: 1.
        groups (int): Number of groups of channels. Default: 1.

    Returns:
        Tensor, (N, C_out, L_out).
    """
    y = _Conv1D.functional(input, weight, stride, pad_mode, padding, dilation, groups)
    return y if bias is None else add_bias(y, bias)


CASES = [
    case(Conv2D, F(2, 3, 8, 8), F(4, 3, 3, 3), out_channel=4, kernel_size=3),
    case(Conv2D, F(2, 3, 8, 7), F(4, 3, 3, 3), out_channel=4, kernel_size=3, pad_mode="same"),
    case(Conv2D, F(2, 3, 9, 8), F(4, 3, 3, 3), out_channel=4, kernel_size=3, pad_mode="same", stride=2),
    case(Conv2D, F(1, 3, 9, 8), F(4, 3, 4, 4), out_channel=4, kernel_size=4, pad_mode="same", stride=2),
    case(Conv2D, F(2, 3, 8, 8), F(4, 3, 5, 3), out_channel=4, kernel_size=(5, 3), pad_mode="pad", pad=(2, 1, 0, 1)),
    case(Conv2D, F(1, 2, 10, 10), F(3, 2, 3, 3), out_channel=3, kernel_size=3, dilation=2, pad_mode="pad", pad=2),
    case(Conv2D, F(2, 4, 6, 6), F(6, 2, 3, 3), out_channel=6, kernel_size=3, group=2),
    case(Conv2D, F(2, 4, 6, 6), F(4, 1, 3, 3), out_channel=4, kernel_size=3, group=4),
    case(Conv2D, F(2, 5, 4, 4), F(7, 5, 1, 1), out_channel=7, kernel_size=1),
    case(Conv2D, F(2, 5, 5, 5), F(7, 5, 1, 1), out_channel=7, kernel_size=1, stride=2),
    case(Conv2D, F(2, 1, 9, 9), F(4, 1, 5, 5), out_channel=4, kernel_size=5),
    case(Conv2D, F(1, 40, 2, 2), F(8, 40, 3, 3), out_channel=8, kernel_size=3, pad_mode="same"),
    case(conv2d, F(2, 4, 6, 7), F(5, 4, 3, 3), F(5), pad_mode="pad", padding=(1, 2)),
    case(_Conv1D, F(2, 4, 9), F(6, 4, 3)),
    case(conv1d, F(2, 4, 9), F(6, 2, 3), F(6), groups=2, stride=2, pad_mode="same"),
]
