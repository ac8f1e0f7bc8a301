"""Filter out the lines that gloo, the communication library of CPUs, prints when devices connect.

gloo is C++ and writes to the file descriptor of the standard output. No setting and nothing in Python stops it.
"""

import os
import threading

_LINE_PREFIX = b"[Gloo] Rank "


def is_gloo_line(line: bytes) -> bool:
    """Return True if a line of output comes from gloo."""
    return line.startswith(_LINE_PREFIX)


def filter_descriptor(descriptor: int = 1) -> None:
    """Remove gloo's lines from the output to a file descriptor of this process. All other output is unchanged.

    Kernels of a notebook call it; otherwise their cells would show the lines. Python's `print` does not write to the
    descriptor in a notebook.

    Args:
        descriptor (int): The file descriptor. Default: 1, the standard output.
    """
    original = os.dup(descriptor)
    read_end, write_end = os.pipe()
    os.dup2(write_end, descriptor)
    os.close(write_end)
    threading.Thread(target=_copy_lines_except_gloo, args=(read_end, original), daemon=True).start()


def _copy_lines_except_gloo(read_end, original):
    """Copy all output except gloo's lines. A partial line is copied at once if it cannot become one of gloo's lines."""
    pending = b""
    while data := os.read(read_end, 1 << 16):
        *lines, pending = (pending + data).split(b"\n")
        output = b"".join(line + b"\n" for line in lines if not is_gloo_line(line))
        if not _LINE_PREFIX.startswith(pending[: len(_LINE_PREFIX)]):
            output, pending = output + pending, b""
        if output:
            os.write(original, output)
    os.write(original, pending)
