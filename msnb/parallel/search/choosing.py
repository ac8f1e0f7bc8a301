"""The cheapest choice for each node of a problem.

Nodes whose surroundings are equal are chosen alike, what can be decided exactly is decided (`reducing`), and an
integer linear program has the rest (`program`). Where there are many nodes, surroundings are few edges at first, and
what is found so is made better part by part (`windows`). At last each node is looked at once more by itself.
A limit of memory becomes a price of it, as high as is needed.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from msnb import log
from msnb.parallel.search.equal import classes
from msnb.parallel.search.problem import Problem
from msnb.parallel.search.program import cheapest
from msnb.parallel.search.reducing import Array, Reduced
from msnb.parallel.search.windows import improved

BYTE = 200.0  # operations in the time that one byte takes; of an accelerator with 100 TFLOP/s and 500 GB/s
READ = 1 / 4000  # a byte that is read, in bytes sent: so of ways that send the same the one is taken that reads least
_PRICE, _PRICES = 1 / 16, 6  # of a byte of memory, in bytes sent: the first that is tried, and how many are
_DEAR = 1e5  # at which nothing but memory counts
_FEW = 500  # nodes, of which each is searched for by itself
# Of more, for 24 layers: nodes that are alike two edges around leave a program of 135 nodes, which takes seconds; those
# that are alike eight edges around leave one of 317, of which little is known after a minute.
_ROUGH, _ROUGH_GAP, _ROUGH_SHARE = 2, 1e-2, 1 / 3


def dynamic_programming(
    problem: Problem,
    memory: float | None = None,
    seconds: float = 60.0,
    operation: float = 1 / BYTE,
    written: float = 0.0,
    read: float = READ,
) -> list[int]:
    """Number of the choice for each node that together send the fewest bytes.

    Args:
        problem (Problem): The choices.
        memory (float): Bytes that what is kept, `problem.kept`, may take on each device. Default: None, any number.
        seconds (float): About how long it may take; the best that was found until then is returned. Default: 60.
        operation (float): What an operation costs, in bytes. Default: 0.005.
        written (float): What a byte costs that is written to a device's own memory, in bytes sent. Default: 0.0.
        read (float): What a byte costs that is read from it. Default: 0.00025.

    Raises:
        RuntimeError: If no choice fits into the memory.
    """
    deadline, work = time.monotonic() + seconds, (operation, written, read)
    search = _Search(problem, work, deadline)
    if memory is None:
        return search.cheapest(0.0)
    least = sum(min(c.held for c in problem.nodes[n]) for n in problem.kept)
    if least > memory:
        raise RuntimeError(
            f"No way was found to spread the program over the devices: each would have to keep "
            f"{show_bytes(least)}, but has {show_bytes(memory)}."
        )
    return within(problem, memory, search.cheapest, deadline)


def show_bytes(octets: float) -> str:
    """A number of bytes in GiB, or in the unit that suits it where it is less."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if octets >= factor:
            return f"{octets / factor:,.1f} {unit}"
    return f"{octets:,.0f} B"


def within(problem: Problem, memory: float, solve: Callable[[float], list[int]], deadline: float) -> list[int]:
    """The solution at the lowest price of memory at which it fits; once the time is over, at one that is high enough.

    Args:
        problem (Problem): The choices.
        memory (float): Bytes that `held` may be.
        solve (Callable): From a price of a byte to a choice for each node.
        deadline (float): When the time is over, by `time.monotonic`.

    Raises:
        RuntimeError: If it fits at none.
    """
    found = solve(0.0)
    if held(problem, found) <= memory:
        return found
    low, high, best = 0.0, _PRICE, None
    for _ in range(_PRICES):
        late = time.monotonic() > deadline
        if late and best is not None:
            break
        price = high if best is None else math.sqrt(max(low, high / 64) * high)
        if late:
            price = max(price, _DEAR)
        found = solve(price)
        if held(problem, found) <= memory:
            best, high = found, price
        else:
            low, high = price, high * 16 if best is None else high
    if best is None:
        raise RuntimeError("No way was found to spread the program over the devices that fits into the memory.")
    return best


def held(problem: Problem, choice: list[int]) -> float:
    """Bytes that what is kept takes on each device."""
    return sum(problem.nodes[n][choice[n]].held for n in problem.kept)


class _Search:
    """What is the same for each price of memory."""

    def __init__(self, problem, work, deadline):
        self._problem, self._work, self._deadline = problem, work, deadline
        many = len(problem.nodes) > _FEW
        self._together = classes(problem) if many else list(range(len(problem.nodes)))
        self._rough = classes(problem, _ROUGH) if many else None

    def cheapest(self, price):
        """Number of the choice for each node, with what a byte costs that is kept."""
        costs, pairs = _priced(self._problem, self._together, self._work, price)
        if self._rough is None:
            found = _solved(costs, pairs, self._left())
        else:
            rough = _priced(self._problem, self._rough, self._work, price)
            alike = _solved(*rough, _ROUGH_SHARE * self._left(), _ROUGH_GAP)
            begin = dict(zip(self._together, (alike[c] for c in self._rough), strict=True))
            found = improved(costs, pairs, [begin[c] for c in range(len(costs))], self._deadline)
        return _each(self._problem, [found[c] for c in self._together], self._work, price)

    def _left(self):
        return max(1.0, self._deadline - time.monotonic())


def _solved(costs, pairs, seconds, gap=1e-4):
    reduced = Reduced(costs, pairs)
    found = cheapest(reduced, seconds, gap)
    if found is None:  # then the first that comes, which is made better node by node
        log.once(
            "The search for strategies was not done in the time that it had: what it takes may send many times what is "
            "needed. msnb.parallel.plan(..., seconds=120) gives it more, and so does a machine that does nothing else."
        )
        found = {node: int(np.argmin(reduced.costs[node])) for node in reduced.left}
    return reduced.whole(found)


def _priced(problem: Problem, together: list[int], work: tuple[float, float, float], price: float):
    """(cost of each choice of each class, {other class: cost of each pair} of each)."""
    costs: list[Array] = [np.zeros(0)] * (max(together) + 1)
    pairs: list[dict[int, Array]] = [{} for _ in costs]
    for number, own in enumerate(together):
        cost = own_costs(problem, number, work, price)
        costs[own] = costs[own] + cost if len(costs[own]) else cost
    for edge in problem.edges:
        source, target, table = together[edge.source[0]], together[edge.target[0]], problem.moving(edge)
        if source == target:
            costs[source] = costs[source] + np.diag(table)
        elif table.any():
            table = table + pairs[source].get(target, 0.0)
            pairs[source][target], pairs[target][source] = table, table.T
    return costs, pairs


def own_costs(problem: Problem, number: int, work: tuple[float, float, float], price: float) -> Array:
    """What each choice of a node costs without its neighbours, in bytes sent: what it sends, computes, keeps.

    Args:
        problem (Problem): The choices.
        number (int): The node.
        work (tuple[float, float, float]): What an operation costs, a byte that is written, and one that is read.
        price (float): What a byte costs that is kept.
    """
    (operation, written, read), memory = work, price if number in problem.kept else 0.0
    return np.array(
        [
            c.sent + operation * c.operations + written * c.written + read * c.read + memory * c.held
            for c in problem.nodes[number]
        ]
    )


def _each(problem, choice, work, price):
    """A choice made better node by node, as long as that changes something."""
    near = defaultdict(list)
    for edge in problem.edges:
        near[edge.source[0]].append((edge, edge.target[0]))
        near[edge.target[0]].append((edge, edge.source[0]))
    choice, waiting = list(choice), set(range(len(choice)))
    for _ in range(20):
        changed = set()
        for number in sorted(waiting):
            total = own_costs(problem, number, work, price)
            for edge, other in near[number]:
                table = problem.moving(edge)
                if other == number:
                    total = total + np.diag(table)
                else:
                    total = total + (table[:, choice[other]] if edge.source[0] == number else table[choice[other]])
            best = int(np.argmin(total))
            if total[best] < total[choice[number]] * (1 - 1e-9):
                choice[number] = best
                changed.update([number, *(other for _, other in near[number])])
        waiting = changed
        if not changed:
            break
    return choice


def cost_of(problem: Problem, choice: list[int]) -> float:
    """Weighted bytes that each device sends with a choice for each node; what is moved to one layout for several
    readers is moved once."""
    own = sum(node[k].sent for node, k in zip(problem.nodes, choice, strict=True))
    moves = {}
    for edge in problem.edges:
        source, target = edge.source[0], edge.target[0]
        wanted = problem.layouts(edge, problem.nodes[source][choice[source]], problem.nodes[target][choice[target]])[1]
        moves[edge.source, wanted] = float(problem.moving(edge)[choice[source], choice[target]])
    return own + sum(moves.values())
