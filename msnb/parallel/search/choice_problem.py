"""The search problem: choices of layouts for each equation, and the costs of resharding values between equations."""

import copy
import functools
import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from msnb.core.jaxpr.instrument import REMAT_PRIMITIVES
from msnb.ir.cost import FLOPS
from msnb.parallel.cost_model.transfer_cost import Layout, MeshCostModel
from msnb.parallel.graph.flatten_jaxpr import Equation, FlatGraph, Value, flatten_body
from msnb.parallel.search import nested_graphs  # noqa: F401 - registers rules
from msnb.parallel.search.axis_factors import Factors, InnerSum, factors_of


class Choice(NamedTuple):
    """A sharding of one equation or of one input of the graph, with its costs.

    Attributes:
        inputs (tuple[Layout, ...]): Required layouts of the operands.
        outputs (tuple[Layout, ...]): Layouts of the results.
        sent (float): Bytes that each device sends for the equation, times the cost of a byte.
        operations (float): Number of arithmetic operations of each device.
        stored_bytes (float): Bytes that its results take on each device.
        sums (tuple): (mesh axes, bytes) of each all-reduce in it. Default: ().
        written (float): Bytes that each device writes for it; 0 for products, whose arithmetic takes longer.
            Default: 0.0.
        read (float): Bytes that each device reads for it. Default: 0.0.
    """

    inputs: tuple[Layout, ...]
    outputs: tuple[Layout, ...]
    sent: float
    operations: float
    stored_bytes: float
    sums: tuple[tuple[tuple[str, ...], float], ...] = ()
    written: float = 0.0
    read: float = 0.0


class NodeChoices(list[Choice]):
    """The choices of a node, compared by identity: all nodes with the same choices share one object."""

    def __hash__(self) -> int:  # type: ignore[override]
        return object.__hash__(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class Edge(NamedTuple):
    """A value that one node produces and another one reads.

    Attributes:
        source (tuple[int, int]): (index of the node, index of its result).
        target (tuple[int, int]): (index of the node, index of its operand); the second is None if the value is
            assigned to a Parameter.
        bytes (int): Size of the value.
    """

    source: tuple[int, int]
    target: tuple[int, int | None]
    bytes: int


class Problem:
    """Choices of layouts for a graph on a mesh of devices, and the costs of these choices.

    Args:
        graph (FlatGraph): The graph.
        cost_model (MeshCostModel): The devices and their communication costs.
        returned (dict[int, int]): {output: input} of the graph for values assigned to an input, such as written
            Parameters.

    Attributes:
        nodes (list[NodeChoices]): Choices of each input, then of each equation; nodes with equal choices share a list.
        edges (list[Edge]): Edges between the nodes, without those to dead equations.
        values (list[list[Value]]): The results of each node.
        peak_nodes (frozenset[int]): The nodes whose results are live at peak memory: all inputs, and results that are
            computed before the peak and read after it.
        memo (dict[Any, Any]): Cache in which other modules store results that do not depend on choices.
    """

    def __init__(self, graph: FlatGraph, cost_model: MeshCostModel, returned: dict[int, int]) -> None:
        self.graph, self.cost_model = graph, cost_model
        self.nodes: list[NodeChoices] = []
        self.edges: list[Edge] = []
        self.values: list[list[Value]] = [[value] for value in graph.inputs]
        self._cached_choices: dict[Any, NodeChoices] = {}
        self._tables: dict[Any, np.ndarray] = {}
        self.memo: dict[Any, Any] = {}
        live_values = graph.live_values()
        producers: dict[int, tuple[int, int]] = {}
        for value in graph.inputs:
            producers[id(value)] = len(self.nodes), 0
            self.nodes.append(self._enumerate_input_choices(value))
        for equation in graph.equations:
            number, is_live = len(self.nodes), id(equation.outputs[0]) in live_values
            has_edges = is_live and equation.primitive.name != _SHAPE_ONLY
            for index, value in enumerate(equation.inputs if has_edges else ()):
                if isinstance(value, Value) and value.shape:
                    self.edges.append(Edge(producers[id(value)], (number, index), value.bytes))
            producers.update({id(value): (number, index) for index, value in enumerate(equation.outputs)})
            self.values.append(equation.outputs)
            self.nodes.append(
                self._enumerate_equation_choices(equation)
                if is_live
                else NodeChoices([_make_replicated_choice(equation)])
            )
        for output, index in returned.items():
            value = graph.outputs[output]
            if isinstance(value, Value) and value.shape:
                self.edges.append(Edge(producers[id(value)], (index, None), value.bytes))
        self.peak_nodes = frozenset([*range(len(graph.inputs)), *self._find_nodes_at_peak()])

    def _find_nodes_at_peak(self):
        """Return the equations whose results are live at peak memory. Results of cheap equations are treated as views
        of the operand.
        """
        first, last = len(self.graph.inputs), {}
        light = {n for n, e in enumerate(self.graph.equations, first) if e.primitive.name in _LIGHT}
        for edge in sorted(self.edges, key=lambda edge: -edge.target[0]):
            if edge.target[1] is not None:
                end = last.get(edge.target[0], 0) if edge.target[0] in light else 0
                last[edge.source[0]] = max(last.get(edge.source[0], 0), edge.target[0], end)
        last_reads = {n: end for n, end in last.items() if n >= first and n not in light}
        sizes = {n: sum(v.bytes for v in self.values[n]) for n in last_reads}
        change = np.zeros(len(self.nodes) + 1)
        for number, end in last_reads.items():
            change[number] += sizes[number]
            change[end] -= sizes[number]
        peak = int(np.argmax(np.cumsum(change)))
        return [number for number, end in last_reads.items() if number <= peak < end]

    def _enumerate_input_choices(self, value):
        key = value.shape, value.bytes
        if key not in self._cached_choices:
            count_shards = self.cost_model.count_shards
            layouts = self.cost_model.layouts(value.shape)
            self._cached_choices[key] = NodeChoices(
                Choice((), (layout,), 0.0, 0.0, value.bytes / count_shards(layout)) for layout in layouts
            )
        return self._cached_choices[key]

    def _enumerate_equation_choices(self, equation: Equation) -> NodeChoices:
        factors = factors_of(equation)
        shapes = [*equation.shapes, *(o.shape for o in equation.outputs)]
        operations, sizes = _count_operations(equation), [o.bytes for o in equation.outputs]
        read = [i.bytes if isinstance(i, Value) else 0 for i in equation.inputs]
        bytes_written = _count_written_bytes(equation) if holds_graph(equation) else None
        key = str(equation.primitive), repr(factors), repr((shapes, sizes, read, operations, bytes_written))
        if key not in self._cached_choices:
            choices = self._enumerate_choices(factors, shapes, read, sizes, operations)
            if bytes_written is not None:
                choices = NodeChoices(
                    c._replace(written=bytes_written * c.operations / max(operations, 1)) for c in choices
                )
            elif not is_product(equation):
                choices = NodeChoices(c._replace(written=c.stored_bytes) for c in choices)
            self._cached_choices[key] = choices
        return self._cached_choices[key]

    def _enumerate_choices(
        self,
        factors: Factors,
        shapes: list[tuple[int, ...]],
        bytes_read: list[int],
        bytes_produced: list[int],
        operations: float,
    ) -> NodeChoices:
        """Return the ways to shard an equation. In each, a mesh axis shards one factor (a labelled dimension) or none.

        Of several ways with equal layouts, only the one that sends the fewest bytes remains.
        """
        cost_model = self.cost_model
        sizes: dict[int, int] = {}
        for shape, labels in zip(shapes, [*factors.inputs, *factors.outputs], strict=True):
            for label, n in zip(labels, shape, strict=True):
                if label is not None:  # merged axes differ in size: the factor has their common divisor
                    sizes[label] = math.gcd(sizes.get(label, n), n)
        output_factors = {label for labels in factors.outputs for label in labels}
        usable = [f for f, n in sizes.items() if n > 1 and (factors.can_sum or f in output_factors)]
        best: dict[Any, Choice] = {}
        options: list[int | None] = [None, *usable]
        for assignment in itertools.product(options, repeat=len(cost_model.sizes)):
            by_axis = dict(zip(cost_model.sizes, assignment, strict=True))
            shard_counts: dict[int, int] = {}
            for axis, factor in by_axis.items():
                if factor is not None:
                    shard_counts[factor] = shard_counts.get(factor, 1) * cost_model.sizes[axis]
            if any(sizes[factor] % count for factor, count in shard_counts.items()):
                continue
            inputs = tuple(_make_layout_from_labels(labels, by_axis) for labels in factors.inputs)
            outputs = tuple(_make_layout_from_labels(labels, by_axis) for labels in factors.outputs)
            stored_bytes = sum(
                n / cost_model.count_shards(layout) for n, layout in zip(bytes_produced, outputs, strict=True)
            )
            read = sum(n / cost_model.count_shards(layout) for n, layout in zip(bytes_read, inputs, strict=True))
            sums = []  # XLA sums over several factors one after the other
            for one in factors.inner_sums or [InnerSum(f, 0.0, ()) for f in shard_counts if f not in output_factors]:
                sum_axes = tuple(axis for axis, factor in by_axis.items() if factor == one.factor)
                if sum_axes:
                    inner_bytes = one.bytes / cost_model.count_shards(_make_layout_from_labels(one.labels, by_axis))
                    sums.append((sum_axes, inner_bytes if factors.inner_sums else stored_bytes))
            sent = sum(cost_model.all_reduce(list(axes), size) for axes, size in sums)
            device_operations = operations / math.prod(shard_counts.values())
            choice = Choice(inputs, outputs, sent, device_operations, stored_bytes, tuple(sums), read=read)
            previous = best.get((inputs, outputs))
            if previous is None or choice.sent < previous.sent:
                best[inputs, outputs] = choice
        return NodeChoices(best.values())

    def fix_inputs(self, inputs: Mapping[int, Layout]) -> "Problem":
        """Return a copy of the problem in which some inputs have only the choice with a given layout."""
        new = copy.copy(self)
        new.nodes = list(self.nodes)
        select_layout = functools.cache(lambda ways, layout: NodeChoices(c for c in ways if c.outputs[0] == layout))
        for number, layout in inputs.items():
            new.nodes[number] = select_layout(self.nodes[number], layout)
        return new

    def choice_indices(self, strategy: "tuple[Problem, list[int]]") -> list[int]:
        """Translate a solution of a problem with fewer choices: return the indices of the same choices in this
        problem.
        """
        other, chosen = strategy
        nodes = zip(self.nodes, other.nodes, chosen, strict=True)
        return [
            k if own_choices is other_choices else own_choices.index(other_choices[k])
            for own_choices, other_choices, k in nodes
        ]

    def layouts(self, edge: Edge, before: Choice, after: Choice) -> tuple[Layout, Layout]:
        """Return (layout at the source, layout at the target) of an edge's value, for these choices of both nodes."""
        return before.outputs[edge.source[1]], _get_layout_at_target(edge, after)

    def transfer_cost(self, edge: Edge) -> np.ndarray:
        """Return the cost of resharding an edge's value, for each pair of choices of the edge's nodes."""
        sources, targets = self.nodes[edge.source[0]], self.nodes[edge.target[0]]
        shape = self.values[edge.source[0]][edge.source[1]].shape
        key = sources, edge.source[1], targets, edge.target[1], edge.bytes, shape
        if key not in self._tables:
            befores = [choice.outputs[edge.source[1]] for choice in sources]
            afters = [_get_layout_at_target(edge, choice) for choice in targets]
            moving = functools.cache(lambda a, b: self.cost_model.transfer_cost(a, b, edge.bytes, shape))
            self._tables[key] = np.array([[moving(a, b) for b in afters] for a in befores])
        return self._tables[key]


_LIGHT = frozenset(
    ("broadcast_in_dim", "reshape", "squeeze", "transpose", "convert_element_type", "name", "iota", "neg")
)
_SHAPE_ONLY = "announced"  # an operator without a kernel: it has only result shapes, and accepts inputs in any layout
_PRODUCTS = frozenset(("dot_general", "conv_general_dilated", "conv", "conv_input_grad", "conv_filter_grad"))


def _get_layout_at_target(edge, choice) -> Layout:
    operand = edge.target[1]
    return choice.outputs[0] if operand is None else choice.inputs[operand]


def _make_replicated_choice(equation):
    """Return the only choice of a dead equation, which XLA removes."""
    inputs = tuple(((),) * len(shape) for shape in equation.shapes)
    return Choice(inputs, tuple(((),) * len(o.shape) for o in equation.outputs), 0.0, 0.0, 0.0)


def _make_layout_from_labels(labels, by_axis) -> Layout:
    return tuple(tuple(a for a, f in by_axis.items() if f is not None and f == label) for label in labels)


def is_product(equation: Equation) -> bool:
    """Return True for matrix products and convolutions, whose arithmetic takes longer than their memory traffic."""
    return equation.primitive.name in _PRODUCTS


def holds_graph(equation: Equation) -> bool:
    """Return True for a loop or a recomputed Cell, whose nested equations are counted."""
    return equation.primitive.name in ("scan", *REMAT_PRIMITIVES)


def _count_written_bytes(equation: Equation) -> float:
    """Return the bytes that an equation writes, including nested equations in all rounds; 0 for products."""
    if holds_graph(equation):
        return equation.params.get("length", 1) * sum(map(_count_written_bytes, flatten_body(equation).equations))
    return 0.0 if is_product(equation) else float(sum(o.bytes for o in equation.outputs))


def _count_operations(equation: Equation) -> float:
    rule = FLOPS.get(equation.primitive.name)
    if rule is None and holds_graph(equation):
        return equation.params.get("length", 1) * sum(map(_count_operations, flatten_body(equation).equations))
    if rule is None:
        return sum(math.prod(o.shape) for o in equation.outputs)
    return rule(_EquationAdapter(equation))


class _EquationAdapter:
    """Adapter that gives an `Equation` the attributes of a JAX equation, for `msnb.ir.cost`."""

    def __init__(self, equation: Equation) -> None:
        self.params, self.primitive = equation.params, equation.primitive
        self.invars = [i if isinstance(i, Value) else _Constant(i) for i in equation.inputs]
        self.outvars: list[Any] = list(equation.outputs)


class _Constant:
    def __init__(self, value):
        self.aval = value if hasattr(value, "shape") else np.asarray(value)
