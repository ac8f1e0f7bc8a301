"""Reuse of the memory of images and batches."""

import functools

import numpy as np

_LARGEST_BLOCK = 31 << 20  # bytes; glibc does not go beyond 32 MiB


@functools.cache
def keep_freed_memory():
    """Let the C library reuse freed memory of images and batches instead of returning it to the kernel.

    With a C library other than glibc this has no effect.
    """
    # glibc maps each block above a threshold from the kernel, which clears its pages. This took a fifth of the time of
    # decoding a picture. Freeing such a block raises the threshold to its size, so one is allocated and freed here.
    np.empty(_LARGEST_BLOCK, np.uint8)


__all__ = ["keep_freed_memory"]
