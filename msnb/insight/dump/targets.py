"""`set_dump`: the Cells and Primitives whose operators are dumped, with ``"dump_mode": 2``."""

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msnb import log
from msnb.common.kinds import Bool, check
from msnb.core.operator.primitive import Primitive
from msnb.nn.cell import Cell

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.program import Program
    from msnb.ir.anf import CNode

__all__ = ["set_dump"]

recorders: "weakref.WeakSet[Any]" = weakref.WeakSet()  # the running dumps
_MARK = "dump"  # on a Primitive; its node in the graph shows it
_flags: "weakref.WeakKeyDictionary[Cell, bool]" = weakref.WeakKeyDictionary()


def set_dump(target: Cell | Primitive, enabled: bool = True) -> None:
    """Choose the operators that a dump with ``"dump_mode": 2`` writes.

    Of a Cell they are all its operators and those of the Cells in it, of both forward and backward pass. The last call
    decides about a Cell or Primitive.

    Args:
        target (Union[Cell, Primitive]): the Cell or Primitive.
        enabled (bool): True to write its operators, False not to. Default: True.

    Raises:
        TypeError: If `target` is neither a Cell nor a Primitive, or `enabled` is no bool.

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
    """Return the indices of the nodes that `set_dump` has chosen.

    The mark of a Primitive decides; without one, the flag of the innermost Cell that has one.
    """
    flags = _flags_by_path(program)
    chosen = []
    for index, node in enumerate(nodes):
        mark = node.attrs.get(_MARK)
        if mark if isinstance(mark, bool) else _is_flagged(flags, node.scope):
            chosen.append(index)
    return chosen


def _flags_by_path(program):
    """Return {scope segments below the root: flag} of the Cells of a program."""
    flags: dict[tuple[str, ...], bool] = {}

    def visit(cell, path, flag, around):
        flags[path] = flag = _flags.get(cell, flag)
        for child in cell.cells():
            if child not in around:
                visit(child, (*path, child._scope_in(cell)), flag, (*around, child))

    root = program.root()
    if isinstance(root, Cell):
        visit(root, (), False, (root,))
    for cell in program.cells:  # called by a function
        if cell is not root and (path := (cell._scope_in(None),)) not in flags:
            visit(cell, path, False, (cell,))
    return flags


def _is_flagged(flags, scope):
    """Return the flag of the innermost Cell of a scope. Segments of functions, such as ``helper()``, are no Cells."""
    path = tuple(s for s in scope.split("/") if not s.partition(" ")[0].endswith("()"))
    path = path[1:] if path[:1] == ("Default",) else path
    return next((flags[path[:end]] for end in range(len(path), -1, -1) if path[:end] in flags), False)
