"""Run equal pipeline stages on separate devices, each on another micro-batch of a batch at the same time (GPipe).

In each round every stage computes one micro-batch and sends the result to the next stage. With m micro-batches and s
stages there are m + s - 1 rounds. Each stage idles in s - 1 of them: the bubble. If a stage has several devices, each
computes some examples of a micro-batch, provided that the stage computes examples independently.

Between steps, the Parameters of the stages and the optimizer's states are sharded over the stages, so that each device
stores its share of their bytes. All arrays of a program have the same set of devices, so a Parameter cannot be stored
only on the devices of one stage. The Parameters are sent to their stages when a step begins, and gradients are sent
back: each device sends at most its own share, once.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

from msnb import log
from msnb.parallel.search.batch_independence import is_batch_independent


def run_pipeline(
    stage: Callable[..., Any],
    params: Sequence[Sequence[Any]],
    keys: Any,
    parts: Any,
    mesh: AbstractMesh,
    axes: tuple[str, ...],
) -> jax.Array:
    """Return the result of all stages, applied in sequence, for each micro-batch.

    Args:
        stage (Callable): ``stage(arrays, key, part)`` returns an array of the shape and type of `part`.
        params (Sequence): For each array in `arrays`, its values for all stages.
        keys (jax.Array): A random key for each micro-batch.
        parts (jax.Array): The micro-batches, stacked along the first axis.
        mesh (AbstractMesh): The devices.
        axes (tuple): The mesh axes along which the stages are arranged.
    """
    stages = math.prod(mesh.shape[a] for a in axes)
    count = parts.shape[0]
    log.info(
        f"A pipeline of {stages} stages and {count} parts: a stage idles in {bubble(stages, count):.0%} of rounds."
    )
    batch_axes = _select_batch_axes(stage, params, keys, parts, mesh, axes)

    def local(arrays, keys, parts):
        number = jax.lax.axis_index(axes)
        stage_params = [a[0] for a in arrays]

        def run_round(received, step):
            part = jnp.clip(step - number, 0, count - 1)
            inputs = jnp.where(number == 0, parts[part], received)
            key = jax.random.fold_in(jax.random.wrap_key_data(keys[part]), number)
            if batch_axes:
                key = jax.random.fold_in(key, jax.lax.axis_index(batch_axes))
            output = stage(stage_params, key, inputs)
            return jax.lax.ppermute(output, axes, [(i, i + 1) for i in range(stages - 1)]), output

        _, outputs = jax.lax.scan(run_round, jnp.zeros_like(parts[0]), jnp.arange(count + stages - 1))
        return jax.lax.psum(jnp.where(number == stages - 1, outputs[stages - 1 :], 0), axes)

    part_spec = PartitionSpec(None, batch_axes) if batch_axes else PartitionSpec()
    specs = [PartitionSpec(axes)] * len(params), PartitionSpec(), part_spec
    run = jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=part_spec, check_vma=False)
    return run(
        [_stack_stage_arrays(stage_arrays, mesh, axes) for stage_arrays in params], jax.random.key_data(keys), parts
    )


def _select_batch_axes(stage, params, keys, parts, mesh, axes):
    """Return the mesh axes that shard the batch axis of a micro-batch, or () if that would change a stage's results."""
    free_axes = tuple(axis for axis in mesh.axis_names if axis not in axes)
    if not free_axes:
        return ()
    param_types = [jax.ShapeDtypeStruct(stage_arrays[0].shape, stage_arrays[0].dtype) for stage_arrays in params]
    part = jax.ShapeDtypeStruct(parts.shape[1:], parts.dtype)
    key = jax.ShapeDtypeStruct((), keys.dtype)
    number = math.prod(mesh.shape[axis] for axis in free_axes)
    if is_batch_independent(lambda shared, part: stage(*shared, part), (param_types, key), part, number):
        return free_axes
    log.once(
        f"The {number} devices of a stage of this pipeline compute all rows each: a part of shape {part.shape} cannot "
        f"be divided by rows, or rows depend on one another."
    )
    return ()


def _stack_stage_arrays(arrays, mesh, axes):
    """Return the arrays of all stages stacked along a new first axis. Before that, each is sharded over the stages
    along its first divisible axis, if it has one.
    """
    number = math.prod(mesh.shape[axis] for axis in axes)
    axis_index = next((k for k, size in enumerate(arrays[0].shape) if size % number == 0), None)
    if axis_index is None:
        return jnp.stack(arrays)
    spec = PartitionSpec(*[None] * axis_index, axes)
    constrained = [jax.lax.with_sharding_constraint(array, NamedSharding(mesh, spec)) for array in arrays]
    return jax.lax.with_sharding_constraint(jnp.stack(constrained), NamedSharding(mesh, PartitionSpec(None, *spec)))


def bubble(stages: int, parts: int) -> float:
    """Return the fraction of the rounds in which a stage idles.

    Examples:
        >>> from msnb.parallel.modes.gpipe import bubble
        >>> round(bubble(4, 8), 3)
        0.273
    """
    return (stages - 1) / (parts + stages - 1)
