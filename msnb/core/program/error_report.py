"""Errors of a compiled program: it returns a code as its last result, and the report raises the error of that code."""

import copy
from typing import Any

import numpy as np

from msnb.core.errors.messages import format_location, raise_at
from msnb.core.operator.value_checks import Finding
from msnb.core.state import deferred_errors

NO_ERROR = np.zeros(2, np.int32)


class ErrorReport:
    """The possible run-time errors of one program, and the code of each. `deferred_errors` calls it with a code.

    Args:
        entries (list): (exception or `Finding`, location). The code of an entry is its index + 1. A location is
            (file, line, function), or None.
        title (str): Name of the program in messages.
        first_line (Union[tuple, None]): (file, line, text) of the user's line that caused the trace.

    Attributes:
        is_deferred (bool): False if a call must wait for its error code.
        unused_code (Union[jax.Array, None]): A code of a run that was read and is 0. The next run may use it as the
            code of the previous one.
    """

    __slots__ = ("_entries", "_title", "_first_line", "is_deferred", "unused_code")

    def __init__(self, entries: list[Any], title: str, first_line: tuple[str, int, str] | None) -> None:
        self._entries, self._title, self._first_line = entries, title, first_line
        self.is_deferred: bool = all(isinstance(e, Finding) and e.is_deferred for e, _ in entries)
        self.unused_code: Any = None

    def report(self, verdict: Any) -> None:
        """Raise the error of a run, if it has one, now or at a later poll.

        Args:
            verdict (jax.Array): The code, 0 for none, and the offending value.
        """
        if self.is_deferred:
            deferred_errors.defer(verdict, self)
        else:
            self(verdict)

    def __call__(self, verdict: Any) -> None:
        """Raise the error of a code, if it has one."""
        code, value = np.asarray(verdict).tolist()
        self.unused_code = None if code else verdict
        if code:
            error, location = self._entries[code - 1]
            error = error.error(value) if isinstance(error, Finding) else copy.copy(error)
            if location is None:
                raise error
            file, line, function = location
            where = format_location(file, line)
            if self._first_line is not None and (file, line) == self._first_line[:2]:
                # The only line of the user is the one that calls the graph: the operator is in a Cell of msnb.
                error.add_note(f"raised in the graph of {self._title}, first called at {where}")
                raise error
            error.add_note(f"raised in the graph at {where}")
            raise_at(error, file, line, function.rpartition(" ")[2].strip("'"))  # also for "function 'f'"
