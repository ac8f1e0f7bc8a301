"""Layout of an open scope: positions of boxes, and lines between boxes and ports."""

from collections.abc import Iterable
from typing import Any

from msnb.ir.layout.layered import GAP_Y, layered
from msnb.ir.layout.ports import Port, find

HEADER, PAD = 24.0, 12.0  # space above and below the content of a scope
_INTO, _OUT = 0, 1
_ROOM = 10.0, 0.0  # size of a port in a row


class Box:
    """A box of the drawing; `inner` is the layout of its content if it is open."""

    __slots__ = ("item", "width", "height", "inner", "title", "note")

    def __init__(
        self, item: Any, width: float, height: float, title: str, note: str = "", inner: "ScopeLayout | None" = None
    ) -> None:
        self.item, self.width, self.height, self.inner = item, width, height, inner
        self.title, self.note = title, note

    def port(self, side: int, key: int) -> float:
        """Return the horizontal offset from the middle of the box at which an edge crosses the border, on its way in
        (0) or out (1).
        """
        if self.inner is None:
            return 0.0
        port = find(self.inner.ports[side], key)
        return port.x - self.inner.width / 2 if port is not None else 0.0

    @property
    def continues_inside(self) -> bool:
        """Return whether a line that ends at this box continues inside it."""
        return self.inner is not None and bool(self.inner.ports[_INTO])


class ScopeLayout:
    """Positions of the boxes in a scope, and of the lines between them.

    Args:
        boxes (list[Box]): in the order of execution.
        edges (Iterable[tuple[int, int]]): pairs of items, each by its `id()`.
        ports (tuple[list[Port], list[Port]]): ports on the way in, and ports on the way out.
        upwards (bool): whether data flows up, as gradients do next to the forward lane.

    Attributes:
        centres (list[tuple[float, float]]): centre (x, y) of each box.
        lines (list): ``[points, has an arrowhead, rim]``; `rim` is 0 if the first point is a port on the border of the
            scope, -1 if the last point is, and None otherwise. The height of the border is not known here.
        width, height (float): total size.
    """

    def __init__(
        self,
        boxes: list[Box],
        edges: Iterable[tuple[int, int]],
        ports: tuple[list[Port], list[Port]],
        upwards: bool = False,
    ) -> None:
        self.boxes, self.ports, self.lines = boxes, ports, []
        into, out = ports
        first, last = len(into), len(into) + len(boxes)
        number = {id(box.item): first + index for index, box in enumerate(boxes)}
        # Maps an edge (a, b) to two keys: the key of the port where it leaves box a, and the key of the port where it
        # enters box b. A key
        # is the `id` of the box at the other end. For an edge that crosses the border of this scope it is the key of
        # the outer port, and 0 for the end at the border.
        keys = {(number[a], number[b]): (b, a) for a, b in edges if a in number and b in number}
        for index, port in enumerate(into):
            for child, key in port.children.items():
                if child in number:
                    keys[index, number[child]] = 0, key
        for index, port in enumerate(out):
            for child, key in port.children.items():
                if child in number:
                    keys[number[child], last + index] = key, 0
        sizes = [*[_ROOM] * first, *((box.width, box.height) for box in boxes), *[_ROOM] * len(out)]
        centres, routes, (self.width, height) = layered(sizes, list(keys), (first, len(out)))
        for port, (x, _) in zip((*into, *out), (*centres[:first], *centres[last:]), strict=True):
            port.x = x
        above = GAP_Y if into else 0.0  # ports are drawn on the border, so their rows take no space
        self.height = max(0.0, height - above - (GAP_Y if out else 0.0))

        def to_point(x, y):
            y = min(self.height, max(0.0, y - above))
            return x, self.height - y if upwards else y

        self.centres = [to_point(x, y) for x, y in centres[first:last]]
        for (a, b), points in routes.items():
            leaving, entering = keys[a, b]
            points = [to_point(x, y) for x, y in points]
            if a > b:  # edges against the order of execution have no ports
                self.lines.append((points, True, None))
                continue
            if first <= a < last:
                points[0] = points[0][0] + boxes[a - first].port(_OUT, leaving), points[0][1]
            if first <= b < last:
                points[-1] = points[-1][0] + boxes[b - first].port(_INTO, entering), points[-1][1]
            rim = 0 if a < first else -1 if b >= last else None
            self.lines.append((points, b < last and not boxes[b - first].continues_inside, rim))
