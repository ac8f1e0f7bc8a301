"""Conv2d or Dense, then batch normalisation, then an activation. Quantisation-aware training replaces these
layers."""

from msnb.common.kinds import Bool, check, checked
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Initial
from msnb.nn.cell import Cell
from msnb.nn.layer.activation import LeakyReLU
from msnb.nn.layer.basic import Activation, Dense
from msnb.nn.layer.conv import Conv2d
from msnb.nn.layer.normalization import BatchNorm1d, BatchNorm2d

__all__ = ["Conv2dBnAct", "DenseBnAct"]

Sizes = int | tuple[int, ...]
Follower = str | Cell | Primitive | None


class _WithNormAndActivation(Cell):
    """Base class of layers that are followed by batch normalisation and an activation."""

    def _add_norm_and_activation(self, norm, activation, alpha, after_fake):
        self.has_bn = norm is not None
        if norm is not None:
            self.batchnorm = norm
        if isinstance(activation, str) and activation == "leakyrelu":
            activation = LeakyReLU(alpha)
        self.activation = check(Activation, activation, "activation", self.cls_name)
        self.has_act = activation is not None
        self.after_fake = after_fake

    def _apply_norm_and_activation(self, x):
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act else x


class Conv2dBnAct(_WithNormAndActivation):
    """
    Conv2d with optional BatchNorm2d and activation.

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
        has_bn (bool): Whether BatchNorm2d follows. Default: False.
        momentum (float): Momentum of the normalisation. Default: 0.997.
        eps (float): As in the normalisation. Default: 1e-5.
        activation (Union[str, Cell, Primitive]): Activation after the layer, or None. Default: None.
        alpha (float): The slope, if `activation` is "leakyrelu". Default: 0.2.
        after_fake (bool): Whether quantisation-aware training quantises the result if no activation follows. Default:
            True.

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C_out, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.

    Examples:
        >>> net = nn.Conv2dBnAct(3, 8, 5, has_bn=True, activation="relu")
        >>> print(net(Tensor(np.ones((1, 3, 9, 10)), mindspore.float32)).shape)
        (1, 8, 9, 10)
    """

    @checked
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        pad_mode: str = "same",
        padding: Sizes = 0,
        dilation: Sizes = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Initial = "normal",
        bias_init: Initial = "zeros",
        has_bn: Bool = False,
        momentum: float = 0.997,
        eps: float = 1e-5,
        activation: Follower = None,
        alpha: float = 0.2,
        after_fake: Bool = True,
    ) -> None:
        super().__init__()
        self.conv: Conv2d = Conv2d(
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
        self._add_norm_and_activation(
            BatchNorm2d(out_channels, eps, momentum) if has_bn else None, activation, alpha, after_fake
        )

    def construct(self, x: Tensor) -> Tensor:
        """Return the output of the last layer."""
        return self._apply_norm_and_activation(self.conv(x))


class DenseBnAct(_WithNormAndActivation):
    """
    Dense with optional BatchNorm1d and activation.

    Args:
        in_channels (int): Number of input features.
        out_channels (int): Number of output features.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial weight. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial bias. Default: "zeros".
        has_bias (bool): As in Dense. Default: True.
        has_bn (bool): Whether BatchNorm1d follows. Default: False.
        momentum (float): Momentum of the normalisation. Default: 0.9.
        eps (float): As in the normalisation. Default: 1e-5.
        activation (Union[str, Cell, Primitive]): Activation after the layer, or None. Default: None.
        alpha (float): The slope, if `activation` is "leakyrelu". Default: 0.2.
        after_fake (bool): Whether quantisation-aware training quantises the result if no activation follows. Default:
            True.

    Inputs:
        - **x** (Tensor) - of shape (N, in_channels).

    Outputs:
        Tensor of shape (N, out_channels).

    Raises:
        TypeError: If an argument has the wrong type.

    Examples:
        >>> net = nn.DenseBnAct(3, 4, activation="relu")
        >>> print(net(Tensor(np.ones((2, 3)), mindspore.float32)).shape)
        (2, 4)
    """

    @checked
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Initial = "normal",
        bias_init: Initial = "zeros",
        has_bias: bool = True,
        has_bn: Bool = False,
        momentum: float = 0.9,
        eps: float = 1e-5,
        activation: Follower = None,
        alpha: float = 0.2,
        after_fake: Bool = True,
    ) -> None:
        super().__init__()
        self.dense: Dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._add_norm_and_activation(
            BatchNorm1d(out_channels, eps, momentum) if has_bn else None, activation, alpha, after_fake
        )

    def construct(self, x: Tensor) -> Tensor:
        """Return the output of the last layer."""
        return self._apply_norm_and_activation(self.dense(x))
