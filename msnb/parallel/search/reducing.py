"""A choice problem made smaller without losing its cheapest solution.

A node with one or two neighbours is chosen best for each pair of their choices, so that its cost becomes theirs;
MindSpore's source, edge and merge eliminations are this. Where no such node is left, choices go that another one of the
same node is never dearer than. What remains is for an integer program.
"""

from typing import Any

import numpy as np

Array = np.ndarray


class Reduced:
    """What is left of a choice problem.

    Args:
        costs (list[Array]): For each node the cost of each choice.
        pairs (list[dict[int, Array]]): For each node, by neighbour, the cost of each pair of choices, own ones first;
            the neighbour has the same turned round. Both are used up.

    Attributes:
        left (list[int]): The nodes that are left.
    """

    def __init__(self, costs: list[Array], pairs: list[dict[int, Array]]) -> None:
        self.costs, self.pairs = costs, pairs
        self._kept = [np.arange(len(c)) for c in costs]  # which of the original choices
        self._decided: list[tuple[int, Array, Array, list[tuple[int, Array, Array]]]] = []
        self._alive = set(range(len(costs)))
        while self._eliminate() or self._drop_dear():
            pass
        self.left = sorted(self._alive)

    def _eliminate(self):
        """Whether there were nodes with two neighbours or fewer."""
        found = False
        for node in sorted(self._alive, key=lambda n: (len(self.pairs[n]), n)):
            near = self.pairs[node]
            if len(near) > 2:
                continue
            found = True
            cost = self.costs[node]
            self._decided.append((node, cost, self._kept[node], [(n, t, self._kept[n]) for n, t in near.items()]))
            if len(near) == 1:
                ((one, table),) = near.items()
                self.costs[one] = self.costs[one] + (cost[:, None] + table).min(0)
            elif near:
                (one, first), (two, second) = near.items()
                between = (cost[:, None, None] + first[:, :, None] + second[:, None, :]).min(0)
                self._join(one, two, between)
            for other in near:
                del self.pairs[other][node]
            self._alive.discard(node)
        return found

    def _join(self, one, two, table):
        table = table + self.pairs[one].get(two, 0.0)
        self.pairs[one][two], self.pairs[two][one] = table, table.T

    def _drop_dear(self):
        """Whether there were choices that another one is never dearer than."""
        found = False
        for node in sorted(self._alive):
            cost = self.costs[node]
            more = cost[:, None] - cost[None, :]  # of the row beside the column, at most
            for table in self.pairs[node].values():
                more = more + (table[:, None, :] - table[None, :, :]).max(-1)
            keep = np.ones(len(cost), bool)
            for choice in range(len(cost)):
                better = keep & (more[:, choice] <= 0)
                better[choice] = False
                keep[choice] = not better.any()
            if not keep.all():
                found = True
                self.costs[node], self._kept[node] = cost[keep], self._kept[node][keep]
                for other, table in self.pairs[node].items():
                    self.pairs[node][other] = table[keep]
                    self.pairs[other][node] = table[keep].T
        return found

    def whole(self, chosen: dict[int, int]) -> list[int]:
        """The choice for every node, from those for the nodes that are left, as the numbers that they have there."""
        found: dict[int, int] = {node: int(self._kept[node][k]) for node, k in chosen.items()}
        for node, cost, kept, near in reversed(self._decided):
            total: Any = cost
            for other, table, columns in near:
                total = total + table[:, int(np.searchsorted(columns, found[other]))]
            found[node] = int(kept[np.argmin(total)])
        return [found[node] for node in range(len(self.costs))]
