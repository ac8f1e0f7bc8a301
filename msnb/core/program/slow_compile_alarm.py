"""XLA's alarm about a compilation that takes longer than two minutes stays out of the cell.

It writes four lines of its own on the process's standard error, and four more at the end; what a person waits for has
been said since the second second, and a bug is not what there is to file. Everything else that is written there while
one compiles arrives as before.
"""

import os
import sys
import threading

AFTER = 60.0  # seconds of compiling from which the alarm is held back; it comes after 120
_HEAD, _RULE = b"slow_operation_alarm.cc", b"*" * 20


class HeldBack:
    """A context within which standard error passes without the alarm."""

    def __enter__(self):
        sys.stderr.flush()
        self._real = os.dup(2)
        read, write = os.pipe()
        os.dup2(write, 2)
        os.close(write)
        self._thread = threading.Thread(target=_pass_on, args=(read, self._real), name="msnb-alarm", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        sys.stderr.flush()
        os.dup2(self._real, 2)  # the pipe's last end, unless a process that began meanwhile has one
        self._thread.join(timeout=1)


def _pass_on(read, real):
    """Write what comes in line by line, but for the alarm: a head, and a text between two rules."""
    rules = 2
    with os.fdopen(read, "rb") as lines:
        for line in lines:
            if _HEAD in line:
                rules = 0
            elif rules < 2:
                rules += _RULE in line
            else:
                os.write(real, line)
    os.close(real)
