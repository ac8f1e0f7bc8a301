"""Batch normalisation with running statistics."""

from typing import Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.common.initializer import initializer
from msnb.common.kinds import Between, Bool, DType, Int, Kind, PositiveInt, checked, readable
from msnb.core.operator import api_generations
from msnb.core.sharding.partitioner import Groups, size
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Epsilon, Initial, Layout, Share
from msnb.nn.cell import Cell
from msnb.nn.layer._norm.sync_batch_norm import normalize_across_devices
from msnb.ops import operations as P

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GlobalBatchNorm", "SyncBatchNorm"]


class FeatureNorm(Cell):
    """Base class of normalisation per feature: scale, shift, running statistics, and the check of input dimensions."""

    _ranks: tuple[int, ...] = (4,)
    moving_mean: Parameter
    moving_variance: Parameter
    gamma: Parameter
    beta: Parameter

    def _set_norm_attributes(self, num_features, eps, momentum, dtype, **initial):
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self._create_parameter("moving_mean", "mean", initial["mean"], dtype, False)
        self._create_parameter("moving_variance", "variance", initial["variance"], dtype, False)
        self._create_parameter("gamma", "gamma", initial["gamma"], dtype, initial["affine"])
        self._create_parameter("beta", "beta", initial["beta"], dtype, initial["affine"])

    def _create_parameter(self, attribute, name, value, dtype, learned):
        start = initializer(value, self.num_features, dtype)
        setattr(self, attribute, Parameter(start, name, requires_grad=learned))

    @property
    def _input_requirement(self):
        axis = -1 if getattr(self, "format", "NCHW") == "NHWC" else 1
        return self.num_features, axis, f"{self.num_features} features in {'axis 1' if axis == 1 else 'the last axis'}"

    def _check_rank(self, x):
        if x.ndim not in self._ranks:
            raise ValueError(
                f"For '{self.cls_name}', the input must have {' or '.join(map(str, self._ranks))} dims, "
                f"but got shape {x.shape}."
            )

    def _apply_norm_operator(self, operator, x):
        return operator(x, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]

    def extend_repr(self) -> str:
        """Return sizes, settings and Parameters for `repr`."""
        names = ("num_features", "eps", "momentum", "gamma", "beta", "moving_mean", "moving_variance")
        return ", ".join(f"{name}={self._get_repr_value(name)}" for name in names)

    def _get_repr_value(self, name: str) -> Any:
        return getattr(self, name)


class _BatchNorm(FeatureNorm):
    """Batch normalisation of inputs with features on axis 1, or on the last axis for NHWC."""

    def _get_repr_value(self, name: str) -> Any:
        """Return a value for `repr`. MindSpore 2 shows the momentum argument, r1.1 the weight of the new
        statistics."""
        is_api2_momentum = name == "momentum" and api_generations.shared == 2
        return round(1 - self.momentum, 12) if is_api2_momentum else super()._get_repr_value(name)

    @checked
    def __init__(
        self,
        num_features: PositiveInt,
        eps: Epsilon = 1e-5,
        momentum: Share = 0.9,
        affine: Bool = True,
        gamma_init: Initial = "ones",
        beta_init: Initial = "zeros",
        moving_mean_init: Initial = "zeros",
        moving_var_init: Initial = "ones",
        use_batch_statistics: Bool | None = None,
        data_format: Layout = "NCHW",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        # The momentum of the operators is the weight of the new statistics.
        self._set_norm_attributes(
            num_features,
            eps,
            1.0 - momentum,
            dtype,
            affine=affine,
            gamma=gamma_init,
            beta=beta_init,
            mean=moving_mean_init,
            variance=moving_var_init,
        )
        self.use_batch_statistics = use_batch_statistics
        self._create_operators(data_format)

    def _create_operators(self, data_format):
        self.format = data_format
        self.bn_train = P.FusedBatchNormEx(epsilon=self.eps, momentum=self.momentum, data_format=data_format)
        self.bn_infer = P.BatchNorm(epsilon=self.eps, data_format=data_format)

    def construct(self, x: Tensor) -> Tensor:
        """Return the normalised input."""
        self._check_rank(x)
        chosen = self.use_batch_statistics
        normalise = self.bn_train if (self.training if chosen is None else chosen) else self.bn_infer
        return self._apply_norm_operator(normalise, x)


class BatchNorm1d(_BatchNorm):
    r"""
    Batch normalisation of vectors (Ioffe and Szegedy, 2015). Each feature is normalised over the batch:
    :math:`y = \gamma (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta`.

    In training, the mean and variance of the batch are used. The running statistics become momentum * running +
    (1 - momentum) * batch, where the batch variance is the unbiased one. Outside training, the running statistics are
    used.

    Args:
        num_features (int): The number of features C.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (float): Weight of the old value in each update of the running statistics. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running variance. Default: "ones".
        use_batch_statistics (bool): True uses the statistics of the batch, False the running statistics. None uses the
            statistics of the batch in training and the running statistics otherwise. Default: None.
        data_format (str): "NCHW" or "NHWC", which has the features in the last axis. Default: "NCHW".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C) or (N, C, L).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the input has another number of dimensions.

    Examples:
        >>> net = nn.BatchNorm1d(2).set_train()
        >>> print(net(Tensor([[1.0, 0.0], [3.0, 0.0]], mindspore.float32)))
        [[-0.999995  0.      ]
         [ 0.999995  0.      ]]
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    r"""
    Batch normalisation of images: as BatchNorm1d, with statistics over all pixels of a channel.

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (float): Weight of the old value in each update of the running statistics. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running variance. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm1d. Default: None.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, `data_format` is unknown, or the input is no batch of images.

    Examples:
        >>> net = nn.BatchNorm2d(3)
        >>> print(net(Tensor(np.ones((1, 3, 2, 2)), mindspore.float32)).shape)
        (1, 3, 2, 2)
    """

    _ranks = (4,)


class BatchNorm3d(Cell):
    """
    Batch normalisation of volumes: as BatchNorm1d, with statistics over all elements of a channel.

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (float): Weight of the old value in each update of the running statistics. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running variance. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm1d. Default: None.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C, D, H, W).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the input is no batch of volumes.

    Examples:
        >>> net = nn.BatchNorm3d(3)
        >>> print(net(Tensor(np.ones((1, 3, 2, 2, 2)), mindspore.float32)).shape)
        (1, 3, 2, 2, 2)
    """

    @answered
    @readable
    def __init__(
        self,
        num_features: PositiveInt,
        eps: Epsilon = 1e-5,
        momentum: Share = 0.9,
        affine: Bool = True,
        gamma_init: Initial = "ones",
        beta_init: Initial = "zeros",
        moving_mean_init: Initial = "zeros",
        moving_var_init: Initial = "ones",
        use_batch_statistics: Bool | None = None,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self.bn2d: BatchNorm2d = BatchNorm2d(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            dtype=dtype,
        )
        self.reshape: P.Reshape = P.Reshape()

    def construct(self, x: Tensor) -> Tensor:
        """Return the normalised input."""
        if x.ndim != 5:
            raise ValueError(f"For '{self.cls_name}', the input must have 5 dims, but got shape {x.shape}.")
        batch, channels, depth, height, width = x.shape
        flat = self.reshape(x, (batch, channels, depth * height, width))
        return self.reshape(self.bn2d(flat), x.shape)


def _check_groups(value):
    if not isinstance(value, list) or not all(isinstance(group, list) for group in value):
        raise TypeError
    return value


RankLists = Annotated[list[list[int]], Kind("a list of lists of ranks", _check_groups)]
_WORLD = "hccl_world_group"


class _DistributedBatchNorm(_BatchNorm):
    """Batch normalisation with statistics over the batches of several devices in training."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the normalised input."""
        chosen = self.use_batch_statistics
        if not (self.training if chosen is None else chosen) or size(_WORLD) == 1:
            return super().construct(x)
        self._check_rank(x)
        group = self._get_device_group(size(_WORLD))
        running = self.moving_mean, self.moving_variance
        return normalize_across_devices(x, self.gamma, self.beta, running, self.momentum, self.eps, group)

    def _get_device_group(self, number):
        """Return the name of the group of this device among `number` devices. A group shares its statistics."""
        raise NotImplementedError


class GlobalBatchNorm(_DistributedBatchNorm):
    """
    Batch normalisation with statistics over the batches of a group of devices.

    This applies to the devices of DATA_PARALLEL and HYBRID_PARALLEL, and to several processes. Each device or process
    has a batch of the same size.

    Args:
        num_features (int): The number of features C.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (float): Weight of the old value in each update of the running statistics. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running variance. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm1d. Default: None.
        device_num_each_group (int): Number of devices in a group, at least 2. Default: 2.

    Inputs:
        - **x** (Tensor) - of shape (N, C) or (N, C, H, W).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range.

    Examples:
        >>> net = nn.GlobalBatchNorm(3, device_num_each_group=4)
    """

    _ranks = (2, 4)

    @checked
    def __init__(
        self,
        num_features: PositiveInt,
        eps: Epsilon = 1e-5,
        momentum: Share = 0.9,
        affine: Bool = True,
        gamma_init: Initial = "ones",
        beta_init: Initial = "zeros",
        moving_mean_init: Initial = "zeros",
        moving_var_init: Initial = "ones",
        use_batch_statistics: Bool | None = None,
        device_num_each_group: Annotated[int, Between(Int, 2, None)] = 2,
    ) -> None:
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
        )
        self.group: int = device_num_each_group

    def _get_device_group(self, number):
        if number % self.group:
            raise ValueError(
                f"For '{self.cls_name}', 'device_num_each_group' should divide the {number} devices, but got "
                f"{self.group}."
            )
        return Groups([range(first, first + self.group) for first in range(0, number, self.group)])


class SyncBatchNorm(_DistributedBatchNorm):
    """
    Batch normalisation with statistics over the batches of all devices.

    This applies to the devices of DATA_PARALLEL and HYBRID_PARALLEL, and to several processes. Each device or process
    has a batch of the same size.

    Args:
        num_features (int): The number of features C.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (float): Weight of the old value in each update of the running statistics. Default: 0.9.
        affine (bool): Whether gamma and beta are learned. Default: True.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Initial gamma. Default: "ones".
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Initial beta. Default: "zeros".
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running mean. Default: "zeros".
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): Initial running variance. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm1d. Default: None.
        process_groups (list): Groups of devices that share their statistics, as lists of ranks. The lists have equal
            length, and each rank is in one list. Default: None, one group of all devices.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - of shape (N, C) or (N, C, H, W).

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or a device is in none of the groups.

    Examples:
        >>> net = nn.SyncBatchNorm(3)
    """

    _ranks = (2, 4)

    @answered
    @readable
    def __init__(
        self,
        num_features: PositiveInt,
        eps: Epsilon = 1e-5,
        momentum: Share = 0.9,
        affine: Bool = True,
        gamma_init: Initial = "ones",
        beta_init: Initial = "zeros",
        moving_mean_init: Initial = "zeros",
        moving_var_init: Initial = "ones",
        use_batch_statistics: Bool | None = None,
        process_groups: RankLists | None = None,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            dtype=dtype,
        )
        self.process_groups: list[list[int]] | None = process_groups

    def _get_device_group(self, number):
        groups = self.process_groups
        if groups is None:
            return _WORLD
        every = sorted(rank for group in groups for rank in group)
        if every != list(range(number)) or len({len(group) for group in groups}) != 1:
            raise ValueError(
                f"For '{self.cls_name}', 'process_groups' should have each of the {number} devices in one of "
                f"some groups of one size, but got {groups}."
            )
        return Groups(groups)
