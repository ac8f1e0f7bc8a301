"""The tables of Parameters and sub-Cells of a Cell, by attribute name."""

import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from msnb.core.state import trace_state

__all__ = ["Members"]

_epoch = trace_state.epoch


class Members(OrderedDict[str, Any]):
    """Parameters or sub-Cells of a Cell. An assignment to an entry also sets the attribute of the Cell.

    Libraries replace sub-Cells by ``cell._cells[name] = other``, as in mindcv/utils/amp.py:64. Attributes of a Cell
    are in their `__dict__`, where Python finds them fastest.

    Args:
        cell (object): The Cell. It is referenced weakly, so that it is freed without a garbage collection.
        members (Mapping[str, Any]): The first entries. They do not set attributes.
    """

    def __init__(self, cell: object, members: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._cell = weakref.ref(cell)
        for name, member in (members or {}).items():
            super().__setitem__(name, member)

    def __setitem__(self, name: str, member: Any) -> None:
        super().__setitem__(name, member)
        cell = self._cell()
        if cell is not None:
            cell.__dict__[name] = member
            _epoch.bump()

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        cell = self._cell()
        if cell is not None:
            cell.__dict__.pop(name, None)
            _epoch.bump()

    def pop(self, name: str, *default: Any) -> Any:
        """Remove an entry and its attribute, and return it. Return `default`, if there is one, for an absent name."""
        if default and name not in self:
            return default[0]
        member = self[name]
        del self[name]
        return member

    def clear(self) -> None:
        """Remove all entries and their attributes."""
        for name in list(self):
            del self[name]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the entries alone. The Cell whose state they are makes them its members again."""
        return OrderedDict, (), None, None, iter(self.items())
