"""`set_dump`: the Cells and Primitives whose operators are dumped, with ``"dump_mode": 2``."""

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msnb import log
from msnb.common.kinds import Bool, check
from msnb.core.operator.primitive import Primitive
from msnb.nn._cell.tree import scope_name
from msnb.nn.cell import Cell

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program
    from msnb.ir.anf import CNode

__all__ = ["set_dump"]

recorders: "weakref.WeakSet[Any]" = weakref.WeakSet()  # the running dumps
_MARK = "dump"  # attribute that marks a Primitive; its nodes in a graph have the attribute, too
_flags: "weakref.WeakKeyDictionary[Cell, bool]" = weakref.WeakKeyDictionary()


def set_dump(target: Cell | Primitive, enabled: bool = True) -> None:
    """Select the operators that a dump with ``"dump_mode": 2`` writes.

    For a Cell, these are all its operators and those of the Cells in it, of the forward and the backward pass. If
    several calls select or deselect the same operator, the last call applies.

    Args:
        target (Union[Cell, Primitive]): the Cell or Primitive.
        enabled (bool): True to write its operators, False not to. Default: True.

    Raises:
        TypeError: If `target` is neither a Cell nor a Primitive, or `enabled` is not a bool.

    Examples:
        >>> from mindspore import nn, ops, set_dump
        >>> class Net(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.fc, self.relu = nn.Dense(2, 3), ops.ReLU()
        ...     def construct(self, x):
        ...         return self.relu(self.fc(x))
        >>> net = Net()
        >>> set_dump(net.fc)
        >>> set_dump(net.relu)
    """
    check(Bool, enabled, "enabled", "set_dump")
    if isinstance(target, Primitive):
        target.add_prim_attr(_MARK, enabled)
    elif isinstance(target, Cell):
        for _, cell in target.cells_and_names():
            _flags[cell] = enabled
            for value in vars(cell).values():
                if isinstance(value, Primitive) and _MARK in value.attrs:
                    value.del_prim_attr(_MARK)
    else:
        raise TypeError(f"For 'set_dump', 'target' should be a Cell or a Primitive, but got {type(target).__name__}.")
    for recorder in list(recorders):
        recorder.choose_again()
    if not any(recorder.has_targets for recorder in recorders):
        log.once("`set_dump` has no effect: no dump is on with 'dump_mode' 2 in the file of MINDSPORE_DUMP_CONFIG.")


def select_nodes(program: "Program", nodes: Sequence["CNode"]) -> list[int]:
    """Return the indices of the nodes that `set_dump` has selected.

    If the node's Primitive has a mark, the mark decides. Otherwise the flag of the innermost Cell with a flag decides.
    """
    flags = _ScopeFlags(program)
    chosen = []
    for index, node in enumerate(nodes):
        mark = node.attrs.get(_MARK)
        if mark if isinstance(mark, bool) else flags.of_scope(node.scope):
            chosen.append(index)
    return chosen


class _ScopeFlags:
    """The flags of the Cells of a program by their scopes."""

    def __init__(self, program: "Program") -> None:
        root = program.root()
        self._root: Cell | None = root if isinstance(root, Cell) else None
        self._cells = [cell for cell in program.cells if cell is not root]
        self._children: dict[int, dict[str, list[Cell]]] = {}  # id of a Cell -> segment -> Cells

    def of_scope(self, scope: str) -> bool:
        """Return the flag of the innermost Cell with a flag, False without one."""
        cell = self._root
        flag = cell is not None and _flags.get(cell, False)
        segments = scope.split("/")
        for segment in segments[1:] if segments[0] == "Default" else segments:
            children = self._group_children_by_segment(cell).get(segment, ())
            if len(children) == 1:  # other segments are functions, or Cells that are not attributes
                cell = children[0]
                flag = _flags.get(cell, flag)
        return flag

    def _group_children_by_segment(self, holder):
        """Return {scope segment: Cells with this segment in `holder`}. `holder` is a Cell, or None for a function."""
        if id(holder) not in self._children:
            children: dict[str, list[Cell]] = {}
            for cell in self._cells:
                segment = (
                    scope_name(cell._attr_name, type(cell).__name__)
                    if holder is None
                    else cell._get_scope_under_caller(holder)
                )
                children.setdefault(segment, []).append(cell)
            self._children[id(holder)] = children
        return self._children[id(holder)]
