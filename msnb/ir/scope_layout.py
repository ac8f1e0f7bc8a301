"""What an open scope shows: boxes with their places, and the lines between them and from port to port."""

from collections.abc import Iterable
from typing import Any

from .layered import GAP_Y, layered
from .ports import Port, find

HEADER, PAD = 24.0, 12.0  # above and below what a scope holds
_INTO, _OUT = 0, 1
_ROOM = 10.0, 0.0  # what a port takes of a row


class Box:
    """What is drawn as one box; `inner` is what is in it, where it is open."""

    __slots__ = ("item", "width", "height", "inner", "title", "note")

    def __init__(
        self, item: Any, width: float, height: float, title: str, note: str = "", inner: "Inside | None" = None
    ) -> None:
        self.item, self.width, self.height, self.inner = item, width, height, inner
        self.title, self.note = title, note

    def port(self, side: int, key: int) -> float:
        """How far from its middle an edge passes the rim, on its way in (0) or out (1)."""
        if self.inner is None:
            return 0.0
        found = find(self.inner.ports[side], key)
        return found.x - self.inner.width / 2 if found is not None else 0.0

    @property
    def goes_on(self) -> bool:
        """Return whether a line that ends here goes on inside."""
        return self.inner is not None and bool(self.inner.ports[_INTO])


class Inside:
    """The places of boxes, and the lines.

    Args:
        boxes (list[Box]): in the order of execution.
        edges (Iterable[tuple[int, int]]): pairs of items, each by its `id()`.
        ports (tuple[list[Port], list[Port]]): those on the way in, and those on the way out.
        upwards (bool): whether data flows up, as gradients do beside the forward lane.

    Attributes:
        centres (list[tuple[float, float]]): of the boxes.
        lines (list): ``[points, whether a tip ends it, rim]``; `rim` is 0 where the first point is a port's on the
            scope's rim, -1 where the last is, and None where neither is. The rim's height is not known here.
        width, height (float): of all.
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
        # by which key each end finds its port: the box beside it, or what the port here hands on; 0 on the rim
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
        above = GAP_Y if into else 0.0  # the rim takes the place of the ports' rows
        self.height = max(0.0, height - above - (GAP_Y if out else 0.0))

        def place(x, y):
            y = min(self.height, max(0.0, y - above))
            return x, self.height - y if upwards else y

        self.centres = [place(x, y) for x, y in centres[first:last]]
        for (a, b), points in routes.items():
            leaving, entering = keys[a, b]
            points = [place(x, y) for x, y in points]
            if a > b:  # against the order of execution: it meets no port
                self.lines.append((points, True, None))
                continue
            if first <= a < last:
                points[0] = points[0][0] + boxes[a - first].port(_OUT, leaving), points[0][1]
            if first <= b < last:
                points[-1] = points[-1][0] + boxes[b - first].port(_INTO, entering), points[-1][1]
            rim = 0 if a < first else -1 if b >= last else None
            self.lines.append((points, b < last and not boxes[b - first].goes_on, rim))
