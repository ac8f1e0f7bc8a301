"""What it costs to move values between devices: bytes that each of them sends.

A mesh is a dict from axis to number of devices. A layout has for each axis of a value the mesh axes that cut it, the
outer first. An all-reduce goes twice around a ring, an all-gather and an all-to-all once. Bytes that leave a host weigh
more.

From one layout to another a value goes by steps that XLA does as they are foreseen: a further axis cuts within the
parts that are there, which sends nothing; the innermost axes of a place are gathered, or change the place; equal parts
change their devices. Left alone XLA gathers the whole value where it knows no better.
"""

import heapq
import itertools
import math
from collections.abc import Iterator

Layout = tuple[tuple[str, ...], ...]
_STEP = 1e-4  # of a value: what a step costs besides, so that of equal ways the shorter is taken


class Machines:
    """Devices as a mesh, and how much slower each axis is than the fastest.

    Args:
        sizes (dict[str, int]): Number of devices along each axis.
        weights (dict[str, float]): What a byte along an axis costs; 1 inside a host.
    """

    def __init__(self, sizes: dict[str, int], weights: dict[str, float]) -> None:
        self.sizes, self.weights = sizes, weights
        self._ways: dict[tuple[Layout, tuple[int, ...]], dict[Layout, tuple[float, Layout | None]]] = {}

    @property
    def devices(self) -> int:
        """How many there are."""
        return math.prod(self.sizes.values())

    def parts(self, layout: Layout) -> int:
        """Into how many parts a layout cuts."""
        return math.prod(self.sizes[a] for axes in layout for a in axes)

    def all_reduce(self, axes: list[str], size: float) -> float:
        """Of a value of so many bytes on each device, over several axes at once."""
        return 2 * self._once_around(axes, size)

    def _once_around(self, axes, size):
        """An all-gather that makes, or an all-to-all that exchanges, so many bytes on each device."""
        return max((self.weights[a] for a in axes), default=0.0) * self._share(axes) * size

    def moving(self, before: Layout, after: Layout, size: float, shape: tuple[int, ...]) -> float:
        """Weighted bytes from one layout of a value to another.

        Args:
            before (Layout): How it lies.
            after (Layout): How it is to lie.
            size (float): Its bytes.
            shape (tuple[int, ...]): Its shape; parts are equal on the way, too.
        """
        if before == after:
            return 0.0
        return self._reached(before, shape)[after][0] * size

    def way(self, before: Layout, after: Layout, shape: tuple[int, ...]) -> list[Layout]:
        """The layouts from one to another, the first left out."""
        found: list[Layout] = []
        reached, at = self._reached(before, shape), after
        while at is not None and at != before:
            found.append(at)
            at = reached[at][1]
        return found[::-1]

    def sent(self, before: Layout, after: Layout, shape: tuple[int, ...]) -> list[tuple[str, tuple[str, ...], float]]:
        """(kind, axes, part of a value's bytes that each device sends) of each step between two layouts that sends."""
        found, at = [], before
        for step in self.way(before, after, shape):
            kept = [a for axes in step for a in axes]
            gathered = tuple(a for axes in at for a in axes if a not in kept)
            if gathered:
                found.append(("all-gather", gathered, self._share(gathered) / self.parts(step)))
            elif self.parts(step) == self.parts(at):
                places = {a: k for k, axes in enumerate(at) for a in axes}
                moved = tuple(a for k, axes in enumerate(step) for a in axes if places[a] != k)
                if self._cuts(step) == self._cuts(at):
                    moved = moved or tuple(a for one, two in zip(at, step, strict=True) if one != two for a in one)
                    found.append(("collective-permute", moved, 1 / self.parts(at)))
                else:
                    found.append(("all-to-all", moved, self._share(moved) / self.parts(at)))
            at = step
        return found

    def _share(self, axes):
        devices = math.prod(self.sizes[a] for a in axes)
        return (devices - 1) / devices

    def _reached(self, start, shape):
        """{layout: (cost of each byte, the layout before)} of the cheapest ways from one."""
        known = self._ways.get((start, shape))
        if known is not None:
            return known
        every = self._ordered(shape)
        best: dict[Layout, tuple[float, float, Layout | None]] = {start: (0.0, 0.0, None)}
        queue: list[tuple[float, int, Layout]] = [(0.0, 0, start)]
        count = itertools.count(1)
        while queue:
            so_far, _, layout = heapq.heappop(queue)
            if so_far > best[layout][0]:
                continue
            for reached, cost in self._steps(layout, shape, every):
                cost_there = so_far + cost + _STEP
                if reached not in best or cost_there < best[reached][0]:
                    best[reached] = cost_there, best[layout][1] + cost, layout
                    heapq.heappush(queue, (cost_there, next(count), reached))
        found = self._ways[start, shape] = {layout: (cost, past) for layout, (_, cost, past) in best.items()}
        return found

    def _steps(self, layout: Layout, shape: tuple[int, ...], every: list[Layout]) -> Iterator[tuple[Layout, float]]:
        """(layout, cost of each byte) of what one step leads to."""
        cuts, parts = self._cuts(layout), self.parts(layout)
        free = [a for a in self.sizes if not any(a in axes for axes in layout)]
        for place, axes in enumerate(layout):
            for a in free:
                if shape[place] % (cuts[place] * self.sizes[a]) == 0:
                    yield _with(layout, place, (*axes, a)), 0.0
            for first in range(len(axes)):
                moved = axes[first:]
                less, count = _with(layout, place, axes[:first]), math.prod(self.sizes[a] for a in moved)
                yield less, self._once_around(moved, count / parts)
                for to in range(len(shape)):
                    if to != place and shape[to] % (cuts[to] * count) == 0:
                        yield _with(less, to, (*less[to], *moved)), self._once_around(moved, 1 / parts)
        for other in every:
            if other != layout and self._cuts(other) == cuts:
                moved = [a for one, two in zip(layout, other, strict=True) if one != two for a in {*one, *two}]
                yield other, max(self.weights[a] for a in moved) / parts

    def _cuts(self, layout):
        return tuple(math.prod(self.sizes[a] for a in axes) for axes in layout)

    def _ordered(self, shape) -> list[Layout]:
        """All layouts whose parts are equal, with the axes of each place in any order."""
        orders = (itertools.product(*map(itertools.permutations, layout)) for layout in self.layouts(shape))
        return [tuple(order) for several in orders for order in several]

    def layouts(self, shape: tuple[int, ...]) -> list[Layout]:
        """All layouts of a value whose parts are equal, the axes of each place in the mesh's order."""
        axes, found = list(self.sizes), set()
        for places in itertools.product([None, *range(len(shape))], repeat=len(axes)):
            layout = tuple(tuple(a for a, p in zip(axes, places, strict=True) if p == k) for k in range(len(shape)))
            if all(n % cut == 0 for n, cut in zip(shape, self._cuts(layout), strict=True)):
                found.add(layout)
        return sorted(found)


def _with(layout, place, axes):
    return (*layout[:place], axes, *layout[place + 1 :])
