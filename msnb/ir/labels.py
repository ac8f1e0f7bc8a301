"""What boxes are called: by the attribute path of the Cell that they are, as the user wrote it."""

from typing import TYPE_CHECKING

from msnb.core.errors.cell_path import attribute_path, class_of
from msnb.ir.scopes import CONTROL, CROWD, FOLD, LANE, PAGE, ROOT, UNIT, Scope

if TYPE_CHECKING:  # named in annotations alone
    from .hierarchy import Hierarchy

_DRAWN = (ROOT, LANE, CONTROL, FOLD, UNIT, CROWD, PAGE)  # boxes that only the drawing has, which are no Cells
_RANGE = " … "


def paths(tree: "Hierarchy") -> list[str]:
    """The attribute path of each box, by its index: ``"layer3.2.conv2"``, ``"layer3.0 … layer3.5"`` for repeats, the
    class of the network for what is the network itself, and "" for a box that is no Cell."""
    found = [""] * (1 + max(scope.index for scope in tree.root.scopes()))

    def visit(scope, around):
        if scope.kind not in _DRAWN:
            around = f"{around}/{scope.name}" if around else scope.name
            found[scope.index] = attribute_path(around, tree.graph.name) or class_of(around) or tree.graph.name
        for child in scope.children:
            if isinstance(child, Scope):
                visit(child, around)
        if scope.kind == FOLD and all(isinstance(child, Scope) for child in scope.children):
            first, last = (found[scope.children[at].index] for at in (0, -1))
            found[scope.index] = f"{first}{_RANGE}{last}" if first else ""

    visit(tree.root, "")
    return found


def step(scope: Scope, paths: list[str]) -> str:
    """The path of a box from the Cell around it on, ``".conv2"`` or ``".0 … 5"``; all of it where that has none, as
    the network itself has; "" for a box that is no Cell."""
    path, around = paths[scope.index], scope.parent
    while around is not None and around.kind in _DRAWN:
        around = around.parent
    prefix = f"{paths[around.index]}." if around is not None else ""
    if not path or not path.startswith(prefix) or not prefix:
        return path
    first, _, last = path.partition(_RANGE)
    return f".{first.removeprefix(prefix)}{_RANGE * bool(last)}{last.removeprefix(prefix)}"


def title(scope: Scope, paths: list[str]) -> str:
    """What stands on a box: its path without that of the Cell around it, which stands on that one's box."""
    found = step(scope, paths).removeprefix(".")
    # a loop or a branch is called by its operator; the number behind it tells boxes apart, and says nothing to a reader
    return found or (scope.name.partition("-op")[0] if scope.kind == CONTROL else scope.name)


def operator_title(scope: Scope, paths: list[str]) -> str:
    """What stands on the box of a Cell that is one operator: nothing where the path gives a number only."""
    found = title(scope, paths)
    return "" if found.isdigit() else found
