"""A solution of a large choice problem made better part by part: a part is chosen anew as is cheapest beside the rest,
which stays, as long as that changes something (a search of large neighbourhoods).
"""

import time
from collections import deque
from collections.abc import Iterator, Sequence

from msnb.parallel.search.program import cheapest
from msnb.parallel.search.reducing import Array, Reduced

_SIZE = 80  # nodes of a part; with 40 and with 140 it took longer, and found no better
_SECONDS = 3.0  # for the program of a part, of which few take one


def improved(
    costs: Sequence[Array], pairs: Sequence[dict[int, Array]], chosen: Sequence[int], deadline: float
) -> list[int]:
    """A choice for each node that costs no more than `chosen`.

    Args:
        costs (Sequence[Array]): For each node the cost of each choice.
        pairs (Sequence[dict[int, Array]]): For each node, by neighbour, the cost of each pair, see `Reduced`.
        chosen (Sequence[int]): What there is.
        deadline (float): When the time is over, by `time.monotonic`.
    """
    found, again = list(chosen), True
    while again:
        again = False
        for part in _parts(pairs):
            if time.monotonic() > deadline:
                return found
            own, inside = _beside(costs, pairs, found, part)
            now = [found[n] for n in part]
            before = _cost(own, inside, now)
            reduced = Reduced(list(own), [dict(near) for near in inside])
            solved = cheapest(reduced, _SECONDS)
            if solved is None:
                continue
            new = reduced.whole(solved)
            if _cost(own, inside, new) < before - 1e-9 * abs(before):
                again = True
                for node, choice in zip(part, new, strict=True):
                    found[node] = choice
    return found


def _parts(pairs: Sequence[dict[int, Array]]) -> Iterator[list[int]]:
    """Nodes that are near one another; each node is in several parts."""
    for first in range(0, len(pairs), max(1, _SIZE // 3)):
        part, waiting = {first}, deque([first])
        while waiting and len(part) < _SIZE:
            for near in sorted(pairs[waiting.popleft()]):
                if near not in part and len(part) < _SIZE:
                    part.add(near)
                    waiting.append(near)
        yield sorted(part)


def _beside(costs, pairs, found, part):
    """(costs, pairs) of the nodes of a part, counted from 0, beside the rest as it is chosen."""
    place = {node: i for i, node in enumerate(part)}
    own, inside = [], []
    for node in part:
        cost, near = costs[node], {}
        for other, table in pairs[node].items():
            if other in place:
                near[place[other]] = table
            else:
                cost = cost + table[:, found[other]]
        own.append(cost)
        inside.append(near)
    return own, inside


def _cost(own, inside, chosen):
    total = sum(cost[k] for cost, k in zip(own, chosen, strict=True))
    for node, near in enumerate(inside):
        total += sum(table[chosen[node], chosen[other]] for other, table in near.items() if other > node)
    return total
