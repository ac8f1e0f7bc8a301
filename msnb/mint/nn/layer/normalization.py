"""Normalisation layers of `mindspore.mint.nn`, with PyTorch's Parameter names."""

from typing import Any, ClassVar

from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.kinds import Bool, DType, PositiveInt, checked
from msnb.core.sharding.partitioner import size
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.mint.nn import functional as F
from msnb.nn._input_checks import check_dims
from msnb.nn._kinds import Epsilon, Share
from msnb.nn.cell import Cell
from msnb.nn.layer._norm.sync_batch_norm import normalize_across_devices
from msnb.ops import functional as ops

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "SyncBatchNorm"]


class _BatchNorm(Cell):
    _ranks: ClassVar[tuple[int, ...]] = ()

    @checked
    def __init__(
        self,
        num_features: PositiveInt,
        eps: Epsilon = 1e-5,
        momentum: Share | None = 0.1,
        affine: Bool = True,
        track_running_stats: Bool = True,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.num_features: int = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine: bool = affine
        self.track_running_stats: bool = track_running_stats
        kind = dtype or mstype.float32

        def create_parameter(name: str, start: str, learned: bool) -> Parameter:
            return Parameter(initializer(start, (num_features,), kind), name, requires_grad=learned)

        self.weight: Any = create_parameter("weight", "ones", True) if affine else None
        self.bias: Any = create_parameter("bias", "zeros", True) if affine else None
        self.running_mean: Any = create_parameter("running_mean", "zeros", False) if track_running_stats else None
        self.running_var: Any = create_parameter("running_var", "ones", False) if track_running_stats else None
        self.num_batches_tracked: Any = None
        if track_running_stats:
            self.num_batches_tracked = Parameter(Tensor(0, mstype.int64), "num_batches_tracked", requires_grad=False)

    def construct(self, input: Tensor) -> Tensor:
        """Return the normalised input."""
        check_dims(self.cls_name, input, *self._ranks)
        by_batch, running_statistics = (
            self.training or not self.track_running_stats,
            (self.running_mean, self.running_var),
        )
        if self.training and self.track_running_stats:
            ops.assign(self.num_batches_tracked, self.num_batches_tracked + 1)
            if self.momentum is None:
                self._update_running_statistics(input)
                running_statistics = None, None
        return F.batch_norm(
            input, *running_statistics, self.weight, self.bias, by_batch, self.momentum or 0.0, self.eps
        )

    def _update_running_statistics(self, input):
        """Update the running statistics to the mean over all batches so far."""
        share = 1.0 / ops.cast(self.num_batches_tracked, self.running_mean.dtype)
        others = (0, *range(2, input.ndim))
        mean, variance = ops.mean(input, others), ops.var(input, others, 1)
        ops.assign(self.running_mean, self.running_mean + share * (mean - self.running_mean))
        ops.assign(self.running_var, self.running_var + share * (variance - self.running_var))

    def extend_repr(self) -> str:
        """Return the sizes and settings shown by `repr`."""
        names = ("num_features", "eps", "momentum", "affine", "track_running_stats")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class BatchNorm1d(_BatchNorm):
    """
    Batch normalisation of vectors and sequences (Ioffe and Szegedy, 2015).

    Args:
        num_features (int): Number of channels.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (Union[float, None]): Weight of a batch in each update of the running statistics. With None they are
            the mean over all batches. Default: 0.1.
        affine (bool): Whether scale and shift are learned. Default: True.
        track_running_stats (bool): Whether to keep running statistics, which are used outside training. Default: True.
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - (N, C) or (N, C, L).

    Outputs:
        Tensor of the same shape.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the input has a wrong number of dimensions.

    Examples:
        >>> print(mint.nn.BatchNorm1d(2)(Tensor([[1.0, 2.0]])))
        [[0.999995 1.99999 ]]
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """
    Batch normalisation of images (Ioffe and Szegedy, 2015).

    Args:
        num_features (int): Number of channels.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (Union[float, None]): Weight of a batch in each update of the running statistics. With None they are
            the mean over all batches. Default: 0.1.
        affine (bool): Whether scale and shift are learned. Default: True.
        track_running_stats (bool): Whether to keep running statistics, which are used outside training. Default: True.
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor of the same shape.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the input has a wrong number of dimensions.
    """

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """
    Batch normalisation of volumes (Ioffe and Szegedy, 2015).

    Args:
        num_features (int): Number of channels.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (Union[float, None]): Weight of a batch in each update of the running statistics. With None they are
            the mean over all batches. Default: 0.1.
        affine (bool): Whether scale and shift are learned. Default: True.
        track_running_stats (bool): Whether to keep running statistics, which are used outside training. Default: True.
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W).

    Outputs:
        Tensor of the same shape.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the input has a wrong number of dimensions.
    """

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """
    Batch normalisation with the statistics of the batches of all devices.

    This applies to the devices of DATA_PARALLEL and HYBRID_PARALLEL, and to several processes. Each device or process
    has a batch of the same size.

    Args:
        num_features (int): Number of channels.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        momentum (Union[float, None]): Weight of a batch in each update of the running statistics. With None they are
            the mean over all batches. Default: 0.1.
        affine (bool): Whether scale and shift are learned. Default: True.
        track_running_stats (bool): Whether to keep running statistics, which are used outside training. Default: True.
        process_group (str): Name of the group of devices, see `create_group`. Default: None, all devices.
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - (N, C, ...).

    Outputs:
        Tensor of the same shape.
    """

    _ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group: str = process_group or "hccl_world_group"

    def construct(self, input: Tensor) -> Tensor:
        """Return the normalised input."""
        if not (self.training or not self.track_running_stats) or size(self.process_group) == 1:
            return super().construct(input)
        check_dims(self.cls_name, input, *self._ranks)
        running = self.running_mean, self.running_var
        share: Any = self.momentum or 0.0
        if self.training and self.track_running_stats:
            ops.assign(self.num_batches_tracked, self.num_batches_tracked + 1)
            if self.momentum is None:
                share = 1.0 / ops.cast(self.num_batches_tracked, self.running_mean.dtype)
        return normalize_across_devices(input, self.weight, self.bias, running, share, self.eps, self.process_group)


class GroupNorm(Cell):
    """
    Normalisation of each sample over groups of its channels (Wu and He, 2018).

    Args:
        num_groups (int): Number of groups.
        num_channels (int): Number of channels, a multiple of `num_groups`.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        affine (bool): Whether scale and shift are learned. Default: True.
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - (N, C, ...).

    Outputs:
        Tensor of the same shape.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the channels are no multiple of the groups.
    """

    @checked
    def __init__(
        self,
        num_groups: PositiveInt,
        num_channels: PositiveInt,
        eps: Epsilon = 1e-5,
        affine: Bool = True,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"For 'GroupNorm', 'num_channels' should be a multiple of 'num_groups', but got {num_channels} and "
                f"{num_groups}."
            )
        self.num_groups: int = num_groups
        self.num_channels: int = num_channels
        self.eps = eps
        self.affine: bool = affine
        kind = dtype or mstype.float32
        ones, zeros = initializer("ones", (num_channels,), kind), initializer("zeros", (num_channels,), kind)
        self.weight: Parameter = Parameter(ones, "weight", requires_grad=affine)
        self.bias: Parameter = Parameter(zeros, "bias", requires_grad=affine)

    def construct(self, input: Tensor) -> Tensor:
        """Return the normalised input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        """Return the sizes and settings shown by `repr`."""
        names = ("num_groups", "num_channels", "eps", "affine")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)
