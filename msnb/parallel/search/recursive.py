"""Search for strategies that MindSpore calls recursive programming: one mesh axis after the other, and one equation
after the other.

Along each mesh axis the equations with the most operations choose first. Each takes the cheapest choice given those
that have chosen already. Choices along one axis stay fixed while the next axis shards further. The time is linear in
the number of equations, but the result is worse than that of `solver.dynamic_programming`, because no two equations
choose jointly.
"""

import time
from collections import defaultdict

import numpy as np

from msnb.parallel.search.choice_problem import Choice, Edge, NodeChoices, Problem
from msnb.parallel.search.solver import BYTE, READ, node_costs, solve_within_memory


def recursive_programming(
    problem: Problem,
    memory: float | None = None,
    seconds: float = 60.0,
    operation: float = 1 / BYTE,
    written: float = 0.0,
    read: float = READ,
) -> list[int]:
    """Return the index of the choice for each node, selected greedily.

    Args:
        problem (Problem): The search problem.
        memory (float): Limit of the bytes of `problem.peak_nodes` on each device. Default: None, no limit.
        seconds (float): Approximate time limit if memory is short. Default: 60.
        operation (float): Cost of an operation, in sent bytes. Default: 0.005.
        written (float): Cost of a byte written to a device's own memory, in sent bytes. Default: 0.0.
        read (float): Cost of a byte read from it. Default: 0.00025.

    Raises:
        RuntimeError: If no solution fits into the memory.
    """
    work = operation, written, read
    if memory is None:
        return _choose_greedily(problem, work, 0.0)
    deadline = time.monotonic() + seconds
    return solve_within_memory(problem, memory, lambda price: _choose_greedily(problem, work, price), deadline)


def _choose_greedily(problem: Problem, work: tuple[float, float, float], price: float) -> list[int]:
    incident: list[list[tuple[Edge, int]]] = [[] for _ in problem.nodes]
    for edge in problem.edges:
        incident[edge.source[0]].append((edge, edge.target[0]))
        incident[edge.target[0]].append((edge, edge.source[0]))
    weight = [max(choice.operations for choice in node) for node in problem.nodes]
    order = sorted(range(len(weight)), key=lambda number: -weight[number])
    costs = [node_costs(problem, number, work, price) for number in range(len(weight))]
    axes, cached = list(problem.cost_model.sizes), {}
    chosen = [0] * len(weight)
    for count in range(len(axes)):
        current: dict[int, int] = {}
        remaining_axes = set(axes[count:]), set(axes[count + 1 :])
        for number in order:
            key = problem.nodes[number], chosen[number] if count else None, count
            if key not in cached:
                cached[key] = _find_allowed_choices(key[0], key[1], *remaining_axes)
            allowed = cached[key]
            total = costs[number][allowed]
            for edge, other in incident[number]:
                table = problem.transfer_cost(edge)
                if other == number:
                    total = total + np.diag(table)[allowed]
                elif other in current:
                    neighbor_choice = current[other]
                    total = total + (
                        table[allowed, neighbor_choice] if edge.source[0] == number else table[neighbor_choice, allowed]
                    )
            current[number] = int(allowed[np.argmin(total)])
        chosen = [current[number] for number in range(len(weight))]
    return chosen


def _find_allowed_choices(node: NodeChoices, chosen: int | None, later: set[str], after: set[str]) -> list[int]:
    """Return the choices that do not use the axes in `after`, and that equal `chosen` once the axes in `later` are
    removed.
    """
    groups: dict[object, list[int]] = defaultdict(list)
    for k, choice in enumerate(node):
        if _remove_axes(choice, after) == (choice.inputs, choice.outputs):
            groups[_remove_axes(choice, later)].append(k)
    if chosen is None:
        return [k for choices in groups.values() for k in choices]
    return groups[_remove_axes(node[chosen], later)]


def _remove_axes(choice: Choice, axes: set[str]):
    def strip(layouts):
        return tuple(
            tuple(tuple(a for a in value_axes if a not in axes) for value_axes in layout) for layout in layouts
        )

    return strip(choice.inputs), strip(choice.outputs)
