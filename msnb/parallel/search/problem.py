"""What the search chooses from: for each equation ways to compute it, and what it costs to bring values from one to the
next."""

import itertools
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from msnb.ir.cost import FLOPS
from msnb.parallel.search.costs import Layout, Machines
from msnb.parallel.search.factors import factors_of
from msnb.parallel.search.flat import Equation, Flat, Value


class Choice(NamedTuple):
    """One way to compute an equation, or to keep an input.

    Attributes:
        inputs (tuple[Layout, ...]): How it wants its operands.
        outputs (tuple[Layout, ...]): How it leaves its results.
        sent (float): Weighted bytes that each device sends for it.
        operations (float): Arithmetic of each device.
        held (float): Bytes that its results take on each device.
    """

    inputs: tuple[Layout, ...]
    outputs: tuple[Layout, ...]
    sent: float
    operations: float
    held: float


class Edge(NamedTuple):
    """A value that goes from one node to another.

    Attributes:
        source (tuple[int, int]): Number of a node, and which of its results.
        target (tuple[int, int]): Number of a node, and which of its operands; None where it is a Parameter's place
            that the value goes back to.
        bytes (int): Its size.
    """

    source: tuple[int, int]
    target: tuple[int, int | None]
    bytes: int


class Problem:
    """The choices for a graph on machines.

    Args:
        graph (Flat): The graph.
        machines (Machines): What it runs on.
        returned (dict[int, int]): {output: input} of the graph for values that go back to where they came from, such
            as Parameters that are written.

    Attributes:
        nodes (list[list[Choice]]): One for each input, then one for each equation.
        edges (list[Edge]): Between them.
    """

    def __init__(self, graph: Flat, machines: Machines, returned: dict[int, int]) -> None:
        self.graph, self.machines = graph, machines
        self.nodes: list[list[Choice]] = []
        self.edges: list[Edge] = []
        made: dict[int, tuple[int, int]] = {}
        for value in graph.inputs:
            made[id(value)] = len(self.nodes), 0
            self.nodes.append(self._keeping(value))
        for equation in graph.equations:
            number = len(self.nodes)
            for place, value in enumerate(equation.inputs):
                if isinstance(value, Value) and value.shape:
                    self.edges.append(Edge(made[id(value)], (number, place), value.bytes))
            made.update({id(value): (number, place) for place, value in enumerate(equation.outputs)})
            self.nodes.append(self._computing(equation))
        for output, place in returned.items():
            value = graph.outputs[output]
            if isinstance(value, Value) and value.shape:
                self.edges.append(Edge(made[id(value)], (place, None), value.bytes))

    def _keeping(self, value):
        found = self.machines.layouts(value.shape)
        return [Choice((), (layout,), 0.0, 0.0, value.bytes / self.machines.parts(layout)) for layout in found]

    def _computing(self, equation: Equation) -> list[Choice]:
        """Each mesh axis cuts one factor, or none."""
        machines, factors = self.machines, factors_of(equation)
        shapes = [*equation.shapes, *(o.shape for o in equation.outputs)]
        sizes: dict[int, int] = {}
        for shape, labels in zip(shapes, [*factors.inputs, *factors.outputs], strict=True):
            for label, n in zip(labels, shape, strict=True):
                if label is not None:  # of axes that are joined the first has fewer than all
                    sizes[label] = math.gcd(sizes.get(label, n), n)
        cut_apart = {label for labels in factors.outputs for label in labels}
        usable = [f for f, n in sizes.items() if n > 1 and (factors.summed or f in cut_apart)]
        operations, found = _operations(equation), {}
        for taken in itertools.product([None, *usable], repeat=len(machines.sizes)):
            by_axis = dict(zip(machines.sizes, taken, strict=True))
            cuts = Counter()
            for axis, factor in by_axis.items():
                if factor is not None:
                    cuts[factor] = (cuts[factor] or 1) * machines.sizes[axis]
            if any(sizes[factor] % cut for factor, cut in cuts.items()):
                continue
            inputs = tuple(_layout(labels, by_axis) for labels in factors.inputs)
            outputs = tuple(_layout(labels, by_axis) for labels in factors.outputs)
            held = sum(o.bytes / machines.parts(lay) for o, lay in zip(equation.outputs, outputs, strict=True))
            together = [axis for axis, factor in by_axis.items() if factor is not None and factor not in cut_apart]
            sent = machines.all_reduce(together, held) if together else 0.0
            choice = Choice(inputs, outputs, sent, operations / math.prod(cuts.values()), held)
            known = found.get((inputs, outputs))
            if known is None or choice.sent < known.sent:
                found[inputs, outputs] = choice
        return list(found.values())

    def moving(self, edge: Edge) -> np.ndarray:
        """Weighted bytes for each pair of choices of an edge's two ends."""
        (source, result), (target, operand) = edge.source, edge.target
        befores = [choice.outputs[result] for choice in self.nodes[source]]
        afters = [c.outputs[0] if operand is None else c.inputs[operand] for c in self.nodes[target]]
        known: dict[tuple[Layout, Layout], float] = {}
        table = np.empty((len(befores), len(afters)))
        for i, before in enumerate(befores):
            for j, after in enumerate(afters):
                pair = before, after
                if pair not in known:
                    known[pair] = self.machines.moving(before, after, edge.bytes)
                table[i, j] = known[pair]
        return table


def _layout(labels, by_axis) -> Layout:
    return tuple(tuple(a for a, f in by_axis.items() if f is not None and f == label) for label in labels)


def _operations(equation: Equation) -> float:
    """Arithmetic of an equation."""
    rule = FLOPS.get(equation.primitive.name)
    if rule is None:
        return sum(math.prod(o.shape) for o in equation.outputs)
    return rule(_AsEquation(equation))


class _AsEquation:
    """An `Equation` as the counts of `msnb.ir.cost` look at one of JAX."""

    def __init__(self, equation: Equation) -> None:
        self.params, self.primitive = equation.params, equation.primitive
        self.invars = [i if isinstance(i, Value) else _Constant(i) for i in equation.inputs]
        self.outvars: list[Any] = list(equation.outputs)


class _Constant:
    def __init__(self, value):
        self.aval = value if hasattr(value, "shape") else np.asarray(value)
