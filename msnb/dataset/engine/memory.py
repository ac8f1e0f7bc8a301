"""Memory that pipelines use over and over."""

import functools

import numpy as np

_MOST = 31 << 20  # bytes; glibc does not go beyond 32 MiB


@functools.cache
def keep_freed_memory():
    """Let the C library keep the memory of images and batches when they are given back, for the next ones.

    glibc asks the kernel for every block above a threshold, and the kernel clears each page anew: a fifth of the time
    that decoding a picture takes. The threshold follows the largest such block that was given back, so one is.
    Other C libraries take no notice.
    """
    np.empty(_MOST, np.uint8)


__all__ = ["keep_freed_memory"]
