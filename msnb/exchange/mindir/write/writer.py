"""Write a network to a MINDIR file. Branches and loops become functions that call each other."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb import log
from msnb._version import __version__
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
    tensor_description,
    value_description,
)
from msnb.exchange.mindir.operators import NotExpressible, forms
from msnb.exchange.mindir.primitives import primitives
from msnb.exchange.mindir.read.multiway_switch import split_switches
from msnb.exchange.mindir.write.control_flow import ControlWriter
from msnb.exchange.mindir.write.emitter import Emitter
from msnb.exchange.mindir.write.gradients import rules
from msnb.exchange.mindir.write.side_effect_order import EffectOrder
from msnb.exchange.symbolic import Extent, Unknown
from msnb.exchange.tracing import trace_step
from msnb.exchange.unsupported_ops import unsupported_error
from msnb.formats import mindir
from msnb.formats.encryption import Cipher, CustomCipher
from msnb.ir.anf import AnfNode, CNode, FuncGraph, ParameterNode, TensorType, ValueNode

_MINDSPORE_VERSION = "2.7.1"  # the version of MindSpore whose file format is written
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
        NotImplementedError: If MINDIR can't express operators of the network; all of them are listed.
        OSError: If the file cannot be written.
    """
    mindir.save(path, model_of(_trace_network(net, inputs)), cipher)


def _trace_network(net, inputs):
    """Return the graph of a network. If an input has axes of any length (None), the graph is valid for all lengths."""
    if not open_axes(inputs):
        return trace_step(net, *inputs, rules=rules)
    from msnb.exchange.mindir.dynamic_axes import graph_of  # lazy import: only open axes need it

    return graph_of(net, inputs)


def model_of(graph: FuncGraph) -> dict[str, Any]:
    """Return a graph as the message of a MINDIR model.

    Args:
        graph (FuncGraph): The graph, with the values of its Parameters.

    Returns:
        dict, for `msnb.formats.mindir.save`.
    """
    split_switches(graph)
    return Writer(graph).model()


class Writer:
    """Writes one MINDIR file.

    Args:
        graph (FuncGraph): The graph to write.
    """

    def __init__(self, graph: FuncGraph) -> None:
        self.graph = graph
        self.emitter = Emitter(graph)
        self.order = EffectOrder(graph, self.emitter)
        self.control = ControlWriter(self.emitter, self)
        self.missing: list[CNode] = []
        self.reasons: dict[CNode, str] = {}
        self.is_open = any(is_length(size) for node in graph.parameters for size in node.types[0].shape)

    def model(self) -> dict[str, Any]:
        """Return the message of the model.

        Raises:
            NotImplementedError: If MINDIR can't express an operator.
        """
        main = self._write_main_function()
        if self.missing:
            raise unsupported_error(self.graph, self.missing, "MINDIR", self.reasons)
        return {
            "ir_version": "0.1.1",
            "producer_name": "MindSpore",
            "producer_version": f"msnb {__version__}",
            "model_version": _MINDSPORE_VERSION,
            "graph": main,
            "functions": self.control.functions,
            "little_endian": 1,
            "primitives": list(self.emitter.primitives.values()),
            "mind_ir_version": 3,
        }

    def _write_main_function(self):
        graph = self.graph
        weights = [node for node in graph.parameters if node.is_weight]
        message = self.write_function(
            graph.name.replace(":", "_"), graph, [p for p in graph.parameters if not p.is_weight]
        )
        message["parameter"] = [
            mindir.tensor(graph.weights[node.name], f"{message['name']}:{node.name}") for node in weights
        ]
        return message

    # ------------------------------------------------------------------ functions
    def write_function(self, name: str, graph: FuncGraph, parameters: Sequence[ParameterNode]) -> dict[str, Any]:
        """Return the message of a function that computes `graph`."""
        with self.emitter.function(name, graph is not self.graph) as nodes:
            env = {(node, 0): Name(f"{name}:{node.name}") for node in graph.parameters}
            results = self.write_nodes(graph, env)
            result, type_message = self.write_results(results, [self._get_result_type(*use) for use in graph.outputs])
        inputs = [value_description(Name(f"{name}:{node.name}"), node.types[0]) for node in parameters]
        return {"name": name, "input": inputs, "output": [{"name": result, **type_message}], "node": nodes}

    def write_results(self, results: Sequence[Any], types: Sequence[TensorType | None]) -> tuple[Name, dict[str, Any]]:
        """Return name and description of a function's result, which is a tuple if there are several."""
        results = [
            self.emitter.emit_constant(None) if result is None else self.emitter.emit_tensor(result, kind)
            for result, kind in zip(results, types, strict=True)
        ]
        if len(results) == 1 and types[0] is not None:
            return self.order.depend_on_writes(results[0], types), {"tensor": [tensor_description(types[0])]}
        result_tuple = self.emitter.emit_call("MakeTuple", results, types, {})
        return self.order.depend_on_writes(result_tuple, types), {"attr_info": description("", types)}

    @staticmethod
    def _get_result_type(node, slot):
        if node.types:
            return node.types[slot]
        if node.value is None:
            return None
        value = np.asarray(node.value)  # a constant result
        value = value.astype({"float64": np.float32}.get(value.dtype.name, value.dtype))
        return TensorType(element_type_name(value.dtype), value.shape, value.dtype.itemsize)

    def write_nodes(self, graph: FuncGraph, env: dict[Any, Any]) -> list[Any]:
        """Write the nodes of a graph and return its results."""
        for node in self.order.order_nodes(graph, env) if graph is self.graph else graph.nodes:
            if not node.types:
                log.once(f"export: {node.op} gives nothing that the network goes on with, and is not in the file.")
                continue
            self.emitter.scope = node.scope or "Default"
            control = {"Switch": self.control.write_switch, "While": self.control.write_while}.get(node.op)
            results = None
            try:
                if node.direction != "backward" or node.kernel is None:
                    results = control(node, env) if control else self._write_operator(node, env)
            except (NotExpressible, NotImplementedError) as why:
                self.reasons[node] = str(why)
            except TypeError:
                if not self.is_open:
                    raise  # in an open graph, arithmetic with unknown lengths raises it
            if results is None:
                self.missing.append(node)
                results = Name("")
            if isinstance(results, list):
                env.update({(node, slot): name for slot, name in enumerate(results)})
            elif len(node.types) == 1:
                env[node, 0] = results
            else:
                env[node, None] = results
        return [self.value_of(env, node, slot) for node, slot in graph.outputs]

    def value_of(self, env: dict[Any, Any], node: AnfNode, slot: int) -> Any:
        """Return the name or the constant of a result."""
        if isinstance(node, ValueNode):
            value = node.value
            if isinstance(value, (Extent, Unknown)):
                return self.emitter.emit_call(
                    "ScalarToTensor", [self.emitter.lengths.emit(value), TYPE_ID["Int64"]], node.types
                )
            return value if value is None or isinstance(value, (bool, int, float)) else np.asarray(value)
        if (node, slot) not in env:
            env[node, slot] = self.emitter.emit_call("TupleGetItem", [env[node, None], slot], [node.types[slot]], {})
        return env[node, slot]

    # ------------------------------------------------------------------ operators
    def _write_operator(self, node, env):
        """Write an operator and return the name of its result, or None if a MINDIR file cannot express the operator."""
        op = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}")
        form = None if op is None else forms.get(op)
        is_in_place = op is not None and bool(op.written)
        if form is None and node.op not in primitives and not is_in_place:
            return None
        values = [self.value_of(env, *use) for use in node.uses]
        if form is None and not is_in_place:
            values = [v if isinstance(v, Name) else np.asarray(v) for v in values]
            return primitives[node.op](self.emitter, node, values, node.op)
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
        self.emitter.call_annotations = extra_attributes(node, op)
        try:
            return self.order.write_in_place(node, args, env, op) if is_in_place else form(self.emitter, node, args)
        finally:
            self.emitter.call_annotations = {}

    def _convert_operand(self, value, kind, common, node):
        """Return an operand as a Tensor. A number becomes a Tensor of the element type that it is promoted to."""
        if isinstance(value, Name):
            return value if common is None or kind.dtype == common else self.emitter.cast(value, common, kind)
        if common is None:
            common = node.types[0].dtype if isinstance(value, (bool, int, float)) else element_type_name(value.dtype)
        return np.asarray(value).astype(dtype_of(common))
