"""`mindspore.communication.comm_func` of MindSpore 2: communication as functions of a Tensor.

They behave like the operators that they call, in PYNATIVE and in GRAPH mode. JAX always computes asynchronously, so
`async_op` only adds a handle, whose `wait` blocks until the result is available.
"""

from typing import Literal

from msnb import ops
from msnb.communication._comm_helper import HCCL_WORLD_COMM_GROUP, ranks_of
from msnb.core.tensor.tensor import Tensor

__all__ = [
    "all_gather_into_tensor",
    "all_reduce",
    "barrier",
    "broadcast",
    "gather_into_tensor",
    "reduce",
    "reduce_scatter_tensor",
    "scatter_tensor",
]

_Reduction = Literal["sum", "max", "min", "prod"]
_WORLD = HCCL_WORLD_COMM_GROUP


class CommHandle:
    """Handle of a communication in progress.

    Args:
        tensor (Tensor): Result of the communication.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def wait(self) -> None:
        """Wait until the result is available."""
        self._tensor.asnumpy()


def _pair_with_handle(tensor, async_op):
    return tensor, CommHandle(tensor) if async_op else None


def all_reduce(
    tensor: Tensor, op: _Reduction = "sum", group: str | None = _WORLD, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """Return ``ops.AllReduce(op, group)(tensor)``, and a handle if `async_op` is True."""
    return _pair_with_handle(ops.AllReduce(op, group or _WORLD)(tensor), async_op)


def all_gather_into_tensor(
    tensor: Tensor, group: str | None = _WORLD, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """Return ``ops.AllGather(group)(tensor)``, and a handle if `async_op` is True."""
    return _pair_with_handle(ops.AllGather(group or _WORLD)(tensor), async_op)


def reduce_scatter_tensor(
    tensor: Tensor, op: _Reduction = "sum", group: str | None = _WORLD, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """Return ``ops.ReduceScatter(op, group)(tensor)``, and a handle if `async_op` is True."""
    return _pair_with_handle(ops.ReduceScatter(op, group or _WORLD)(tensor), async_op)


def broadcast(tensor: Tensor, src: int = 0, group: str | None = _WORLD) -> Tensor:
    """Return the Tensor of the process with world rank `src`."""
    return ops.Broadcast(src, group or _WORLD)((tensor,))[0]


def reduce(tensor: Tensor, dst: int, op: _Reduction = "sum", group: str | None = _WORLD) -> Tensor:
    """Return the group's Tensors combined for the process with world rank `dst`; see ``ops.Reduce``.

    Raises:
        ValueError: If `dst` is not in the group.
    """
    group = group or _WORLD
    ranks = ranks_of(group)
    if dst not in ranks:
        raise ValueError(f"For 'reduce', 'dst' should be one of {list(ranks)}, but got {dst!r}.")
    return ops.Reduce(ranks.index(dst), op, group)(tensor)


def gather_into_tensor(tensor: Tensor, dst: int = 0, group: str | None = _WORLD) -> Tensor:
    """Return the group's Tensors concatenated for the process `dst`; see ``ops.CollectiveGather``."""
    return ops.CollectiveGather(dst, group or _WORLD)(tensor)


def scatter_tensor(tensor: Tensor, src: int = 0, group: str | None = _WORLD) -> Tensor:
    """Return this process's slice of the Tensor of process `src`; see ``ops.CollectiveScatter``."""
    return ops.CollectiveScatter(src, group or _WORLD)(tensor)


def barrier(group: str | None = _WORLD) -> None:
    """Wait until all processes of the group have called this function."""
    all_reduce(Tensor([0.0]), group=group)[0].asnumpy()
