"""Errors of the user's own functions: said at once, with the column, the sample and the line."""

import os
import sysconfig
import traceback
from collections.abc import Sequence
from typing import Any

from msnb._util.package_path import PACKAGE
from msnb.core.errors.source_location import format_location

_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


_FILES = 3  # as many are named


class UserError(RuntimeError):
    """A RuntimeError that already says where it happened.

    Attributes:
        retells (bool): That its sentence is that of its cause: who shows both needs one of them.
        before: (columns, number) of the rows of the same chunk that were made before it happened: they come first.
        sample: number of the row in the epoch at which an operation of ``map`` failed.
    """

    retells = True
    before = None
    sample: int | None = None

    def tell_files(self, operation: str, files: Sequence[str]) -> None:
        """Add the files of the row, in MindSpore's words; of many the first ones."""
        if files:
            more = f" and {len(files) - _FILES} more" if len(files) > _FILES else ""
            told = f"map operation: [{operation}] failed. The corresponding data files: {', '.join(files[:_FILES])}"
            self.args = (f"{self.args[0]}\n{told}{more}.",)


class NoDataError(RuntimeError):
    """A source has nothing for what was asked: its size is 0, and iterating is an error.

    Args:
        dataset (str): Name of the class.
        hint (str): What is missing.
    """

    def __init__(self, dataset: str, hint: str = "") -> None:
        super().__init__(
            f"Invalid data, no valid data matching the dataset API {dataset}. Please check file path or dataset API"
            + (f": {hint}" if hint else ".")
        )


def users_line(error: BaseException) -> str | None:
    """``file:line, in function: text`` of the innermost frame of the user's, a library's where there is none; "" when
    all are msnb's.
    """
    if hasattr(error, "msnb_line"):  # raised in another process
        return error.msnb_line
    frames = traceback.extract_tb(error.__traceback__)
    frames = [f for f in reversed(frames) if not os.path.abspath(f.filename).startswith(PACKAGE)]
    own = [f for f in frames if not f.filename.startswith(_LIBRARIES)]
    return next((f"{format_location(f.filename, f.lineno or 0)}, in {f.name}: {f.line}" for f in own or frames), "")


def rows_before(error: BaseException) -> tuple[Any, int]:
    """(columns, number) of the rows that were made before an error; (None, 0) when there is none."""
    return getattr(error, "before", None) or (None, 0)


def located(error: Exception, what: str, columns: Sequence[str] = (), sample: int | None = None) -> Exception:
    """A RuntimeError that tells what failed, in which columns, at which sample and at which line of the user's."""
    if isinstance(error, UserError | KeyboardInterrupt | SystemExit):
        return error
    where = []
    if columns:
        where.append(f"column {', '.join(repr(c) for c in columns)}")
    if sample is not None:
        where.append(f"sample {sample} of this epoch")
    text = str(error) or repr(error)
    if not isinstance(error, RuntimeError):
        text = f"{type(error).__name__}: {text}"
    message = f"{text} [{what} failed" + (f" on {', '.join(where)}" if where else "") + "]"
    line = users_line(error)
    if line:
        message += f"\nRaised at {line}"
    return UserError(message)
