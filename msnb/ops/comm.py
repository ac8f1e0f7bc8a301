"""Collective operators. This program is one process, rank 0 of 1, so what is gathered or reduced is one's own value.

Data that is split over several devices of one process is reduced by the compiler, where a sharding asks for it.
"""

from typing import Any

from msnb.common.kinds import Int, OneOf, Tensors
from msnb.core.cases import F, Values, case
from msnb.core.declare import operator
from msnb.core.operator import REGISTRY
from msnb.core.user_primitive import PrimitiveWithInfer
from msnb.ops._check import FLOAT, INT, dtype_in

WORLD = "hccl_world_group"
_SENDABLE = FLOAT | INT


class ReduceOp:
    """How values of several processes are joined.

    There are four: ``SUM``, ``MAX``, ``MIN`` and ``PROD``.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


class _Constant:
    """A name in `mindspore.ops.operations` that is not an operator."""

    kernels, written, writes, random, functional, inputs, attributes = None, (), (), False, None, (), {}

    def __init__(self, value):
        self.primitive = self.fn = value
        self.name = value.__name__
        self.signature = None


REGISTRY["ReduceOp"] = _Constant(ReduceOp)
Reduction = OneOf("sum", "max", "min", "prod")
ONE_PROCESS = "this program is one process, whose own values are the result"


@operator
def AllReduce(
    input_x,
    *,
    op: OneOf(ReduceOp.SUM, otherwise=ONE_PROCESS, among=Reduction) = ReduceOp.SUM,
    group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD,
):
    """The values of all processes of a group joined, the same in each of them.

    Args:
        op (str): How, one of ReduceOp; no effect in one process. Default: ReduceOp.SUM.
        group (str): Name of the group; no effect in one process. Default: "hccl_world_group".

    Inputs:
        - **input_x** (Tensor) - Numbers.

    Outputs:
        Tensor of the shape and element type of `input_x`; equal to it in one process.

    Raises:
        TypeError: If `op` or `group` is not a string, or `input_x` is not made of numbers.
        ValueError: If `op` is not one of ReduceOp.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("AllReduce", "input_x", input_x, _SENDABLE)
    return input_x


@operator
def AllGather(input_x, *, group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD):
    """The values of all processes of a group, one after another along the first dimension.

    Args:
        group (str): Name of the group; no effect in one process. Default: "hccl_world_group".

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 1 dimension.

    Outputs:
        Tensor whose first dimension is multiplied by the number of processes; equal to `input_x` in one process.

    Raises:
        TypeError: If `group` is not a string or `input_x` is not made of numbers.
        ValueError: If `input_x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("AllGather", "input_x", input_x, _SENDABLE)
    if not input_x.ndim:
        raise ValueError("For 'AllGather', 'input_x' should have at least 1 dimension, but got a scalar.")
    return input_x


@operator
def ReduceScatter(
    input_x,
    *,
    op: OneOf(ReduceOp.SUM, otherwise=ONE_PROCESS, among=Reduction) = ReduceOp.SUM,
    group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD,
):
    """The values of all processes of a group joined, and each process's part of the result.

    Args:
        op (str): How, one of ReduceOp; no effect in one process. Default: ReduceOp.SUM.
        group (str): Name of the group; no effect in one process. Default: "hccl_world_group".

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 1 dimension.

    Outputs:
        Tensor whose first dimension is divided by the number of processes; equal to `input_x` in one process.

    Raises:
        TypeError: If `op` or `group` is not a string, or `input_x` is not made of numbers.
        ValueError: If `op` is not one of ReduceOp, or `input_x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("ReduceScatter", "input_x", input_x, _SENDABLE)
    if not input_x.ndim:
        raise ValueError("For 'ReduceScatter', 'input_x' should have at least 1 dimension, but got a scalar.")
    return input_x


@operator
def Broadcast(input_x: Tensors, *, root_rank: Int, group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD):
    """The values of one process, the same in all processes of a group.

    Args:
        root_rank (int): Number of that process.
        group (str): Name of the group; no effect in one process. Default: "hccl_world_group".

    Inputs:
        - **input_x** (tuple[Tensor]) - Numbers.

    Outputs:
        tuple[Tensor], equal to `input_x` in one process.

    Raises:
        TypeError: If `root_rank` is not an int or `group` not a string.
        ValueError: If there is no process `root_rank`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if root_rank != 0:
        raise ValueError(f"For 'Broadcast', 'root_rank' should be 0, the only process there is, but got {root_rank}.")
    for i, x in enumerate(input_x):
        dtype_in("Broadcast", f"input_x[{i}]", x, _SENDABLE)
    return tuple(input_x)


@operator
def AllSwap(tensor_in, send_size, recv_size, *, group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD):
    """Rows exchanged between all processes of a group.

    Args:
        group (str): Name of the group; no effect in one process. Default: "hccl_world_group".

    Inputs:
        - **tensor_in** (Tensor) - Of 2 dimensions.
        - **send_size** (Tensor) - How much goes to each process, int64.
        - **recv_size** (Tensor) - How much comes from each process, int64.

    Outputs:
        Tensor, equal to `tensor_in` in one process.

    Raises:
        TypeError: If `group` is not a string or `tensor_in` is not made of numbers.
        ValueError: If `tensor_in` has not 2 dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("AllSwap", "tensor_in", tensor_in, _SENDABLE)
    if tensor_in.ndim != 2:
        raise ValueError(f"For 'AllSwap', 'tensor_in' should have 2 dimensions, but got shape {tensor_in.shape}.")
    return tensor_in


class _VirtualDataset(PrimitiveWithInfer):
    """Marks its inputs as the batch that automatic parallelism may split, and gives them as they are."""

    def __init__(self) -> None:
        super().__init__("VirtualDataset")

    def kernel(self, *arrays: Any) -> Any:
        """The inputs."""
        return arrays if len(arrays) > 1 else arrays[0]


virtual_dataset = _VirtualDataset()


CASES = [
    case(Broadcast, (F(2),), root_rank=0),
    case(AllSwap, F(2, 2), Values([2]), Values([2])),
]
