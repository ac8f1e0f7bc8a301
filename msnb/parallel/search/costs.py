"""What it costs to move values between devices: bytes that each of them sends.

A mesh is a dict from axis to number of devices. A layout has for each axis of a value the mesh axes that cut it.
An all-reduce goes twice around a ring, an all-gather and an all-to-all once. Bytes that leave a host weigh more.
"""

import itertools
import math
from typing import NamedTuple

Layout = tuple[tuple[str, ...], ...]


class Machines(NamedTuple):
    """Devices as a mesh, and how much slower each axis is than the fastest.

    Attributes:
        sizes (dict[str, int]): Number of devices along each axis.
        weights (dict[str, float]): What a byte along an axis costs; 1 inside a host.
    """

    sizes: dict[str, int]
    weights: dict[str, float]

    def parts(self, layout: Layout) -> int:
        """Into how many parts a layout cuts."""
        return math.prod(self.sizes[a] for axes in layout for a in axes)

    def all_reduce(self, axes: list[str], size: float) -> float:
        """Of a value of so many bytes on each device, over several axes at once."""
        devices = math.prod(self.sizes[a] for a in axes)
        weight = max((self.weights[a] for a in axes), default=0.0)
        return weight * 2 * (devices - 1) / devices * size

    def once_around(self, axis: str, size: float) -> float:
        """An all-gather that makes, or an all-to-all that exchanges, so many bytes on each device."""
        return self.weights[axis] * (self.sizes[axis] - 1) / self.sizes[axis] * size

    def moving(self, before: Layout, after: Layout, size: int) -> float:
        """From one layout of a value of so many bytes to another: cut first, then exchange, then gather."""
        if before == after:
            return 0.0
        old = {a: k for k, axes in enumerate(before) for a in axes}
        new = {a: k for k, axes in enumerate(after) for a in axes}
        parts, cost = math.prod(self.sizes[a] for a in old), 0.0
        for axis in new.keys() - old.keys():
            parts *= self.sizes[axis]
        cost += sum(self.once_around(a, size / parts) for a in old if a in new and old[a] != new[a])
        for axis in old.keys() - new.keys():
            parts //= self.sizes[axis]
            cost += self.once_around(axis, size / parts)
        return cost

    def layouts(self, shape: tuple[int, ...]) -> list[Layout]:
        """All layouts of a value whose parts are equal."""
        axes, found = list(self.sizes), set()
        for places in itertools.product([None, *range(len(shape))], repeat=len(axes)):
            layout = tuple(tuple(a for a, p in zip(axes, places, strict=True) if p == k) for k in range(len(shape)))
            if all(n % math.prod(self.sizes[a] for a in cut) == 0 for n, cut in zip(shape, layout, strict=True)):
                found.add(layout)
        return sorted(found)
