"""Collective operators: they join what the devices of a DATA_PARALLEL or HYBRID_PARALLEL program have.

Elsewhere a group has one member, whose own values are the result; what SEMI_AUTO_PARALLEL splits, the compiler joins.
"""

from typing import Any

import jax
import jax.numpy as jnp

from msnb.common.kinds import Int, OneOf, Tensors
from msnb.core.cases import F, Values, case
from msnb.core.declare import operator
from msnb.core.operator import REGISTRY
from msnb.core.spreading import members
from msnb.core.user_primitive import PrimitiveWithInfer
from msnb.ops._check import FLOAT, INT, dtype_in

WORLD = "hccl_world_group"
_SENDABLE = FLOAT | INT


class ReduceOp:
    """How values of several devices are joined.

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
ONE_PROCESS = "all devices of a program are one group"


def _reduced(x, op):
    """The values of all devices that run this program joined."""
    others = members()
    if others is None:
        return x
    if op == ReduceOp.PROD:
        return jnp.prod(jax.lax.all_gather(x, others[0]), axis=0, dtype=x.dtype)
    joined = {ReduceOp.SUM: jax.lax.psum, ReduceOp.MAX: jax.lax.pmax, ReduceOp.MIN: jax.lax.pmin}[op]
    return joined(x, others[0])


@operator
def AllReduce(
    input_x,
    *,
    op: Reduction = ReduceOp.SUM,
    group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD,
):
    """The values of all devices of a group joined, the same on each of them.

    Args:
        op (str): How, one of ReduceOp. Default: ReduceOp.SUM.
        group (str): Name of the group; all devices of a program are one. Default: "hccl_world_group".

    Inputs:
        - **input_x** (Tensor) - Numbers.

    Outputs:
        Tensor of the shape and element type of `input_x`; equal to it where there is one device.

    Raises:
        TypeError: If `op` or `group` is not a string, or `input_x` is not made of numbers.
        ValueError: If `op` is not one of ReduceOp.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("AllReduce", "input_x", input_x, _SENDABLE)
    return _reduced(input_x, op)


@operator
def AllGather(input_x, *, group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD):
    """The values of all devices of a group, one after another along the first dimension.

    Args:
        group (str): Name of the group; all devices of a program are one. Default: "hccl_world_group".

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 1 dimension.

    Outputs:
        Tensor whose first dimension is multiplied by the number of devices.

    Raises:
        TypeError: If `group` is not a string or `input_x` is not made of numbers.
        ValueError: If `input_x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("AllGather", "input_x", input_x, _SENDABLE)
    if not input_x.ndim:
        raise ValueError("For 'AllGather', 'input_x' should have at least 1 dimension, but got a scalar.")
    others = members()
    return input_x if others is None else jax.lax.all_gather(input_x, others[0], tiled=True)


@operator
def ReduceScatter(
    input_x,
    *,
    op: Reduction = ReduceOp.SUM,
    group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD,
):
    """The values of all devices of a group joined, and each device's part of the result.

    Args:
        op (str): How, one of ReduceOp. Default: ReduceOp.SUM.
        group (str): Name of the group; all devices of a program are one. Default: "hccl_world_group".

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 1 dimension.

    Outputs:
        Tensor whose first dimension is divided by the number of devices; equal to `input_x` where there is one device.

    Raises:
        TypeError: If `op` or `group` is not a string, or `input_x` is not made of numbers.
        ValueError: If `op` is not one of ReduceOp, or `input_x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("ReduceScatter", "input_x", input_x, _SENDABLE)
    if not input_x.ndim:
        raise ValueError("For 'ReduceScatter', 'input_x' should have at least 1 dimension, but got a scalar.")
    others = members()
    if others is None:
        return input_x
    name, number = others
    if input_x.shape[0] % number:
        raise ValueError(
            f"For 'ReduceScatter', the first dimension of 'input_x' should be a multiple of the {number} devices, but "
            f"got shape {input_x.shape}."
        )
    if op == ReduceOp.SUM:
        return jax.lax.psum_scatter(input_x, name, tiled=True)
    rows = input_x.shape[0] // number
    return jax.lax.dynamic_slice_in_dim(_reduced(input_x, op), jax.lax.axis_index(name) * rows, rows)


@operator
def Broadcast(input_x: Tensors, *, root_rank: Int, group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD):
    """The values of one device, the same on all devices of a group.

    Args:
        root_rank (int): Number of that device.
        group (str): Name of the group; all devices of a program are one. Default: "hccl_world_group".

    Inputs:
        - **input_x** (tuple[Tensor]) - Numbers.

    Outputs:
        tuple[Tensor], equal to `input_x` where there is one device.

    Raises:
        TypeError: If `root_rank` is not an int or `group` not a string.
        ValueError: If there is no device `root_rank`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    others = members()
    number = 1 if others is None else others[1]
    if not 0 <= root_rank < number:
        there = "0, the only process there is" if number == 1 else f"one of the {number} devices"
        raise ValueError(f"For 'Broadcast', 'root_rank' should be {there}, but got {root_rank}.")
    for i, x in enumerate(input_x):
        dtype_in("Broadcast", f"input_x[{i}]", x, _SENDABLE)
    if others is None:
        return tuple(input_x)
    return tuple([jax.lax.all_gather(x, others[0])[root_rank] for x in input_x])


@operator
def AllSwap(tensor_in, send_size, recv_size, *, group: OneOf(WORLD, otherwise=ONE_PROCESS) = WORLD):
    """Rows exchanged between all devices of a group.

    Args:
        group (str): Name of the group; all devices of a program are one. Default: "hccl_world_group".

    Inputs:
        - **tensor_in** (Tensor) - Of 2 dimensions.
        - **send_size** (Tensor) - How much goes to each device, int64.
        - **recv_size** (Tensor) - How much comes from each device, int64.

    Outputs:
        Tensor, equal to `tensor_in` where there is one device.

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
