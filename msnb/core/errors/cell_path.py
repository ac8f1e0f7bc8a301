"""Where a Cell stands, as the user wrote it: ``layer3.2.conv2`` is ``self.layer3[2].conv2`` of the network.

A graph calls the same place ``Default/network-WithLossCell/_backbone-ResNet50/layer3-SequentialCell/2-Bottleneck/
conv2-Conv2d``, as MindSpore does: a segment is the attribute that holds a Cell, and its class. The Cells that msnb puts
around a network (`HOLDERS`) are no part of what the user wrote.
"""

import functools
import re
from typing import Any

HOLDERS: dict[str, str] = {}  # class of a Cell around a network -> the attribute that holds it
_NETWORK = ("network", "_backbone", "_network")  # which msnb's own Cells call it
_CALL = re.compile(r"(.*) \((\d+)\)$")  # as `ir.calls` tells the calls of one Cell apart
_BLOCK = re.compile(r"\w+\(\)( \d+)?$|while\(.*\)$")  # as `core.script` calls the scope of a function or a loop


def attribute_name(holder: Any, cell: Any) -> str:
    """Attribute path of a Cell within the Cell that calls it.

    Args:
        holder (Cell): The one that calls.
        cell (Cell): The one that is called.

    Returns:
        str, ``"conv"``, ``"layers.0"`` for one in a CellList, a Python list or a dict; "" for one that the holder does
        not hold.
    """
    name, cells = cell._attr_name, holder._cells
    if cells.get(name) is cell:
        return name
    for outer, child in cells.items():
        if child is cell:
            return outer
        if child is not None and child._cells.get(name) is cell:
            return f"{outer}.{name}"
    for path, child in holder.cells_and_names():
        if child is cell and path:
            return path
    for attribute, value in vars(holder).items():
        items = enumerate(value) if isinstance(value, (list, tuple)) else value.items() if type(value) is dict else ()
        if attribute[:1] != "_":
            for key, item in items:
                if item is cell:
                    return f"{attribute}.{key}".replace("/", "_")  # which parts the segments of a scope
    return ""


@functools.lru_cache(maxsize=65536)
def attribute_path(scope: str, root: str = "") -> str:
    """The attribute path that a scope of a graph stands for.

    Args:
        scope (str): ``"Default/network-WithLossCell/_backbone-Net/layers.0-Dense"``, as a node of a graph has it.
        root (str): Class of the Cell, or name of the function, that the graph was made of: the name of its program.
            Default: "", not known.

    Returns:
        str, ``"layers.0"``; a Cell that no attribute holds goes by its class; "" for what stands in the network itself.
        Of a Cell that is called more than once in a graph the call is told: ``"relu (2nd call)"``.

    Examples:
        >>> from msnb.core.errors.cell_path import attribute_path
        >>> attribute_path("Default/network-WithLossCell/_backbone-Net/body-SequentialCell/2-Block", "TrainOneStepCell")
        'body.2'
        >>> attribute_path("Default/relu-ReLU (2)")
        'relu (2nd call)'
    """
    steps, holder, repeated, last = [], root, "", ""
    parts = [part for part in scope.split("/") if part and part != "Default"]
    for number, part in enumerate(parts, 1):
        called = _CALL.match(part)
        name = called[1] if called else part
        if _BLOCK.match(name):
            last = name
            continue
        attribute, _, kind = name.rpartition("-")
        shown, last = attribute or kind, ""
        of_network = not steps and shown in (*_NETWORK, kind) and (kind in HOLDERS or not holder and shown in _NETWORK)
        if shown != HOLDERS.get(holder) and not of_network:
            steps.append(shown.lstrip("_") if holder in HOLDERS else shown)
            if called:
                which = f"{_ordinal(int(called[2]))} call"
                repeated = f" ({which})" if number == len(parts) else f" ({which} of {shown})"
        holder = kind if attribute or kind in HOLDERS else ""
    return ".".join([*steps, last] if last else steps) + repeated


def class_of(scope: str) -> str:
    """Class of the Cell that the last segment of a scope stands for: ``"Conv2d"``; "" where it does not say."""
    called = _CALL.match(scope)
    name = (called[1] if called else scope).rpartition("/")[2]
    return "" if name == "Default" or "(" in name else name.rpartition("-")[2]


def _ordinal(number):
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
