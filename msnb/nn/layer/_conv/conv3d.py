"""Convolution layers of volumes, with MindSpore 2's signatures and initial Parameters. r1.1 has no such layers."""

from typing import Annotated

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, OneOf, PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Initial, ThreeOffsets, ThreeSizes
from msnb.nn.layer._conv.base import PadMode, SixSides, _Conv, along
from msnb.ops import operations as P

__all__ = ["Conv3d", "Conv3dTranspose"]

VolumeLayout = Annotated[str, OneOf("NCDHW")]


class _VolumeFilters(_Conv):
    """Base of the convolution of volumes and its transpose."""

    _before_weight = ", "

    def extend_repr(self) -> str:
        """Return the arguments for `repr`, spaced as in MindSpore."""
        return f"{super().extend_repr()}, format={self.format}".replace(",stride", ", stride").replace("  ", " ")


class Conv3d(_VolumeFilters):
    r"""
    Cross-correlation of volumes with learned kernels, summed over channels:
    :math:`y_{n, j} = b_j + \sum_c W_{j, c} \star x_{n, c}` (Tran et al., 2015).

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): Depth, height and width of a kernel.
        stride (Union[int, tuple[int]]): Step of the kernel along each axis. Default: 1.
        pad_mode (str): "same" pads with zeros so that the output size is the input size divided by the stride, rounded
            up. "valid" pads nothing. "pad" pads with `padding` zeros. Default: "same".
        padding (Union[int, tuple[int]]): Number of zeros for "pad": on each side, or (head, tail, top, bottom, left,
            right). Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        group (int): Number of groups of channels; each group has its own kernels. Default: 1.
        has_bias (bool): Whether b is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial kernels. Default: None,
            HeUniform(sqrt(5)).
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial bias. Default: None, Uniform(1 / sqrt(n)),
            where n is the number of products summed for each output element.
        data_format (str): "NCDHW". Default: "NCDHW".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C, D, H, W).

    Outputs:
        Tensor of shape (N, C_out, D_out, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, a mode is unknown, `padding` is given without "pad", or `group` does
            not divide the channels.

    Examples:
        >>> net = nn.Conv3d(3, 8, (4, 3, 3), stride=2)
        >>> print(net(Tensor(np.ones((1, 3, 10, 32, 33)), mindspore.float32)).shape)
        (1, 8, 5, 16, 17)
    """

    @checked
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: ThreeSizes,
        stride: ThreeSizes = 1,
        pad_mode: PadMode = "same",
        padding: SixSides = 0,
        dilation: ThreeSizes = 1,
        group: PositiveInt = 1,
        has_bias: Bool = False,
        weight_init: Initial | None = None,
        bias_init: Initial | None = None,
        data_format: VolumeLayout = "NCDHW",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            along(3, kernel_size),
            along(3, stride),
            pad_mode,
            padding,
            along(3, dilation),
            group,
            has_bias,
            weight_init,
            bias_init,
            data_format,
            self._transposed,
            dtype,
        )
        self._log_unused_bias(bias_init, None)
        self.conv3d: P.Conv3D = P.Conv3D(
            out_channel=self.out_channels, data_format=self.format, **self._get_operator_attributes()
        )

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolved volumes."""
        volume = self.conv3d(x, self.weight)
        return self.bias_add(volume, self.bias) if self.has_bias else volume


class Conv3dTranspose(_VolumeFilters):
    r"""
    Transposed convolution of volumes: the gradient of Conv3d with respect to its input. A stride enlarges the volume
    (Zeiler et al., 2010).

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): Depth, height and width of a kernel.
        stride (Union[int, tuple[int]]): Factor by which depth, height and width grow. Default: 1.
        pad_mode (str): Output size. "same" gives stride times the input size, "valid" the full size of the transposed
            convolution, and "pad" that size without `padding` elements. Default: "same".
        padding (Union[int, tuple[int]]): Number of elements that "pad" removes: each side, or (head, tail, top,
            bottom, left, right).
            Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        group (int): Number of groups of channels; each group has its own kernels. Default: 1.
        output_padding (Union[int, tuple[int]]): Number added to the output size for "pad", less than the stride or the
            dilation. Default: 0.
        has_bias (bool): Whether a bias is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial kernels. Default: None,
            HeUniform(sqrt(5)).
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial bias. Default: None, Uniform(1 / sqrt(n)),
            where n is C_out / group times the number of elements of a kernel.
        data_format (str): "NCDHW". Default: "NCDHW".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C, D, H, W).

    Outputs:
        Tensor of shape (N, C_out, D_out, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, a mode is unknown, `padding` or `output_padding` is given without
            "pad", or `group` does not divide the channels.

    Examples:
        >>> net = nn.Conv3dTranspose(16, 3, (4, 6, 2), pad_mode="pad")
        >>> print(net(Tensor(np.ones((1, 16, 5, 6, 7)), mindspore.float32)).shape)
        (1, 3, 8, 11, 8)
    """

    _transposed = True

    @checked
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: ThreeSizes,
        stride: ThreeSizes = 1,
        pad_mode: PadMode = "same",
        padding: SixSides = 0,
        dilation: ThreeSizes = 1,
        group: PositiveInt = 1,
        output_padding: ThreeOffsets = 0,
        has_bias: Bool = False,
        weight_init: Initial | None = None,
        bias_init: Initial | None = None,
        data_format: VolumeLayout = "NCDHW",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            along(3, kernel_size),
            along(3, stride),
            pad_mode,
            padding,
            along(3, dilation),
            group,
            has_bias,
            weight_init,
            bias_init,
            data_format,
            self._transposed,
            dtype,
        )
        self._log_unused_bias(bias_init, None)
        self.output_padding = along(3, output_padding)
        self.conv3d_transpose: P.Conv3DTranspose = P.Conv3DTranspose(
            in_channel=self.in_channels,
            out_channel=self.out_channels,
            output_padding=self.output_padding,
            data_format=self.format,
            **self._get_operator_attributes(),
        )

    def construct(self, x: Tensor) -> Tensor:
        """Return the result of the transposed convolution."""
        volume = self.conv3d_transpose(x, self.weight)
        return self.bias_add(volume, self.bias) if self.has_bias else volume
