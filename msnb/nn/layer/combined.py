"""Convolution or Dense with batch normalisation and activation: what quantisation-aware training replaces."""

from msnb._checkparam import Validator
from msnb.nn.cell import Cell
from msnb.nn.layer.activation import LeakyReLU
from msnb.nn.layer.basic import Dense, activation_layer
from msnb.nn.layer.conv import Conv2d
from msnb.nn.layer.normalization import BatchNorm1d, BatchNorm2d

__all__ = ["Conv2dBnAct", "DenseBnAct"]


def _activation(activation, alpha):
    if isinstance(activation, str) and activation == "leakyrelu":
        return LeakyReLU(alpha)
    return activation_layer(activation)


class Conv2dBnAct(Cell):
    """
    Conv2d, then optionally BatchNorm2d, then optionally an activation.

    Args:
        in_channels (int): The number of input channels.
        out_channels (int): The number of output channels.
        kernel_size (Union[int, tuple[int]]): Height and width of the kernel.
        stride (Union[int, tuple[int]]): The step of the kernel. Default: 1.
        pad_mode (str): As in Conv2d. Default: "same".
        padding (Union[int, tuple[int]]): As in Conv2d. Default: 0.
        dilation (Union[int, tuple[int]]): As in Conv2d. Default: 1.
        group (int): As in Conv2d. Default: 1.
        has_bias (bool): Whether the convolution has a bias. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): The initial weight. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): The initial bias. Default: "zeros".
        has_bn (bool): Whether batch normalisation follows. Default: False.
        momentum (float): Of the batch normalisation. Default: 0.997.
        eps (float): Of the batch normalisation. Default: 1e-5.
        activation (Union[str, Cell, Primitive]): What follows. Default: None.
        alpha (float): The slope of "leakyrelu". Default: 0.2.
        after_fake (bool): Whether fake quantisation follows once the network is converted. Default: True.

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C_out, H_out, W_out).

    Raises:
        TypeError: If `has_bn` or `after_fake` is not a bool, or `activation` not one of the above.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Conv2dBnAct(120, 240, 4, has_bn=True, activation='relu')
        >>> output = net(Tensor(np.ones([1, 120, 1024, 640]), mindspore.float32))
        >>> print(output.shape)
        (1, 240, 1024, 640)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init="normal",
        bias_init="zeros",
        has_bn=False,
        momentum=0.997,
        eps=1e-5,
        activation=None,
        alpha=0.2,
        after_fake=True,
    ):
        super().__init__()
        self.conv = Conv2d(
            in_channels,
            out_channels,
            kernel_size=kernel_size,
            stride=stride,
            pad_mode=pad_mode,
            padding=padding,
            dilation=dilation,
            group=group,
            has_bias=has_bias,
            weight_init=weight_init,
            bias_init=bias_init,
        )
        self.has_bn = Validator.check_bool(has_bn, "has_bn")
        self.has_act = activation is not None
        self.after_fake = Validator.check_bool(after_fake, "after_fake")
        if has_bn:
            self.batchnorm = BatchNorm2d(out_channels, eps, momentum)
        self.activation = _activation(activation, alpha)

    def construct(self, x):
        x = self.conv(x)
        if self.has_bn:
            x = self.batchnorm(x)
        if self.has_act:
            x = self.activation(x)
        return x


class DenseBnAct(Cell):
    """
    Dense, then optionally BatchNorm1d, then optionally an activation.

    Args:
        in_channels (int): The size of the input's last axis.
        out_channels (int): The size of the output's last axis.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): The initial weight. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): The initial bias. Default: "zeros".
        has_bias (bool): Whether a bias is added. Default: True.
        has_bn (bool): Whether batch normalisation follows. Default: False.
        momentum (float): Of the batch normalisation. Default: 0.9.
        eps (float): Of the batch normalisation. Default: 1e-5.
        activation (Union[str, Cell, Primitive]): What follows. Default: None.
        alpha (float): The slope of "leakyrelu". Default: 0.2.
        after_fake (bool): Whether fake quantisation follows once the network is converted. Default: True.

    Inputs:
        - **x** (Tensor) - of shape (N, in_channels).

    Outputs:
        Tensor of shape (N, out_channels).

    Raises:
        TypeError: If `has_bn` or `after_fake` is not a bool, or `activation` not one of the above.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.DenseBnAct(3, 4)
        >>> output = net(Tensor(np.random.randint(0, 255, [2, 3]), mindspore.float32))
        >>> print(output.shape)
        (2, 4)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        weight_init="normal",
        bias_init="zeros",
        has_bias=True,
        has_bn=False,
        momentum=0.9,
        eps=1e-5,
        activation=None,
        alpha=0.2,
        after_fake=True,
    ):
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self.has_bn = Validator.check_bool(has_bn, "has_bn")
        self.has_act = activation is not None
        self.after_fake = Validator.check_bool(after_fake, "after_fake")
        if has_bn:
            self.batchnorm = BatchNorm1d(out_channels, eps, momentum)
        self.activation = _activation(activation, alpha)

    def construct(self, x):
        x = self.dense(x)
        if self.has_bn:
            x = self.batchnorm(x)
        if self.has_act:
            x = self.activation(x)
        return x
