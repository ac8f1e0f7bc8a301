"""The functional graph: parameters, constants and calls, under MindSpore's names."""

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
        """Return the number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Return the size in bytes."""
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
        """Return the type as short text, as boxes of a drawing show it: ``Float32[32, 6]``."""
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class AnfNode:
    """A node of a FuncGraph. `types` has one TensorType per result."""

    __slots__ = ("func_graph", "types")

    def __init__(self, types: tuple["TensorType", ...]) -> None:
        self.func_graph: Any = None
        self.types: tuple[TensorType, ...] = types

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Return the shape of the first result; None if there is none."""
        return self.types[0].shape if self.types else None

    @property
    def dtype(self) -> str | None:
        """Return the element type of the first result; None if there is none."""
        return self.types[0].dtype if self.types else None


class ParameterNode(AnfNode):
    """An input of a graph: an argument, or a Parameter of the network if `is_weight` is True. In the graph that one of
    several devices runs, `global_shape` is the shape before sharding, if it differs from that of the device's shard.
    """

    __slots__ = ("name", "is_weight", "requires_grad", "global_shape")

    def __init__(
        self, name: str, types: tuple["TensorType", ...], is_weight: bool = False, requires_grad: bool = False
    ) -> None:
        super().__init__(types)
        self.name: str = name
        self.is_weight: bool = is_weight
        self.requires_grad: bool = requires_grad
        self.global_shape: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return f"ParameterNode({self.name}: {self.types[0] if self.types else ''})"


class ValueNode(AnfNode):
    """A constant. `value` is a Python number, an array, or None if the value cannot be read."""

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
        inputs (tuple[AnfNode]): producers; ``slots[i]`` is the index of the result of ``inputs[i]`` that is read.
        scope (str): ``"Default/network-LeNet5/conv1-Conv2d"``.
        direction (str): ``"forward"``, ``"backward"`` or ``"update"`` (operations on gradients after the backward
            pass).
        source (tuple | None): (file, line, function) of the user's code.
        graphs (tuple[FuncGraph]): branches or loop bodies of control flow.
        id (int): position in the order of execution, unique in the outermost graph.
        flops (int), nbytes (int): number of operations and bytes read and written, counted from the shapes.
        kernel (ClosedJaxpr | None): the operator's computation in JAX's primitives.
        instruction (str | None): for a kernel of a compiled program, the name of its HLO instruction.
        origins (tuple): for such a kernel, (scope, operator, backward, (file, line)) of every operator fused into it.
        problem (str | None): the message of the error with which tracing ended at this node; such a node has no
            results.
        layout (tuple | None): for an operator of msnb, the kind of each declared input, see
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
        """Yield (producer, index of its result) for each input."""
        return zip(self.inputs, self.slots, strict=True)

    @property
    def name(self) -> str:
        """Return the operator name to show: a backward node of Conv2D is ``gradConv2D``, unless it is recomputed."""
        is_gradient = self.direction == "backward" and self.kernel is not None and not self.is_recomputed
        return f"grad{self.op}" if is_gradient else self.op

    @property
    def is_recomputed(self) -> bool:
        """Return whether the node recomputes a value of the forward pass, as `Cell.recompute` requests."""
        return "recomputed" in self.attrs

    @property
    def fullname(self) -> str:
        """Return the unique name, scope first: ``Default/network-LeNet5/conv1-Conv2d/Conv2D-op3``."""
        return "/".join(part for part in (self.scope, f"{self.name}-op{self.id}") if part)

    def __repr__(self) -> str:
        return f"CNode({self.fullname})"


class FuncGraph:
    """A function as a graph of operators.

    Attributes:
        name (str): class of the Cell or name of the function.
        parameters (list[ParameterNode]): inputs in order.
        nodes (list[CNode]): calls in the order of execution, without the nodes of sub-graphs.
        outputs (list[tuple[AnfNode, int]]): results as (node, index of its result).
        feeds (tuple[int]): for a sub-graph, the index of the calling CNode's input for each parameter.
        free (int): for a sub-graph, the number of leading parameters that are free variables: values captured from the
            surrounding graph, not arguments of the call.
        written (int): number of outputs, at the end of the list, that are new values of Parameters and not results.
        result_names (Sequence[str]): names of the results, the outputs that are not written; empty if they have none.
            Not compared, and not pickled.
        weights (Mapping): {name of a Parameter: array}. Arrays may be read from a file on access. Empty for a traced
            graph, because the network has the values. Not compared.

        Two graphs are equal if these fields are equal, and the attributes, types, scopes and lines of their nodes. A
        graph can be pickled, and equals the graph that another process unpickles. A pickle stores only the primitives
        of `CNode.kernel` and their shapes.
    """

    __slots__ = ("name", "parameters", "nodes", "outputs", "feeds", "free", "written", "result_names", "weights")

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
        self.result_names: Sequence[str] = ()
        self.weights: Mapping[str, Any] = {}
        for node in (*parameters, *nodes):
            node.func_graph = self

    def all_nodes(self) -> Iterator[CNode]:
        """Yield the CNodes of this graph and of every sub-graph, in order."""
        for node in self.nodes:
            yield node
            for graph in node.graphs:
                yield from graph.all_nodes()

    def __len__(self) -> int:
        return sum(1 for _ in self.all_nodes())

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, FuncGraph):
            return self is other
        return len(self) == len(other) and serialization.is_equal(
            serialization.of_graph(self), serialization.of_graph(other)
        )

    def __hash__(self) -> int:
        return hash((self.name, len(self.parameters), len(self.nodes)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_rows, (serialization.of_graph(self),)

    def __repr__(self) -> str:
        return f"FuncGraph({self.name}: {len(self.parameters)} parameters, {len(self)} nodes)"


class OpenGraph(FuncGraph):
    """A graph whose inputs have axes of any length. In shapes, -1 is such an axis, and -2 any number of axes.

    The nodes are those of the file that the graph was read from, for display. `build` returns the graph that runs,
    for given shapes of the inputs. A pickle has the displayed nodes only.

    Attributes:
        build (Callable): Builds the graph for the shapes of inputs, a list of tuples; or None.
    """

    __slots__ = ("build",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.build: Callable[[list[tuple[int, ...]]], FuncGraph] | None = None

    def built_by(self, build: Callable[[list[tuple[int, ...]]], FuncGraph]) -> "OpenGraph":
        """Set `build`, which builds the graph for shapes of inputs, and return the graph itself."""
        self.build = build
        return self


def show_constant(node: "ValueNode") -> str:
    """Return a short text of a ValueNode: scalars and small tensors by value, others by type."""
    kind = node.types[0] if node.types else None
    value = node.value
    if value is None or (kind is not None and kind.size > 8):
        return str(kind)
    try:
        flat = value.tolist() if hasattr(value, "tolist") else value
    except Exception:  # arrays without readable values (a key, a deleted buffer) are shown by their type
        return str(kind)
    text = f"{flat:.7g}" if isinstance(flat, float) else str(flat)
    return f"{kind.dtype}({text})" if kind is not None else text


def _from_rows(rows):
    """Build the FuncGraph from its rows, see `serialization.of_graph`. Pickles refer to this function by name."""
    return _build_graph(rows, [])


def _build_graph(row, nodes):
    name, parameters, calls, outputs, feeds, free, written = row

    def add_node(row, graphs=()):
        kind, types, *rest = row
        types = tuple(TensorType(*each) for each in types)
        if kind == "parameter":
            nodes.append(ParameterNode(rest[0], types, *rest[1:]))
        elif kind == "value":
            nodes.append(ValueNode(rest[0], types))
        else:
            op, inputs, slots, fields = rest
            fields = dict(
                fields, attrs=dict(fields["attrs"]), kernel=serialization.open_kernel(fields["kernel"]), graphs=graphs
            )
            nodes.append(CNode(op, tuple(nodes[i] for i in inputs), slots, types, **fields))
        return nodes[-1]

    parameter_nodes = [add_node(row) for row in parameters]
    cnodes = []
    for values, row, inner in calls:
        for value in values:
            add_node(value)
        if row is None:  # values that only the outputs refer to
            continue
        node = add_node(row)
        node.graphs = tuple(_build_graph(graph, nodes) for graph in inner)
        cnodes.append(node)
    graph = FuncGraph(name, parameter_nodes, cnodes, [(nodes[i], slot) for i, slot in outputs], feeds, free)
    graph.written = written
    return graph
