"""Titles of boxes: the attribute path of the Cell, as the user wrote it."""

from typing import TYPE_CHECKING

from msnb.core.errors.cell_path import attribute_path, class_of
from msnb.ir.layout.scopes import CONTROL, CROWD, FOLD, LANE, PAGE, ROOT, UNIT, Scope

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.layout.hierarchy import Hierarchy

_NOT_CELLS = (ROOT, LANE, CONTROL, FOLD, UNIT, CROWD, PAGE)  # boxes of the drawing that are not Cells
_RANGE = " … "


def paths(tree: "Hierarchy") -> list[str]:
    """Return the attribute path of each box, by the box's index: ``"layer3.2.conv2"``, ``"layer3.0 … layer3.5"`` for
    repeats, the class for the network itself, and "" for a box that is not a Cell.
    """
    box_paths = [""] * (1 + max(scope.index for scope in tree.root.scopes()))

    def visit(scope, around):
        if scope.kind not in _NOT_CELLS:
            around = f"{around}/{scope.name}" if around else scope.name
            box_paths[scope.index] = (
                attribute_path(around, tree.graph.name)
                or _format_network_and_loss_title(scope, around)
                or class_of(around)
                or tree.graph.name
            )
        for child in scope.children:
            if isinstance(child, Scope):
                visit(child, around)
        if scope.kind == FOLD and all(isinstance(child, Scope) for child in scope.children):
            first, last = (box_paths[scope.children[at].index] for at in (0, -1))
            box_paths[scope.index] = f"{first}{_RANGE}{last}" if first else ""

    visit(tree.root, "")
    return box_paths


def _format_network_and_loss_title(scope, path):
    """Return ``"Net and loss"`` for the box of a WithLossCell, which few users write themselves; "" for another box."""
    if class_of(path) != "WithLossCell":
        return ""
    names = [child.name for child in scope.children if isinstance(child, Scope)]
    network = next((class_of(name.partition("/")[0]) for name in names if name.startswith("_backbone-")), "")
    return f"{network} and loss" if network else ""


def step(scope: Scope, paths: list[str]) -> str:
    """Return the path of a box relative to the Cell around it, ``".conv2"`` or ``".0 … 5"``. Return the full path if
    that Cell has no path, and "" for a box that is not a Cell.
    """
    path, around = paths[scope.index], scope.parent
    while around is not None and around.kind in _NOT_CELLS:
        around = around.parent
    prefix = f"{paths[around.index]}." if around is not None else ""
    if not path or not path.startswith(prefix) or not prefix:
        return path
    first, _, last = path.partition(_RANGE)
    return f".{first.removeprefix(prefix)}{_RANGE * bool(last)}{last.removeprefix(prefix)}"


def title(scope: Scope, paths: list[str]) -> str:
    """Return the title of a box: its path relative to the Cell around it."""
    relative = step(scope, paths).removeprefix(".")
    # a loop or a branch has the name of its operator; the number in its scope name only makes it unique
    return relative or (scope.name.partition("-op")[0] if scope.kind == CONTROL else scope.name)


def operator_title(scope: Scope, paths: list[str]) -> str:
    """Return the title of the box of a Cell that is one operator; "" if the path is only a number."""
    text = title(scope, paths)
    return "" if text.isdigit() else text
