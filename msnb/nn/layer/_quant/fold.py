"""Convolutions with batch normalisation folded into the weight. The folded weight, which the deployed network has, is
quantised."""

from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.kinds import Bool, NonNegInt, PositiveInt, checked
from msnb.common.quant_dtype import QuantDtype
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Epsilon, Initial, Share, TwoSizes
from msnb.nn.cell import Cell
from msnb.nn.layer._conv.base import FourSides, PadMode
from msnb.nn.layer._quant.conv import QuantConvolution
from msnb.nn.layer._quant.observer import IntegerType, QuantConfig, quant_config_default
from msnb.ops import operations as P


class BatchNormFoldCell(Cell):
    """
    Return the statistics that Conv2dBnFoldQuant needs: mean and deviation of the batch, and the running ones.

    Args:
        momentum (float): Weight of the old value in each update of the running statistics. Default: 0.9.
        epsilon (float): Added to the variances under the square roots. Default: 1e-5.
        freeze_bn (int): First step in which the running statistics are not updated. Default: 0.

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).
        - **mean**, **variance** (Parameter) - of shape (C,), the running statistics.
        - **global_step** (Tensor) - the number of steps before this one.

    Outputs:
        Tuple of mean and deviation of the batch, and of the running mean and deviation, of shape (C,).
    """

    @checked
    def __init__(self, momentum: Share = 0.9, epsilon: Epsilon = 1e-5, freeze_bn: NonNegInt = 0) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.bn_train: P.BatchNormFold = P.BatchNormFold(momentum, epsilon, True, freeze_bn)
        self.bn_infer: P.BatchNormFold = P.BatchNormFold(momentum, epsilon, False, freeze_bn)

    def construct(self, x: Tensor, mean: Parameter, variance: Parameter, global_step: Tensor) -> tuple[Tensor, ...]:
        """Return mean and deviation of the batch, and the running mean and deviation."""
        fold = self.bn_train if self.training else self.bn_infer
        return fold(x, mean, variance, global_step)


class _FoldedConvolution(QuantConvolution):
    """Base class of convolutions with folded batch normalisation, which have its Parameters."""

    eps: float
    momentum: float
    fake: bool
    gamma: Parameter
    beta: Parameter
    moving_mean: Parameter
    moving_variance: Parameter

    def _create_norm_parameters(self, eps, momentum, gamma, beta, mean, variance, fake):
        self.eps = eps
        self.momentum = momentum
        self.fake = fake
        channels = [self.out_channels]
        self.gamma = Parameter(initializer(gamma, channels), "gamma")
        self.beta = Parameter(initializer(beta, channels), "beta")
        self.moving_mean = Parameter(initializer(mean, channels), "moving_mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(variance, channels), "moving_variance", requires_grad=False)
        self.sqrt: P.Sqrt = P.Sqrt()

    def _quantize_weight(self, weight):
        return self.fake_quant_weight(weight) if self.fake else weight

    def extend_repr(self) -> str:
        """Return the arguments for `repr`."""
        return f"{super().extend_repr()}, fake={self.fake}, momentum={self.momentum}"


class Conv2dBnFoldQuantOneConv(_FoldedConvolution):
    """
    Conv2d with BatchNorm2d folded into its weight, which is quantised in simulation. The weight is multiplied by gamma
    / running deviation and quantised; the result of the convolution is divided by that factor and then normalised.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): As in Conv2d.
        stride (Union[int, tuple[int]]): As in Conv2d. Default: 1.
        pad_mode (str): As in Conv2d. Default: "same".
        padding (Union[int, tuple[int]]): As in Conv2d. Default: 0.
        dilation (Union[int, tuple[int]]): As in Conv2d. Default: 1.
        group (int): As in Conv2d. Default: 1.
        eps (float): As in BatchNorm2d. Default: 1e-5.
        momentum (float): Weight of the old value in each update of the running statistics. Default: 0.997.
        has_bias (bool): As in Conv2d. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial kernels. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial bias. Default: "zeros".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial beta. Default: "zeros".
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial gamma. Default: "ones".
        mean_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running mean. Default: "zeros".
        var_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running variance. Default: "ones".
        fake (bool): Whether the weight is quantised. Default: True.
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
        >>> net = nn.Conv2dBnFoldQuantOneConv(1, 6, kernel_size=2, pad_mode="valid")
        >>> print(net(Tensor(np.ones((2, 1, 3, 3)), mindspore.float32)).shape)
        (2, 6, 2, 2)
    """

    @checked
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
        eps: Epsilon = 1e-5,
        momentum: Share = 0.997,
        has_bias: Bool = False,
        weight_init: Initial = "normal",
        bias_init: Initial = "zeros",
        beta_init: Initial = "zeros",
        gamma_init: Initial = "ones",
        mean_init: Initial = "zeros",
        var_init: Initial = "ones",
        fake: Bool = True,
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
        self._create_norm_parameters(eps, momentum, gamma_init, beta_init, mean_init, var_init, fake)
        self._create_weight_observer(quant_config, quant_dtype)
        self.bn_train: P.FusedBatchNormEx = P.FusedBatchNormEx(epsilon=eps, momentum=1 - momentum)
        self.bn_infer: P.BatchNorm = P.BatchNorm(epsilon=eps)
        self.reshape: P.Reshape = P.Reshape()
        self.select: P.Select = P.Select()
        self.ones_like: P.OnesLike = P.OnesLike()

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolved and normalised images."""
        factor = self.gamma / self.sqrt(self.moving_variance + self.eps)
        # A channel with gamma 0 gives beta; its output must not be divided by 0.
        factor = self.select(factor == 0, self.ones_like(factor), factor)
        weight = self._quantize_weight(self.weight * self.reshape(factor, (-1, 1, 1, 1)))
        y = self.conv(x, weight) / self.reshape(factor, (1, -1, 1, 1))
        if self.has_bias:
            y = self.bias_add(y, self.bias)
        normalise = self.bn_train if self.training else self.bn_infer
        return normalise(y, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]


class Conv2dBnFoldQuant(_FoldedConvolution):
    """
    Conv2d with BatchNorm2d folded into its weight, which is quantised in simulation. A first convolution gives the
    statistics of the batch, which correct the result of the second convolution until step `freeze_bn`.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): As in Conv2d.
        stride (Union[int, tuple[int]]): As in Conv2d. Default: 1.
        pad_mode (str): As in Conv2d. Default: "same".
        padding (Union[int, tuple[int]]): As in Conv2d. Default: 0.
        dilation (Union[int, tuple[int]]): As in Conv2d. Default: 1.
        group (int): As in Conv2d. Default: 1.
        eps (float): As in BatchNorm2d. Default: 1e-5.
        momentum (float): Weight of the old value in each update of the running statistics. Default: 0.997.
        has_bias (bool): As in Conv2d. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial kernels. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial bias. Default: "zeros".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial beta. Default: "zeros".
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial gamma. Default: "ones".
        mean_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running mean. Default: "zeros".
        var_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running variance. Default: "ones".
        fake (bool): Whether the weight is quantised. Default: True.
        quant_config (QuantConfig): Factories of the weight and activation observers, see
            `compression.quant.create_quant_config`. Default: FakeQuantWithMinMaxObserver for both.
        quant_dtype (QuantDtype): The simulated integer type. Default: QuantDtype.INT8.
        freeze_bn (int): First step in which the running statistics are used and not updated. Default: 100000.

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C_out, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: As in Conv2d and BatchNorm2d.

    Examples:
        >>> net = nn.Conv2dBnFoldQuant(1, 6, kernel_size=2, pad_mode="valid")
        >>> print(net(Tensor(np.ones((2, 1, 3, 3)), mindspore.float32)).shape)
        (2, 6, 2, 2)
    """

    @checked
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
        eps: Epsilon = 1e-5,
        momentum: Share = 0.997,
        has_bias: Bool = False,
        weight_init: Initial = "normal",
        bias_init: Initial = "zeros",
        beta_init: Initial = "zeros",
        gamma_init: Initial = "ones",
        mean_init: Initial = "zeros",
        var_init: Initial = "ones",
        fake: Bool = True,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: IntegerType = QuantDtype.INT8,
        freeze_bn: NonNegInt = 100000,
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
        self._create_norm_parameters(eps, momentum, gamma_init, beta_init, mean_init, var_init, fake)
        self._create_weight_observer(quant_config, quant_dtype)
        self.freeze_bn: int = freeze_bn
        self.batchnorm_fold: BatchNormFoldCell = BatchNormFoldCell(momentum, eps, freeze_bn)
        self.correct_mul: P.CorrectionMul = P.CorrectionMul(0)
        self.batchnorm_fold2_train: P.BatchNormFold2 = P.BatchNormFold2(freeze_bn)
        self.batchnorm_fold2_infer: P.BatchNormFold2 = P.BatchNormFold2(0)
        self.step: Parameter = Parameter(Tensor([0], mstype.int32), "step", requires_grad=False)
        self.assignadd: P.AssignAdd = P.AssignAdd()

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolved and normalised images."""
        plain = self._convolve_with_weight(x, self.weight, self.bias)
        statistics = self.batchnorm_fold(plain, self.moving_mean, self.moving_variance, self.step)
        batch_mean, batch_std, running_mean, running_std = statistics
        folded = self.correct_mul(self.weight, self.gamma, running_std)
        bias = self.correct_mul(self.bias, self.gamma, running_std) if self.has_bias else None
        y = self._convolve_with_weight(x, self._quantize_weight(folded), bias)
        correct = self.batchnorm_fold2_train if self.training else self.batchnorm_fold2_infer
        y = correct(y, self.beta, self.gamma, batch_std, batch_mean, running_std, running_mean, self.step)
        if self.training:
            self.assignadd(self.step, Tensor([1], mstype.int32))
        return y
