"""State that all frames of one trace share."""

from collections.abc import Iterable
from typing import Any, TypeVar

import jax

from msnb.core.compat.jax_private import run_in_trace_of
from msnb.core.state.cell_changes import CellChanges
from msnb.core.state.runtime_errors import RuntimeErrors

_State = TypeVar("_State")


class ProgramTrace:
    """State of one trace of a program, shared by its root frame and the frames inside it.

    A module of a higher package that has state for each trace defines a class for it; `state_of` returns the instance.

    Args:
        params (Iterable): Parameters that are inputs of the program.

    Attributes:
        missing (dict): id -> Parameter that was read or written without being an input.
        number (Any): Number of the seed stream; the random stream of the trace starts there.
        key_used (bool): True once a random operator was traced.
        checking (bool): True while results of traced operators enter the float status.
        has_shared_calls (bool): True if the graph calls functions that equal Cells share.
        errors (RuntimeErrors): Errors that the program can raise.
        cell_changes (CellChanges): Attributes of Cells that the trace has set.
    """

    __slots__ = (
        "params",
        "missing",
        "number",
        "key_used",
        "checking",
        "has_shared_calls",
        "errors",
        "cell_changes",
        "_states",
    )

    def __init__(self, params: Iterable[Any] = ()) -> None:
        self.params: list[Any] = list(params)
        self.missing: dict[int, Any] = {}
        self.number: Any = None
        self.key_used: bool = False
        self.checking: bool = False
        self.has_shared_calls: bool = False
        self.errors = RuntimeErrors()
        self.cell_changes = CellChanges()
        self._states: dict[type, Any] = {}

    def state_of(self, kind: type[_State]) -> _State:
        """Return this trace's instance of the class `kind`, created at the first use.

        If `kind` has the methods `snapshot` and `restore`, `undo` restores it.
        """
        state = self._states.get(kind)
        if state is None:
            state = self._states[kind] = kind()
        return state

    def first_key(self) -> jax.Array:
        """Return the first key of the random stream."""
        self.key_used = True
        return run_in_trace_of(self.number, jax.random.key)  # the first draw may be in a nested trace

    # ---------------------------------------------------------------- undo side effects of a trace
    def snapshot(self) -> dict[Any, Any]:
        """Return a snapshot of the side effects of the trace, for `is_unchanged` and `undo`."""
        snapshots = {kind: s.snapshot() for kind, s in self._states.items() if hasattr(kind, "restore")}
        return {RuntimeErrors: self.errors.snapshot(), CellChanges: self.cell_changes.snapshot(), **snapshots}

    def is_unchanged(self, snapshot: dict[Any, Any]) -> bool:
        """Return True if no errors were added and no attributes were set since `snapshot`."""
        return self.errors.is_unchanged(snapshot[RuntimeErrors]) and self.cell_changes.is_unchanged(
            snapshot[CellChanges]
        )

    def undo(self, snapshot: dict[Any, Any]) -> None:
        """Undo the side effects of the trace since `snapshot`."""
        self.errors.restore(snapshot[RuntimeErrors])
        self.cell_changes.restore(snapshot[CellChanges])
        for kind, state in list(self._states.items()):
            if kind in snapshot:
                state.restore(snapshot[kind])
            elif hasattr(kind, "restore"):  # the state was created after the snapshot
                del self._states[kind]
