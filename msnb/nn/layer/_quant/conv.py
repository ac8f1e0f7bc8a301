"""Convolutions with simulated quantisation of the weight."""

from msnb.common.arguments import answered
from msnb.common.kinds import Bool, PositiveInt, readable
from msnb.common.quant_dtype import QuantDtype
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Epsilon, Initial, Share, TwoSizes
from msnb.nn.cell import Cell
from msnb.nn.layer._conv.base import Convolution, FourSides, PadMode
from msnb.nn.layer._quant.observer import IntegerType, QuantConfig, quant_config_default, weight_observer
from msnb.nn.layer.normalization import BatchNorm2d
from msnb.ops import operations as P


class QuantConvolution(Convolution):
    """Base class of convolutions whose weight is rounded by an observer. The weight stays in floating point and is
    trained."""

    quant_config: QuantConfig
    quant_dtype: QuantDtype
    fake_quant_weight: Cell
    conv: P.Conv2D

    def _create_weight_observer(self, quant_config, quant_dtype):
        self.quant_config = quant_config
        self.quant_dtype = quant_dtype
        self.conv = self.conv2d  # MindSpore's name of the attribute
        self.fake_quant_weight = weight_observer(quant_config, quant_dtype, self.out_channels)

    def _convolve_with_weight(self, x, weight, bias):
        y = self.conv(x, weight)
        return self.bias_add(y, bias) if self.has_bias else y

    def extend_repr(self) -> str:
        """Return the arguments for `repr`."""
        names = ("in_channels", "out_channels", "kernel_size", "stride", "pad_mode", "padding", "dilation", "group")
        names += ("has_bias",)
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class Conv2dQuant(QuantConvolution):
    """
    Conv2d whose weight is rounded to the grid of an integer type (simulated quantisation).

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): As in Conv2d.
        stride (Union[int, tuple[int]]): As in Conv2d. Default: 1.
        pad_mode (str): As in Conv2d. Default: "same".
        padding (Union[int, tuple[int]]): As in Conv2d. Default: 0.
        dilation (Union[int, tuple[int]]): As in Conv2d. Default: 1.
        group (int): As in Conv2d. Default: 1.
        has_bias (bool): As in Conv2d. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial kernels. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial bias. Default: "zeros".
        quant_config (QuantConfig): Factories of the weight and activation observers, see
            `compression.quant.create_quant_config`. Default: FakeQuantWithMinMaxObserver for both.
        quant_dtype (QuantDtype): The simulated integer type. Default: QuantDtype.INT8.

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C_out, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: As in Conv2d.

    Examples:
        >>> net = nn.Conv2dQuant(1, 6, kernel_size=2, pad_mode="valid")
        >>> print(net(Tensor(np.ones((2, 1, 3, 3)), mindspore.float32)).shape)
        (2, 6, 2, 2)
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
        weight_init: Initial = "normal",
        bias_init: Initial = "zeros",
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: IntegerType = QuantDtype.INT8,
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
        )
        self._create_weight_observer(quant_config, quant_dtype)

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolved images."""
        return self._convolve_with_weight(x, self.fake_quant_weight(self.weight), self.bias)


class Conv2dBnWithoutFoldQuant(QuantConvolution):
    """
    Conv2d with simulated quantisation of the weight, followed by BatchNorm2d in floating point.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): As in Conv2d.
        stride (Union[int, tuple[int]]): As in Conv2d. Default: 1.
        pad_mode (str): As in Conv2d. Default: "same".
        padding (Union[int, tuple[int]]): As in Conv2d. Default: 0.
        dilation (Union[int, tuple[int]]): As in Conv2d. Default: 1.
        group (int): As in Conv2d. Default: 1.
        has_bias (bool): As in Conv2d. Default: False.
        eps (float): As in BatchNorm2d. Default: 1e-5.
        momentum (float): Weight of the old value in each update of the running statistics. Default: 0.997.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial kernels. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial bias. Default: "zeros".
        quant_config (QuantConfig): Factories of the weight and activation observers, see
            `compression.quant.create_quant_config`. Default: FakeQuantWithMinMaxObserver for both.
        quant_dtype (QuantDtype): The simulated integer type. Default: QuantDtype.INT8.

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C_out, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: As in Conv2d and BatchNorm2d.

    Examples:
        >>> net = nn.Conv2dBnWithoutFoldQuant(1, 6, kernel_size=2, pad_mode="valid")
        >>> print(net(Tensor(np.ones((2, 1, 3, 3)), mindspore.float32)).shape)
        (2, 6, 2, 2)
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
        eps: Epsilon = 1e-5,
        momentum: Share = 0.997,
        weight_init: Initial = "normal",
        bias_init: Initial = "zeros",
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: IntegerType = QuantDtype.INT8,
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
        )
        self._create_weight_observer(quant_config, quant_dtype)
        self.batchnorm: BatchNorm2d = BatchNorm2d(out_channels, eps=eps, momentum=momentum)

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolved and normalised images."""
        return self.batchnorm(self._convolve_with_weight(x, self.fake_quant_weight(self.weight), self.bias))
