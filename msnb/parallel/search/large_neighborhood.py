"""Improve a solution of a large choice problem locally (large neighborhood search).

A window of nodes is solved again while all other choices are fixed. This repeats until nothing changes.
"""

import time
from collections import deque
from collections.abc import Iterator, Sequence

from msnb.parallel.search.graph_reduction import Array, ReducedProblem
from msnb.parallel.search.ilp import solve_ilp

_WINDOW_SIZE = 80  # nodes in a window; 40 and 140 took longer and gave no better solution
_WINDOW_SECONDS = 3.0  # time limit of the integer program of a window


def improve_by_windows(
    costs: Sequence[Array], pairs: Sequence[dict[int, Array]], chosen: Sequence[int], deadline: float
) -> list[int]:
    """Improve a solution window by window. Return a choice for each node, with a total cost of at most that of
    `chosen`.

    Args:
        costs (Sequence[Array]): For each node the cost of each choice.
        pairs (Sequence[dict[int, Array]]): For each node and neighbor the cost of each pair, see `ReducedProblem`.
        chosen (Sequence[int]): The initial solution.
        deadline (float): The deadline, by `time.monotonic`.
    """
    solution, has_changed = list(chosen), True
    while has_changed:
        has_changed = False
        for window in _iterate_windows(pairs):
            if time.monotonic() > deadline:
                return solution
            window_costs, window_pairs = _restrict_to_window(costs, pairs, solution, window)
            current = [solution[n] for n in window]
            before = _compute_total_cost(window_costs, window_pairs, current)
            reduced = ReducedProblem(list(window_costs), [dict(neighbors) for neighbors in window_pairs])
            reduced_solution = solve_ilp(reduced, _WINDOW_SECONDS)
            if reduced_solution is None:
                continue
            new = reduced.expand(reduced_solution)
            if _compute_total_cost(window_costs, window_pairs, new) < before - 1e-9 * abs(before):
                has_changed = True
                for node, choice in zip(window, new, strict=True):
                    solution[node] = choice
    return solution


def _iterate_windows(pairs: Sequence[dict[int, Array]]) -> Iterator[list[int]]:
    """Iterate over windows of connected nodes. Windows overlap: each begins at another node and grows breadth-first."""
    for first in range(0, len(pairs), max(1, _WINDOW_SIZE // 3)):
        window, pending = {first}, deque([first])
        while pending and len(window) < _WINDOW_SIZE:
            for neighbor in sorted(pairs[pending.popleft()]):
                if neighbor not in window and len(window) < _WINDOW_SIZE:
                    window.add(neighbor)
                    pending.append(neighbor)
        yield sorted(window)


def _restrict_to_window(costs, pairs, solution, window):
    """Return (costs, pairs) of a window's nodes, numbered from 0, given the choices of all other nodes."""
    index_of = {node: i for i, node in enumerate(window)}
    window_costs, window_pairs = [], []
    for node in window:
        cost, neighbors = costs[node], {}
        for other, table in pairs[node].items():
            if other in index_of:
                neighbors[index_of[other]] = table
            else:
                cost = cost + table[:, solution[other]]
        window_costs.append(cost)
        window_pairs.append(neighbors)
    return window_costs, window_pairs


def _compute_total_cost(window_costs, window_pairs, chosen):
    total = sum(cost[k] for cost, k in zip(window_costs, chosen, strict=True))
    for node, neighbors in enumerate(window_pairs):
        total += sum(table[chosen[node], chosen[other]] for other, table in neighbors.items() if other > node)
    return total
