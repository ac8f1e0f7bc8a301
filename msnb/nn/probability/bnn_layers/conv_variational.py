"""`ConvReparam`: the Bayesian convolution."""

from collections.abc import Callable
from typing import Any

from msnb.common.kinds import Bool, PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import TwoSizes
from msnb.nn.layer._conv.base import Convolution, FourSides, PadMode
from msnb.nn.probability.bnn_layers._variational import Variational, normal_posterior
from msnb.nn.probability.bnn_layers.layer_distribution import NormalPrior

__all__ = ["ConvReparam"]


class ConvReparam(Convolution, Variational):
    r"""
    The Bayesian convolution of images: a Conv2d with one set of kernels, and one bias, drawn for each batch. Gradients
    reach their means and standard deviations, by the reparametrization :math:`\mu + \sigma \epsilon` (Kingma and
    Welling, 2013).

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): Height and width of a kernel.
        stride (Union[int, tuple[int]]): Step of the kernel downwards and to the right. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in Conv2d. Default: "same".
        padding (Union[int, tuple[int]]): Number of zeros for "pad": on each side, or (top, bottom, left, right).
            Default: 0.
        dilation (Union[int, tuple[int]]): Distance of neighbouring kernel elements in pixels. Default: 1.
        group (int): Number of groups of channels, which are convolved separately. Default: 1.
        has_bias (bool): Whether a bias is added. Default: False.
        weight_prior_fn (Union[Cell, Callable]): The prior of the weight: a Cell like NormalPrior, or a function that
            returns one. Default: NormalPrior.
        weight_posterior_fn (Callable): The posterior of the weight: a function of `name` and `shape` that returns a
            Cell like NormalPosterior. Default: a function that returns one.
        bias_prior_fn (Union[Cell, Callable]): As `weight_prior_fn`, for the bias. Default: NormalPrior.
        bias_posterior_fn (Callable): As `weight_posterior_fn`, for the bias. Default: the same.

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C_out, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type, or a prior or posterior is not normal.
        ValueError: If a number is out of range, a mode is unknown, `padding` is given without "pad", or `group` does
            not divide the channels.

    Note:
        The layer also has the Parameters `weight` and `bias` of a Conv2d, which are neither used nor trained, as in
        MindSpore.

    Examples:
        >>> from mindspore.nn.probability import bnn_layers
        >>> net = bnn_layers.ConvReparam(3, 8, 5, stride=2)
        >>> print(net(Tensor(np.ones((1, 3, 9, 10)), mindspore.float32)).shape)
        (1, 8, 5, 5)
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
        has_bias: Bool = False,
        weight_prior_fn: Callable[..., Any] = NormalPrior,
        weight_posterior_fn: Callable[..., Any] = normal_posterior,
        bias_prior_fn: Callable[..., Any] = NormalPrior,
        bias_posterior_fn: Callable[..., Any] = normal_posterior,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias)
        self.weight.requires_grad = False
        self._add_prior_and_posterior("weight", self._compute_weight_shape(), weight_prior_fn, weight_posterior_fn)
        if self.bias is not None:
            self.bias.requires_grad = False
            self._add_prior_and_posterior("bias", [out_channels], bias_prior_fn, bias_posterior_fn)

    def construct(self, inputs: Tensor) -> Tensor:
        """Return the images convolved with random kernels."""
        image = self.conv2d(inputs, self.weight_posterior("sample"))
        return self.apply_variational_bias(image) if self.has_bias else image

    def extend_repr(self) -> str:
        """Return a text with the arguments and the Parameters of the posteriors."""
        return (
            f"in_channels={self.in_channels}, out_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, {self._format_posteriors()}"
        )
