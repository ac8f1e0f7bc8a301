"""Equal stages on devices of their own: the parts of a batch go through them one behind the other (GPipe).

In each round every stage computes one part and hands it on. Of m parts and s stages m + s - 1 rounds come, in s - 1 of
which a stage has nothing to do: the bubble. The devices that a stage has besides its first compute rows of each part,
where the stage computes each row by itself.

Between two steps the Parameters of the stages, and what an optimizer keeps of them, are cut over the stages, so that
each device has its share of their bytes. One program has one set of devices for all of its arrays, and no Parameter can
be on some of them alone; so they are sent to their stages as a step begins, and their gradients back: each device sends
no more than what it has, once.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

from msnb import log
from msnb.parallel.rows import by_rows


def pipelined(
    stage: Callable[..., Any],
    params: Sequence[Sequence[Any]],
    keys: Any,
    parts: Any,
    mesh: AbstractMesh,
    axes: tuple[str, ...],
) -> jax.Array:
    """What all stages, one after the other, make of each part.

    Args:
        stage (Callable): ``stage(arrays, key, part)`` gives a part of the same shape and type.
        params (Sequence): For each array that a stage takes, that of each stage.
        keys (jax.Array): A key for each part.
        parts (jax.Array): The parts, one below the other.
        mesh (AbstractMesh): The devices.
        axes (tuple): The axes of the mesh along which the stages are.
    """
    stages = math.prod(mesh.shape[a] for a in axes)
    count = parts.shape[0]
    log.info(
        f"A pipeline of {stages} stages and {count} parts: a stage idles in {bubble(stages, count):.0%} of rounds."
    )
    rest = _cutting_rows(stage, params, keys, parts, mesh, axes)

    def local(arrays, keys, parts):
        number = jax.lax.axis_index(axes)
        own = [a[0] for a in arrays]

        def one_round(handed, when):
            part = jnp.clip(when - number, 0, count - 1)
            given = jnp.where(number == 0, parts[part], handed)
            key = jax.random.fold_in(jax.random.wrap_key_data(keys[part]), number)
            if rest:
                key = jax.random.fold_in(key, jax.lax.axis_index(rest))
            made = stage(own, key, given)
            return jax.lax.ppermute(made, axes, [(i, i + 1) for i in range(stages - 1)]), made

        _, made = jax.lax.scan(one_round, jnp.zeros_like(parts[0]), jnp.arange(count + stages - 1))
        return jax.lax.psum(jnp.where(number == stages - 1, made[stages - 1 :], 0), axes)

    rows = PartitionSpec(None, rest) if rest else PartitionSpec()
    specs = [PartitionSpec(axes)] * len(params), PartitionSpec(), rows
    run = jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=rows, check_vma=False)
    return run([_together(same, mesh, axes) for same in params], jax.random.key_data(keys), parts)


def _cutting_rows(stage, params, keys, parts, mesh, axes):
    """The axes of the mesh that cut the rows of a part; none where that would change what a stage computes."""
    rest = tuple(axis for axis in mesh.axis_names if axis not in axes)
    if not rest:
        return ()
    like = [jax.ShapeDtypeStruct(same[0].shape, same[0].dtype) for same in params]
    part = jax.ShapeDtypeStruct(parts.shape[1:], parts.dtype)
    key = jax.ShapeDtypeStruct((), keys.dtype)
    number = math.prod(mesh.shape[axis] for axis in rest)
    if by_rows(lambda given, part: stage(*given, part), (like, key), part, number):
        return rest
    log.once(
        f"The {number} devices of a stage of this pipeline compute all rows each: a part of shape {part.shape} cannot "
        f"be divided by rows, or rows depend on one another."
    )
    return ()


def _together(same, mesh, axes):
    """The arrays of all stages with an axis of the stages in front; before, each is cut over the stages, if it can be
    cut at all."""
    number = math.prod(mesh.shape[axis] for axis in axes)
    at = next((k for k, size in enumerate(same[0].shape) if size % number == 0), None)
    if at is None:
        return jnp.stack(same)
    cut = PartitionSpec(*[None] * at, axes)
    held = [jax.lax.with_sharding_constraint(array, NamedSharding(mesh, cut)) for array in same]
    return jax.lax.with_sharding_constraint(jnp.stack(held), NamedSharding(mesh, PartitionSpec(None, *cut)))


def bubble(stages: int, parts: int) -> float:
    """The share of the rounds in which a stage has nothing to do.

    Examples:
        >>> from msnb.parallel.pipeline import bubble
        >>> round(bubble(4, 8), 3)
        0.273
    """
    return (stages - 1) / (parts + stages - 1)
