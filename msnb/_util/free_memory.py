"""Return of freed memory to the operating system."""

import ctypes
import sys


def return_freed_memory() -> None:
    """Return the memory that this process has freed to the operating system, with glibc. Elsewhere do nothing.

    XLA's compiler allocates hundreds of megabytes in small blocks. glibc holds on to them for later allocations: after
    the compilation of ResNet-50 the process has 500 MB more than it uses.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(ctypes.c_size_t(0))
