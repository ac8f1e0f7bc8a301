"""Errors that a traced program can raise when it runs: each has a code, which the program returns."""

from typing import Any


class RuntimeErrors:
    """The errors that one traced program can raise when it runs.

    Attributes:
        entries (list): (exception or `value_checks.Finding`, location). The code of an entry is its index + 1.
        handlers (list): Locations of the enclosing `try` statements.
        refusal (Union[Exception, None]): The error that the trace raises at its end; None if there is none.
    """

    __slots__ = ("entries", "handlers", "refusal")

    def __init__(self) -> None:
        self.entries: list[tuple[Any, tuple[Any, ...]]] = []
        self.handlers: list[tuple[Any, ...]] = []
        self.refusal: Exception | None = None

    def add(self, error: Any, location: tuple[Any, ...]) -> int:
        """Add a possible error of the code at `location`; return its code."""
        self.entries.append((error, location))
        return len(self.entries)

    def snapshot(self) -> tuple[int, Exception | None]:
        """Return the state for `is_unchanged` and `restore`."""
        return len(self.entries), self.refusal

    def is_unchanged(self, snapshot: tuple[int, Exception | None]) -> bool:
        """Return True if no error was added since `snapshot`."""
        return len(self.entries) == snapshot[0] and self.refusal is snapshot[1]

    def restore(self, snapshot: tuple[int, Exception | None]) -> None:
        """Remove the errors that were added since `snapshot`."""
        count, self.refusal = snapshot
        del self.entries[count:]
