"""Attribute path of a Cell as the user writes it: ``layer3.2.conv2`` is ``self.layer3[2].conv2`` of the network.

The scope of a graph for the same Cell is ``Default/network-WithLossCell/_backbone-ResNet50/layer3-SequentialCell/
2-Bottleneck/conv2-Conv2d``, as in MindSpore: each segment is the attribute that holds a Cell, and its class. Cells that
msnb puts around a network (`HOLDERS`) are not part of the path.
"""

import functools
import re
from typing import Any

HOLDERS: dict[str, str] = {}  # class of a Cell around a network -> the attribute that holds it
# attributes of msnb's own Cells that hold the user's network
_NETWORK_ATTRIBUTES = ("network", "_backbone", "_network")
_NUMBERED_CALL = re.compile(r"(.*) \((\d+)\)$")  # suffix by which `ir.calls` numbers the calls of one Cell
_BLOCK_SCOPE = re.compile(r"\w+\(\)( \d+)?$|while\(.*\)$")  # scope of a function or loop, as `core.script` names it


def attribute_name(holder: Any, cell: Any) -> str:
    """Return the attribute path of a Cell within the Cell that calls it.

    Args:
        holder (Cell): The calling Cell.
        cell (Cell): The Cell that is called.

    Returns:
        str, ``"conv"``, ``"layers.0"`` for one in a CellList, a Python list or a dict; "" for one that is not an
        attribute of the holder.
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
                    return f"{attribute}.{key}".replace("/", "_")  # a slash separates segments of a scope
    return ""


@functools.lru_cache(maxsize=65536)
def attribute_path(scope: str, root: str = "") -> str:
    """Return the attribute path for a scope of a graph.

    Args:
        scope (str): ``"Default/network-WithLossCell/_backbone-Net/layers.0-Dense"``, as a node of a graph has it.
        root (str): Name of the program: class of the root Cell, or name of the function. Default: "", unknown.

    Returns:
        str, ``"layers.0"``; the class for a Cell that is no attribute; "" for the network itself. The call is included
        for a Cell that a graph calls more than once: ``"relu (2nd call)"``.

    Examples:
        >>> from msnb.core.errors.cell_path import attribute_path
        >>> attribute_path("Default/network-WithLossCell/_backbone-Net/body-SequentialCell/2-Block", "TrainOneStepCell")
        'body.2'
        >>> attribute_path("Default/relu-ReLU (2)")
        'relu (2nd call)'
    """
    steps, holder, call_suffix, block = [], root, "", ""
    segments = [segment for segment in scope.split("/") if segment and segment != "Default"]
    for number, segment in enumerate(segments, 1):
        match = _NUMBERED_CALL.match(segment)
        name = match[1] if match else segment
        if _BLOCK_SCOPE.match(name):
            block = name
            continue
        attribute, _, kind = name.rpartition("-")
        label, block = attribute or kind, ""
        is_network = (
            not steps
            and label in (*_NETWORK_ATTRIBUTES, kind)
            and (kind in HOLDERS or not holder and label in _NETWORK_ATTRIBUTES)
        )
        if label != HOLDERS.get(holder) and not is_network:
            steps.append(label.lstrip("_") if holder in HOLDERS else label)
            if match:
                ordinal_call = f"{_format_ordinal(int(match[2]))} call"
                call_suffix = f" ({ordinal_call})" if number == len(segments) else f" ({ordinal_call} of {label})"
        holder = kind if attribute or kind in HOLDERS else ""
    return ".".join([*steps, block] if block else steps) + call_suffix


def class_of(scope: str) -> str:
    """Return the class of the Cell of the last segment of a scope, ``"Conv2d"``; "" if the segment has none."""
    match = _NUMBERED_CALL.match(scope)
    name = (match[1] if match else scope).rpartition("/")[2]
    return "" if name == "Default" or "(" in name else name.rpartition("-")[2]


def _format_ordinal(number):
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
