"""Errors of a compiled program: it returns a code as its last result, and the report raises the error of that code."""

import copy
from typing import Any

import numpy as np

from msnb.core.errors.messages import format_location, raise_at
from msnb.core.operator.value_checks import Finding
from msnb.core.state import deferred_errors


class ErrorReport:
    """The possible run-time errors of one program, and the code of each.

    Args:
        entries (list): (exception or `Finding`, location). The code of an entry is its index + 1. A location is
            (file, line, function), or None.
        title (str): Name of the program in messages.
        first_line (Union[tuple, None]): (file, line, text) of the user's line that caused the trace.
    """

    __slots__ = ("_entries", "_title", "_first_line", "_waits")

    def __init__(self, entries: list[Any], title: str, first_line: tuple[str, int, str] | None) -> None:
        self._entries, self._title, self._first_line = entries, title, first_line
        # True if a call must wait for its error code
        self._waits: bool = not all(isinstance(e, Finding) and e.is_deferred for e, _ in entries)

    def report(self, verdict: Any) -> None:
        """Raise the error of a run, if it has one, now or at a later poll.

        Args:
            verdict (jax.Array): The code, 0 for none, and the offending value.
        """
        if self._waits:
            self._raise_if_error(np.asarray(verdict))
        else:
            deferred_errors.defer(verdict, self._raise_if_error)

    def _raise_if_error(self, verdict):
        code, value = verdict.tolist()
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
