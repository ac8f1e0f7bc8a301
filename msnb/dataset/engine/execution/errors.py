"""Errors in the user's functions: messages with the column, the sample and the line of code."""

import os
import sysconfig
import traceback
from collections.abc import Sequence
from typing import Any

from msnb._util.package_path import PACKAGE
from msnb.core.errors.source_location import format_location

_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


_MAX_NAMED_FILES = 3  # further files are only counted


class UserError(RuntimeError):
    """Error in a user's function; the message includes the operation, the sample and the line of code.

    Attributes:
        retells (bool): True if the message repeats that of ``__cause__``, so that a display needs only one of them.
        before: (columns, number) of the rows of the same chunk that were computed before the error; they are
            yielded first.
        sample: Number of the row in the epoch for which an operation of ``map`` failed.
    """

    retells = True
    before = None
    sample: int | None = None

    def add_files(self, operation: str, files: Sequence[str]) -> None:
        """Add the files of the failing row to the message, in MindSpore's words. Only the first ones are named."""
        if files:
            more = f" and {len(files) - _MAX_NAMED_FILES} more" if len(files) > _MAX_NAMED_FILES else ""
            names = ", ".join(files[:_MAX_NAMED_FILES])
            sentence = f"map operation: [{operation}] failed. The corresponding data files: {names}{more}."
            self.args = (f"{self.args[0]}\n{sentence}",)


class NoDataError(RuntimeError):
    """Error of a source that finds no data for its arguments. Its size is 0, and iterating over it raises this error.

    Args:
        dataset (str): Name of the class.
        hint (str): Text that names the missing data.
    """

    def __init__(self, dataset: str, hint: str = "") -> None:
        super().__init__(
            f"Invalid data, no valid data matching the dataset API {dataset}. Please check file path or dataset API"
            + (f": {hint}" if hint else ".")
        )


def find_user_line(error: BaseException) -> str | None:
    """Return ``file:line, in function: text`` of the innermost stack frame in the user's code.

    If there is none, return the innermost frame of a library. If all frames are msnb's, return "".
    """
    if hasattr(error, "msnb_line"):  # set for an error of a worker process
        return error.msnb_line
    frames = traceback.extract_tb(error.__traceback__)
    frames = [f for f in reversed(frames) if not os.path.abspath(f.filename).startswith(PACKAGE)]
    user_frames = [f for f in frames if not f.filename.startswith(_LIBRARIES)]
    return next(
        (f"{format_location(f.filename, f.lineno or 0)}, in {f.name}: {f.line}" for f in user_frames or frames), ""
    )


def rows_before(error: BaseException) -> tuple[Any, int]:
    """Return (columns, count) of the rows that were computed before an error, or (None, 0)."""
    return getattr(error, "before", None) or (None, 0)


def locate_error(error: Exception, operation: str, columns: Sequence[str] = (), sample: int | None = None) -> Exception:
    """Return a RuntimeError with the failing operation, its columns, the sample and the user's line."""
    if isinstance(error, UserError | KeyboardInterrupt | SystemExit):
        return error
    details = []
    if columns:
        details.append(f"column {', '.join(repr(c) for c in columns)}")
    if sample is not None:
        details.append(f"sample {sample} of this epoch")
    text = str(error) or repr(error)
    if not isinstance(error, RuntimeError):
        text = f"{type(error).__name__}: {text}"
    message = f"{text} [{operation} failed" + (f" on {', '.join(details)}" if details else "") + "]"
    line = find_user_line(error)
    if line:
        message += f"\nRaised at {line}"
    return UserError(message)
