"""How much memory of a device is in use, as XLA's allocator counts it; 0 on a CPU, where it does not count."""

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
    """
    How MindSpore manages memory; XLA's allocator has settings of its own, of which this tells.

    Args:
        init_size (str): Size of the pool at first. Default: "2GB".
        increase_size (str): By how much it grows. Default: "2GB".
        max_size (str): The most, `set_context(max_device_memory=...)`. Default: "1024GB".
        optimize_level (str): "O0" or "O1". Default: "O0".
        huge_page_reserve_size (str): Size of the huge pages. Default: "0GB".

    Raises:
        TypeError: If one is no string.
        ValueError: If `max_size` is no size, or `optimize_level` another one.
    """
    context.set_context(max_device_memory=max_size)


def memory_stats(device_target: str | None = None) -> dict[str, Any]:
    """
    What XLA's allocator counts on a device.

    Args:
        device_target (str): "CPU", "GPU" or "TPU". Default: None, the device that computes.

    Returns:
        dict, bytes reserved, allocated and idle, the most of both so far, and under "jax" all that JAX says.

    Raises:
        ValueError: If there is no such device.
    """
    counted = context.device(device_target).memory_stats() or {}
    used = counted.get("bytes_in_use", 0)
    reserved = counted.get("pool_bytes", counted.get("bytes_reserved", 0)) or used
    most = counted.get("peak_bytes_in_use", used)
    return {
        "total_reserved_memory": reserved,
        "total_allocated_memory": used,
        "total_idle_memory": reserved - used,
        "max_reserved_memory": max(counted.get("peak_pool_bytes", 0), reserved, most),
        "max_allocated_memory": most,
        "jax": dict(counted),
    }


def memory_reserved(device_target: str | None = None) -> int:
    """
    Bytes that the allocator has taken from a device.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        int.
    """
    return memory_stats(device_target)["total_reserved_memory"]


def max_memory_reserved(device_target: str | None = None) -> int:
    """
    The most bytes that the allocator has taken so far.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        int.
    """
    return memory_stats(device_target)["max_reserved_memory"]


def memory_allocated(device_target: str | None = None) -> int:
    """
    Bytes that arrays and programs hold.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        int.
    """
    return memory_stats(device_target)["total_allocated_memory"]


def max_memory_allocated(device_target: str | None = None) -> int:
    """
    The most bytes that arrays and programs have held so far.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        int.
    """
    return memory_stats(device_target)["max_allocated_memory"]


def memory_summary(device_target: str | None = None) -> str:
    """
    `memory_stats` as a text, in MiB.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Returns:
        str.
    """
    counted = memory_stats(device_target)
    del counted["jax"]
    return "\n".join(f"{name.replace('_', ' '):<24}{size / 2**20:>12.1f} MiB" for name, size in counted.items())


def empty_cache() -> None:
    """Give unused memory back: XLA's allocator keeps it for what comes next, which is said once."""
    log.once("empty_cache() has no effect: XLA's allocator keeps its memory (XLA_PYTHON_CLIENT_ALLOCATOR=platform).")


def _keeps_its_peak(name):
    log.once(f"{name}() has no effect: JAX counts the most memory since Python started.")


def reset_peak_memory_stats(device_target: str | None = None) -> None:
    """
    Count the most memory anew: JAX cannot, which is said once.

    Args:
        device_target (str): See `memory_stats`. Default: None.

    Raises:
        ValueError: If there is no such device.
    """
    context.device(device_target)
    _keeps_its_peak("reset_peak_memory_stats")


def reset_max_memory_reserved(device_target: str | None = None) -> None:
    """
    See `reset_peak_memory_stats`.

    Args:
        device_target (str): See `memory_stats`. Default: None.
    """
    context.device(device_target)
    _keeps_its_peak("reset_max_memory_reserved")


def reset_max_memory_allocated(device_target: str | None = None) -> None:
    """
    See `reset_peak_memory_stats`.

    Args:
        device_target (str): See `memory_stats`. Default: None.
    """
    context.device(device_target)
    _keeps_its_peak("reset_max_memory_allocated")
