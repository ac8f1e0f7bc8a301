"""Axes that are not known when a model is written: the network is traced with two lengths, which are compared."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement
from typing import Any, TypeVar

import numpy as np

from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode

Sizes = dict[tuple[str, int], tuple[int, int]]  # (input, axis) -> the two lengths it was traced with

_PRIMES = [(7, 11), (13, 17), (19, 23), (29, 31), (37, 41)]
MOST = len(_PRIMES)  # axes that get lengths of their own
_Axis = TypeVar("_Axis")


class Refused(NotImplementedError):
    """A format cannot say this, or not with these attributes."""


class Extent:
    """A dimension that is not known before the network runs: `factor` times the product of axes of inputs.

    Attributes:
        factor (int): What it is multiplied with.
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
    """A dimension that is nothing that could be computed of the inputs' shapes."""

    def __index__(self) -> int:
        raise Refused("it needs a length that is only known when the network runs")

    __int__ = __index__

    def __repr__(self) -> str:
        return "?"


def sizes_of(open_axes: Iterable[_Axis]) -> dict[_Axis, tuple[int, int]]:
    """Two lengths for each of the axes, no product of which is another's.

    Raises:
        ValueError: If there are more than five.
    """
    axes = list(open_axes)
    if len(axes) > MOST:
        raise ValueError(f"For 'export', at most {MOST} axes may be None, but got {len(axes)}.")
    return dict(zip(axes, _PRIMES))


def merged(graphs: Sequence[FuncGraph], sizes: Sizes) -> FuncGraph:
    """One graph of two traces of a network, in which lengths that differ are each an `Extent`.

    Raises:
        Refused: If the traces differ in more than lengths.
    """
    return Merge(sizes).graph(*graphs)


class Merge:
    """Two traces of a network becoming one graph.

    Args:
        sizes (dict): The lengths that the open axes were traced with.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.known: dict[Any, Any] = {}

    def graph(self, first: FuncGraph, second: FuncGraph) -> FuncGraph:
        if len(first.nodes) != len(second.nodes) or len(first.parameters) != len(second.parameters):
            raise Refused("the network calls other operators for another length of the axes that are None")
        parameters = [self.parameter(a, b) for a, b in zip(first.parameters, second.parameters, strict=True)]
        nodes = [self.node(a, b) for a, b in zip(first.nodes, second.nodes, strict=True)]
        outputs = [(self.source(a, b), slot) for (a, slot), (b, _) in zip(first.outputs, second.outputs, strict=True)]
        made = FuncGraph(first.name, parameters, nodes, outputs, first.feeds, first.free)
        made.written, made.weights = first.written, first.weights
        return made

    def parameter(self, a: ParameterNode, b: ParameterNode) -> ParameterNode:
        made = ParameterNode(a.name, self.types(a, b), a.is_weight, a.requires_grad)
        self.known[a] = made
        return made

    def node(self, a: CNode, b: CNode) -> CNode:
        if a.op != b.op or len(a.inputs) != len(b.inputs):
            raise Refused(f"the network calls {a.op} or {b.op}, as long as an axis that is None is")
        inputs = [self.source(x, y) for x, y in zip(a.inputs, b.inputs, strict=True)]
        attrs = {key: self.value(value, b.attrs.get(key), key) for key, value in a.attrs.items()}
        kernel: Any = a.kernel
        if a.kernel is not None and hasattr(a.kernel, "eqns"):
            kernel, attrs = [a.kernel, b.kernel], {**attrs, "_sizes": self.sizes}
        made = CNode(
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
        self.known[a] = made
        return made

    def source(self, a: Any, b: Any) -> Any:
        if not isinstance(a, ValueNode):
            return self.known[a]
        if a not in self.known and type(a.value) is int and type(b.value) is int and a.value != b.value:
            self.known[a] = ValueNode(self.number(a.value, b.value), [TensorType("Int64", (), 8)])
        if a not in self.known:
            same = a.value is b.value or np.array_equal(np.asarray(a.value), np.asarray(b.value), equal_nan=False)
            if not same and not np.array_equal(np.asarray(a.value), np.asarray(b.value)):
                raise Refused("a constant of the network is another one for another length of the axes that are None")
            self.known[a] = ValueNode(a.value, self.types(a, b))
        return self.known[a]

    def types(self, a: Any, b: Any) -> tuple[TensorType, ...]:
        return tuple(
            TensorType(x.dtype, tuple(self.number(n, m) for n, m in zip(x.shape, y.shape, strict=True)), x.itemsize)
            for x, y in zip(a.types, b.types, strict=True)
        )

    def value(self, a: Any, b: Any, key: str) -> Any:
        """An attribute: what is the same stays, whole numbers that differ are lengths."""
        if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
            parts = [self.value(x, y, key) for x, y in zip(a, b, strict=True)]
            return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        if type(a) is int and type(b) is int:
            return self.number(a, b)
        if isinstance(a, (int, float)) and a != b:
            raise Refused(f"the attribute {key} depends on an axis that is None")
        return a

    def number(self, a: int, b: int) -> Any:
        """A number of both traces; an `Extent` where they differ."""
        if a == b:
            return a
        for count in (1, 2, 3):
            for axes in combinations_with_replacement(self.sizes, count):
                lengths = [self.sizes[axis] for axis in axes]
                first, second = math.prod(n for n, _ in lengths), math.prod(n for _, n in lengths)
                if a % first == 0 and b % second == 0 and a // first == b // second:
                    return Extent(a // first, axes)
        raise Refused(f"a length of {a} or {b} is no product of the axes that are None")
