"""Memory in use on a device, as counted by XLA's allocator. It is 0 on a CPU, where XLA does not count."""

from typing import Annotated, Any

from msnb import context, log
from msnb.common.kinds import OneOf, Str, checked

__all__ = [
    "set_memory",
    "memory_stats",
    "memory_reserved",
    "max_memory_reserved",
    "memory_allocated",
    "max_memory_allocated",
    "memory_summary",
    "empty_cache",
    "reset_peak_memory_stats",
    "reset_max_memory_reserved",
    "reset_max_memory_allocated",
]

_XLA = "XLA's allocator takes what it needs; XLA_PYTHON_CLIENT_MEM_FRACTION says how much it may have"


@checked
def set_memory(
    init_size: Annotated[str, OneOf("2GB", otherwise=_XLA)] = "2GB",
    increase_size: Annotated[str, OneOf("2GB", otherwise=_XLA)] = "2GB",
    max_size: Str = "1024GB",
    optimize_level: Annotated[str, OneOf("O0", otherwise=_XLA, among=OneOf("O0", "O1"))] = "O0",
    huge_page_reserve_size: Annotated[str, OneOf("0GB", otherwise=_XLA)] = "0GB",
) -> None:
    """Change settings of the memory pool. Only `max_size` has an effect, because XLA's allocator has other settings.

    Args:
        init_size (str): Initial size of the pool. Default: "2GB".
        increase_size (str): Size by which it grows. Default: "2GB".
        max_size (str): Maximum size, `set_context(max_device_memory=...)`. Default: "1024GB".
        optimize_level (str): "O0" or "O1". Default: "O0".
        huge_page_reserve_size (str): Size of the huge pages. Default: "0GB".

    Raises:
        TypeError: If one is not a string.
        ValueError: If `max_size` is no size, or `optimize_level` is neither "O0" nor "O1".
    """
    context.set_context(max_device_memory=max_size)


def memory_stats(device_target: str | None = None) -> dict[str, Any]:
    """Return the memory statistics of XLA's allocator for a device.

    Args:
        device_target (str): "CPU", "GPU" or "TPU". Default: None, the device that computes.

    Returns:
        dict, bytes reserved, allocated and idle, the peaks of the first two, and under "jax" all statistics of JAX.

    Raises:
        ValueError: If there is no such device.
    """
    stats = context.device(device_target).memory_stats() or {}
    used = stats.get("bytes_in_use", 0)
    reserved = stats.get("pool_bytes", stats.get("bytes_reserved", 0)) or used
    peak = stats.get("peak_bytes_in_use", used)
    return {
        "total_reserved_memory": reserved,
        "total_allocated_memory": used,
        "total_idle_memory": reserved - used,
        "max_reserved_memory": max(stats.get("peak_pool_bytes", 0), reserved, peak),
        "max_allocated_memory": peak,
        "jax": dict(stats),
    }


def memory_reserved(device_target: str | None = None) -> int:
    """Return the bytes that the allocator has taken from a device.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        int.
    """
    return memory_stats(device_target)["total_reserved_memory"]


def max_memory_reserved(device_target: str | None = None) -> int:
    """Return the peak of the bytes that the allocator has taken.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        int.
    """
    return memory_stats(device_target)["max_reserved_memory"]


def memory_allocated(device_target: str | None = None) -> int:
    """Return the bytes in use by arrays and programs.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        int.
    """
    return memory_stats(device_target)["total_allocated_memory"]


def max_memory_allocated(device_target: str | None = None) -> int:
    """Return the peak of the bytes in use by arrays and programs.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        int.
    """
    return memory_stats(device_target)["max_allocated_memory"]


def memory_summary(device_target: str | None = None) -> str:
    """Return `memory_stats` as a text, in MiB.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        str.
    """
    stats = memory_stats(device_target)
    del stats["jax"]
    return "\n".join(f"{name.replace('_', ' '):<24}{size / 2**20:>12.1f} MiB" for name, size in stats.items())


def empty_cache() -> None:
    """Release unused memory. It has no effect, which is logged once: XLA's allocator keeps memory for later use."""
    log.once("empty_cache() has no effect: XLA's allocator keeps its memory (XLA_PYTHON_CLIENT_ALLOCATOR=platform).")


def _log_unresettable_peak(name):
    log.once(f"{name}() has no effect: JAX counts the most memory since Python started.")


def reset_peak_memory_stats(device_target: str | None = None) -> None:
    """Reset the memory peaks. It has no effect, which is logged once: JAX cannot reset them.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Raises:
        ValueError: If there is no such device.
    """
    context.device(device_target)
    _log_unresettable_peak("reset_peak_memory_stats")


def reset_max_memory_reserved(device_target: str | None = None) -> None:
    """
    See `reset_peak_memory_stats`.

    Args:
        device_target (str): See `memory_stats`. Default: None.
    """
    context.device(device_target)
    _log_unresettable_peak("reset_max_memory_reserved")


def reset_max_memory_allocated(device_target: str | None = None) -> None:
    """
    See `reset_peak_memory_stats`.

    Args:
        device_target (str): See `memory_stats`. Default: None.
    """
    context.device(device_target)
    _log_unresettable_peak("reset_max_memory_allocated")
