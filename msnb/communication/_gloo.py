"""What gloo, the library through which CPUs communicate, says of itself: a line whenever devices meet, to everybody.

It is written by C++ to the descriptor of the standard output, where no setting and nothing of Python stops it.
"""

import os
import threading

_SAID = b"[Gloo] Rank "


def is_said(line: bytes) -> bool:
    """Whether a line of output is one of gloo's."""
    return line.startswith(_SAID)


def leave_out(descriptor: int = 1) -> None:
    """From now on gloo's lines do not come through a descriptor of this process; all else does, as it is written.

    For a process that belongs to a notebook, whose cells would show them. What Python prints there goes another way.

    Args:
        descriptor (int): Where it writes. Default: 1, the standard output.
    """
    behind = os.dup(descriptor)
    reading, writing = os.pipe()
    os.dup2(writing, descriptor)
    os.close(writing)
    threading.Thread(target=_pass_on, args=(reading, behind), daemon=True).start()


def _pass_on(reading, behind):
    """Whole lines that are not gloo's, and at once what cannot become one of these."""
    held = b""
    while said := os.read(reading, 1 << 16):
        *lines, held = (held + said).split(b"\n")
        passed = b"".join(line + b"\n" for line in lines if not is_said(line))
        if not _SAID.startswith(held[: len(_SAID)]):
            passed, held = passed + held, b""
        if passed:
            os.write(behind, passed)
    os.write(behind, held)
