"""`DistributedGradReducer`: brings the gradients of several devices together."""

from collections.abc import Iterable
from typing import Annotated, TypeVar

from msnb import log
from msnb.common.kinds import Kind, OneOf, PositiveInt, checked
from msnb.core.parameter import Parameter
from msnb.nn.cell import Cell

__all__ = ["DistributedGradReducer"]


_Gradients = TypeVar("_Gradients")
_ALONE = "this program is one process"


def _degree(value):
    if type(value) not in (int, type(None)) or value is not None and value < 1:
        raise ValueError  # of another type too, as MindSpore has it
    return value


class DistributedGradReducer(Cell):
    """Gradients as the mean (or sum) over all devices that train together.

    A program here is one process: when its batch is spread over devices, XLA has already summed what they found, so the
    gradients pass through unchanged.

    Args:
        parameters (list): The Parameters that the gradients belong to.
        mean (bool): Whether the mean is taken rather than the sum. Default: True.
        degree (int): Number of devices that train together, positive. Default: None, all of them.
        fusion_type (int): How many gradients travel together; no effect. Default: 1.
        group (str): Name of the group of processes; no effect. Default: "hccl_world_group".

    Inputs:
        - **grads** (Union[Tensor, tuple[Tensor]]) - Gradients.

    Outputs:
        The gradients, of the same dtypes.

    Raises:
        ValueError: If `degree` is no positive int.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True, degree=1)
    """

    @checked
    def __init__(
        self,
        parameters: Iterable[Parameter],
        mean: bool = True,
        degree: Annotated[int | None, Kind("a positive int or None", _degree)] = None,
        fusion_type: Annotated[int, OneOf(1, otherwise=_ALONE, among=PositiveInt)] = 1,
        group: Annotated[str, OneOf("hccl_world_group", otherwise=_ALONE)] = "hccl_world_group",
    ) -> None:
        super().__init__(auto_prefix=False)
        if degree is not None and degree > 1:
            log.once(
                f"DistributedGradReducer with degree={degree} passes gradients on unchanged: this program is one "
                f"process, whose gradients are those of the whole batch."
            )
        self.mean: bool = mean
        self.degree: int = degree or 1
        self.allreduce_filter: tuple[bool, ...] = tuple(not param.layerwise_parallel for param in parameters)

    def construct(self, grads: _Gradients) -> _Gradients:
        return grads
