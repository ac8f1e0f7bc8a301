"""Collective operators across processes, or across the devices of a DATA_PARALLEL program.

In other programs a group has one member, and each operator returns its input. In SEMI_AUTO_PARALLEL mode, the compiler
inserts collectives instead.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from msnb.common.kinds import Int, OneOf, Str, Tensors
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.operator.user_primitive import PrimitiveWithInfer
from msnb.core.sharding.partitioner import DeviceGroup, members
from msnb.ops._check import FLOAT, INT, dtype_in

WORLD = "hccl_world_group"
_SENDABLE = FLOAT | INT


class ReduceOp:
    """Names of the reductions of values of several devices.

    There are four: ``SUM``, ``MAX``, ``MIN`` and ``PROD``.
    """

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


class _Constant:
    """Registry entry of an object in `mindspore.ops.operations` that is not an operator."""

    kernels, written, writes, random, functional, inputs, attributes = None, (), (), False, None, (), {}

    def __init__(self, value):
        self.primitive = self.fn = value
        self.name = value.__name__
        self.signature = None


REGISTRY["ReduceOp"] = _Constant(ReduceOp)
Reduction = OneOf("sum", "max", "min", "prod")


def gather_members(x: jax.Array, others: DeviceGroup) -> jax.Array:
    """Gather the values of all members of a group along a new first axis."""
    if others.even:
        return jax.lax.all_gather(x, others.axis, axis_index_groups=_get_axis_index_groups(others))
    alone = jnp.zeros((others.size, *x.shape), x.dtype).at[others.place()].set(x)
    return jax.lax.psum(alone, others.axis, axis_index_groups=_get_axis_index_groups(others))


def reduce_members(x: jax.Array, op: str, others: DeviceGroup | None) -> jax.Array:
    """Reduce the values of all members of a group by the operation `op`."""
    if others is None:
        return x
    if op == ReduceOp.PROD:
        return jnp.prod(gather_members(x, others), axis=0, dtype=x.dtype)
    if op == ReduceOp.SUM:
        return jax.lax.psum(x, others.axis, axis_index_groups=_get_axis_index_groups(others))
    return _reduce_max_or_min(x, op, others)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _reduce_max_or_min(x, op, others):
    """Return the elementwise maximum or minimum over the members of a group. The gradient of an element goes to the
    member that has this value."""
    joined = jax.lax.pmax if op == ReduceOp.MAX else jax.lax.pmin
    return joined(x, others.axis, axis_index_groups=_get_axis_index_groups(others))


def _reduce_max_or_min_forward(x, op, others):
    out = _reduce_max_or_min(x, op, others)
    return out, x == out


def _reduce_max_or_min_backward(_op, others, has_it, cotangent):
    total = jax.lax.psum(cotangent, others.axis, axis_index_groups=_get_axis_index_groups(others))
    return (jnp.where(has_it, total, jnp.zeros_like(total)),)


_reduce_max_or_min.defvjp(_reduce_max_or_min_forward, _reduce_max_or_min_backward)


def value_of_root(x: jax.Array, root: int, others: DeviceGroup) -> jax.Array:
    """Return the value of one member, by its index in the group."""
    sent = jnp.where(others.place() == root, x, jnp.zeros_like(x))
    return jax.lax.psum(sent, others.axis, axis_index_groups=_get_axis_index_groups(others))


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _broadcast_from_root(x, root, others):
    """Broadcast the value of the member `root`. As in r1.1, gradients are not summed over members: the gradient of each
    member's `x` is the gradient of its result."""
    return value_of_root(x, root, others)


_broadcast_from_root.defvjp(
    lambda x, root, others: (_broadcast_from_root(x, root, others), None), lambda _r, _o, _s, cotangent: (cotangent,)
)


def _get_axis_index_groups(others):
    return None if others.groups is None else [list(group) for group in others.groups]


def member_rows(x: jax.Array, name: str, others: DeviceGroup) -> jax.Array:
    """Return the rows of `x` that belong to the current device. The rows are split evenly among the members.

    Raises:
        ValueError: If the number of rows is not a multiple of the number of members. The message has the operator's
        name, `name`.
    """
    rows = count_rows(x, name, others)
    return jax.lax.dynamic_slice_in_dim(x, others.place() * rows, rows)


def count_rows(x: jax.Array, name: str, others: DeviceGroup) -> int:
    """Return the number of rows of `x` for each member. Raise ValueError as `member_rows` does."""
    if x.shape[0] % others.size:
        raise ValueError(
            f"For '{name}', the first dimension of 'input_x' should be a multiple of the {others.size} devices, but "
            f"got shape {x.shape}."
        )
    return x.shape[0] // others.size


def index_in_group(root: int, argument: str, name: str, others: DeviceGroup | None) -> int:
    """Convert the global rank `root` to its index in the group. Without a group the only rank is 0.

    Raises:
        ValueError: If the rank is not in the group.
    """
    ranks = (0,) if others is None else others.ranks
    if root not in ranks:
        there = f"{ranks[0]}, the only process there is" if len(ranks) == 1 else f"one of the devices {list(ranks)}"
        raise ValueError(f"For '{name}', '{argument}' should be {there}, but got {root}.")
    return ranks.index(root)


def check_numbers(name: str, argument: str, x: jax.Array) -> None:
    """Raise TypeError if `x` does not consist of numbers, because collectives only accept numbers."""
    dtype_in(name, argument, x, _SENDABLE)


@operator(collective=True)
def AllReduce(
    input_x,
    *,
    op: Reduction = ReduceOp.SUM,
    group: Str = WORLD,
):
    """Reduce the values of all devices of a group. Each device gets the result.

    Args:
        op (str): The reduction, one of ReduceOp. Default: ReduceOp.SUM.
        group (str): Name of a group of `create_group`. Default: "hccl_world_group", all devices.

    Inputs:
        - **input_x** (Tensor) - Numbers.

    Outputs:
        Tensor of the shape and element type of `input_x`; equal to it if there is only one device.

    Raises:
        TypeError: If `op` or `group` is not a string, or `input_x` does not consist of numbers.
        ValueError: If `op` is not one of ReduceOp.
    """
    dtype_in("AllReduce", "input_x", input_x, _SENDABLE)
    return reduce_members(input_x, op, members(group))


@operator(collective=True)
def AllGather(input_x, *, group: Str = WORLD):
    """Concatenate the values of all devices of a group along the first dimension. Each device gets the result.

    Args:
        group (str): Name of a group of `create_group`. Default: "hccl_world_group", all devices.

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 1 dimension.

    Outputs:
        Tensor whose first dimension is multiplied by the number of devices.

    Raises:
        TypeError: If `group` is not a string or `input_x` does not consist of numbers.
        ValueError: If `input_x` is a scalar.
    """
    dtype_in("AllGather", "input_x", input_x, _SENDABLE)
    if not input_x.ndim:
        raise ValueError("For 'AllGather', 'input_x' should have at least 1 dimension, but got a scalar.")
    others = members(group)
    return input_x if others is None else jnp.concatenate(gather_members(input_x, others))


@operator(collective=True)
def ReduceScatter(
    input_x,
    *,
    op: Reduction = ReduceOp.SUM,
    group: Str = WORLD,
):
    """Reduce the values of all devices of a group. Each device gets one part of the result.

    Args:
        op (str): The reduction, one of ReduceOp. Default: ReduceOp.SUM.
        group (str): Name of a group of `create_group`. Default: "hccl_world_group", all devices.

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 1 dimension.

    Outputs:
        Tensor whose first dimension is divided by the number of devices; equal to `input_x` if there is only one
        device.

    Raises:
        TypeError: If `op` or `group` is not a string, or `input_x` does not consist of numbers.
        ValueError: If `op` is not one of ReduceOp, or `input_x` is a scalar.
    """
    dtype_in("ReduceScatter", "input_x", input_x, _SENDABLE)
    if not input_x.ndim:
        raise ValueError("For 'ReduceScatter', 'input_x' should have at least 1 dimension, but got a scalar.")
    others = members(group)
    if others is None:
        return input_x
    count_rows(input_x, "ReduceScatter", others)
    if op == ReduceOp.SUM and others.even:
        return jax.lax.psum_scatter(input_x, others.axis, axis_index_groups=_get_axis_index_groups(others), tiled=True)
    return member_rows(reduce_members(input_x, op, others), "ReduceScatter", others)


@operator(collective=True)
def Broadcast(input_x: Tensors, *, root_rank: Int, group: Str = WORLD):
    """Copy the value of one device to all devices of a group.

    Args:
        root_rank (int): Global rank of that device.
        group (str): Name of a group of `create_group`. Default: "hccl_world_group", all devices.

    Inputs:
        - **input_x** (tuple[Tensor]) - Numbers.

    Outputs:
        tuple[Tensor], equal to `input_x` if there is only one device.

    Raises:
        TypeError: If `root_rank` is not an int or `group` not a string.
        ValueError: If there is no device `root_rank` in the group.
    """
    others = members(group)
    root = index_in_group(root_rank, "root_rank", "Broadcast", others)
    for i, x in enumerate(input_x):
        dtype_in("Broadcast", f"input_x[{i}]", x, _SENDABLE)
    if others is None:
        return tuple(input_x)
    return tuple([_broadcast_from_root(x, root, others) for x in input_x])


@operator(collective=True)
def AllSwap(tensor_in, send_size, recv_size, *, group: Str = WORLD):
    """Exchange rows between all devices of a group.

    Args:
        group (str): Name of a group of `create_group`. Default: "hccl_world_group", all devices.

    Inputs:
        - **tensor_in** (Tensor) - Of 2 dimensions.
        - **send_size** (Tensor) - Number of elements to send to each device, int64.
        - **recv_size** (Tensor) - Number of elements to receive from each device, int64.

    Outputs:
        Tensor, equal to `tensor_in` if there is only one device.

    Raises:
        TypeError: If `group` is not a string or `tensor_in` does not consist of numbers.
        ValueError: If `tensor_in` does not have 2 dimensions.
        NotImplementedError: If there are several devices.
    """
    dtype_in("AllSwap", "tensor_in", tensor_in, _SENDABLE)
    if tensor_in.ndim != 2:
        raise ValueError(f"For 'AllSwap', 'tensor_in' should have 2 dimensions, but got shape {tensor_in.shape}.")
    if members(group) is not None:
        raise NotImplementedError(
            "For 'AllSwap', how many rows come from where depends on values, and a program has one shape; AlltoAll "
            "exchanges parts of one size."
        )
    return tensor_in


class _VirtualDataset(PrimitiveWithInfer):
    """Operator that returns its inputs. In MindSpore it marks the batch that automatic parallelism may split."""

    def __init__(self) -> None:
        super().__init__("VirtualDataset")

    def kernel(self, *arrays: Any) -> Any:
        """Return the inputs."""
        return arrays if len(arrays) > 1 else arrays[0]


virtual_dataset = _VirtualDataset()


CASES = [
    case(Broadcast, (F(2),), root_rank=0),
    case(AllSwap, F(2, 2), Values([2]), Values([2])),
]
