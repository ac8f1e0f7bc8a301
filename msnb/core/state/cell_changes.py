"""Changes that a trace makes to Cells: attributes that it sets, and Cells that it constructs."""

from typing import Any

ABSENT = object()  # the value of an attribute that does not exist


class CellChanges:
    """The changes of Cells by one trace.

    Attributes:
        created (set[Cell]): Cells constructed in this trace. They have no earlier state to restore.
        new_members (list): Parameters and Cells assigned to attributes of Cells from before the trace.
    """

    __slots__ = ("created", "new_members", "_assigned")

    def __init__(self) -> None:
        self.created: set[Any] = set()
        self.new_members: list[Any] = []
        # {(id of Cell, attribute): (Cell, attribute, its value before the trace or ABSENT)}
        self._assigned: dict[tuple[int, str], tuple[Any, str, Any]] = {}

    def __len__(self) -> int:
        """Return the number of attributes that are set."""
        return len(self._assigned)

    def record(self, cell: Any, name: str, before: Any) -> None:
        """Record that attribute `name` of `cell`, with the previous value `before` or ABSENT, is set now."""
        self._assigned.setdefault((id(cell), name), (cell, name, before))

    def snapshot(self) -> dict[tuple[int, str], Any]:
        """Return the current value of each attribute that is set, for `is_unchanged` and `restore`."""
        return {key: vars(cell).get(name, ABSENT) for key, (cell, name, _) in self._assigned.items()}

    def is_unchanged(self, snapshot: dict[tuple[int, str], Any]) -> bool:
        """Return True if the attributes have the values of `snapshot`."""
        now = self.snapshot()
        return now.keys() == snapshot.keys() and all(snapshot[key] is value for key, value in now.items())

    def restore(self, snapshot: dict[tuple[int, str], Any]) -> None:
        """Set the attributes back to the values of `snapshot`."""
        for key, (cell, name, before) in list(self._assigned.items()):
            _set_or_delete_attribute(cell, name, snapshot.get(key, before))
            if key not in snapshot:
                del self._assigned[key]

    def take_settings(self) -> list[tuple[Any, str, Any]]:
        """Set the attributes back to their values before the trace; return (Cell, name, new value) of each.

        Each call of the program sets the new values again.
        """
        settings = [(cell, name, vars(cell).get(name, ABSENT)) for cell, name, _ in self._assigned.values()]
        self.restore({})
        return settings


def _set_or_delete_attribute(cell, name, value):
    if value is ABSENT:
        vars(cell).pop(name, None)
    else:
        vars(cell)[name] = value
