"""Re-export module of MindSpore 2's `mindspore.runtime`: memory and streams of the device."""

from typing import Any

from msnb.common.missing import asked
from msnb.runtime.executor import dispatch_threads_num, launch_blocking, set_cpu_affinity, set_kernel_launch_group
from msnb.runtime.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
    set_memory,
)
from msnb.runtime.stream import (
    Event,
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    set_cur_stream,
    synchronize,
)

__all__ = [
    "launch_blocking",
    "dispatch_threads_num",
    "set_cpu_affinity",
    "set_kernel_launch_group",
    "Stream",
    "StreamCtx",
    "Event",
    "synchronize",
    "current_stream",
    "default_stream",
    "communication_stream",
    "set_cur_stream",
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


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
