"""What a device keeps while a step runs: from when each value is made until it was read for the last time.

Counted in the order of the equations, as XLA lays its buffers out: a view has none, a repeated number is made where it
is read, a result takes the place of an operand of its size that nobody reads later. A value that is moved is there a
second time until its last reader in the new layout, and a sum over devices is made beside its parts; sums that nobody
waits for are made at once, at the end, as XLA combines them. What a convolution reads is turned into XLA's order. Zeros
to which a loop adds are there from the beginning, where XLA makes them, and what a loop holds in one round is there
while it runs.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.core._jax_private import scan_counts
from msnb.parallel.planning.alike import first_alike
from msnb.parallel.search.costs import MeshCostModel
from msnb.parallel.search.flat import Equation, flatten_body
from msnb.parallel.search.problem import Edge, Problem, holds_graph

_VIEWS = frozenset(("reshape", "squeeze", "expand_dims", "name", "stop_gradient"))
_REPEATED = frozenset(("broadcast_in_dim", "iota"))
_HOLDING = frozenset(("scan", "shard_map"))
_ADDING = "scan", "scatter"  # to what they are given first, in its place
# What, beside convolutions, reads its operands from memory; all else is made element by element where its operands are.
_WHOLE = (
    *(
        "dot_general",
        "scan",
        "shard_map",
        "while",
        "cond",
        "sort",
        "scatter",
        "gather",
        "concatenate",
        "pad",
        "top_k",
        "cum",
    ),
    *("reduce", "arg", "select_and", "dynamic_update_slice", "checkpoint", "remat"),
)


def kept(problem: Problem, chosen: list[int]) -> float:
    """Bytes of each device: the inputs, which are there all the time, and what else is at the moment when most is.

    Args:
        problem (Problem): The choices.
        chosen (list[int]): One for each node.
    """
    step = _Step(problem, chosen)
    return step.given + step.most()


class _Step:
    """The equations of a step with a choice for each."""

    def __init__(self, problem: Problem, chosen: list[int]) -> None:
        self._problem, self._machines = problem, problem.cost_model
        self._first, self._end = len(problem.graph.inputs), len(problem.nodes)
        self._choices = [node[k] for node, k in zip(problem.nodes, chosen, strict=True)]
        self._names = [*[""] * self._first, *(e.primitive.name for e in problem.graph.equations)]
        self._change = np.zeros(self._end + 2)
        self._reads: dict[tuple[int, int], list[Edge]] = defaultdict(list)
        for edge in problem.edges:
            number, place = edge.source
            self._reads[number, self._same(number)[place] if self._holds(number) else place].append(edge)
        self._last: dict[tuple[int, int], int] = {}
        self.given = sum(choice.stored_bytes for choice in self._choices[: self._first])

    def most(self) -> float:
        """The bytes beside the inputs when these are most."""
        for number in range(self._end - 1, -1, -1):
            for place, value in enumerate(self._problem.values[number]):
                if self._reads[number, place]:
                    self._value((number, place), value.bytes)
        for number in range(self._first, self._end):
            if self._names[number] == "scan" and any(self._reads[number, k] for k in self._same(number)):
                self._there(self._inside(number), number, number)
        self._sums()
        return max(0.0, float(np.cumsum(self._change).max()))

    def _value(self, source: tuple[int, int], size: int) -> None:
        number, place = source
        lies = self._choices[number].outputs[place]
        free = self._names[number] in _REPEATED
        stays, moved = [number], defaultdict(list)
        for edge in self._reads[source]:
            at = self._end if edge.target[1] is None else edge.target[0]
            wanted = self._problem.layouts(edge, self._choices[number], self._choices[edge.target[0]])[1]
            end = self._last.get((at, 0), at) if at < self._end and self._names[at] in _VIEWS else at
            if self._convolves(at):  # what the gradient of a filter reads is turned as soon as it is there
                first = number if self._names[at] == "conv_filter_grad" else at
                self._there(size / self._machines.count_shards(wanted), first, at)
            if wanted == lies:
                stays.append(end)
            elif not free and not (self._cut_further(lies, wanted) and self._by_elements(at)):
                moved[wanted].append((at, end))
        self._last[source] = max(stays)
        for wanted, ends in moved.items():
            part = size / self._machines.count_shards(wanted)
            self._there(part, min(at for at, _ in ends), max(end for _, end in ends))
            self._last[source] = max(self._last[source], min(at for at, _ in ends))
        if number >= self._first and self._names[number] not in _VIEWS and not free:
            self._there(size / self._machines.count_shards(lies), self._begins(number, place), self._last[source])
        if free and not any(self._problem.graph.equations[number - self._first].shapes):
            self._zeros(source, size)

    def _zeros(self, source: tuple[int, int], size: int) -> None:
        """What one number is repeated for, where something adds to it: there until this has taken its place."""
        for edge in self._reads[source]:
            at = self._end if edge.target[1] is None else edge.target[0]
            if at < self._end and self._names[at].startswith(_ADDING):
                wanted = self._problem.layouts(edge, self._choices[source[0]], self._choices[at])[1]
                self._change[self._first] += size / self._machines.count_shards(wanted)
                self._change[at] -= size / self._machines.count_shards(wanted)

    def _begins(self, number: int, place: int) -> int:
        """When a result is there: what a loop fills row by row begins as zeros."""
        if self._names[number] == "scan":
            equation = self._problem.graph.equations[number - self._first]
            return self._first if place >= scan_counts(equation)[1] else number
        return number

    def _holds(self, number: int) -> bool:
        """Whether a node is a loop, or what runs on each device as it stands."""
        return self._names[number] in _HOLDING

    def _same(self, number: int) -> list[int]:
        """For each result of such a node, the first one that is the same."""
        return self._once("same", number, first_alike)

    def _inside(self, number: int) -> float:
        """Bytes that are there while a loop computes a round, beside its operands and results."""
        whole = max(way.operations for way in self._problem.nodes[number])
        share = self._choices[number].operations / whole if whole else 1.0
        return share * self._once("inside", number, _most_inside)

    def _once(self, what: str, number: int, find: Callable[[Equation], Any]) -> Any:
        memo = self._problem.memo
        if (what, number) not in memo:
            memo[what, number] = find(self._problem.graph.equations[number - self._first])
        return memo[what, number]

    def _cut_further(self, lies, wanted):
        return all(set(a) <= set(b) for a, b in zip(lies, wanted, strict=True))

    def _by_elements(self, number):
        return number < self._end and not (self._names[number].startswith(_WHOLE) or self._convolves(number))

    def _convolves(self, number):
        return number < self._end and f"{self._names[number]}_".startswith("conv_")

    def _there(self, size: float, first: int, last: int) -> None:
        """So many bytes from one equation to another; what takes the place of an operand is not there beside it."""
        self._change[first] += size
        self._change[last if last > first and self._by_elements(last) else last + 1] -= size

    def _sums(self) -> None:
        """Parts of sums stay until those are made, beside the sums."""
        waiting: Any = []
        for number, choice in enumerate(self._choices):
            size = sum(size for _, size in choice.sums)
            if not size:
                continue
            equation = self._problem.graph.equations[number - self._first]
            if holds_graph(equation):  # the sums of a round take the place of those of the round before
                self._there(size / equation.params.get("length", 1), number, number)
                continue
            readers = [self._reads[number, k] for k in range(len(choice.outputs))]
            nearest = min((e.target[0] for edges in readers for e in edges if e.target[1] is not None), default=number)
            waiting.append((number, nearest, size))
        while waiting:
            number, nearest, size = waiting.pop(0)
            joined = [one for one in waiting if one[0] < nearest]
            together = max([number, *(at for at, _, _ in joined)])
            for at, _, part in [(number, nearest, size), *joined]:
                self._there(part, at, together)
            waiting = [one for one in waiting if one[0] >= nearest]


def _most_inside(equation: Equation) -> float:
    body = Problem(flatten_body(equation), MeshCostModel({}, {}), {})
    return _Step(body, [0] * len(body.nodes)).most()
