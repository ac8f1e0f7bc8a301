"""Cells in a plain list: Python finds them when `construct` loops over it, and nobody else does."""

from itertools import islice

from msnb import log
from msnb.nn._cell.fingerprint import INTERNAL

_PLAIN = frozenset((list, tuple, dict))
_MOST = 1000  # items of one list that are looked at; what is longer holds numbers


def say_unseen(root):
    """Say once of each plain list, tuple or dict below a Cell that it holds Cells whose Parameters nobody trains.

    Args:
        root (Cell): Whose Parameters are asked for. Lists that hold what the tree below it has anyway are fine.
    """
    known = None
    for _, cell in root.cells_and_names():
        for name, value in vars(cell).items():
            if type(value) not in _PLAIN or not value or name in INTERNAL:
                continue
            items = value.values() if type(value) is dict else value
            cells = [item for item in islice(items, _MOST) if hasattr(item, "cells_and_names")]
            if not cells or set(map(id, cells)) <= set(map(id, cell.cells())):
                continue
            if known is None:
                known = set(map(id, root.get_parameters()))
            many = sum(any(p.requires_grad and id(p) not in known for p in held.get_parameters()) for held in cells)
            if many:
                log.once(
                    "%s not seen in '%s' of %s, a %s: no optimizer gets these Parameters, no checkpoint keeps them. "
                    "Use nn.CellList(...) instead.",
                    "1 Cell is" if many == 1 else f"{many} Cells are",
                    name,
                    type(cell).__name__,
                    type(value).__name__,
                )
