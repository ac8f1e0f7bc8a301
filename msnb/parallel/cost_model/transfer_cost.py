"""Costs of resharding values: the bytes that each device sends.

A mesh is a dict from axis to number of devices. A layout has for each axis of a value the mesh axes that shard it, the
outermost first. An all-reduce sends the data around a ring twice, an all-gather and an all-to-all once. Bytes between
hosts cost more.

A value is resharded in steps that XLA executes as the cost model assumes. Sharding by a further axis sends nothing.
The innermost mesh axes of a value's axis are gathered, or moved to another axis. Equal shards are permuted between
devices. Without these steps XLA may gather the full value.
"""

import heapq
import itertools
import math
from collections.abc import Iterator

Layout = tuple[tuple[str, ...], ...]
_STEP_COST = 1e-4  # cost of a step as a share of the value, so that of equally cheap paths the shortest is taken


class MeshCostModel:
    """Costs of communication on a mesh of devices.

    Args:
        sizes (dict[str, int]): Number of devices along each axis.
        weights (dict[str, float]): Cost of a byte along each axis; 1 inside a host.
    """

    def __init__(self, sizes: dict[str, int], weights: dict[str, float]) -> None:
        self.sizes, self.weights = sizes, weights
        self._paths: dict[tuple[Layout, tuple[int, ...]], dict[Layout, tuple[float, Layout | None]]] = {}

    @property
    def devices(self) -> int:
        """Number of devices."""
        return math.prod(self.sizes.values())

    def count_shards(self, layout: Layout) -> int:
        """Return the number of shards of a layout."""
        return math.prod(self.sizes[a] for axes in layout for a in axes)

    def all_reduce(self, axes: list[str], size: float) -> float:
        """Return the cost of an all-reduce of `size` bytes on each device, over several axes at once."""
        return 2 * self._compute_ring_cost(axes, size)

    def _compute_ring_cost(self, axes, size):
        """Return the cost of an all-gather whose result has `size` bytes, or of an all-to-all of `size` bytes."""
        return max((self.weights[a] for a in axes), default=0.0) * self._compute_sent_fraction(axes) * size

    def transfer_cost(self, before: Layout, after: Layout, size: float, shape: tuple[int, ...]) -> float:
        """Return the cost of changing a value's layout: the bytes that each device sends, times the cost of a byte.

        Args:
            before (Layout): Layout of the value.
            after (Layout): The requested layout.
            size (float): Size of the value in bytes.
            shape (tuple[int, ...]): Shape of the value; shards must be equal at each step.
        """
        if before == after:
            return 0.0
        return self._find_shortest_paths(before, shape)[after][0] * size

    def layout_path(self, before: Layout, after: Layout, shape: tuple[int, ...]) -> list[Layout]:
        """Return the layouts on the cheapest path from `before` to `after`, without `before`."""
        path: list[Layout] = []
        predecessors, layout = self._find_shortest_paths(before, shape), after
        while layout is not None and layout != before:
            path.append(layout)
            layout = predecessors[layout][1]
        return path[::-1]

    def transfer_steps(
        self, before: Layout, after: Layout, shape: tuple[int, ...]
    ) -> list[tuple[str, tuple[str, ...], float]]:
        """Return (kind, axes, share) of each communication step between two layouts. `share` is the number of bytes
        that a device sends, divided by the size of the value.
        """
        transfers, layout = [], before
        for step in self.layout_path(before, after, shape):
            remaining = [a for axes in step for a in axes]
            gathered = tuple(a for axes in layout for a in axes if a not in remaining)
            if gathered:
                transfers.append(
                    ("all-gather", gathered, self._compute_sent_fraction(gathered) / self.count_shards(step))
                )
            elif self.count_shards(step) == self.count_shards(layout):
                positions = {a: k for k, axes in enumerate(layout) for a in axes}
                moved = tuple(a for k, axes in enumerate(step) for a in axes if positions[a] != k)
                if self._count_shards_per_axis(step) == self._count_shards_per_axis(layout):
                    moved = moved or tuple(a for one, two in zip(layout, step, strict=True) if one != two for a in one)
                    transfers.append(("collective-permute", moved, 1 / self.count_shards(layout)))
                else:
                    transfers.append(
                        ("all-to-all", moved, self._compute_sent_fraction(moved) / self.count_shards(layout))
                    )
            layout = step
        return transfers

    def _compute_sent_fraction(self, axes):
        devices = math.prod(self.sizes[a] for a in axes)
        return (devices - 1) / devices

    def _find_shortest_paths(self, start, shape):
        """Return {layout: (cost per byte, previous layout)} of the cheapest paths from `start`."""
        cached = self._paths.get((start, shape))
        if cached is not None:
            return cached
        layouts = self._list_ordered_layouts(shape)
        best: dict[Layout, tuple[float, float, Layout | None]] = {start: (0.0, 0.0, None)}
        queue: list[tuple[float, int, Layout]] = [(0.0, 0, start)]
        count = itertools.count(1)
        while queue:
            so_far, _, layout = heapq.heappop(queue)
            if so_far > best[layout][0]:
                continue
            for neighbor, cost in self._iterate_neighbors(layout, shape, layouts):
                new_cost = so_far + cost + _STEP_COST
                if neighbor not in best or new_cost < best[neighbor][0]:
                    best[neighbor] = new_cost, best[layout][1] + cost, layout
                    heapq.heappush(queue, (new_cost, next(count), neighbor))
        paths = self._paths[start, shape] = {layout: (cost, previous) for layout, (_, cost, previous) in best.items()}
        return paths

    def _iterate_neighbors(
        self, layout: Layout, shape: tuple[int, ...], layouts: list[Layout]
    ) -> Iterator[tuple[Layout, float]]:
        """Iterate over (layout, cost per byte) of the layouts that one step of communication can reach."""
        shards_per_axis, shards = self._count_shards_per_axis(layout), self.count_shards(layout)
        free = [a for a in self.sizes if not any(a in axes for axes in layout)]
        for index, axes in enumerate(layout):
            for a in free:
                if shape[index] % (shards_per_axis[index] * self.sizes[a]) == 0:
                    yield _replace_axes(layout, index, (*axes, a)), 0.0
            for first in range(len(axes)):
                moved = axes[first:]
                gathered, count = _replace_axes(layout, index, axes[:first]), math.prod(self.sizes[a] for a in moved)
                yield gathered, self._compute_ring_cost(moved, count / shards)
                for target in range(len(shape)):
                    if target != index and shape[target] % (shards_per_axis[target] * count) == 0:
                        yield (
                            _replace_axes(gathered, target, (*gathered[target], *moved)),
                            self._compute_ring_cost(moved, 1 / shards),
                        )
        for other in layouts:
            if other != layout and self._count_shards_per_axis(other) == shards_per_axis:
                moved = [a for one, two in zip(layout, other, strict=True) if one != two for a in {*one, *two}]
                yield other, max(self.weights[a] for a in moved) / shards

    def _count_shards_per_axis(self, layout):
        return tuple(math.prod(self.sizes[a] for a in axes) for axes in layout)

    def _list_ordered_layouts(self, shape) -> list[Layout]:
        """Return all layouts with equal shards, with the mesh axes of each value axis in any order."""
        orders = (itertools.product(*map(itertools.permutations, layout)) for layout in self.layouts(shape))
        return [tuple(order) for layouts in orders for order in layouts]

    def layouts(self, shape: tuple[int, ...]) -> list[Layout]:
        """Return all layouts of a value with equal shards, with the mesh axes of each value axis in the mesh's
        order.
        """
        axes, layouts = list(self.sizes), set()
        for value_axes in itertools.product([None, *range(len(shape))], repeat=len(axes)):
            layout = tuple(tuple(a for a, p in zip(axes, value_axes, strict=True) if p == k) for k in range(len(shape)))
            if all(n % shards == 0 for n, shards in zip(shape, self._count_shards_per_axis(layout), strict=True)):
                layouts.add(layout)
        return sorted(layouts)


def _replace_axes(layout, index, axes):
    return (*layout[:index], axes, *layout[index + 1 :])
