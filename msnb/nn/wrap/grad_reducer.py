"""`DistributedGradReducer`: mean or sum of gradients over devices."""

from collections.abc import Iterable
from typing import Annotated, TypeVar

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Kind, OneOf, PositiveInt, Str, checked
from msnb.core.sharding.partitioner import size
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.sparse import RowTensor
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops.operations.comm_ops import AllGather, AllReduce

__all__ = ["DistributedGradReducer"]


_Gradients = TypeVar("_Gradients")
_FUSED = "XLA decides which gradients travel together"


def _check_degree(value):
    if type(value) not in (int, type(None)) or value is not None and value < 1:
        raise ValueError  # MindSpore raises ValueError for a wrong type too
    return value


class DistributedGradReducer(Cell):
    """Compute the mean (or sum) of gradients over all devices that train together.

    In DATA_PARALLEL and HYBRID_PARALLEL, and in several processes, each device has the gradients of its own examples.
    This Cell adds them over the devices. float16 and bfloat16 are added in float32. In a tuple, gradients of Parameters
    with `layerwise_parallel` are returned unchanged. In other modes each gradient already belongs to the full batch,
    and all are returned unchanged.

    Args:
        parameters (list): The Parameters that the gradients belong to.
        mean (bool): True for the mean, False for the sum. Default: True.
        degree (int): Divisor of the mean: the number of devices that train together. Default: None, the size of
            `group`.
        fusion_type (int): Number of gradients in one all-reduce. It has no effect, because XLA decides. Default: 1.
        group (str): Name of the group of devices, see `create_group`. Default: "hccl_world_group", all.

    Inputs:
        - **grads** (Union[Tensor, tuple[Tensor]]) - Gradients.

    Outputs:
        The gradients, of the same dtypes.

    Raises:
        ValueError: If `degree` is no positive int.

    Examples:
        >>> reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True, degree=1)
    """

    @checked
    def __init__(
        self,
        parameters: Iterable[Parameter],
        mean: bool = True,
        degree: Annotated[int | None, Kind("a positive int or None", _check_degree)] = None,
        fusion_type: Annotated[int, OneOf(1, otherwise=_FUSED, among=PositiveInt)] = 1,
        group: Str = "hccl_world_group",
    ) -> None:
        super().__init__(auto_prefix=False)
        self.mean: bool = mean
        self.degree: int | None = degree
        self._reduce, self._gather, self._group = AllReduce(group=group), AllGather(group=group), group
        self.allreduce_filter: tuple[bool, ...] = tuple(not param.layerwise_parallel for param in parameters)

    def construct(self, grads: _Gradients) -> _Gradients:
        together = size(self._group)
        if together == 1:
            if self.degree is not None and self.degree > 1:
                log.once(
                    f"DistributedGradReducer with degree={self.degree} passes gradients on unchanged: they are those "
                    f"of the whole batch."
                )
            return grads
        if isinstance(grads, Tensor):
            return self._reduce_gradient(grads, self.degree or together)
        degree = self.degree or together
        filtered = zip(grads, self.allreduce_filter, strict=True)
        return tuple([self._reduce_gradient(g, degree) if reduced else g for g, reduced in filtered])

    def _reduce_gradient(self, grad, degree):
        """Add one gradient over the devices. Rows of a RowTensor are gathered, because devices have different rows."""
        if isinstance(grad, RowTensor):
            values = self._reduce_in_float32(self._gather, grad.values, degree)
            return RowTensor(self._gather(grad.indices), values, grad.dense_shape)
        return self._reduce_in_float32(self._reduce, grad, degree)

    def _reduce_in_float32(self, join, value, degree):
        half = value.dtype in (mstype.float16, mstype.bfloat16)
        total = join(value.astype(mstype.float32) if half else value)
        total = total / degree if self.mean else total
        return total.astype(value.dtype) if half else total
