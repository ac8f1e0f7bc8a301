"""One axis of the mesh after the other, each equation for itself: the search that MindSpore calls recursive.

Along each axis the equations that compute most choose first; each takes what is cheapest beside those that have chosen
already. What was chosen along one axis stays for the next, which cuts the parts further. It takes as long as there are
equations, and knows less than `choosing.dynamic_programming`: nothing is chosen together with what comes later.
"""

import time
from collections import defaultdict

import numpy as np

from msnb.parallel.search.choosing import BYTE, READ, own_costs, within
from msnb.parallel.search.problem import Choice, Edge, Problem, Ways


def recursive_programming(
    problem: Problem,
    memory: float | None = None,
    seconds: float = 60.0,
    operation: float = 1 / BYTE,
    written: float = 0.0,
    read: float = READ,
) -> list[int]:
    """Number of the choice for each node, found greedily.

    Args:
        problem (Problem): The choices.
        memory (float): Bytes that what is kept, `problem.kept`, may take on each device. Default: None, any number.
        seconds (float): About how long it may take where the memory is short. Default: 60.
        operation (float): What an operation costs, in bytes. Default: 0.005.
        written (float): What a byte costs that is written to a device's own memory, in bytes sent. Default: 0.0.
        read (float): What a byte costs that is read from it. Default: 0.00025.

    Raises:
        RuntimeError: If nothing that is found fits into the memory.
    """
    work = operation, written, read
    if memory is None:
        return _along_all(problem, work, 0.0)
    deadline = time.monotonic() + seconds
    return within(problem, memory, lambda price: _along_all(problem, work, price), deadline)


def _along_all(problem: Problem, work: tuple[float, float, float], price: float) -> list[int]:
    near: list[list[tuple[Edge, int]]] = [[] for _ in problem.nodes]
    for edge in problem.edges:
        near[edge.source[0]].append((edge, edge.target[0]))
        near[edge.target[0]].append((edge, edge.source[0]))
    weight = [max(choice.operations for choice in node) for node in problem.nodes]
    order = sorted(range(len(weight)), key=lambda number: -weight[number])
    costs = [own_costs(problem, number, work, price) for number in range(len(weight))]
    axes, known = list(problem.machines.sizes), {}
    chosen = [0] * len(weight)
    for count in range(len(axes)):
        now: dict[int, int] = {}
        later = set(axes[count:]), set(axes[count + 1 :])
        for number in order:
            key = problem.nodes[number], chosen[number] if count else None, count
            if key not in known:
                known[key] = _further(key[0], key[1], *later)
            allowed = known[key]
            total = costs[number][allowed]
            for edge, other in near[number]:
                table = problem.moving(edge)
                if other == number:
                    total = total + np.diag(table)[allowed]
                elif other in now:
                    beside = now[other]
                    total = total + (table[allowed, beside] if edge.source[0] == number else table[beside, allowed])
            now[number] = int(allowed[np.argmin(total)])
        chosen = [now[number] for number in range(len(weight))]
    return chosen


def _further(node: Ways, chosen: int | None, later: set[str], after: set[str]) -> list[int]:
    """The choices that leave the axes in `after` alone and are, without those in `later`, what was chosen."""
    found: dict[object, list[int]] = defaultdict(list)
    for k, choice in enumerate(node):
        if _without(choice, after) == (choice.inputs, choice.outputs):
            found[_without(choice, later)].append(k)
    if chosen is None:
        return [k for several in found.values() for k in several]
    return found[_without(node[chosen], later)]


def _without(choice: Choice, axes: set[str]):
    def left(layouts):
        return tuple(tuple(tuple(a for a in place if a not in axes) for place in layout) for layout in layouts)

    return left(choice.inputs), left(choice.outputs)
