"""Collective operators with one sender or receiver, and all-to-all."""

import functools

import jax
import jax.numpy as jnp

from msnb.common.kinds import Int, Str
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator
from msnb.core.sharding.partitioner import DeviceGroup, members
from msnb.ops.comm import (
    WORLD,
    ReduceOp,
    Reduction,
    check_numbers,
    gather_members,
    index_in_group,
    member_rows,
    reduce_members,
    value_of_root,
)


@operator(collective=True)
def AlltoAll(input_x, *, split_count: Int, split_dim: Int, concat_dim: Int, group: Str = WORLD):
    """All-to-all: each device of a group sends one block to every device and concatenates the received blocks.

    Args:
        split_count (int): Number of the devices of the group.
        split_dim (int): Dimension along which `input_x` is cut into parts.
        concat_dim (int): Dimension along which the received parts are concatenated.
        group (str): Name of a group of `create_group`. Default: "hccl_world_group", all devices.

    Inputs:
        - **input_x** (Tensor) - Numbers.

    Outputs:
        Tensor; its dimension `split_dim` is divided, and `concat_dim` multiplied, by `split_count`.

    Raises:
        TypeError: If an argument is of another type, or `input_x` does not consist of numbers.
        ValueError: If `split_count` is not the number of devices, or a dimension does not exist or is not divisible.
    """
    check_numbers("AlltoAll", "input_x", input_x)
    others = members(group)
    number = 1 if others is None else others.size
    if split_count != number:
        raise ValueError(
            f"For 'AlltoAll', 'split_count' should be the number of devices in the group, {number}, but got "
            f"{split_count}."
        )
    for name, dim in (("split_dim", split_dim), ("concat_dim", concat_dim)):
        if not 0 <= dim < input_x.ndim:
            raise ValueError(
                f"For 'AlltoAll', '{name}' should be a dimension of 'input_x' of shape {input_x.shape}, but got {dim}."
            )
    if input_x.shape[split_dim] % number:
        raise ValueError(
            f"For 'AlltoAll', dimension {split_dim} of 'input_x' should be a multiple of the {number} devices, but got "
            f"shape {input_x.shape}."
        )
    if others is None:
        return input_x
    blocks = jnp.stack(jnp.split(input_x, number, split_dim))
    if others.even:
        groups = None if others.groups is None else [list(each) for each in others.groups]
        received = jax.lax.all_to_all(blocks, others.axis, 0, 0, axis_index_groups=groups)
    else:
        received = jax.lax.dynamic_index_in_dim(gather_members(blocks, others), others.place(), 1, keepdims=False)
    return jnp.concatenate(received, concat_dim)


@operator(collective=True)
def CollectiveScatter(input_x, *, src_rank: Int = 0, group: Str = WORLD):
    """Scatter: one device sends one block to each device of a group.

    Args:
        src_rank (int): Global rank of the sending device. Default: 0.
        group (str): Name of a group of `create_group`. Default: "hccl_world_group", all devices.

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 1 dimension; with the same shape on all devices.

    Outputs:
        Tensor whose first dimension is divided by the number of devices.

    Raises:
        TypeError: If an argument is of another type, or `input_x` does not consist of numbers.
        ValueError: If there is no device `src_rank` in the group, or the first dimension cannot be divided.
    """
    others, root = _get_group_and_root("CollectiveScatter", input_x, "src_rank", src_rank, group)
    return input_x if others is None else member_rows(value_of_root(input_x, root, others), "CollectiveScatter", others)


@operator(collective=True)
def CollectiveGather(input_x, *, dest_rank: Int, group: Str = WORLD):
    """Gather: one device gets the values of all devices of a group, concatenated along the first dimension.

    The other devices receive the result, too; in MindSpore they get an undefined Tensor. The gradient depends only on
    the receiver's cotangent.

    Args:
        dest_rank (int): Global rank of the receiving device.
        group (str): Name of a group of `create_group`. Default: "hccl_world_group", all devices.

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 1 dimension.

    Outputs:
        Tensor whose first dimension is multiplied by the number of devices.

    Raises:
        TypeError: If an argument is of another type, or `input_x` does not consist of numbers.
        ValueError: If there is no device `dest_rank` in the group, or `input_x` is a scalar.
    """
    others, root = _get_group_and_root("CollectiveGather", input_x, "dest_rank", dest_rank, group)
    return input_x if others is None else _gather_to_root(input_x, root, others)


@operator(collective=True)
def Reduce(input_x, *, dest_rank: Int, op: Reduction = ReduceOp.SUM, group: Str = WORLD):
    """Reduces the values of all devices of a group. One device gets the result.

    The other devices receive the result, too; in MindSpore they get an undefined Tensor. The gradient depends only on
    the receiver's cotangent.

    Args:
        dest_rank (int): Rank of the receiving device in the group.
        op (str): The reduction, one of ReduceOp. Default: ReduceOp.SUM.
        group (str): Name of a group of `create_group`. Default: "hccl_world_group", all devices.

    Inputs:
        - **input_x** (Tensor) - Numbers.

    Outputs:
        Tensor of the shape and element type of `input_x`.

    Raises:
        TypeError: If an argument is of another type, or `input_x` does not consist of numbers.
        ValueError: If `op` is not one of ReduceOp, or there is no device `dest_rank` in the group.
    """
    check_numbers("Reduce", "input_x", input_x)
    others = members(group)
    number = 1 if others is None else others.size
    if not 0 <= dest_rank < number:
        raise ValueError(f"For 'Reduce', 'dest_rank' should be from 0 to {number - 1}, but got {dest_rank}.")
    return input_x if others is None else _reduce_to_root(input_x, dest_rank, op, others)


def _get_group_and_root(name, x, argument, rank, group) -> tuple[DeviceGroup | None, int]:
    """Return the device group and the index of global rank `rank` in it. Raise ValueError if `x` is a scalar."""
    check_numbers(name, "input_x", x)
    if not x.ndim:
        raise ValueError(f"For '{name}', 'input_x' should have at least 1 dimension, but got a scalar.")
    others = members(group)
    return others, index_in_group(rank, argument, name, others)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _gather_to_root(x, root, others):
    return jnp.concatenate(gather_members(x, others))


def _gather_to_root_backward(root, others, _, cotangent):
    return (member_rows(value_of_root(cotangent, root, others), "CollectiveGather", others),)


_gather_to_root.defvjp(lambda x, root, others: (_gather_to_root(x, root, others), None), _gather_to_root_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2, 3))
def _reduce_to_root(x, root, op, others):
    return reduce_members(x, op, others)


def _reduce_to_root_forward(x, root, op, others):
    out = reduce_members(x, op, others)
    return out, None if op == ReduceOp.SUM else (x, out)


def _reduce_to_root_backward(root, op, others, residuals, cotangent):
    """Return the gradient of a reduction to the root, from the cotangent of the root.

    For a sum, each device gets the cotangent unchanged. For a maximum or minimum, only the devices with the extreme
    value get it. For a product, it is multiplied by the factors of the other devices.
    """
    cotangent = value_of_root(cotangent, root, others)
    if residuals is None:
        return (cotangent,)
    x, out = residuals
    if op == ReduceOp.PROD:
        mine = jax.nn.one_hot(others.place(), others.size, dtype=bool)
        factors = jnp.where(mine.reshape(-1, *[1] * x.ndim), jnp.ones_like(x), gather_members(x, others))
        return (cotangent * jnp.prod(factors, axis=0, dtype=x.dtype),)
    return (jnp.where(x == out, cotangent, jnp.zeros_like(cotangent)),)


_reduce_to_root.defvjp(_reduce_to_root_forward, _reduce_to_root_backward)


CASES = [
    case(AlltoAll, F(2, 3), split_count=1, split_dim=0, concat_dim=1),
    refused(ValueError, AlltoAll, F(2, 3), split_count=2, split_dim=0, concat_dim=1),
    refused(ValueError, AlltoAll, F(2, 3), split_count=1, split_dim=2, concat_dim=1),
    case(CollectiveGather, F(2, 3), dest_rank=0),
    refused(ValueError, CollectiveScatter, F(2, 3), src_rank=1),
    case(Reduce, F(2, 3), dest_rank=0),
    refused(ValueError, Reduce, F(2, 3), dest_rank=1),
]
