"""Log messages in a notebook: one line, with the user's source line that caused it."""

import sys
from logging import LogRecord
from typing import Any

from msnb import log
from msnb.core.errors.messages import is_library_code
from msnb.core.errors.source_location import format_location
from msnb.insight.short_traceback import is_library_file


def install(shell: Any) -> Any:
    """Show log messages as one line with the user's source location. Return the undo function."""
    log.show_own(_format_record)
    return lambda: log.show_own(None)


def _format_record(record: LogRecord) -> str:
    """Format a record as ``msnb: sentence (In [3] line 2)``."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_library_code(file) and not is_library_file(file):
            return f"msnb: {record.getMessage()} ({format_location(file, frame.f_lineno)})"
        frame = frame.f_back
    return f"msnb: {record.getMessage()}"
