"""Normalisation of each sample: LayerNorm, GroupNorm and InstanceNorm."""

from typing import Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.kinds import Bool, DType, Instance, Int, OneOf, PositiveInt, checked
from msnb.core.operator.api_generations import current_generation, differs_in_api2
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import FiniteFloat
from msnb.nn._hyperparameter_kinds import Number as FiniteNumber
from msnb.nn._kinds import Epsilon, Initial, Share
from msnb.nn._upcast import widen_if_mixed
from msnb.nn.cell import Cell
from msnb.nn.layer._norm.batch_norm import FeatureNorm
from msnb.ops import operations as P

__all__ = ["LayerNorm", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]

_cast = P.Cast()


class LayerNorm(Cell):
    r"""
    Layer normalisation (Ba et al., 2016): each sample is normalised over its last axes, then scaled and shifted by
    learned values: :math:`y = \gamma (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta`.

    Args:
        normalized_shape (Union[tuple[int], list[int]]): The shape of gamma and beta.
        begin_norm_axis (int): Index of the first axis over which mean and variance are taken. Default: -1.
        begin_params_axis (int): Index of the first axis that gamma and beta have. Default: -1.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial beta. Default: "zeros".
        epsilon (float): Added to the variance under the square root. Default: 1e-7.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - its last axes have the shape `normalized_shape`.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `normalized_shape` is neither a tuple nor a list, or an axis is no int.

    Examples:
        >>> print(nn.LayerNorm((2,))(Tensor([[1.0, 3.0]], mindspore.float32)).asnumpy().round(3))
        [[-1.  1.]]
    """

    @checked
    def __init__(
        self,
        normalized_shape: Annotated[tuple[int, ...] | list[int], Instance(tuple, list)],
        begin_norm_axis: Int = -1,
        begin_params_axis: Int = -1,
        gamma_init: Initial = "ones",
        beta_init: Initial = "zeros",
        epsilon: FiniteNumber = 1e-7,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self.normalized_shape = normalized_shape
        self.begin_norm_axis: int = begin_norm_axis
        self.begin_params_axis: int = begin_params_axis
        self.epsilon: float = epsilon
        self.gamma: Parameter = Parameter(initializer(gamma_init, normalized_shape, dtype), "gamma")
        self.beta: Parameter = Parameter(initializer(beta_init, normalized_shape, dtype), "beta")
        self.layer_norm: P.LayerNorm = P.LayerNorm(begin_norm_axis, begin_params_axis, epsilon)

    def construct(self, input_x: Tensor) -> Tensor:
        """Return the normalised input."""
        return self.layer_norm(input_x, self.gamma, self.beta)[0]

    def extend_repr(self) -> str:
        """Return shape, axes and Parameters for `repr`."""
        axes = f"begin_norm_axis={self.begin_norm_axis}, begin_params_axis={self.begin_params_axis}"
        return f"normalized_shape={self.normalized_shape}, {axes}, gamma{self.gamma}, beta={self.beta}"


@differs_in_api2(
    "the result has the element type of the input; without `affine` scale and shift are Parameters that no optimizer "
    "trains"
)
class GroupNorm(Cell):
    r"""
    Group normalisation (Wu and He, 2018): the channels of an image are split into groups, each of which gets mean 0 and
    variance 1; then each channel gets a scale and a shift.

    Args:
        num_groups (int): The number of groups.
        num_channels (int): The number of channels, which `num_groups` divides.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        affine (bool): Whether scale and shift are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial scale. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial shift. Default: "zeros".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C, ...).

    Outputs:
        Tensor of the shape of `x`. In r1.1 it has the wider type of `x` and the Parameters, in MindSpore 2 the type of
        `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is less than 1, `num_groups` does not divide `num_channels`, or the input has another
            number of channels.

    Examples:
        >>> net = nn.GroupNorm(2, 4)
        >>> print(net(Tensor(np.ones((1, 4, 2, 2)), mindspore.float32)).shape)
        (1, 4, 2, 2)
    """

    _returns_input_type = False  # True in MindSpore 2; r1.1's result has the wider type of the input and the Parameters

    @checked
    def __init__(
        self,
        num_groups: PositiveInt,
        num_channels: PositiveInt,
        eps: FiniteFloat = 1e-05,
        affine: Bool = True,
        gamma_init: Initial = "ones",
        beta_init: Initial = "zeros",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"For '{self.cls_name}', 'num_groups' should divide 'num_channels', "
                f"but got {num_groups} and {num_channels}."
            )
        self.num_groups: int = num_groups
        self.num_channels: int = num_channels
        for name, value in (("gamma", gamma_init), ("beta", beta_init)):
            start = initializer(value, num_channels, dtype)
            is_parameter = affine or current_generation() == 2
            setattr(self, name, Parameter(start, name, requires_grad=affine) if is_parameter else start)
        self.group_norm: P.GroupNorm = P.GroupNorm(eps)
        if current_generation() == 2:
            self._returns_input_type = True

    def construct(self, x: Tensor) -> Tensor:
        """Return the normalised input."""
        if x.ndim < 2 or x.shape[1] != self.num_channels:
            raise ValueError(
                f"For '{self.cls_name}', the input must have {self.num_channels} channels in axis 1 (num_channels), "
                f"but got shape {x.shape}."
            )
        y = self.group_norm(widen_if_mixed(x, self.gamma), self.num_groups, self.gamma, self.beta)
        return _cast(y, x.dtype) if self._returns_input_type and y.dtype != x.dtype else y

    def extend_repr(self) -> str:
        """Return the numbers of groups and channels for `repr`."""
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(FeatureNorm):
    """Base of instance normalisation: statistics per channel and sample, and running statistics per channel."""

    def _initialize_instance_norm(
        self, use_batch_statistics: bool, num_features: int, eps: float, momentum: float, **initial: Any
    ) -> None:
        self.use_batch_statistics = use_batch_statistics
        self._set_norm_attributes(num_features, eps, momentum, **initial)
        self.instance_bn: P.InstanceNorm = P.InstanceNorm(
            is_training=use_batch_statistics, epsilon=eps, momentum=momentum
        )

    def construct(self, x: Tensor) -> Tensor:
        """Return the normalised input."""
        self._check_rank(x)
        return self._apply_norm_operator(self.instance_bn, x)


class _NewerInstanceNorm(_InstanceNorm):
    """Instance normalisation of MindSpore 2, which always uses the statistics of the sample."""

    @checked
    def __init__(
        self,
        num_features: PositiveInt,
        eps: Epsilon = 1e-5,
        momentum: Share = 0.1,
        affine: Bool = True,
        gamma_init: Initial = "ones",
        beta_init: Initial = "zeros",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self._initialize_instance_norm(
            True,
            num_features,
            eps,
            momentum,
            dtype=dtype,
            affine=affine,
            gamma=gamma_init,
            beta=beta_init,
            mean="zeros",
            variance="ones",
        )


@differs_in_api2(
    "there are no first running statistics to give, and the own ones are always used",
    "num_features",
    "eps",
    "momentum",
    "affine",
    "gamma_init",
    "beta_init",
    "dtype",
)
class InstanceNorm2d(_InstanceNorm):
    r"""
    Instance normalisation (Ulyanov et al., 2016): each channel of each image gets mean 0 and variance 1, then a scale
    and a shift.

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (float): Weight of the new statistics in each update of the running statistics. In batch normalisation
            it is the weight of the old statistics. Default: 0.1.
        affine (bool): Whether scale and shift are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial scale. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial shift. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running variance. Default: "ones".
        use_batch_statistics (bool): Whether the statistics of each image are used instead of the running ones. Default:
            True.
        input_dims (str): Only "2d". Default: "2d".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the input is no batch of images.

    Examples:
        >>> net = nn.InstanceNorm2d(3)
        >>> print(net(Tensor(np.ones((1, 3, 2, 2)), mindspore.float32)).shape)
        (1, 3, 2, 2)
    """

    @checked
    def __init__(
        self,
        num_features: PositiveInt,
        eps: Epsilon = 1e-5,
        momentum: Share = 0.1,
        affine: Bool = True,
        gamma_init: Initial = "ones",
        beta_init: Initial = "zeros",
        moving_mean_init: Initial = "zeros",
        moving_var_init: Initial = "ones",
        use_batch_statistics: Bool = True,
        input_dims: Annotated[str, OneOf("2d")] = "2d",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self.input_dims: str = input_dims
        self._initialize_instance_norm(
            use_batch_statistics,
            num_features,
            eps,
            momentum,
            dtype=dtype,
            affine=affine,
            gamma=gamma_init,
            beta=beta_init,
            mean=moving_mean_init,
            variance=moving_var_init,
        )


class InstanceNorm1d(_NewerInstanceNorm):
    r"""
    Instance normalisation of sequences: as InstanceNorm2d, for inputs of shape (N, C, L).

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (float): Weight of the new statistics in each update of the running statistics. Default: 0.1.
        affine (bool): Whether scale and shift are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial scale. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial shift. Default: "zeros".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C, L).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the input is no batch of sequences.

    Examples:
        >>> print(nn.InstanceNorm1d(1)(Tensor([[[1.0, 3.0]]], mindspore.float32)).asnumpy().round(3))
        [[[-1.  1.]]]
    """

    _ranks = (3,)


class InstanceNorm3d(_NewerInstanceNorm):
    r"""
    Instance normalisation of volumes: as InstanceNorm2d, for inputs of shape (N, C, D, H, W).

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (float): Weight of the new statistics in each update of the running statistics. Default: 0.1.
        affine (bool): Whether scale and shift are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial scale. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial shift. Default: "zeros".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C, D, H, W).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the input is no batch of volumes.

    Examples:
        >>> net = nn.InstanceNorm3d(3)
        >>> print(net(Tensor(np.ones((1, 3, 2, 2, 2)), mindspore.float32)).shape)
        (1, 3, 2, 2, 2)
    """

    _ranks = (5,)
