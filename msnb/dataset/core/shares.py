"""Default shard: the one that a process reads if `num_shards` and `shard_id` are not given.

A program of several processes divides every data set among them. A provider returns the number of processes and the
index of this one. The default provider asks ``jax.distributed``; higher levels can register another.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msnb import log

if TYPE_CHECKING:  # used only in annotations
    from msnb.dataset.engine.samplers import Sampler


def _get_jax_process_shard():
    import jax

    if not jax.distributed.is_initialized():
        return None
    return jax.process_count(), jax.process_index()


_provider = _get_jax_process_shard


def set_share_provider(provider: Callable[..., Any]) -> Callable[..., Any]:
    """Register the function that returns the number of processes and the index of this one.

    Args:
        provider (Callable): Takes no arguments; returns (num_shards, shard_id), or None for a program of one process.
            None restores the default, which asks ``jax.distributed``.

    Returns:
        Callable, the previous provider.
    """
    global _provider
    previous, _provider = _provider, provider or _get_jax_process_shard
    return previous


def resolve_shard(
    num_shards: int | None, shard_id: int | None, sampler: "Sampler | None" = None
) -> tuple[int | None, int | None]:
    """Return the user's (num_shards, shard_id), or the shard of this process if neither they nor a sampler are given.

    Args:
        num_shards, shard_id (Union[int, None]): The user's arguments.
        sampler (Union[Sampler, None]): The user's sampler. If there is one, the arguments are returned unchanged.
    """
    if num_shards is not None or sampler is not None:
        return num_shards, shard_id
    shard = _provider()
    if shard is None or shard[0] == 1:
        return None, None
    log.once(
        "Data sets are divided among the %d processes; this one reads share %d. Give num_shards=1 and shard_id=0 for "
        "all of the data.",
        *shard,
    )
    return shard


def warn_undivided() -> None:
    """Warn that a source cannot be divided into shards, if the program has several processes."""
    shard = _provider()
    if shard is not None and shard[0] > 1:
        log.once(
            "A GeneratorDataset over an iterable cannot be divided: each of the %d processes reads all of it. A source "
            "with __getitem__ and __len__ is divided.",
            shard[0],
        )
