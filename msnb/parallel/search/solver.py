"""Find the cheapest choice for each node of a problem.

Nodes with equal neighbourhoods get the same choice (`isomorphic_nodes`). Exact eliminations (`graph_reduction`) come
first, and an integer linear program (`ilp`) solves the remaining problem. In large problems, neighbourhoods are first
compared over few edges, so that more nodes are merged. The solution is then improved window by window
(`large_neighborhood`). Finally, nodes are improved one at a time. A memory limit is enforced through a price per byte,
which is raised until the solution fits.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from msnb import log
from msnb.parallel.search.choice_problem import Problem
from msnb.parallel.search.graph_reduction import Array, ReducedProblem
from msnb.parallel.search.ilp import solve_ilp
from msnb.parallel.search.isomorphic_nodes import isomorphism_classes
from msnb.parallel.search.large_neighborhood import improve_by_windows

BYTE = 200.0  # operations in the time of one sent byte; an accelerator with 100 TFLOP/s and 500 GB/s
READ = 1 / 4000  # cost of a read byte, in sent bytes: breaks ties in favour of fewer reads
_FIRST_PRICE, _PRICE_STEPS = 1 / 16, 6  # first price of a stored byte, in sent bytes, and number of prices tried
_MAX_PRICE = 1e5  # a price at which only memory counts
_SMALL_PROBLEM = 500  # up to this number of nodes, equal nodes are not merged
# Measured with 24 layers: if nodes with equal surroundings up to two edges away are merged, 135 nodes remain, which
# are solved in seconds. With eight edges 317 remain, which are far from solved after a minute.
_COARSE_ROUNDS, _COARSE_GAP, _COARSE_TIME_SHARE = 2, 1e-2, 1 / 3


def dynamic_programming(
    problem: Problem,
    memory: float | None = None,
    seconds: float = 60.0,
    operation: float = 1 / BYTE,
    written: float = 0.0,
    read: float = READ,
) -> list[int]:
    """Return the index of the choice for each node, so that devices send the fewest bytes.

    Args:
        problem (Problem): The search problem.
        memory (float): Limit of the bytes of `problem.peak_nodes` on each device. Default: None, no limit.
        seconds (float): Approximate time limit, after which the best solution so far is returned. Default: 60.
        operation (float): Cost of an operation, in sent bytes. Default: 0.005.
        written (float): Cost of a byte written to a device's own memory, in sent bytes. Default: 0.0.
        read (float): Cost of a byte read from it. Default: 0.00025.

    Raises:
        RuntimeError: If no choice fits into the memory.
    """
    deadline, work = time.monotonic() + seconds, (operation, written, read)
    search = _Search(problem, work, deadline)
    if memory is None:
        return search.cheapest(0.0)
    min_bytes = sum(min(c.stored_bytes for c in problem.nodes[n]) for n in problem.peak_nodes)
    if min_bytes > memory:
        raise RuntimeError(
            f"No way was found to spread the program over the devices: each would have to keep "
            f"{show_bytes(min_bytes)}, but has {show_bytes(memory)}."
        )
    return solve_within_memory(problem, memory, search.cheapest, deadline)


def show_bytes(octets: float) -> str:
    """Return a number of bytes as text, in the largest unit up to GiB in which it is at least 1."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if octets >= factor:
            return f"{octets / factor:,.1f} {unit}"
    return f"{octets:,.0f} B"


def solve_within_memory(
    problem: Problem, memory: float, solve: Callable[[float], list[int]], deadline: float
) -> list[int]:
    """Find the lowest price of memory at which the solution fits, and return this solution. After the deadline any
    price at which it fits is used.

    Args:
        problem (Problem): The search problem.
        memory (float): Limit of `peak_nodes_bytes`.
        solve (Callable): Returns the choice for each node at a price of a stored byte.
        deadline (float): The deadline, by `time.monotonic`.

    Raises:
        RuntimeError: If the solution fits at no price.
    """
    solution = solve(0.0)
    if peak_nodes_bytes(problem, solution) <= memory:
        return solution
    low, high, best = 0.0, _FIRST_PRICE, None
    for _ in range(_PRICE_STEPS):
        is_late = time.monotonic() > deadline
        if is_late and best is not None:
            break
        price = high if best is None else math.sqrt(max(low, high / 64) * high)
        if is_late:
            price = max(price, _MAX_PRICE)
        solution = solve(price)
        if peak_nodes_bytes(problem, solution) <= memory:
            best, high = solution, price
        else:
            low, high = price, high * 16 if best is None else high
    if best is None:
        raise RuntimeError("No way was found to spread the program over the devices that fits into the memory.")
    return best


def peak_nodes_bytes(problem: Problem, choice: list[int]) -> float:
    """Return the bytes that the results of `problem.peak_nodes` take on each device."""
    return sum(problem.nodes[n][choice[n]].stored_bytes for n in problem.peak_nodes)


class _Search:
    """Search of one problem at different prices of memory. Its attributes do not depend on the price."""

    def __init__(self, problem, work, deadline):
        self._problem, self._work, self._deadline = problem, work, deadline
        is_large = len(problem.nodes) > _SMALL_PROBLEM
        self._classes = isomorphism_classes(problem) if is_large else list(range(len(problem.nodes)))
        self._coarse_classes = isomorphism_classes(problem, _COARSE_ROUNDS) if is_large else None

    def cheapest(self, price):
        """Return the index of the choice for each node at a price of a stored byte."""
        costs, pairs = _sum_costs_by_class(self._problem, self._classes, self._work, price)
        if self._coarse_classes is None:
            solution = _reduce_and_solve(costs, pairs, self._get_remaining_time())
        else:
            coarse_costs = _sum_costs_by_class(self._problem, self._coarse_classes, self._work, price)
            coarse_solution = _reduce_and_solve(
                *coarse_costs, _COARSE_TIME_SHARE * self._get_remaining_time(), _COARSE_GAP
            )
            start = dict(zip(self._classes, (coarse_solution[c] for c in self._coarse_classes), strict=True))
            solution = improve_by_windows(costs, pairs, [start[c] for c in range(len(costs))], self._deadline)
        return _improve_node_by_node(self._problem, [solution[c] for c in self._classes], self._work, price)

    def _get_remaining_time(self):
        return max(1.0, self._deadline - time.monotonic())


def _reduce_and_solve(costs, pairs, seconds, gap=1e-4):
    reduced = ReducedProblem(costs, pairs)
    solution = solve_ilp(reduced, seconds, gap)
    if solution is None:  # then start from each node's cheapest choice; later steps improve it
        log.once(
            "The search for strategies was not done in the time that it had: what it takes may send many times what is "
            "needed. msnb.parallel.plan(..., seconds=120) gives it more, and so does a machine that does nothing else."
        )
        solution = {node: int(np.argmin(reduced.costs[node])) for node in reduced.remaining}
    return reduced.expand(solution)


def _sum_costs_by_class(problem: Problem, class_of: list[int], work: tuple[float, float, float], price: float):
    """Return (cost of each choice of each class, {other class: cost of each pair of choices} of each class)."""
    costs: list[Array] = [np.zeros(0)] * (max(class_of) + 1)
    pairs: list[dict[int, Array]] = [{} for _ in costs]
    for number, node_class in enumerate(class_of):
        cost = node_costs(problem, number, work, price)
        costs[node_class] = costs[node_class] + cost if len(costs[node_class]) else cost
    for edge in problem.edges:
        source, target, table = class_of[edge.source[0]], class_of[edge.target[0]], problem.transfer_cost(edge)
        if source == target:
            costs[source] = costs[source] + np.diag(table)
        elif table.any():
            table = table + pairs[source].get(target, 0.0)
            pairs[source][target], pairs[target][source] = table, table.T
    return costs, pairs


def node_costs(problem: Problem, number: int, work: tuple[float, float, float], price: float) -> Array:
    """Return the cost of each choice of a node, without resharding: bytes sent, and operations and memory traffic
    converted to sent bytes.

    Args:
        problem (Problem): The search problem.
        number (int): The node.
        work (tuple[float, float, float]): Costs of an operation, of a written byte and of a read byte.
        price (float): Cost of a stored byte.
    """
    (operation, written, read), memory = work, price if number in problem.peak_nodes else 0.0
    return np.array(
        [
            c.sent + operation * c.operations + written * c.written + read * c.read + memory * c.stored_bytes
            for c in problem.nodes[number]
        ]
    )


def _improve_node_by_node(problem, choice, work, price):
    """Return `choice`, improved one node at a time until nothing changes."""
    incident = defaultdict(list)
    for edge in problem.edges:
        incident[edge.source[0]].append((edge, edge.target[0]))
        incident[edge.target[0]].append((edge, edge.source[0]))
    choice, pending = list(choice), set(range(len(choice)))
    for _ in range(20):
        changed = set()
        for number in sorted(pending):
            total = node_costs(problem, number, work, price)
            for edge, other in incident[number]:
                table = problem.transfer_cost(edge)
                if other == number:
                    total = total + np.diag(table)
                else:
                    total = total + (table[:, choice[other]] if edge.source[0] == number else table[choice[other]])
            best = int(np.argmin(total))
            if total[best] < total[choice[number]] * (1 - 1e-9):
                choice[number] = best
                changed.update([number, *(other for _, other in incident[number])])
        pending = changed
        if not changed:
            break
    return choice


def cost_of(problem: Problem, choice: list[int]) -> float:
    """Return the weighted bytes that each device sends for a choice of each node. Resharding a value to one layout for
    several readers counts once.
    """
    node_bytes = sum(node[k].sent for node, k in zip(problem.nodes, choice, strict=True))
    transfers = {}
    for edge in problem.edges:
        source, target = edge.source[0], edge.target[0]
        target_layout = problem.layouts(
            edge, problem.nodes[source][choice[source]], problem.nodes[target][choice[target]]
        )[1]
        transfers[edge.source, target_layout] = float(problem.transfer_cost(edge)[choice[source], choice[target]])
    return node_bytes + sum(transfers.values())
