"""What msnb says while a notebook runs: one line for the reader, with the line of theirs that brought it up."""

import sys
from logging import LogRecord
from typing import Any

from msnb import log
from msnb.core.errors.messages import is_library_code
from msnb.core.errors.source_location import format_location
from msnb.insight.short_traceback import is_library_file


def install(shell: Any) -> Any:
    """Show the log so; returns what undoes it."""
    log.show_own(_line)
    return lambda: log.show_own(None)


def _line(record: LogRecord) -> str:
    """``msnb: sentence (In [3] line 2)``."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_library_code(file) and not is_library_file(file):
            return f"msnb: {record.getMessage()} ({format_location(file, frame.f_lineno)})"
        frame = frame.f_back
    return f"msnb: {record.getMessage()}"
