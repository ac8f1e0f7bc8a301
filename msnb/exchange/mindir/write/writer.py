"""Write a network to a MINDIR file. Nodes become nodes; branches and loops become functions that call each other."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb import log
from msnb._version import __version__
from msnb.common.kinds import hashable
from msnb.core.operator.operator_types import REGISTRY
from msnb.exchange.dynamic_axes import open_axes
from msnb.exchange.mindir import gradient_mappings as _gradient_forms  # noqa: F401 - fills the rule table
from msnb.exchange.mindir import index_mappings as _index_forms  # noqa: F401
from msnb.exchange.mindir import operator_mappings as _forms  # noqa: F401 - fills the rule table
from msnb.exchange.mindir.encoding import (
    TYPE_ID,
    Name,
    common_type,
    description,
    dtype_of,
    element_type_name,
    extra_attributes,
    is_length,
    plain,
    tensor_description,
)
from msnb.exchange.mindir.operators import NotExpressible, forms
from msnb.exchange.mindir.primitives import primitives
from msnb.exchange.mindir.read.multiway_switch import split_switches
from msnb.exchange.mindir.write.control_flow import ControlWriter
from msnb.exchange.mindir.write.dynamic_shapes import LengthWriter
from msnb.exchange.mindir.write.gradients import rules
from msnb.exchange.mindir.write.side_effect_order import OrderWriter
from msnb.exchange.symbolic import Extent, Unknown
from msnb.exchange.tracing import trace_step
from msnb.exchange.unsupported_ops import unsupported_error
from msnb.formats import mindir
from msnb.formats.encryption import Cipher, CustomCipher
from msnb.ir.anf import AnfNode, CNode, FuncGraph, TensorType, ValueNode

PRIMITIVE, FUNCTION = 1, 2  # a primitive has attributes, a function has all its arguments as inputs
_MINDSPORE_VERSION = "2.7.1"  # the version of MindSpore whose notation is written
# MindSpore's compiler promotes the operands of these operators; a file needs explicit casts.
_PROMOTING = frozenset(
    "Add Sub Mul Div RealDiv FloorDiv FloorMod Mod Pow Maximum Minimum Greater GreaterEqual Less LessEqual Equal "
    "NotEqual SquaredDifference Atan2 DivNoNan TruncateDiv TruncateMod Xdivy Xlogy".split()
)


def write(
    net: Callable[..., Any], inputs: tuple[Any, ...], path: str, cipher: Cipher | CustomCipher | None = None
) -> None:
    """Write `net`, traced with `inputs`, to the file `path`, encrypted if there is a `cipher`.

    Raises:
        NotImplementedError: If MINDIR has no form for an operator; all of them are listed.
        OSError: If the file cannot be written.
    """
    mindir.save(path, model_of(_trace_network(net, inputs)), cipher)


def _trace_network(net, inputs):
    """Return the graph of a network. If an input has axes of any length (None), the graph is valid for all lengths."""
    if not open_axes(inputs):
        return trace_step(net, *inputs, rules=rules)
    from msnb.exchange.mindir.dynamic_axes import graph_of  # spares other exports its import

    return graph_of(net, inputs)


def model_of(graph: FuncGraph) -> dict[str, Any]:
    """Return the messages of a graph.

    Args:
        graph (FuncGraph): The graph, with the values of its Parameters.

    Returns:
        dict, for `msnb.formats.mindir.save`.
    """
    split_switches(graph)
    return Writer(graph).model()


class Writer(ControlWriter, LengthWriter, OrderWriter):
    """Writes one file.

    Args:
        graph (FuncGraph): The graph to write.
    """

    def __init__(self, graph: FuncGraph) -> None:
        self.graph = graph
        self.primitives: dict[Any, dict[str, Any]] = {}
        self.functions: list[dict[str, Any]] = []
        self.missing: list[CNode] = []
        self.reasons: dict[CNode, str] = {}
        self.is_open = any(is_length(size) for node in graph.parameters for size in node.types[0].shape)
        self.lengths: dict[Any, Name] = {}  # values of input dimensions, and of products of them
        self.count: int = 0
        self.nodes: list[dict[str, Any]] = []  # of the current function
        self.scope: str = "Default"
        self.name: str = ""
        self.is_subfunction: bool = False  # the current function is a branch or part of a loop
        self.call_annotations: dict[str, Any] = {}  # annotations of the current operator call beyond its attributes

    def model(self) -> dict[str, Any]:
        """Return all messages.

        Raises:
            NotImplementedError: If an operator has no form.
        """
        main = self._main_function()
        if self.missing:
            raise unsupported_error(self.graph, self.missing, "MINDIR", self.reasons)
        return {
            "ir_version": "0.1.1",
            "producer_name": "MindSpore",
            "producer_version": f"msnb {__version__}",
            "model_version": _MINDSPORE_VERSION,
            "graph": main,
            "functions": self.functions,
            "little_endian": 1,
            "primitives": list(self.primitives.values()),
            "mind_ir_version": 3,
        }

    def _main_function(self):
        graph = self.graph
        weights = [node for node in graph.parameters if node.is_weight]
        message = self._write_function(
            graph.name.replace(":", "_"), graph, [p for p in graph.parameters if not p.is_weight]
        )
        message["parameter"] = [
            mindir.tensor(graph.weights[node.name], f"{message['name']}:{node.name}") for node in weights
        ]
        return message

    # ------------------------------------------------------------------ functions
    def _write_function(self, name, graph, parameters, body=None):
        """Return the message of a function. `body` computes its results from the names of its parameters."""
        outer = self.nodes, self.name, self.scope
        was_subfunction, self.is_subfunction = self.is_subfunction, graph is not self.graph
        self.nodes, self.name = [], name
        env = {(node, 0): Name(f"{name}:{node.name}") for node in graph.parameters}
        inputs = [self._value_message(Name(f"{name}:{node.name}"), node.types[0]) for node in parameters]
        if body is None:
            results = self._write_nodes(graph, env)
            types = [self._result_type(*output) for output in graph.outputs]
            result, type_message = self._write_results(results, types)
        else:
            result, type_message = body(env)
        message = {"name": name, "input": inputs, "output": [{"name": result, **type_message}], "node": self.nodes}
        self.nodes, self.name, self.scope = outer
        self.is_subfunction = was_subfunction
        return message

    def _write_results(self, results, types):
        """Return name and description of one result, or of the tuple of several."""
        results = [
            self._emit_constant(None) if result is None else self._emit_tensor(result, kind)
            for result, kind in zip(results, types, strict=True)
        ]
        if len(results) == 1 and types[0] is not None:
            return self._depend_on_writes(results[0], types), {"tensor": [tensor_description(types[0])]}
        result_tuple = self._emit_call("MakeTuple", results, types, {})
        return self._depend_on_writes(result_tuple, types), {"attr_info": description("", types)}

    @staticmethod
    def _value_message(name, kind):
        return {"name": name, "tensor": [{**tensor_description(kind), "name": name}]}

    @staticmethod
    def _result_type(node, slot):
        if node.types:
            return node.types[slot]
        if node.value is None:
            return None
        value = np.asarray(node.value)  # a result that tracing has computed
        value = value.astype({"float64": np.float32}.get(value.dtype.name, value.dtype))
        return TensorType(element_type_name(value.dtype), value.shape, value.dtype.itemsize)

    def _write_nodes(self, graph, env):
        """Write the nodes of a graph and return its results."""
        for node in self._order_nodes(graph, env) if graph is self.graph else graph.nodes:
            if not node.types:
                log.once(f"export: {node.op} gives nothing that the network goes on with, and is not in the file.")
                continue
            self.scope = node.scope or "Default"
            control = {"Switch": self._write_switch, "While": self._write_while}.get(node.op)
            results = None
            try:
                if node.direction != "backward" or node.kernel is None:
                    results = control(node, env) if control else self._write_operator(node, env)
            except (NotExpressible, NotImplementedError) as why:
                self.reasons[node] = str(why)
            except TypeError:
                if not self.is_open:
                    raise  # otherwise it computes with unknown lengths
            if results is None:
                self.missing.append(node)
                results = Name("")
            if isinstance(results, list):
                env.update({(node, slot): name for slot, name in enumerate(results)})
            elif len(node.types) == 1:
                env[node, 0] = results
            else:
                env[node, None] = results
        return [self._value_of(env, node, slot) for node, slot in graph.outputs]

    def _value_of(self, env: dict[Any, Any], node: AnfNode, slot: int) -> Any:
        """Return the name or the constant of a result."""
        if isinstance(node, ValueNode):
            value = node.value
            if isinstance(value, (Extent, Unknown)):
                return self._emit_call("ScalarToTensor", [self._emit_length(value), TYPE_ID["Int64"]], node.types)
            return value if value is None or isinstance(value, (bool, int, float)) else np.asarray(value)
        if (node, slot) not in env:
            env[node, slot] = self._emit_call("TupleGetItem", [env[node, None], slot], [node.types[slot]], {})
        return env[node, slot]

    # ------------------------------------------------------------------ operators
    def _write_operator(self, node, env):
        """Write an operator and return the name of its result, or None if it has no form."""
        op = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}")
        form = None if op is None else forms.get(op)
        is_in_place = op is not None and bool(op.written)
        if form is None and node.op not in primitives and not is_in_place:
            return None
        values = [self._value_of(env, *use) for use in node.uses]
        if form is None and not is_in_place:
            values = [v if isinstance(v, Name) else np.asarray(v) for v in values]
            return primitives[node.op](self, node, values, node.op)
        types = [source.types[slot] if source.types else None for source, slot in node.uses]
        common = common_type(values, types, node) if node.op in _PROMOTING else None
        args, position = {name: node.attrs.get(name, default) for name, (_, default) in op.attributes.items()}, 0
        default_layout = [(len(values),) if inp.many else 1 for inp in op.inputs]  # a sum of gradients has no layout
        for inp, entry in zip(op.inputs, node.layout or default_layout):
            if entry == -1:
                args[inp.name] = node.attrs.get(inp.name, inp.default)
            elif isinstance(entry, tuple):
                args[inp.name] = values[position : position + entry[0]]
                position += entry[0]
            elif entry:
                args[inp.name] = self._convert_operand(values[position], types[position], common, node)
                position += 1
            else:
                args[inp.name] = None
        self.call_annotations = extra_attributes(node, op)
        try:
            return self._write_in_place(node, args, env, op) if is_in_place else form(self, node, args)
        finally:
            self.call_annotations = {}

    def _convert_operand(self, value, kind, common, node):
        """Return a Tensor input. A number becomes a Tensor of the type it is promoted to."""
        if isinstance(value, Name):
            return value if common is None or kind.dtype == common else self.cast(value, common, kind)
        if common is None:
            common = node.types[0].dtype if isinstance(value, (bool, int, float)) else element_type_name(value.dtype)
        return np.asarray(value).astype(dtype_of(common))

    def cast(self, value: Any, dtype: str, kind: TensorType | None = None) -> Any:
        """Cast a value to an element type: a named value by a Cast node, a constant immediately.

        Args:
            value (Union[Name, array, number]): The value.
            dtype (str): Element type, in MindSpore's notation.
            kind (TensorType): The type of a named value. Default: None, it is looked up.
        """
        if not isinstance(value, Name):
            return np.asarray(value).astype(dtype_of(dtype))
        kind = kind or self._name_types[value]
        if kind.dtype == dtype:
            return value
        cast_type = TensorType(dtype, kind.shape, dtype_of(dtype).itemsize)
        return self._emit_call("Cast", [value, TYPE_ID[dtype]], [cast_type])

    def call(self, op: str, values: Sequence[Any], node: CNode, attributes: dict[str, Any] | None = None) -> Name:
        """Write the node of an operator.

        Args:
            op (str): MindSpore's name of the operator.
            values (list): Names and constants; a list is a tuple of Tensors.
            node (CNode): The graph's node, which has the result types.
            attributes (dict): Of a primitive. Default: None, the operator is a function.
        """
        if not self.call_annotations:
            return self._emit_call(op, values, node.types, attributes)
        return self._emit_call(
            op, values, node.types, {**(attributes or {}), **self.call_annotations}, function=attributes is None
        )

    def emit_function(self, op: str, values: Sequence[Any], dtype: str, shape: tuple[int, ...]) -> Name:
        """Write an intermediate node: a function with one Tensor as its result."""
        return self._emit_call(op, values, (TensorType(dtype, shape, dtype_of(dtype).itemsize),))

    def emit_multiple(
        self,
        op: str,
        values: Sequence[Any],
        kinds: Sequence[tuple[str, tuple[int, ...]]],
        attributes: dict[str, Any] | None = None,
    ) -> list[Name]:
        """Write a node with several Tensors as its results, whose (element type, shape) are `kinds`."""
        types = tuple(TensorType(dtype, shape, dtype_of(dtype).itemsize) for dtype, shape in kinds)
        result_tuple = self._emit_call(op, values, types, attributes)
        return [self._emit_call("TupleGetItem", [result_tuple, i], (kind,), {}) for i, kind in enumerate(types)]

    def _intern_primitive(self, op, attributes, function=False):
        """Return the name of an operator with its attributes. `attributes` is None for a function."""
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

    def _emit_call(self, op, values, types, attributes=None, function=False):
        primitive, inputs = self._intern_primitive(op, attributes, function), []
        for value in values:
            if isinstance(value, list):
                kinds = [self._name_types[v] for v in (self._emit_tensor(v, None) for v in value)]
                value = self._emit_call("MakeTuple", [self._emit_tensor(v, None) for v in value], kinds, {})
            inputs.append(value if isinstance(value, Name) else self._emit_constant(value))
        return self._emit_node(f"REF::{primitive}", inputs, types, op)

    def _emit_node(self, op_type, inputs, types, label, result_attribute=None):
        self.count += 1
        name = Name(f"{self.name}:{label}_{self.count}")
        self.nodes.append(
            {
                "input": inputs,
                "output": [name],
                "name": name,
                "op_type": op_type,
                "attribute": [result_attribute or description("shape", types)],
                "domain": f"{self.scope}/{label}-op{self.count}",
            }
        )
        if len(types) == 1:
            self._name_types[name] = types[0]
        return name

    def type_of(self, name: Name) -> TensorType:
        """Return the type of a named value."""
        return self._name_types[name]

    @property
    def _name_types(self):
        """Types of named values."""
        return self.__dict__.setdefault("_types", _NameTypes(self.graph))

    def _emit_constant(self, value):
        if isinstance(value, tuple) and any(map(is_length, value)) and all(hasattr(v, "__index__") for v in value):
            return self._emit_lengths(value)
        if not isinstance(value, (tuple, list, str, bytes, np.ndarray)) and hasattr(value, "axes"):
            return self._emit_length(value)  # an Extent
        self.count += 1
        name = Name(f"ValueNode_{self.count}")
        value = mindir.attribute("value", plain(value))
        self.nodes.append({"output": [name], "name": name, "op_type": "Constant", "attribute": [value]})
        return name

    def constant(self, value: np.ndarray) -> Name:
        """Write an array as a constant and return its name."""
        return self._emit_tensor(value, None)

    def _emit_tensor(self, value, kind):
        """Return the name of a value that has to be a Tensor."""
        if isinstance(value, Name):
            return value
        value = np.asarray(value)
        if kind is not None:
            value = value.astype(dtype_of(kind.dtype))
        name = self._emit_constant(value)
        self._name_types[name] = TensorType(element_type_name(value.dtype), value.shape, value.dtype.itemsize)
        return name


class _NameTypes(dict[str, TensorType]):
    """Types by name. Those of the graph's own values are looked up on access."""

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
