"""Write the nodes of a MINDIR file: calls, constants, operators, and the types of results."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from msnb.common.kinds import hashable
from msnb.exchange.mindir.encoding import TYPE_ID, Name, description, dtype_of, element_type_name, is_length, plain
from msnb.exchange.mindir.operators import NotExpressible
from msnb.exchange.mindir.write.dynamic_shapes import LengthWriter
from msnb.formats import mindir
from msnb.ir.anf import CNode, FuncGraph, TensorType

PRIMITIVE, FUNCTION = 1, 2  # a primitive has attributes, a function has all its arguments as inputs


class Emitter:
    """Adds nodes to the current function of a MINDIR file.

    The functions in the table `forms` call it to write operators.

    Args:
        graph (FuncGraph): The graph to write. The types of its values are looked up in it.

    Attributes:
        nodes (list[dict]): The nodes of the current function.
        name (str): The current function.
        is_subfunction (bool): True if the current function is a branch or part of a loop.
        scope (str): The Cell of the nodes that are emitted.
        primitives (dict): {(operator, its attributes): message}.
        name_types (dict): {name of a value: its type}.
        lengths (LengthWriter): Emits lengths that are known only at run time.
        call_annotations (dict): Annotations of the current operator call beyond its attributes.
    """

    def __init__(self, graph: FuncGraph) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.name: str = ""
        self.is_subfunction: bool = False
        self.scope: str = "Default"
        self.primitives: dict[Any, dict[str, Any]] = {}
        self.name_types: dict[str, TensorType] = _NameTypes(graph)
        self.lengths = LengthWriter(self)
        self.call_annotations: dict[str, Any] = {}
        self._count = 0

    def next_number(self) -> int:
        """Return the next number for a name."""
        self._count += 1
        return self._count

    @contextlib.contextmanager
    def function(self, name: str, is_subfunction: bool) -> Iterator[list[dict[str, Any]]]:
        """Return a context manager in which new nodes are added to the function `name`; it yields the list of these
        nodes.
        """
        outer = self.nodes, self.name, self.scope, self.is_subfunction
        self.nodes, self.name, self.is_subfunction = [], name, is_subfunction
        try:
            yield self.nodes
        finally:
            self.nodes, self.name, self.scope, self.is_subfunction = outer

    def cast(self, value: Any, dtype: str, kind: TensorType | None = None) -> Any:
        """Cast a value to an element type: a named value by a Cast node, a constant immediately.

        Args:
            value (Union[Name, array, number]): The value.
            dtype (str): Element type, in MindSpore's notation.
            kind (TensorType): The type of a named value. Default: None, it is looked up.
        """
        if not isinstance(value, Name):
            return np.asarray(value).astype(dtype_of(dtype))
        kind = kind or self.name_types[value]
        if kind.dtype == dtype:
            return value
        cast_type = TensorType(dtype, kind.shape, dtype_of(dtype).itemsize)
        return self.emit_call("Cast", [value, TYPE_ID[dtype]], [cast_type])

    def call(self, op: str, values: Sequence[Any], node: CNode, attributes: dict[str, Any] | None = None) -> Name:
        """Write the node of an operator.

        Args:
            op (str): MindSpore's name of the operator.
            values (list): Names and constants; a list is a tuple of Tensors.
            node (CNode): The graph's node, which has the result types.
            attributes (dict): Attributes of a primitive. Default: None, the operator is a function.
        """
        if not self.call_annotations:
            return self.emit_call(op, values, node.types, attributes)
        return self.emit_call(
            op, values, node.types, {**(attributes or {}), **self.call_annotations}, function=attributes is None
        )

    def emit_function(self, op: str, values: Sequence[Any], dtype: str, shape: tuple[int, ...]) -> Name:
        """Write an intermediate node: a call of a function of MindSpore that returns one Tensor."""
        return self.emit_call(op, values, (TensorType(dtype, shape, dtype_of(dtype).itemsize),))

    def emit_multiple(
        self,
        op: str,
        values: Sequence[Any],
        kinds: Sequence[tuple[str, tuple[int, ...]]],
        attributes: dict[str, Any] | None = None,
    ) -> list[Name]:
        """Write a node with several Tensors as its results, whose (element type, shape) are `kinds`."""
        types = tuple(TensorType(dtype, shape, dtype_of(dtype).itemsize) for dtype, shape in kinds)
        result_tuple = self.emit_call(op, values, types, attributes)
        return [self.emit_call("TupleGetItem", [result_tuple, i], (kind,), {}) for i, kind in enumerate(types)]

    def intern_primitive(self, op: str, attributes: dict[str, Any] | None, function: bool = False) -> str:
        """Return the name of an operator with these attributes; equal ones share one entry in the file. `attributes`
        is None for a function.
        """
        key = (op, repr(hashable(attributes)))
        message = self.primitives.get(key)
        if message is None:
            message = self.primitives[key] = {
                "name": f"{op}:{len(self.primitives)}",
                "op_type": op,
                "prim_type": FUNCTION if attributes is None or function else PRIMITIVE,
                "attribute": [mindir.attribute(name, value) for name, value in (attributes or {}).items()],
            }
        return message["name"]

    def emit_call(
        self,
        op: str,
        values: Sequence[Any],
        types: Sequence[TensorType],
        attributes: dict[str, Any] | None = None,
        function: bool = False,
    ) -> Name:
        """Add the node of an operator. Its results have the `types`; see `call`."""
        primitive, inputs = self.intern_primitive(op, attributes, function), []
        for value in values:
            if isinstance(value, list):
                kinds = [self.name_types[v] for v in (self.emit_tensor(v) for v in value)]
                value = self.emit_call("MakeTuple", [self.emit_tensor(v) for v in value], kinds, {})
            inputs.append(value if isinstance(value, Name) else self.emit_constant(value))
        return self.emit_node(f"REF::{primitive}", inputs, types, op)

    def emit_node(
        self,
        op_type: str,
        inputs: Sequence[str],
        types: Sequence[TensorType],
        label: str,
        result_attribute: dict[str, Any] | None = None,
    ) -> Name:
        """Add a node to the current function and return its name."""
        number = self.next_number()
        name = Name(f"{self.name}:{label}_{number}")
        self.nodes.append(
            {
                "input": inputs,
                "output": [name],
                "name": name,
                "op_type": op_type,
                "attribute": [result_attribute or description("shape", types)],
                "domain": f"{self.scope}/{label}-op{number}",
            }
        )
        if len(types) == 1:
            self.name_types[name] = types[0]
        return name

    def type_of(self, name: Name) -> TensorType:
        """Return the type of a named value."""
        return self.name_types[name]

    def emit_constant(self, value: Any) -> Name:
        """Write a constant. For a length that is known only at run time, write the node that computes the length."""
        if isinstance(value, tuple) and any(map(is_length, value)) and all(hasattr(v, "__index__") for v in value):
            return self.lengths.emit_tuple(value)
        if not isinstance(value, (tuple, list, str, bytes, np.ndarray)) and hasattr(value, "axes"):
            return self.lengths.emit(value)  # an Extent
        return self.add_constant(mindir.attribute("value", plain(value)))

    def add_constant(self, attribute: dict[str, Any]) -> Name:
        """Add a constant whose value is this attribute."""
        name = Name(f"ValueNode_{self.next_number()}")
        self.nodes.append({"output": [name], "name": name, "op_type": "Constant", "attribute": [attribute]})
        return name

    def constant(self, value: np.ndarray) -> Name:
        """Write an array as a constant and return its name."""
        return self.emit_tensor(value)

    def emit_tensor(self, value: Any, kind: TensorType | None = None) -> Name:
        """Return the name of a value that has to be a Tensor."""
        if isinstance(value, Name):
            return value
        value = np.asarray(value)
        if kind is not None:
            value = value.astype(dtype_of(kind.dtype))
        name = self.emit_constant(value)
        self.name_types[name] = TensorType(element_type_name(value.dtype), value.shape, value.dtype.itemsize)
        return name


class _NameTypes(dict[str, TensorType]):
    """{name of a value: its type}. Types of parameters of the graph, and of graphs inside, are looked up on access."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph

    def __missing__(self, name):
        short_name = name.partition(":")[2]
        todo = [self.graph]
        while todo:
            graph = todo.pop()
            for node in graph.parameters:
                if node.name == short_name:
                    return node.types[0]
            todo += [inner for node in graph.nodes for inner in node.graphs]
        raise NotExpressible(name)
