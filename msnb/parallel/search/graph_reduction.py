"""Reduce a choice problem without losing a cheapest solution.

A node with one or two neighbors is solved for each pair of their choices, and its cost is added to theirs. MindSpore's
source, edge and merge eliminations are special cases. If there is no such node, a choice is dropped if another
choice of the same node is never more expensive. An integer program solves the remaining problem.
"""

from typing import Any

import numpy as np

Array = np.ndarray


class ReducedProblem:
    """A choice problem, reduced by the elimination of nodes and choices.

    Args:
        costs (list[Array]): For each node the cost of each choice.
        pairs (list[dict[int, Array]]): For each node and neighbor, the cost of each pair of choices, with the node's
            choices as rows. The neighbor has the transposed table. Both arguments are modified.

    Attributes:
        remaining (list[int]): The nodes that remain.
    """

    def __init__(self, costs: list[Array], pairs: list[dict[int, Array]]) -> None:
        self.costs, self.pairs = costs, pairs
        self._choice_indices = [np.arange(len(c)) for c in costs]  # indices of the original choices
        self._eliminated: list[tuple[int, Array, Array, list[tuple[int, Array, Array]]]] = []
        self._alive = set(range(len(costs)))
        while self._eliminate_nodes() or self._drop_dominated_choices():
            pass
        self.remaining = sorted(self._alive)

    def _eliminate_nodes(self):
        """Eliminate nodes with at most two neighbors. Return True if there were any."""
        has_changed = False
        for node in sorted(self._alive, key=lambda n: (len(self.pairs[n]), n)):
            neighbors = self.pairs[node]
            if len(neighbors) > 2:
                continue
            has_changed = True
            cost = self.costs[node]
            self._eliminated.append(
                (
                    node,
                    cost,
                    self._choice_indices[node],
                    [(n, t, self._choice_indices[n]) for n, t in neighbors.items()],
                )
            )
            if len(neighbors) == 1:
                ((one, table),) = neighbors.items()
                self.costs[one] = self.costs[one] + (cost[:, None] + table).min(0)
            elif neighbors:
                (one, first), (two, second) = neighbors.items()
                combined = (cost[:, None, None] + first[:, :, None] + second[:, None, :]).min(0)
                self._add_pair_costs(one, two, combined)
            for other in neighbors:
                del self.pairs[other][node]
            self._alive.discard(node)
        return has_changed

    def _add_pair_costs(self, one, two, table):
        table = table + self.pairs[one].get(two, 0.0)
        self.pairs[one][two], self.pairs[two][one] = table, table.T

    def _drop_dominated_choices(self):
        """Drop each choice for which another choice of its node never costs more. Return True if there were any."""
        has_changed = False
        for node in sorted(self._alive):
            cost = self.costs[node]
            excess = cost[:, None] - cost[None, :]  # upper bound of the row's cost minus the column's
            for table in self.pairs[node].values():
                excess = excess + (table[:, None, :] - table[None, :, :]).max(-1)
            keep = np.ones(len(cost), bool)
            for choice in range(len(cost)):
                better = keep & (excess[:, choice] <= 0)
                better[choice] = False
                keep[choice] = not better.any()
            if not keep.all():
                has_changed = True
                self.costs[node], self._choice_indices[node] = cost[keep], self._choice_indices[node][keep]
                for other, table in self.pairs[node].items():
                    self.pairs[node][other] = table[keep]
                    self.pairs[other][node] = table[keep].T
        return has_changed

    def expand(self, chosen: dict[int, int]) -> list[int]:
        """Return the original choice index of every node, from the reduced indices of the remaining nodes."""
        indices: dict[int, int] = {node: int(self._choice_indices[node][k]) for node, k in chosen.items()}
        for node, cost, choice_indices, neighbors in reversed(self._eliminated):
            total: Any = cost
            for other, table, columns in neighbors:
                total = total + table[:, int(np.searchsorted(columns, indices[other]))]
            indices[node] = int(choice_indices[np.argmin(total)])
        return [indices[node] for node in range(len(self.costs))]
