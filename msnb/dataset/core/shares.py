"""Which share of a data set a process reads when `num_shards` and `shard_id` are not given.

A program of several processes divides every data set among them. How many there are, and which this one is, a provider
tells; the one to begin with asks ``jax.distributed``, and what is above can register another.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msnb import log

if TYPE_CHECKING:  # named in annotations alone
    from msnb.dataset.engine.samplers import Sampler


def _processes_of_jax():
    import jax

    if not jax.distributed.is_initialized():
        return None
    return jax.process_count(), jax.process_index()


_provider = _processes_of_jax


def set_share_provider(provider: Callable[..., Any]) -> Callable[..., Any]:
    """Register who tells the number of processes and of this one.

    Args:
        provider (Callable): Takes nothing; returns (num_shards, shard_id), or None for a program of one process. None
            restores the one that asks ``jax.distributed``.

    Returns:
        Callable, the provider before.
    """
    global _provider
    before, _provider = _provider, provider or _processes_of_jax
    return before


def share(
    num_shards: int | None, shard_id: int | None, sampler: "Sampler | None" = None
) -> tuple[int | None, int | None]:
    """(num_shards, shard_id) as given, or this process's share when neither they nor a sampler are given.

    Args:
        num_shards, shard_id (Union[int, None]): As the user gave them.
        sampler (Union[Sampler, None]): The user's; it alone decides then.
    """
    if num_shards is not None or sampler is not None:
        return num_shards, shard_id
    told = _provider()
    if told is None or told[0] == 1:
        return None, None
    log.once(
        "Data sets are divided among the %d processes; this one reads share %d. Give num_shards=1 and shard_id=0 for "
        "all of the data.",
        *told,
    )
    return told


def say_undivided() -> None:
    """Tell, in a program of several processes, that a source cannot be divided."""
    told = _provider()
    if told is not None and told[0] > 1:
        log.once(
            "A GeneratorDataset over an iterable cannot be divided: each of the %d processes reads all of it. A source "
            "with __getitem__ and __len__ is divided.",
            told[0],
        )
