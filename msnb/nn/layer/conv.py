"""Convolution layers and transposed convolutions. The 3-D layers are re-exported."""

from typing import Any

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.common.kinds import Bool, DType, PositiveInt, readable
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import FIRST_WEIGHTS, Initial, TwoOffsets, TwoSizes
from msnb.nn.layer._conv.base import Convolution, FourSides, PadMode, RowConvolution, along
from msnb.nn.layer._conv.base import _Conv as _Conv  # libraries derive layers from it
from msnb.nn.layer._conv.conv3d import Conv3d, Conv3dTranspose
from msnb.ops import operations as P
from msnb.ops.nn.conv._shared import transposed_length

__all__ = ["Conv2d", "Conv2dTranspose", "Conv1d", "Conv1dTranspose", "Conv3d", "Conv3dTranspose"]


@differs_in_api2(FIRST_WEIGHTS, weight_init=None, bias_init=None)
class Conv2d(Convolution):
    r"""
    Cross-correlation of images with learned kernels, summed over channels:
    :math:`y_{n, j} = b_j + \sum_c W_{j, c} \star x_{n, c}` (LeCun et al., 1989).

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): Height and width of a kernel.
        stride (Union[int, tuple[int]]): Step of the kernel along height and width. Default: 1.
        pad_mode (str): "same" pads with zeros so that the output size is the input size divided by the stride, rounded
            up. "valid" pads nothing. "pad" pads with `padding` zeros. Default: "same".
        padding (Union[int, tuple[int]]): Number of zeros for "pad": on each side, or (top, bottom, left, right).
            Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements in pixels. Default: 1.
        group (int): Number of groups of channels; each group has its own kernels. Default: 1.
        has_bias (bool): Whether b is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial kernels; None is
            HeUniform(sqrt(5)). Default: "normal", in MindSpore 2 None.
        bias_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial bias; None is
            Uniform(1 / sqrt(n)) for sums of n products. Default: "zeros", in MindSpore 2 None.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor, in the layout of the input.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, a mode is unknown, `padding` is given without "pad", or `group` does
            not divide the channels.

    Examples:
        >>> net = nn.Conv2d(3, 8, 5, stride=2)
        >>> print(net(Tensor(np.ones((1, 3, 9, 10)), mindspore.float32)).shape)
        (1, 8, 5, 5)
    """

    _before_weight = ""

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolved images."""
        return self._convolve(x)

    def extend_repr(self) -> str:
        """Return the arguments for `repr`, spaced as in MindSpore."""
        return f"{super().extend_repr()}, format={self.format}"


@differs_in_api2(FIRST_WEIGHTS, weight_init=None, bias_init=None)
class Conv1d(RowConvolution):
    """
    Cross-correlation of sequences with learned kernels, summed over channels.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (int): Length of a kernel.
        stride (int): Step of the kernel. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in Conv2d. Default: "same".
        padding (int): Number of zeros for "pad", on each side. Default: 0.
        dilation (int): Distance between neighbouring kernel elements. Default: 1.
        group (int): Number of groups of channels; each group has its own kernels. Default: 1.
        has_bias (bool): Whether a bias is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial kernels; None is
            HeUniform(sqrt(5)). Default: "normal", in MindSpore 2 None.
        bias_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial bias; None is
            Uniform(1 / sqrt(n)) for sums of n products. Default: "zeros", in MindSpore 2 None.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C, L).

    Outputs:
        Tensor of shape (N, C_out, L_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, a mode is unknown, `padding` is given without "pad", or `group` does
            not divide the channels.

    Examples:
        >>> net = nn.Conv1d(3, 8, 5, stride=2)
        >>> print(net(Tensor(np.ones((1, 3, 9)), mindspore.float32)).shape)
        (1, 8, 5)
    """


class _Transposed(Convolution):
    _transposed = True

    def shard(self, strategy: tuple[Any, ...]) -> "_Transposed":
        """
        Set the sharding strategy of the operator.

        Args:
            strategy (tuple): For each input a tuple with the number of shards of each axis.

        Returns:
            Cell, itself.
        """
        self.conv2d_transpose.shard(strategy)
        return self


@differs_in_api2(
    f"{FIRST_WEIGHTS}; 'output_padding' comes after 'padding'",
    "in_channels",
    "out_channels",
    "kernel_size",
    "stride",
    "pad_mode",
    "padding",
    "output_padding",
    "dilation",
    "group",
    "has_bias",
    "weight_init",
    "bias_init",
    "dtype",
    weight_init=None,
    bias_init=None,
)
class Conv2dTranspose(_Transposed):
    r"""
    Transposed convolution of images: the gradient of Conv2d with respect to its input. A stride enlarges the image
    (Zeiler et al., 2010).

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): Height and width of a kernel.
        stride (Union[int, tuple[int]]): Factor by which height and width grow. Default: 1.
        pad_mode (str): Output size. "same" gives stride times the input size, "valid" the full size of the transposed
            convolution, and "pad" that size without `padding` elements. Default: "same".
        padding (Union[int, tuple[int]]): Number of elements that "pad" removes: each side, or (top, bottom, left,
            right). Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements in pixels. Default: 1.
        group (int): Number of groups of channels; each group has its own kernels. Default: 1.
        has_bias (bool): Whether a bias is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial kernels; None is
            HeUniform(sqrt(5)). Default: "normal", in MindSpore 2 None.
        bias_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial bias; None is
            Uniform(1 / sqrt(n)) for sums of n products. Default: "zeros", in MindSpore 2 None.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.
        output_padding (Union[int, tuple[int]]): For "pad", size added to the bottom and right of the output; less
            than the stride or the dilation. Default: 0.

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C_out, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, a mode is unknown, `padding` is given without "pad", or `group` does
            not divide the channels.

    Examples:
        >>> net = nn.Conv2dTranspose(3, 8, 4, pad_mode="pad")
        >>> print(net(Tensor(np.ones((1, 3, 16, 50)), mindspore.float32)).shape)
        (1, 8, 19, 53)
    """

    @answered
    @readable
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: TwoSizes,
        stride: TwoSizes = 1,
        pad_mode: PadMode = "same",
        padding: FourSides = 0,
        dilation: TwoSizes = 1,
        group: PositiveInt = 1,
        has_bias: Bool = False,
        weight_init: Initial | None = "normal",
        bias_init: Initial | None = "zeros",
        dtype: DType = mstype.float32,
        *,
        output_padding: TwoOffsets = 0,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            dtype=dtype,
        )
        self.output_padding = output_padding
        below, right = along(2, output_padding)
        if (below or right) and pad_mode != "pad":
            raise ValueError(f"For '{self.cls_name}', 'output_padding' needs pad_mode='pad', but got '{pad_mode}'.")
        if any(n >= max(s, d) for n, s, d in zip((below, right), self.stride, self.dilation, strict=True)):
            raise ValueError(
                f"For '{self.cls_name}', 'output_padding' should be less than the stride or the dilation, but got "
                f"{output_padding} with stride {self.stride} and dilation {self.dilation}."
            )
        self._widen = P.Pad(((0, 0), (0, 0), (0, below), (0, right))) if below or right else None

    def construct(self, x: Tensor) -> Tensor:
        """Return the result of the transposed convolution."""
        image = self._convolve(x)
        return image if self._widen is None else self._widen(image)


@differs_in_api2(FIRST_WEIGHTS, weight_init=None, bias_init=None)
class Conv1dTranspose(_Transposed, RowConvolution):
    """
    Transposed convolution of sequences: the gradient of Conv1d with respect to its input.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (int): Length of a kernel.
        stride (int): Factor by which the length grows. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in Conv2dTranspose. Default: "same".
        padding (int): Number of elements that "pad" removes at each end. Default: 0.
        dilation (int): Distance between neighbouring kernel elements. Default: 1.
        group (int): Number of groups of channels; each group has its own kernels. Default: 1.
        has_bias (bool): Whether a bias is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial kernels; None is
            HeUniform(sqrt(5)). Default: "normal", in MindSpore 2 None.
        bias_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial bias; None is
            Uniform(1 / sqrt(n)) for sums of n products. Default: "zeros", in MindSpore 2 None.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C, L).

    Outputs:
        Tensor of shape (N, C_out, L_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, a mode is unknown, `padding` is given without "pad", or `group` does
            not divide the channels.

    Examples:
        >>> net = nn.Conv1dTranspose(3, 8, 4, pad_mode="pad")
        >>> print(net(Tensor(np.ones((1, 3, 50)), mindspore.float32)).shape)
        (1, 8, 53)
    """


def _deconv_output_length(is_valid, is_same, is_pad, input_length, filter_size, stride_size, dilation_size, padding):
    """Return the output length of a transposed convolution. Layers that users derive from _Conv call it."""
    mode = "valid" if is_valid else "same" if is_same else "pad"
    return transposed_length(mode, input_length, filter_size, stride_size, dilation_size, padding)


def _check_input_3d(input_shape: tuple[int, ...], op_name: str | None = None) -> None:
    """Raise ValueError unless a shape has 3 axes; layers that users derive from Conv1d call it."""
    _check_axis_count(input_shape, 3, op_name)


def _check_input_5dims(input_shape: tuple[int, ...], op_name: str | None = None) -> None:
    """Raise ValueError unless a shape has 5 axes; layers that users derive from Conv3d call it."""
    _check_axis_count(input_shape, 5, op_name)


def _check_axis_count(shape, count, layer):
    if len(shape) != count:
        of = f"For '{layer}', the" if layer else "The"
        raise ValueError(f"{of} input should have {count} axes, but got shape {tuple(shape)}.")
