"""Reuse and return of freed memory, on Linux with glibc. Elsewhere the functions do nothing.

XLA allocates the result of each kernel, and frees it when nothing refers to it. By default glibc returns large blocks
to the operating system at once: each training step in PYNATIVE mode takes its memory anew, page by page. The step of a
Transformer encoder has 30,000 page faults, which cost a third of its time.
"""

import ctypes
import os
import sys
from typing import Any

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3  # of malloc.h
_LARGEST_REUSED = 256 << 20  # bytes of a block; a larger one is returned when it is freed
_MOST_RETAINED = 512 << 20  # free bytes at the end of the heap
_HEAP = 64 << 20  # size of the heap of a thread, which is not returned as long as the padding has this size
_VARIABLES = "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_THRESHOLD_"
_TUNABLES = "glibc.malloc.trim_threshold", "glibc.malloc.top_pad", "glibc.malloc.mmap_threshold"


def reuse_freed_memory() -> None:
    """Let this process reuse freed blocks up to 256 MB for later allocations.

    It retains at most 512 MB of free memory. Settings that the user has chosen by environment variables are respected.
    """
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if any(name in os.environ for name in _VARIABLES) or any(name in tunables for name in _TUNABLES):
        return
    set_option = _find_function("mallopt")
    if set_option is not None:
        set_option(_M_MMAP_THRESHOLD, _LARGEST_REUSED)
        set_option(_M_TRIM_THRESHOLD, _MOST_RETAINED)
        set_option(_M_TOP_PAD, _HEAP)


def return_freed_memory() -> None:
    """Return the memory that this process has freed to the operating system.

    XLA's compiler allocates hundreds of megabytes in small blocks. glibc retains them for later allocations: after the
    compilation of ResNet-50 the process has 500 MB more than it uses.
    """
    trim = _find_function("malloc_trim")
    if trim is not None:
        trim(ctypes.c_size_t(0))


def _find_function(name: str) -> Any:
    """Return a function of the C library; None if it is not glibc's."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
