"""Warning about Cells in a plain list, tuple or dict: their Parameters are not in the tree of Cells."""

from itertools import islice

from msnb import log
from msnb.nn._cell.fingerprint import INTERNAL

_PLAIN = frozenset((list, tuple, dict))
_MAX_ITEMS = 1000  # items of one list that are checked; longer lists hold numbers


def warn_unregistered_cells(root):
    """Warn once about each plain list, tuple or dict with Cells whose Parameters are not trained.

    Args:
        root (Cell): Root of the tree. A list whose Cells are in the tree as well gives no warning.
    """
    registered = None
    for _, cell in root.cells_and_names():
        for name, value in vars(cell).items():
            if type(value) not in _PLAIN or not value or name in INTERNAL:
                continue
            items = value.values() if type(value) is dict else value
            cells = [item for item in islice(items, _MAX_ITEMS) if hasattr(item, "cells_and_names")]
            if not cells or set(map(id, cells)) <= set(map(id, cell.cells())):
                continue
            if registered is None:
                registered = set(map(id, root.get_parameters()))
            count = sum(
                any(p.requires_grad and id(p) not in registered for p in item.get_parameters()) for item in cells
            )
            if count:
                log.once(
                    "%s not seen in '%s' of %s, a %s: no optimizer gets these Parameters, no checkpoint keeps them. "
                    "Use nn.CellList(...) instead.",
                    "1 Cell is" if count == 1 else f"{count} Cells are",
                    name,
                    type(cell).__name__,
                    type(value).__name__,
                )
