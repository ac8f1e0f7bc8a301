"""What a choice for each node means on given hardware: what is sent, computed, kept, and how long a step takes."""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from msnb.parallel.planning.hardware import Hardware
from msnb.parallel.search.costs import Layout
from msnb.parallel.search.problem import Choice, Edge, Problem, holds_graph, is_product


class Sent(NamedTuple):
    """One communication that is foreseen.

    Attributes:
        kind (str): As in `msnb.parallel.collectives.KINDS`.
        axes (tuple[str, ...]): Axes of the mesh along which devices take part.
        bytes (float): What each device sends.
        node (int): What makes the value.
    """

    kind: str
    axes: tuple[str, ...]
    bytes: float
    node: int


class Time(NamedTuple):
    """Seconds of a step.

    Attributes:
        step (float): From its beginning to its end.
        computing (float): During which a device computes.
        sending (float): During which its links are busy, beside computing or not.
    """

    step: float
    computing: float
    sending: float


def communication(problem: Problem, chosen: list[int]) -> list[Sent]:
    """What devices send: for the results of equations that were summed by parts, then to bring values to where they
    are wanted, once for all who want them alike."""
    machines = problem.machines
    found, known = [], set()
    for number, choice in enumerate(_choices(problem, chosen)):
        found += _together(machines, choice, number)
    for edge in problem.edges:
        wanted = _wanted(problem, chosen, edge)
        if wanted is not None and (edge.source, wanted[1]) not in known:
            known.add((edge.source, wanted[1]))
            found += _moved(problem, edge, wanted)
    return found


def _choices(problem: Problem, chosen: list[int]) -> list[Choice]:
    return [node[k] for node, k in zip(problem.nodes, chosen, strict=True)]


def _together(machines, choice, number):
    found = []
    for axes, size in choice.sums:
        count = math.prod(machines.sizes[a] for a in axes)
        found.append(Sent("all-reduce", axes, 2 * (count - 1) / count * size, number))
    return found


def _wanted(problem: Problem, chosen: list[int], edge: Edge) -> tuple[Layout, Layout] | None:
    """(how a value lies, how it is wanted), where that is not the same."""
    source, target = edge.source[0], edge.target[0]
    pair = problem.layouts(edge, problem.nodes[source][chosen[source]], problem.nodes[target][chosen[target]])
    return None if pair[0] == pair[1] else pair


def _moved(problem, edge, wanted):
    shape = problem.values[edge.source[0]][edge.source[1]].shape
    steps = problem.machines.sent(*wanted, shape)
    return [Sent(kind, axes, part * edge.bytes, edge.source[0]) for kind, axes, part in steps]


def operations(problem: Problem, chosen: list[int]) -> float:
    """Arithmetic of each device."""
    return sum(choice.operations for choice in _choices(problem, chosen))


def least_time(problem: Problem, hardware: Hardware) -> float:
    """Seconds that the products of a program take on one device at its peak: what it has to compute, undivided."""
    first, seconds = len(problem.graph.inputs), 0.0
    for node, equation in zip(problem.nodes[first:], problem.graph.equations, strict=False):
        if is_product(equation) or holds_graph(equation):
            dtype = str(getattr(equation.outputs[0].aval, "dtype", "float32"))
            seconds += max(choice.operations for choice in node) / hardware.operations(dtype)
    return seconds


def step_time(
    problem: Problem,
    chosen: list[int],
    hardware: Hardware,
    efficiency: float,
    known: Mapping[int, tuple[float, float]] | None = None,
) -> Time:
    """How long a step takes: a device computes equation after equation while its links send what is ready.

    An equation waits for its operands and for nothing else, so that gradients are summed while others are still
    computed. What is ready while the links are busy goes with what they send, without a further latency, as fused
    all-reduces do.

    Args:
        problem (Problem): The choices.
        chosen (list[int]): One for each node.
        hardware (Hardware): What it runs on.
        efficiency (float): Share of the peak that products reach.
        known (Mapping): {node: (seconds that it computes, seconds that it sends)} of those that do both by turns.
            Default: None.
    """
    into: dict[int, list[Edge]] = defaultdict(list)
    for edge in problem.edges:
        into[len(problem.nodes) if edge.target[1] is None else edge.target[0]].append(edge)
    line, ready, arrived = _Line(problem.machines.weights, hardware), [0.0] * len(problem.nodes), {}

    def fetched(edge):
        wanted = _wanted(problem, chosen, edge)
        if wanted is None:
            return ready[edge.source[0]]
        key = edge.source, wanted[1]
        if key not in arrived:
            arrived[key] = line.send(_moved(problem, edge, wanted), ready[edge.source[0]])
        return arrived[key]

    clock = computing = inside = 0.0
    first = len(problem.graph.inputs)
    for number, choice in enumerate(_choices(problem, chosen)):
        if number >= first:
            equation = problem.graph.equations[number - first]
            if known is not None and number in known:
                taken, sends = known[number]
            else:
                taken, sends = computing_time(equation, choice, hardware, efficiency), 0.0
            clock = max([clock, *map(fetched, into[number])]) + taken + sends
            inside += sends
            computing += taken
            ready[number] = line.send(_together(problem.machines, choice, number), clock)
    end = max([clock, *ready, *map(fetched, into[len(problem.nodes)])])
    return Time(end, computing, line.busy + inside)


class _Line:
    """The links of a device."""

    def __init__(self, weights, hardware):
        self._weights, self._hardware = weights, hardware
        self._free = self.busy = 0.0

    def send(self, several: list[Sent], ready: float) -> float:
        """When what is ready then has arrived."""
        for one in several:
            seconds = one.bytes * max(self._weights[a] for a in one.axes) / self._hardware.inside
            if ready >= self._free:
                seconds += self._hardware.latency
            self._free = ready = max(self._free, ready) + seconds
            self.busy += seconds
        return ready


def computing_time(equation: Any, choice: Choice, hardware: Hardware, efficiency: float) -> float:
    """Seconds: of products the arithmetic, of the rest what they write and the next reads; of what holds a graph both,
    in all rounds."""
    seconds = choice.written / hardware.memory_bandwidth
    if is_product(equation) or holds_graph(equation):
        dtype = str(getattr(equation.outputs[0].aval, "dtype", "float32"))
        seconds += choice.operations / (efficiency * hardware.operations(dtype))
    return seconds
