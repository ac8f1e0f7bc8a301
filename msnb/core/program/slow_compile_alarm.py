"""Suppress XLA's slow-compilation warning; msnb shows its own progress line.

XLA writes four lines to the standard error of the process, and four more at the end. All other output to standard error
during a compilation is passed through.
"""

import os
import sys
import threading

AFTER = 60.0  # seconds of compiling before the filter starts; XLA warns after 120
_HEAD, _RULE = b"slow_operation_alarm.cc", b"*" * 20


class SuppressAlarm:
    """A context manager that filters XLA's slow-compilation warning out of standard error."""

    def __enter__(self):
        sys.stderr.flush()
        self._real = os.dup(2)
        read, write = os.pipe()
        os.dup2(write, 2)
        os.close(write)
        self._thread = threading.Thread(
            target=_copy_lines_without_alarm, args=(read, self._real), name="msnb-alarm", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *error):
        sys.stderr.flush()
        os.dup2(self._real, 2)  # closes the last write end of the pipe, unless a child process inherited one
        self._thread.join(timeout=1)


def _copy_lines_without_alarm(read, real):
    """Copy lines from the descriptor `read` to `real`, without XLA's warning.

    The warning is a header line, and text between two horizontal rules.
    """
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
