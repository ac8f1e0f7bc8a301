"""Predict the costs of a solution on given hardware: communication, operations and step time."""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from msnb.parallel.cost_model.transfer_cost import Layout
from msnb.parallel.planning.hardware import Hardware
from msnb.parallel.search.choice_problem import Choice, Edge, Problem, holds_graph, is_product


class Sent(NamedTuple):
    """A predicted communication operation of a step.

    Attributes:
        kind (str): Kind of communication, one of `msnb.parallel.graph.collective_stats.KINDS`.
        axes (tuple[str, ...]): Mesh axes of the participating devices.
        bytes (float): Bytes that each device sends.
        node (int): The node that computes the value.
    """

    kind: str
    axes: tuple[str, ...]
    bytes: float
    node: int


class Time(NamedTuple):
    """Predicted times of a step, in seconds.

    Attributes:
        step (float): Duration of the step.
        computing (float): Time in which a device computes.
        sending (float): Time in which its links are busy, including while it computes.
    """

    step: float
    computing: float
    sending: float


def communication(problem: Problem, chosen: list[int]) -> list[Sent]:
    """Return the communication of a solution: all-reduces of partial sums, then resharding of values for their readers.
    Resharding for several readers that need the same layout counts once.
    """
    cost_model = problem.cost_model
    operations, resharded = [], set()
    for number, choice in enumerate(_select_choices(problem, chosen)):
        operations += _predict_all_reduces(cost_model, choice, number)
    for edge in problem.edges:
        layouts = _find_changed_layouts(problem, chosen, edge)
        if layouts is not None and (edge.source, layouts[1]) not in resharded:
            resharded.add((edge.source, layouts[1]))
            operations += _predict_resharding(problem, edge, layouts)
    return operations


def _select_choices(problem: Problem, chosen: list[int]) -> list[Choice]:
    return [node[k] for node, k in zip(problem.nodes, chosen, strict=True)]


def _predict_all_reduces(cost_model, choice, number):
    operations = []
    for axes, size in choice.sums:
        count = math.prod(cost_model.sizes[a] for a in axes)
        operations.append(Sent("all-reduce", axes, 2 * (count - 1) / count * size, number))
    return operations


def _find_changed_layouts(problem: Problem, chosen: list[int], edge: Edge) -> tuple[Layout, Layout] | None:
    """Return (layout at the source, layout at the target) of an edge whose value is resharded, otherwise None."""
    source, target = edge.source[0], edge.target[0]
    pair = problem.layouts(edge, problem.nodes[source][chosen[source]], problem.nodes[target][chosen[target]])
    return None if pair[0] == pair[1] else pair


def _predict_resharding(problem, edge, layouts):
    shape = problem.values[edge.source[0]][edge.source[1]].shape
    steps = problem.cost_model.transfer_steps(*layouts, shape)
    return [Sent(kind, axes, share * edge.bytes, edge.source[0]) for kind, axes, share in steps]


def operations(problem: Problem, chosen: list[int]) -> float:
    """Return the number of arithmetic operations that each device computes."""
    return sum(choice.operations for choice in _select_choices(problem, chosen))


def least_time(problem: Problem, hardware: Hardware) -> float:
    """Return the time in seconds that a program's matrix products and convolutions take on one device at its peak."""
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
    loop_times: Mapping[int, tuple[float, float]] | None = None,
) -> Time:
    """Return the predicted time of a step. A device computes the equations in order, while its links send values that
    are available.

    An equation waits only for its operands, so some gradients are all-reduced while others are still computed. A value
    that becomes available while the links are busy is sent without additional latency, like fused all-reduces.

    Args:
        problem (Problem): The search problem.
        chosen (list[int]): Index of the selected choice for each node.
        hardware (Hardware): The hardware.
        efficiency (float): Share of the peak that products reach.
        loop_times (Mapping): {node: (seconds of computation, seconds of communication)} of nodes that alternate between
            both. Default: None.
    """
    incoming: dict[int, list[Edge]] = defaultdict(list)
    for edge in problem.edges:
        incoming[len(problem.nodes) if edge.target[1] is None else edge.target[0]].append(edge)
    links, ready, arrived = _Links(problem.cost_model.weights, hardware), [0.0] * len(problem.nodes), {}

    def arrival_time(edge):
        layouts = _find_changed_layouts(problem, chosen, edge)
        if layouts is None:
            return ready[edge.source[0]]
        key = edge.source, layouts[1]
        if key not in arrived:
            arrived[key] = links.send(_predict_resharding(problem, edge, layouts), ready[edge.source[0]])
        return arrived[key]

    clock = computing = loop_sending = 0.0
    first = len(problem.graph.inputs)
    for number, choice in enumerate(_select_choices(problem, chosen)):
        if number >= first:
            equation = problem.graph.equations[number - first]
            if loop_times is not None and number in loop_times:
                seconds, send_seconds = loop_times[number]
            else:
                seconds, send_seconds = computing_time(equation, choice, hardware, efficiency), 0.0
            clock = max([clock, *map(arrival_time, incoming[number])]) + seconds + send_seconds
            loop_sending += send_seconds
            computing += seconds
            ready[number] = links.send(_predict_all_reduces(problem.cost_model, choice, number), clock)
    end = max([clock, *ready, *map(arrival_time, incoming[len(problem.nodes)])])
    return Time(end, computing, links.busy + loop_sending)


class _Links:
    """The communication links of a device."""

    def __init__(self, weights, hardware):
        self._weights, self._hardware = weights, hardware
        self._free = self.busy = 0.0

    def send(self, operations: list[Sent], ready: float) -> float:
        """Return the time at which values arrive that are available at `ready`."""
        for operation in operations:
            seconds = operation.bytes * max(self._weights[a] for a in operation.axes) / self._hardware.inside
            if ready >= self._free:
                seconds += self._hardware.latency
            self._free = ready = max(self._free, ready) + seconds
            self.busy += seconds
        return ready


def computing_time(equation: Any, choice: Choice, hardware: Hardware, efficiency: float) -> float:
    """Return the seconds that a device computes an equation.

    A product takes the time of its arithmetic, and any other equation that of its memory traffic. A nested graph takes
    both, in all rounds.
    """
    seconds = choice.written / hardware.memory_bandwidth
    if is_product(equation) or holds_graph(equation):
        dtype = str(getattr(equation.outputs[0].aval, "dtype", "float32"))
        seconds += choice.operations / (efficiency * hardware.operations(dtype))
    return seconds
