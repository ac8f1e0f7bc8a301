"""The functional graph: parameters, constants and calls, under MindSpore's names for them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import serialization


class TensorType:
    """Element type and shape of one value in a graph.

    Args:
        dtype (str): element type as MindSpore spells it, such as ``"Float32"``.
        shape (tuple[int]): dimensions.
        itemsize (int): bytes per element.
    """

    __slots__ = ("dtype", "shape", "itemsize")

    def __init__(self, dtype: str, shape: tuple[int, ...], itemsize: int) -> None:
        self.dtype: str = dtype
        self.shape: tuple[int, ...] = shape
        self.itemsize: int = itemsize

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.size * self.itemsize

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and (self.dtype, self.shape) == (other.dtype, other.shape)

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __str__(self) -> str:
        return f"Tensor[{self.dtype}][{', '.join(map(str, self.shape))}]"

    def __repr__(self) -> str:
        return str(self)

    def short(self) -> str:
        """The form drawn in a box: ``Float32[32, 6]``."""
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class AnfNode:
    """A node of a FuncGraph. `types` holds one TensorType per result."""

    __slots__ = ("func_graph", "types")

    def __init__(self, types: tuple["TensorType", ...]) -> None:
        self.func_graph: Any = None
        self.types: tuple[TensorType, ...] = types

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of the (first) result; None for a node that has none."""
        return self.types[0].shape if self.types else None

    @property
    def dtype(self) -> str | None:
        """Element type of the (first) result; None for a node that has none."""
        return self.types[0].dtype if self.types else None


class ParameterNode(AnfNode):
    """An input of a graph: an argument, or a Parameter of the network (`is_weight`). In a graph that each of several
    devices runs, `whole` is the shape of all that they have, where that is not the shape of what each has."""

    __slots__ = ("name", "is_weight", "requires_grad", "whole")

    def __init__(
        self, name: str, types: tuple["TensorType", ...], is_weight: bool = False, requires_grad: bool = False
    ) -> None:
        super().__init__(types)
        self.name: str = name
        self.is_weight: bool = is_weight
        self.requires_grad: bool = requires_grad
        self.whole: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return f"ParameterNode({self.name}: {self.types[0] if self.types else ''})"


class ValueNode(AnfNode):
    """A constant. `value` is a Python number, an array, or None when it is only known to be constant."""

    __slots__ = ("value",)

    def __init__(self, value: Any, types: tuple["TensorType", ...]) -> None:
        super().__init__(types)
        self.value: Any = value

    def __repr__(self) -> str:
        return f"ValueNode({show_constant(self)})"


class CNode(AnfNode):
    """One operator applied to inputs.

    Attributes:
        op (str): operator name, ``"Conv2D"``; a lower-case name is one of XLA's own operations.
        attrs (dict): attributes the operator was built with.
        inputs (tuple[AnfNode]): producers; ``slots[i]`` says which of the results of ``inputs[i]`` is meant.
        scope (str): ``"Default/network-LeNet5/conv1-Conv2d"``.
        direction (str): ``"forward"``, ``"backward"`` or ``"update"`` (what happens to gradients afterwards).
        source (tuple | None): (file, line, function) of the user's code.
        graphs (tuple[FuncGraph]): branches or loop bodies of control flow.
        id (int): position in the order of execution, unique in the outermost graph.
        flops (int), nbytes (int): arithmetic and memory traffic, counted from the shapes.
        kernel (ClosedJaxpr | None): what the operator does, in JAX's primitives.
        instruction (str | None): for a kernel of a compiled program, the name of its HLO instruction.
        origins (tuple): for such a kernel, (scope, operator, backward, (file, line)) of every operator fused into it.
        problem (str | None): the sentence of the error that tracing has ended with here; such a node has no results.
        layout (tuple | None): for an operator of msnb, what each of its declared inputs was given, see
            `msnb.core.jaxpr.op_names.GraphName`.
    """

    __slots__ = (
        "op",
        "attrs",
        "inputs",
        "slots",
        "scope",
        "direction",
        "source",
        "graphs",
        "id",
        "flops",
        "nbytes",
        "kernel",
        "instruction",
        "origins",
        "problem",
        "layout",
    )

    def __init__(
        self,
        op: str,
        inputs: Sequence[AnfNode],
        slots: Sequence[int],
        types: tuple["TensorType", ...],
        *,
        attrs: dict[str, Any] | None = None,
        scope: str = "",
        direction: str = "forward",
        source: tuple[Any, ...] | None = None,
        graphs: Sequence["FuncGraph"] = (),
        id: int = 0,
        flops: float = 0,
        nbytes: float = 0,
        kernel: Any = None,
        instruction: str | None = None,
        origins: Sequence[Any] = (),
        problem: str | None = None,
        layout: tuple[Any, ...] | None = None,
    ) -> None:
        super().__init__(types)
        self.op: str = op
        self.inputs: Sequence[AnfNode] = inputs
        self.slots: Sequence[int] = slots
        self.attrs: dict[str, Any] = attrs or {}
        self.scope: str = scope
        self.direction: str = direction
        self.source: tuple[Any, ...] | None = source
        self.graphs: Sequence[FuncGraph] = graphs
        self.id: int = id
        self.flops: float = flops
        self.nbytes: float = nbytes
        self.kernel: Any = kernel
        self.instruction: str | None = instruction
        self.origins: Sequence[Any] = origins
        self.problem: str | None = problem
        self.layout: tuple[Any, ...] | None = layout

    @property
    def uses(self) -> Iterator[tuple[AnfNode, int]]:
        """(producer, which of its results) of each input."""
        return zip(self.inputs, self.slots, strict=True)

    @property
    def name(self) -> str:
        """Operator name as shown: a backward node of Conv2D is ``gradConv2D``, but not one that is computed again."""
        turned = self.direction == "backward" and self.kernel is not None and not self.is_recomputed
        return f"grad{self.op}" if turned else self.op

    @property
    def is_recomputed(self) -> bool:
        """Return whether it computes a value of the forward pass once more, as `Cell.recompute` asks for."""
        return "recomputed" in self.attrs

    @property
    def fullname(self) -> str:
        """Unique name, scope first: ``Default/network-LeNet5/conv1-Conv2d/Conv2D-op3``."""
        return "/".join(part for part in (self.scope, f"{self.name}-op{self.id}") if part)

    def __repr__(self) -> str:
        return f"CNode({self.fullname})"


class FuncGraph:
    """A function as a graph.

    Attributes:
        name (str): what it was made from.
        parameters (list[ParameterNode]): inputs in order.
        nodes (list[CNode]): calls in the order of execution, sub-graphs' own nodes not included.
        outputs (list[tuple[AnfNode, int]]): results as (node, which of its results).
        feeds (tuple[int]): for a sub-graph, which input of the calling CNode each parameter stands for.
        free (int): for a sub-graph, how many of its parameters, from the first on, are free variables: values of the
            graph around it that it uses, rather than what it is called with.
        written (int): how many of the last outputs are new values of Parameters, not results.
        weights (Mapping): value of each Parameter by its name, as an array that may be read from a file when it is
            asked for; of a graph that was traced it is empty, since the network holds them. Not compared.

    Graphs are equal when all of this is, attributes, types, scopes and lines included. A graph can be pickled, and what
    another process reads is equal to it; of `CNode.kernel` it knows the primitives and their shapes.
    """

    __slots__ = ("name", "parameters", "nodes", "outputs", "feeds", "free", "written", "weights")

    def __init__(
        self,
        name: str,
        parameters: list[ParameterNode],
        nodes: list[CNode],
        outputs: list[tuple[AnfNode, int]],
        feeds: Sequence[int] = (),
        free: int = 0,
    ) -> None:
        self.name: str = name
        self.parameters: list[ParameterNode] = parameters
        self.nodes: list[CNode] = nodes
        self.outputs: list[tuple[AnfNode, int]] = outputs
        self.feeds: Sequence[int] = feeds
        self.free: int = free
        self.written: int = 0
        self.weights: Mapping[str, Any] = {}
        for node in (*parameters, *nodes):
            node.func_graph = self

    def all_nodes(self) -> Iterator[CNode]:
        """CNodes of this graph and of every sub-graph, in order."""
        for node in self.nodes:
            yield node
            for graph in node.graphs:
                yield from graph.all_nodes()

    def __len__(self) -> int:
        return sum(1 for _ in self.all_nodes())

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, FuncGraph):
            return self is other
        return len(self) == len(other) and serialization.alike(
            serialization.of_graph(self), serialization.of_graph(other)
        )

    def __hash__(self) -> int:
        return hash((self.name, len(self.parameters), len(self.nodes)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_rows, (serialization.of_graph(self),)

    def __repr__(self) -> str:
        return f"FuncGraph({self.name}: {len(self.parameters)} parameters, {len(self)} nodes)"


class OpenGraph(FuncGraph):
    """A graph whose inputs have axes of any length, which are -1 in their shapes, or -2 for any number of axes.

    What depends on such lengths is shown as it stands in the file that the graph was read from; what runs is a graph
    for the shapes of the inputs. A pickle holds what is shown.

    Attributes:
        build (Callable): Makes the graph for the shapes of inputs, a list of tuples. None: there is none.
    """

    __slots__ = ("build",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.build: Callable[[list[tuple[int, ...]]], FuncGraph] | None = None

    def built_by(self, build: Callable[[list[tuple[int, ...]]], FuncGraph]) -> "OpenGraph":
        """The graph itself, with the function that makes graphs for shapes of inputs."""
        self.build = build
        return self


def show_constant(node: "ValueNode") -> str:
    """Short text of a ValueNode: scalars and small tensors by value, others by type."""
    kind = node.types[0] if node.types else None
    value = node.value
    if value is None or (kind is not None and kind.size > 8):
        return str(kind)
    try:
        flat = value.tolist() if hasattr(value, "tolist") else value
    except Exception:  # an array whose value cannot be read here (a key, a deleted buffer) is shown by its type
        return str(kind)
    text = f"{flat:.7g}" if isinstance(flat, float) else str(flat)
    return f"{kind.dtype}({text})" if kind is not None else text


def _from_rows(made):
    """The FuncGraph that `rows.of_graph` has told of."""
    return _graph_from(made, [])


def _graph_from(row, nodes):
    name, parameters, calls, outputs, feeds, free, written = row

    def add(row, graphs=()):
        kind, types, *rest = row
        types = tuple(TensorType(*each) for each in types)
        if kind == "parameter":
            nodes.append(ParameterNode(rest[0], types, *rest[1:]))
        elif kind == "value":
            nodes.append(ValueNode(rest[0], types))
        else:
            op, inputs, slots, fields = rest
            fields = dict(
                fields, attrs=dict(fields["attrs"]), kernel=serialization.opened(fields["kernel"]), graphs=graphs
            )
            nodes.append(CNode(op, tuple(nodes[i] for i in inputs), slots, types, **fields))
        return nodes[-1]

    own = [add(row) for row in parameters]
    made = []
    for values, row, inner in calls:
        for value in values:
            add(value)
        if row is None:  # values that only the outputs name
            continue
        node = add(row)
        node.graphs = tuple(_graph_from(graph, nodes) for graph in inner)
        made.append(node)
    graph = FuncGraph(name, own, made, [(nodes[i], slot) for i, slot in outputs], feeds, free)
    graph.written = written
    return graph
