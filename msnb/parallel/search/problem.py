"""What the search chooses from: for each equation ways to compute it, and what it costs to bring values from one to the
next."""

import copy
import functools
import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from msnb.ir.cost import FLOPS
from msnb.parallel.search import bodies  # noqa: F401 - which fills in rules
from msnb.parallel.search.costs import Layout, Machines
from msnb.parallel.search.factors import Factors, Within, factors_of
from msnb.parallel.search.flat import KEPT, Equation, Flat, Value, flat_body


class Choice(NamedTuple):
    """One way to compute an equation, or to keep an input.

    Attributes:
        inputs (tuple[Layout, ...]): How it wants its operands.
        outputs (tuple[Layout, ...]): How it leaves its results.
        sent (float): Weighted bytes that each device sends for it.
        operations (float): Arithmetic of each device.
        held (float): Bytes that its results take on each device.
        sums (tuple): (axes of the mesh over which, bytes of) what is summed in it. Default: ().
        written (float): Bytes that each device writes for it, those of products left out, whose arithmetic takes
            longer. Default: 0.0.
        read (float): Bytes that each device reads for it. Default: 0.0.
    """

    inputs: tuple[Layout, ...]
    outputs: tuple[Layout, ...]
    sent: float
    operations: float
    held: float
    sums: tuple[tuple[tuple[str, ...], float], ...] = ()
    written: float = 0.0
    read: float = 0.0


class Ways(list[Choice]):
    """The choices of a node, equal to no others: one object for all nodes that have the same."""

    def __hash__(self) -> int:  # type: ignore[override]
        return object.__hash__(self)

    def __eq__(self, other: object) -> bool:
        return self is other


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
        nodes (list[Ways]): One for each input, then one for each equation; equal ones share their list.
        edges (list[Edge]): Between them; none to what no result needs.
        values (list[list[Value]]): What each node makes.
        kept (frozenset[int]): The nodes whose results take memory at the moment when most is taken: all inputs, and
            what is made before it and read after it.
        memo (dict[Any, Any]): What others have found out about nodes, once for all strategies.
    """

    def __init__(self, graph: Flat, machines: Machines, returned: dict[int, int]) -> None:
        self.graph, self.machines = graph, machines
        self.nodes: list[Ways] = []
        self.edges: list[Edge] = []
        self.values: list[list[Value]] = [[value] for value in graph.inputs]
        self._known: dict[Any, Ways] = {}
        self._tables: dict[Any, np.ndarray] = {}
        self.memo: dict[Any, Any] = {}
        needed = graph.needed()
        made: dict[int, tuple[int, int]] = {}
        for value in graph.inputs:
            made[id(value)] = len(self.nodes), 0
            self.nodes.append(self._keeping(value))
        for equation in graph.equations:
            number, live = len(self.nodes), id(equation.outputs[0]) in needed
            reads = live and equation.primitive.name != _ANNOUNCED
            for place, value in enumerate(equation.inputs if reads else ()):
                if isinstance(value, Value) and value.shape:
                    self.edges.append(Edge(made[id(value)], (number, place), value.bytes))
            made.update({id(value): (number, place) for place, value in enumerate(equation.outputs)})
            self.values.append(equation.outputs)
            self.nodes.append(self._computing(equation) if live else Ways([_whole(equation)]))
        for output, place in returned.items():
            value = graph.outputs[output]
            if isinstance(value, Value) and value.shape:
                self.edges.append(Edge(made[id(value)], (place, None), value.bytes))
        self.kept = frozenset([*range(len(graph.inputs)), *self._at_the_peak()])

    def _at_the_peak(self):
        """The equations whose results are there when most bytes are; what is light is another view of its operand."""
        first, last = len(self.graph.inputs), {}
        light = {n for n, e in enumerate(self.graph.equations, first) if e.primitive.name in _LIGHT}
        for edge in sorted(self.edges, key=lambda edge: -edge.target[0]):
            if edge.target[1] is not None:
                end = last.get(edge.target[0], 0) if edge.target[0] in light else 0
                last[edge.source[0]] = max(last.get(edge.source[0], 0), edge.target[0], end)
        kept = {n: end for n, end in last.items() if n >= first and n not in light}
        sizes = {n: sum(v.bytes for v in self.values[n]) for n in kept}
        change = np.zeros(len(self.nodes) + 1)
        for number, end in kept.items():
            change[number] += sizes[number]
            change[end] -= sizes[number]
        peak = int(np.argmax(np.cumsum(change)))
        return [number for number, end in kept.items() if number <= peak < end]

    def _keeping(self, value):
        key = value.shape, value.bytes
        if key not in self._known:
            parts = self.machines.parts
            found = self.machines.layouts(value.shape)
            self._known[key] = Ways(Choice((), (lay,), 0.0, 0.0, value.bytes / parts(lay)) for lay in found)
        return self._known[key]

    def _computing(self, equation: Equation) -> Ways:
        factors = factors_of(equation)
        shapes = [*equation.shapes, *(o.shape for o in equation.outputs)]
        operations, sizes = _operations(equation), [o.bytes for o in equation.outputs]
        read = [i.bytes if isinstance(i, Value) else 0 for i in equation.inputs]
        inside = _written(equation) if holds_graph(equation) else None
        key = str(equation.primitive), repr(factors), repr((shapes, sizes, read, operations, inside))
        if key not in self._known:
            found = self._ways(factors, shapes, read, sizes, operations)
            if inside is not None:
                found = Ways(c._replace(written=inside * c.operations / max(operations, 1)) for c in found)
            elif not is_product(equation):
                found = Ways(c._replace(written=c.held) for c in found)
            self._known[key] = found
        return self._known[key]

    def _ways(
        self,
        factors: Factors,
        shapes: list[tuple[int, ...]],
        bytes_read: list[int],
        bytes_made: list[int],
        operations: float,
    ) -> Ways:
        """Each mesh axis cuts one factor, or none."""
        machines = self.machines
        sizes: dict[int, int] = {}
        for shape, labels in zip(shapes, [*factors.inputs, *factors.outputs], strict=True):
            for label, n in zip(labels, shape, strict=True):
                if label is not None:  # of axes that are joined the first has fewer than all
                    sizes[label] = math.gcd(sizes.get(label, n), n)
        cut_apart = {label for labels in factors.outputs for label in labels}
        usable = [f for f, n in sizes.items() if n > 1 and (factors.summed or f in cut_apart)]
        found: dict[Any, Choice] = {}
        choices: list[int | None] = [None, *usable]
        for taken in itertools.product(choices, repeat=len(machines.sizes)):
            by_axis = dict(zip(machines.sizes, taken, strict=True))
            cuts: dict[int, int] = {}
            for axis, factor in by_axis.items():
                if factor is not None:
                    cuts[factor] = cuts.get(factor, 1) * machines.sizes[axis]
            if any(sizes[factor] % cut for factor, cut in cuts.items()):
                continue
            inputs = tuple(_layout(labels, by_axis) for labels in factors.inputs)
            outputs = tuple(_layout(labels, by_axis) for labels in factors.outputs)
            held = sum(n / machines.parts(lay) for n, lay in zip(bytes_made, outputs, strict=True))
            read = sum(n / machines.parts(lay) for n, lay in zip(bytes_read, inputs, strict=True))
            sums = []  # of several factors XLA adds up over one after the other
            for one in factors.inside or [Within(f, 0.0, ()) for f in cuts if f not in cut_apart]:
                over = tuple(axis for axis, factor in by_axis.items() if factor == one.factor)
                if over:
                    inside = one.bytes / machines.parts(_layout(one.labels, by_axis))
                    sums.append((over, inside if factors.inside else held))
            sent = sum(machines.all_reduce(list(axes), size) for axes, size in sums)
            each = operations / math.prod(cuts.values())
            choice = Choice(inputs, outputs, sent, each, held, tuple(sums), read=read)
            known = found.get((inputs, outputs))
            if known is None or choice.sent < known.sent:
                found[inputs, outputs] = choice
        return Ways(found.values())

    def fixed(self, inputs: Mapping[int, Layout]) -> "Problem":
        """The same with one choice for some inputs: how they lie."""
        new = copy.copy(self)
        new.nodes = list(self.nodes)
        one = functools.cache(lambda ways, layout: Ways(c for c in ways if c.outputs[0] == layout))
        for number, layout in inputs.items():
            new.nodes[number] = one(self.nodes[number], layout)
        return new

    def numbers(self, strategy: "tuple[Problem, list[int]]") -> list[int]:
        """The choice for each node that one of a problem with fewer choices is here."""
        other, chosen = strategy
        picked = zip(self.nodes, other.nodes, chosen, strict=True)
        return [k if mine is theirs else mine.index(theirs[k]) for mine, theirs, k in picked]

    def layouts(self, edge: Edge, before: Choice, after: Choice) -> tuple[Layout, Layout]:
        """How the value of an edge lies before and after it, with these choices at its ends."""
        return before.outputs[edge.source[1]], _wanted(edge, after)

    def moving(self, edge: Edge) -> np.ndarray:
        """Weighted bytes for each pair of choices of an edge's two ends."""
        sources, targets = self.nodes[edge.source[0]], self.nodes[edge.target[0]]
        shape = self.values[edge.source[0]][edge.source[1]].shape
        key = sources, edge.source[1], targets, edge.target[1], edge.bytes, shape
        if key not in self._tables:
            befores = [choice.outputs[edge.source[1]] for choice in sources]
            afters = [_wanted(edge, choice) for choice in targets]
            moving = functools.cache(lambda a, b: self.machines.moving(a, b, edge.bytes, shape))
            self._tables[key] = np.array([[moving(a, b) for b in afters] for a in befores])
        return self._tables[key]


_LIGHT = frozenset(
    ("broadcast_in_dim", "reshape", "squeeze", "transpose", "convert_element_type", "name", "iota", "neg")
)
_ANNOUNCED = "announced"  # what is not computed here takes its inputs however they lie
_PRODUCTS = frozenset(("dot_general", "conv_general_dilated", "conv", "conv_input_grad", "conv_filter_grad"))


def _wanted(edge, choice) -> Layout:
    operand = edge.target[1]
    return choice.outputs[0] if operand is None else choice.inputs[operand]


def _whole(equation):
    """The choice of what no result needs: XLA leaves it out."""
    inputs = tuple(((),) * len(shape) for shape in equation.shapes)
    return Choice(inputs, tuple(((),) * len(o.shape) for o in equation.outputs), 0.0, 0.0, 0.0)


def _layout(labels, by_axis) -> Layout:
    return tuple(tuple(a for a, f in by_axis.items() if f is not None and f == label) for label in labels)


def is_product(equation: Equation) -> bool:
    """Whether its arithmetic takes longer than what it reads and writes."""
    return equation.primitive.name in _PRODUCTS


def holds_graph(equation: Equation) -> bool:
    """Whether it is a loop, or what is computed once more for a gradient, whose equations are counted."""
    return equation.primitive.name in ("scan", *KEPT)


def _written(equation: Equation) -> float:
    """Bytes that an equation writes, or those inside it in all rounds; of products none."""
    if holds_graph(equation):
        return equation.params.get("length", 1) * sum(map(_written, flat_body(equation).equations))
    return 0.0 if is_product(equation) else float(sum(o.bytes for o in equation.outputs))


def _operations(equation: Equation) -> float:
    """Arithmetic of an equation."""
    rule = FLOPS.get(equation.primitive.name)
    if rule is None and holds_graph(equation):
        return equation.params.get("length", 1) * sum(map(_operations, flat_body(equation).equations))
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
