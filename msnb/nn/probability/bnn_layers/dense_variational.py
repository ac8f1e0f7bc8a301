"""Fully connected Bayesian layers."""

from collections.abc import Callable
from typing import Annotated, Any

from msnb.common.kinds import Bool, Kind, PositiveInt, checked
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer.activation import get_activation
from msnb.nn.probability.bnn_layers._variational import Variational, normal_posterior
from msnb.nn.probability.bnn_layers.layer_distribution import NormalPrior
from msnb.nn.probability.distribution.normal import Normal
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["DenseReparam", "DenseLocalReparam"]

_SMALLEST = 1e-30  # least variance: the gradient of the square root is infinite at 0


def _check_activation(value):
    layer = get_activation(value) if isinstance(value, str) else value
    if layer is not None and not isinstance(layer, (Cell, Primitive)):
        raise ValueError
    return layer


# The name of an activation is replaced by its layer.
Activation = Annotated[
    str | Cell | Primitive | None, Kind("the name of an activation, a Cell, a Primitive or None", _check_activation)
]


class _DenseVariational(Variational):
    @checked
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        activation: Activation = None,
        has_bias: Bool = True,
        weight_prior_fn: Callable[..., Any] = NormalPrior,
        weight_posterior_fn: Callable[..., Any] = normal_posterior,
        bias_prior_fn: Callable[..., Any] = NormalPrior,
        bias_posterior_fn: Callable[..., Any] = normal_posterior,
    ) -> None:
        super().__init__()
        self.in_channels: int = in_channels
        self.out_channels: int = out_channels
        self.has_bias: bool = has_bias
        self._add_prior_and_posterior("weight", [out_channels, in_channels], weight_prior_fn, weight_posterior_fn)
        if has_bias:
            self._add_prior_and_posterior("bias", [out_channels], bias_prior_fn, bias_posterior_fn)
        self.activation = activation
        self.activation_flag: bool = activation is not None
        self.matmul: P.MatMul = P.MatMul(transpose_b=True)

    def _apply_variational_weight(self, inputs: Tensor) -> Tensor:
        raise NotImplementedError

    def construct(self, x: Tensor) -> Tensor:
        """Return the output features for random weights."""
        y = self._apply_variational_weight(x)
        if self.has_bias:
            y = self.apply_variational_bias(y)
        return self.activation(y) if self.activation_flag else y

    def extend_repr(self) -> str:
        """Return a text with the sizes and the Parameters of the posteriors."""
        text = f"in_channels={self.in_channels}, out_channels={self.out_channels}, {self._format_posteriors()}"
        return f"{text}, activation={self.activation}" if self.activation_flag else text


class DenseReparam(_DenseVariational):
    r"""
    The Bayesian fully connected layer: :math:`f(x W^T + b)`, with one W and one b drawn for each batch. Gradients reach
    their means and standard deviations, by the reparametrization :math:`\mu + \sigma \epsilon` (Kingma and Welling,
    2013).

    Args:
        in_channels (int): Number of input features.
        out_channels (int): Number of output features.
        activation (Union[str, Cell, Primitive]): The function f; None for the identity. Default: None.
        has_bias (bool): Whether to add b. Default: True.
        weight_prior_fn (Union[Cell, Callable]): The prior of the weight: a Cell like NormalPrior, or a function that
            returns one. Default: NormalPrior.
        weight_posterior_fn (Callable): The posterior of the weight: a function of `name` and `shape` that returns a
            Cell like NormalPosterior. Default: a function that returns one.
        bias_prior_fn (Union[Cell, Callable]): As `weight_prior_fn`, for the bias. Default: NormalPrior.
        bias_posterior_fn (Callable): As `weight_posterior_fn`, for the bias. Default: the same.

    Inputs:
        - **x** (Tensor) - of shape (N, in_channels).

    Outputs:
        Tensor of shape (N, out_channels).

    Raises:
        TypeError: If an argument has the wrong type, or a prior or posterior is not normal.
        ValueError: If a size is less than 1, or `activation` is no activation.

    Examples:
        >>> from mindspore.nn.probability import bnn_layers
        >>> net = bnn_layers.DenseReparam(3, 4)
        >>> print(net(Tensor(np.ones((2, 3)), mindspore.float32)).shape)
        (2, 4)
    """

    def _apply_variational_weight(self, inputs):
        return self.matmul(inputs, self.weight_posterior("sample"))


class DenseLocalReparam(_DenseVariational):
    r"""
    The Bayesian fully connected layer with local reparametrization, which draws outputs instead of weights:
    :math:`x \mu^T + \sqrt{x^2 (\sigma^2)^T} \epsilon`, which has the same distribution for each row and gradients of
    less variance (Kingma, Salimans and Welling, 2015).

    Args:
        in_channels (int): Number of input features.
        out_channels (int): Number of output features.
        activation (Union[str, Cell, Primitive]): The activation function; None for the identity. Default: None.
        has_bias (bool): Whether to add a bias, which is sampled. Default: True.
        weight_prior_fn (Union[Cell, Callable]): The prior of the weight: a Cell like NormalPrior, or a function that
            returns one. Default: NormalPrior.
        weight_posterior_fn (Callable): The posterior of the weight: a function of `name` and `shape` that returns a
            Cell like NormalPosterior. Default: a function that returns one.
        bias_prior_fn (Union[Cell, Callable]): As `weight_prior_fn`, for the bias. Default: NormalPrior.
        bias_posterior_fn (Callable): As `weight_posterior_fn`, for the bias. Default: the same.

    Inputs:
        - **x** (Tensor) - of shape (N, in_channels).

    Outputs:
        Tensor of shape (N, out_channels).

    Raises:
        TypeError: If an argument has the wrong type, or a prior or posterior is not normal.
        ValueError: If a size is less than 1, or `activation` is no activation.

    Examples:
        >>> from mindspore.nn.probability import bnn_layers
        >>> net = bnn_layers.DenseLocalReparam(3, 4)
        >>> print(net(Tensor(np.ones((2, 3)), mindspore.float32)).shape)
        (2, 4)
    """

    @checked
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        activation: Activation = None,
        has_bias: Bool = True,
        weight_prior_fn: Callable[..., Any] = NormalPrior,
        weight_posterior_fn: Callable[..., Any] = normal_posterior,
        bias_prior_fn: Callable[..., Any] = NormalPrior,
        bias_posterior_fn: Callable[..., Any] = normal_posterior,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            activation,
            has_bias,
            weight_prior_fn,
            weight_posterior_fn,
            bias_prior_fn,
            bias_posterior_fn,
        )
        self.normal: Normal = Normal()

    def _apply_variational_weight(self, inputs):
        mean = self.matmul(inputs, self.weight_posterior("mean"))
        variance = self.matmul(F.square(inputs), F.square(self.weight_posterior("sd")))
        return self.normal("sample", (), mean, F.sqrt(F.maximum(variance, _SMALLEST)))
