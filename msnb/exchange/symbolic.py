"""Represent axes of unknown length in an exported model. The network is traced twice with different lengths of these
axes, and the two traces are compared.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement
from typing import Any, TypeVar

import numpy as np

from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode

Sizes = dict[tuple[str, int], tuple[int, int]]  # (input, axis) -> the two lengths used for tracing

_PRIMES = [(7, 11), (13, 17), (19, 23), (29, 31), (37, 41)]
MAX_OPEN_AXES = len(_PRIMES)  # number of axes with independent lengths
_Axis = TypeVar("_Axis")


class Refused(NotImplementedError):
    """Raised if the format cannot express an operator or its attributes."""


class Extent:
    """A dimension that is known only at run time: `factor` times a product of input axes.

    Attributes:
        factor (int): The constant factor.
        axes (tuple[tuple[str, int]]): (name of the input, axis), sorted.
    """

    __slots__ = ("factor", "axes")

    def __init__(self, factor: int, axes: Iterable[tuple[str, int]]) -> None:
        self.factor: int = factor
        self.axes: tuple[tuple[str, int], ...] = tuple(sorted(axes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Extent) and (self.factor, self.axes) == (other.factor, other.axes)

    def __hash__(self) -> int:
        return hash((self.factor, self.axes))

    def __index__(self) -> int:
        raise Refused("it needs the length of an axis that is only known when the model runs")

    __int__ = __index__

    def __str__(self) -> str:
        text = "*".join(f"{name}_{axis}" for name, axis in self.axes)
        return text if self.factor == 1 else f"{self.factor}*{text}"

    __repr__ = __str__


class Unknown:
    """A dimension that is known only at run time and is not a product of input axes."""

    def __index__(self) -> int:
        raise Refused("it needs a length that is only known when the network runs")

    __int__ = __index__

    def __repr__(self) -> str:
        return "?"


def sizes_of(open_axes: Iterable[_Axis]) -> dict[_Axis, tuple[int, int]]:
    """Return two example lengths for each open axis; the network is traced once with each.

    All lengths are distinct primes, so the prime factors of a dimension in the graph show the axes that it depends on.

    Raises:
        ValueError: If there are more than five open axes.
    """
    axes = list(open_axes)
    if len(axes) > MAX_OPEN_AXES:
        raise ValueError(f"For 'export', at most {MAX_OPEN_AXES} axes may be None, but got {len(axes)}.")
    return dict(zip(axes, _PRIMES))


def merged(graphs: Sequence[FuncGraph], sizes: Sizes) -> FuncGraph:
    """Merge two traces of a network into one graph. Dimensions that differ become an `Extent`.

    Raises:
        Refused: If the traces differ in more than lengths.
    """
    return Merge(sizes).graph(*graphs)


class Merge:
    """Merges two traces of a network into one graph.

    Args:
        sizes (dict): The lengths of the open axes in the two traces.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.merged_nodes: dict[Any, Any] = {}

    def graph(self, first: FuncGraph, second: FuncGraph) -> FuncGraph:
        if len(first.nodes) != len(second.nodes) or len(first.parameters) != len(second.parameters):
            raise Refused("the network calls other operators for another length of the axes that are None")
        parameters = [self.parameter(a, b) for a, b in zip(first.parameters, second.parameters, strict=True)]
        nodes = [self.node(a, b) for a, b in zip(first.nodes, second.nodes, strict=True)]
        outputs = [(self.source(a, b), slot) for (a, slot), (b, _) in zip(first.outputs, second.outputs, strict=True)]
        graph = FuncGraph(first.name, parameters, nodes, outputs, first.feeds, first.free)
        graph.written, graph.weights = first.written, first.weights
        return graph

    def parameter(self, a: ParameterNode, b: ParameterNode) -> ParameterNode:
        parameter = ParameterNode(a.name, self.types(a, b), a.is_weight, a.requires_grad)
        self.merged_nodes[a] = parameter
        return parameter

    def node(self, a: CNode, b: CNode) -> CNode:
        if a.op != b.op or len(a.inputs) != len(b.inputs):
            raise Refused(f"the network calls {a.op} or {b.op}, as long as an axis that is None is")
        inputs = [self.source(x, y) for x, y in zip(a.inputs, b.inputs, strict=True)]
        attrs = {key: self.value(value, b.attrs.get(key), key) for key, value in a.attrs.items()}
        kernel: Any = a.kernel
        if a.kernel is not None and hasattr(a.kernel, "eqns"):
            kernel, attrs = [a.kernel, b.kernel], {**attrs, "_sizes": self.sizes}
        node = CNode(
            a.op,
            inputs,
            a.slots,
            self.types(a, b),
            attrs=attrs,
            scope=a.scope,
            direction=a.direction,
            source=a.source,
            graphs=[self.graph(x, y) for x, y in zip(a.graphs, b.graphs, strict=True)],
            id=a.id,
            kernel=kernel,
            layout=a.layout,
        )
        self.merged_nodes[a] = node
        return node

    def source(self, a: Any, b: Any) -> Any:
        if not isinstance(a, ValueNode):
            return self.merged_nodes[a]
        if a not in self.merged_nodes and type(a.value) is int and type(b.value) is int and a.value != b.value:
            self.merged_nodes[a] = ValueNode(self.number(a.value, b.value), [TensorType("Int64", (), 8)])
        if a not in self.merged_nodes:
            is_equal = a.value is b.value or np.array_equal(np.asarray(a.value), np.asarray(b.value), equal_nan=False)
            if not is_equal and not np.array_equal(np.asarray(a.value), np.asarray(b.value)):
                raise Refused("a constant of the network is another one for another length of the axes that are None")
            self.merged_nodes[a] = ValueNode(a.value, self.types(a, b))
        return self.merged_nodes[a]

    def types(self, a: Any, b: Any) -> tuple[TensorType, ...]:
        return tuple(
            TensorType(x.dtype, tuple(self.number(n, m) for n, m in zip(x.shape, y.shape, strict=True)), x.itemsize)
            for x, y in zip(a.types, b.types, strict=True)
        )

    def value(self, a: Any, b: Any, key: str) -> Any:
        """Return an attribute of the merged graph from its values in both traces. An integer that differs between the
        traces is treated as a length.
        """
        if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
            items = [self.value(x, y, key) for x, y in zip(a, b, strict=True)]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if type(a) is int and type(b) is int:
            return self.number(a, b)
        if isinstance(a, (int, float)) and a != b:
            raise Refused(f"the attribute {key} depends on an axis that is None")
        return a

    def number(self, a: int, b: int) -> Any:
        """Return an integer of the merged graph, or an `Extent` if the two traces differ."""
        if a == b:
            return a
        for count in (1, 2, 3):
            for axes in combinations_with_replacement(self.sizes, count):
                lengths = [self.sizes[axis] for axis in axes]
                first, second = math.prod(n for n, _ in lengths), math.prod(n for _, n in lengths)
                if a % first == 0 and b % second == 0 and a // first == b // second:
                    return Extent(a // first, axes)
        raise Refused(f"a length of {a} or {b} is no product of the axes that are None")
