"""Distinguish the calls of a Cell that is called more than once."""

from collections.abc import Sequence
from typing import Any

from msnb.ir.layout.scopes import LANES


class _Call:
    """A call of a Cell: consecutive nodes in its scope."""

    __slots__ = ("part", "parent", "number", "children", "title")

    def __init__(self, part, above, number):
        self.part, self.parent, self.number = part, above, number
        self.children, self.title = {}, None


def calls(nodes: Sequence[Any]) -> Any:
    """Return {node id: names of the scopes around it}. Calls of a Cell that is called several times get different
    names.

    Otherwise ``self.relu`` called after every layer would be one box connected to all the others.
    """
    roots, last, call_chains = {lane: _Call("", None, 1) for lane in LANES}, {}, {}
    for node in nodes:
        parts = tuple(part for part in node.scope.split("/") if part)
        before, chain = last.get(node.direction, ((), [roots[node.direction]]))
        depth = 0
        while depth < min(len(parts), len(before)) and parts[depth] == before[depth]:
            depth += 1
        chain = chain[: depth + 1]
        for part in parts[depth:]:
            runs = chain[-1].children.setdefault(part, [])
            runs.append(_Call(part, chain[-1], len(runs) + 1))
            chain.append(runs[-1])
        last[node.direction] = parts, chain
        call_chains[node.id] = chain
    for lane in LANES:
        _assign_call_titles(roots[lane], roots["forward"] if lane == "backward" else None)
    return {number: tuple(call.title for call in chain[1:]) for number, chain in call_chains.items()}


def _assign_call_titles(call, forward_call):
    """Set the titles of the calls inside `call`. Calls in the backward pass come in the opposite order and get the
    names of the forward calls.
    """
    for part, runs in call.children.items():
        mates = forward_call.children.get(part) if forward_call is not None else None
        total = len(mates) if mates is not None else len(runs)
        for run in runs:
            number = run.number if mates is None else total + 1 - run.number
            if number < 1:  # the call was split by other nodes: draw one box
                number = 1
            run.title = part if number == 1 else f"{part} ({number})"
            _assign_call_titles(run, next((mate for mate in mates if mate.title == run.title), None) if mates else None)
