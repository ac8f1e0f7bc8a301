"""Equal stages on devices of their own: the parts of a batch go through them one behind the other (GPipe).

In each round every stage computes one part and hands it on. Of m parts and s stages m + s - 1 rounds come, in s - 1 of
which a stage has nothing to do: the bubble.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec

from msnb import log
from msnb.parallel.mesh import named_mesh, take_axes


def pipelined(
    stage: Callable[..., Any], arrays: Sequence[Any], keys: Any, parts: Any, devices: int, stages: int
) -> jax.Array:
    """What all stages, one after the other, make of each part.

    Args:
        stage (Callable): ``stage(arrays, key, part)`` gives a part of the same shape and type.
        arrays (Sequence): What the stages have, each with an axis of the stages in front.
        keys (jax.Array): A key for each part.
        parts (jax.Array): The parts, one below the other.
        devices (int): How many devices there are; those that a stage has besides its first compute the same.
        stages (int): How many stages.
    """
    mesh = named_mesh(devices)
    (axes,) = take_axes(mesh, (stages,))
    count = parts.shape[0]
    log.info(
        f"A pipeline of {stages} stages and {count} parts: a stage idles in {bubble(stages, count):.0%} of rounds."
    )

    def local(arrays, keys, parts):
        number = jax.lax.axis_index(axes)
        own = [a[0] for a in arrays]

        def one_round(handed, when):
            part = jnp.clip(when - number, 0, count - 1)
            given = jnp.where(number == 0, parts[part], handed)
            key = jax.random.fold_in(jax.random.wrap_key_data(keys[part]), number)
            made = stage(own, key, given)
            return jax.lax.ppermute(made, axes, [(i, i + 1) for i in range(stages - 1)]), made

        _, made = jax.lax.scan(one_round, jnp.zeros_like(parts[0]), jnp.arange(count + stages - 1))
        return jax.lax.psum(jnp.where(number == stages - 1, made[stages - 1 :], 0), axes)

    whole = PartitionSpec()
    cut = [PartitionSpec(axes)] * len(arrays)
    run = jax.shard_map(local, mesh=mesh, in_specs=(cut, whole, whole), out_specs=whole, check_vma=False)
    return run(list(arrays), jax.random.key_data(keys), parts)


def bubble(stages: int, parts: int) -> float:
    """The share of the rounds in which a stage has nothing to do.

    Examples:
        >>> from msnb.parallel.pipeline import bubble
        >>> round(bubble(4, 8), 3)
        0.273
    """
    return (stages - 1) / (parts + stages - 1)
