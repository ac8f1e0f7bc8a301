"""Tells apart the calls of a Cell that is called more than once."""

from collections.abc import Sequence
from typing import Any

from msnb.ir.scopes import LANES


class _Call:
    """One call of a Cell: a run of nodes that stand next to each other in its scope."""

    __slots__ = ("part", "above", "number", "inside", "title")

    def __init__(self, part, above, number):
        self.part, self.above, self.number = part, above, number
        self.inside, self.title = {}, None


def calls(nodes: Sequence[Any]) -> Any:
    """{node id: scope names}, each call of a Cell that is called several times under a name of its own.

    ``self.relu`` called after every layer would otherwise be one box that all the others point to and from.
    """
    tops, last, place = {lane: _Call("", None, 1) for lane in LANES}, {}, {}
    for node in nodes:
        parts = tuple(part for part in node.scope.split("/") if part)
        before, chain = last.get(node.direction, ((), [tops[node.direction]]))
        same = 0
        while same < min(len(parts), len(before)) and parts[same] == before[same]:
            same += 1
        chain = chain[: same + 1]
        for part in parts[same:]:
            runs = chain[-1].inside.setdefault(part, [])
            runs.append(_Call(part, chain[-1], len(runs) + 1))
            chain.append(runs[-1])
        last[node.direction] = parts, chain
        place[node.id] = chain
    for lane in LANES:
        _entitle(tops[lane], tops["forward"] if lane == "backward" else None)
    return {number: tuple(call.title for call in chain[1:]) for number, chain in place.items()}


def _entitle(call, twin):
    """Name the calls inside `call`; gradients come in the opposite order and take the names of the forward calls."""
    for part, runs in call.inside.items():
        mates = twin.inside.get(part) if twin is not None else None
        total = len(mates) if mates is not None else len(runs)
        for run in runs:
            number = run.number if mates is None else total + 1 - run.number
            if number < 1:  # torn apart by something else: one box then
                number = 1
            run.title = part if number == 1 else f"{part} ({number})"
            _entitle(run, next((mate for mate in mates if mate.title == run.title), None) if mates else None)
