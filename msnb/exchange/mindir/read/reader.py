"""Read a MINDIR file as a graph: functions are traced as they call each other, and their nodes are collected.

Reading is an abstract interpretation. A value is a `Ref` (a result of a node), a constant, a tuple of values, a
function with some of its arguments (`Closure`), or a choice among closures. Nodes that only order side effects (Load,
UpdateState, Depend) are dropped. A call inlines the nodes of the function. A called choice becomes a Switch, a function
that calls itself a While.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from msnb.core.operator.operator_types import REGISTRY
from msnb.exchange.mindir import gradient_mappings as _gradient_forms  # noqa: F401 - fills the rule table
from msnb.exchange.mindir import operator_mappings as _forms  # noqa: F401 - fills the rule table
from msnb.exchange.mindir.operators import NotExpressible, call_of
from msnb.exchange.mindir.read.branches import Branches
from msnb.exchange.mindir.read.close_subgraphs import close_subgraphs, freeze_statistics
from msnb.exchange.mindir.read.constant_folding import SHAPES, fold, is_folded, is_of_shapes, shape_of
from msnb.exchange.mindir.read.functions import Functions
from msnb.exchange.mindir.read.graph_builder import ComputedAttribute, GraphBuilder, ShapeError
from msnb.exchange.mindir.read.loop_exits import Loop
from msnb.exchange.mindir.read.loops import Loops
from msnb.exchange.mindir.read.structural_nodes import ITEMS, STRUCTURE
from msnb.exchange.mindir.read.values import (
    START,
    BackEdge,
    Choice,
    Closure,
    EffectToken,
    IndexedChoice,
    Ref,
    class_name,
    is_leaf,
    is_spelling,
    leaves,
    local_name,
    type_of,
    types_of,
)
from msnb.formats import mindir, mindir_legacy
from msnb.formats.encryption import Cipher, CustomCipher
from msnb.formats.text_files import BadFileError
from msnb.ir.anf import FuncGraph, OpenGraph, ParameterNode, TensorType
from msnb.nn.graph_cell import GraphCell, prune

_MAX_NODES = 1_000_000  # traced nodes; calls are inlined, so a small file can expand beyond any memory
_MAX_DEPTH = 100  # nested functions


class Weights(Mapping[str, Any]):
    """Values of Parameters by name, read on access.

    Args:
        messages (list[dict]): Tensors of the file.
        external (WeightFiles): Reads Tensors that are stored in other files.
    """

    def __init__(self, messages: list[dict[str, Any]], external: mindir.WeightFiles) -> None:
        self._messages = {local_name(message.get("name", "")): message for message in messages}
        self._external = external

    def __getitem__(self, name: str) -> np.ndarray:
        return mindir.array(self._messages[name], self._external)

    def __iter__(self) -> Iterator[str]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)


def read(path: str, cipher: Cipher | CustomCipher | None = None) -> FuncGraph:
    """Return the graph in a MINDIR file.

    Args:
        path (str): The file.
        cipher (Cipher): The cipher of an encrypted file. Default: None, it is not encrypted.

    Returns:
        FuncGraph, with the values of its Parameters.

    Raises:
        BadFileError: If the file is damaged.
        NotImplementedError: If it is built in a way that msnb does not read.
        OSError: If it cannot be read.
    """
    return _read_file(path, True, cipher)


def look(path: str) -> FuncGraph:
    """Return the graph in a MINDIR file for inspection. Operators that msnb does not have keep their names; see
    `read`.
    """
    return _read_file(path, False)


def open_cell(path: str) -> GraphCell:
    """Return a Cell that runs the graph in a MINDIR file; see `read`."""
    return GraphCell(read(path))


def _read_file(path, strict, cipher=None):
    model = mindir.load_model(path, cipher)
    if model.get("ir_version") == mindir_legacy.VERSION:
        model = mindir_legacy.upgrade(model, path)
    weights = model["graph"].get("parameter", [])
    values = Weights(weights, mindir.WeightFiles(os.path.dirname(os.path.abspath(path)), cipher))

    def build(shapes):
        graph = _build_graph(model, path, True, shapes)
        graph.weights = values
        return graph

    graph = _build_graph(model, path, strict)
    graph.weights = values
    return graph.built_by(build) if isinstance(graph, OpenGraph) else graph


def _build_graph(model, path, strict, shapes=None):
    try:
        return Reader(model, path, strict, shapes).graph()
    except (BadFileError, NotImplementedError, ShapeError):
        raise
    except RecursionError:
        raise BadFileError(f"{path!r} is damaged: its functions are nested without end.") from None
    except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise BadFileError(f"{path!r} is damaged: {type(error).__name__}: {error}") from error


class Reader:
    """Reads one MINDIR file.

    Args:
        model (dict): The result of `msnb.formats.mindir.load_model`.
        path (str): The file, for messages.
        strict (bool): Raise an error for an operator that msnb does not have. Otherwise it keeps its
            name. Default: True.
        shapes (list[tuple]): Shapes of the inputs, for a file that leaves some of their axes open. Default: None. Nodes
            that depend on such axes then have the types in the file.
    """

    def __init__(
        self, model: dict[str, Any], path: str, strict: bool = True, shapes: Sequence[tuple[int, ...]] | None = None
    ) -> None:
        self.path: str = path
        self.strict: bool = strict
        self.shapes = shapes
        self.main = model["graph"]
        inputs = [tensor for value in self.main.get("input", []) for tensor in value.get("tensor", [])]
        self.is_open = shapes is None and any(size < 0 for tensor in inputs for size in tensor.get("dims", ()))
        self.functions = Functions([self.main, *model.get("functions", [])], model.get("primitives", []))
        self.builder = GraphBuilder(path, shapes)
        self.branches = Branches(self, self.functions, self.builder)
        self.loops = Loops(self, self.functions, self.builder, self.branches)
        self.followed_count: int = 0
        self.depth: int = 0
        self.active: tuple[str, ...] = ()  # functions whose call is a `BackEdge`
        self.unsupported: dict[str, str] = {}  # operator that msnb does not have -> reason
        self.globals: dict[str, Any] = {}
        for function in self.functions.functions.values():
            for node in function.get("node", []):
                if node.get("op_type") == "Constant":
                    for name in node.get("output", []):
                        self.globals[name] = self._read_constant(node)

    def graph(self) -> FuncGraph:
        """Return the complete graph."""
        main = self.main
        weights = [self._read_parameter(message, True) for message in main.get("parameter", [])]
        if main.get("map_parameter"):
            raise NotImplementedError(f"{self.path!r} holds hash tables (MapParameter), which msnb does not have.")
        inputs = [self._read_parameter(value, False) for value in main.get("input", [])]
        if self.shapes is not None:
            self._set_input_shapes(inputs)
        env = {message["name"]: Ref(node, 0) for message, node in zip(main.get("parameter", []), weights)}
        self.globals.update(env)
        result = self.call_function(main.get("name", ""), [Ref(node, 0) for node in inputs], is_main=True)
        outputs = [(self.builder.node_of(leaf), leaf.slot if isinstance(leaf, Ref) else 0) for leaf in leaves(result)]
        if self.unsupported:
            unsupported = "; ".join(f"{name} ({why})" for name, why in sorted(self.unsupported.items()))
            raise NotImplementedError(f"{self.path!r} has operators that msnb cannot read: {unsupported}.")
        kind = OpenGraph if self.is_open else FuncGraph
        graph = kind(main.get("name", "main"), [*weights, *inputs], self.builder.nodes, outputs)
        prune(graph)
        close_subgraphs(graph)
        freeze_statistics(graph)
        graph.name = class_name(main.get("name", "main"))
        return graph

    def _read_parameter(self, message, weight):
        tensor = message if weight else (message.get("tensor") or [None])[0]
        if tensor is None:
            raise NotImplementedError(f"{self.path!r} takes an input that is no Tensor: {message.get('name')!r}.")
        kind = type_of(tensor)
        trained = weight and kind.dtype.startswith(("Float", "BFloat"))
        return ParameterNode(local_name(message.get("name", "")), (kind,), weight, trained)

    def _set_input_shapes(self, inputs):
        """Set the shapes of the inputs; raise ShapeError if the file does not accept them."""
        for node, shape in zip(inputs, self.shapes, strict=True):
            (declared,) = node.types
            fits = len(shape) == len(declared.shape) and all(n in (-1, m) for n, m in zip(declared.shape, shape))
            if not fits and declared.shape != (-2,):
                declared_text = ", ".join("any" if n == -1 else str(n) for n in declared.shape)
                raise ShapeError(
                    f"The input '{node.name}' of {self.path!r} has the shape ({declared_text}), but got {shape}."
                )
            node.types = (TensorType(declared.dtype, shape, declared.itemsize),)

    def _read_constant(self, node):
        attributes = node.get("attribute", [])
        kind = attributes[0].get("type", 0) if attributes else mindir.NONE
        if kind in (mindir.UMONAD, mindir.IOMONAD):
            return START
        try:
            return mindir.value_of(attributes[0]) if attributes else None
        except BadFileError as error:
            return error  # `lookup_value` raises it when the constant is used

    # ------------------------------------------------------------------ following functions
    def call_function(self, name: str, values: Iterable[Any], is_main: bool = False) -> Any:
        """Trace the call of a function and return its result."""
        if name in self.active:
            return BackEdge(name, tuple(values))
        if name not in self.functions.functions:
            raise BadFileError(f"{self.path!r} is damaged: it calls {name!r}, which is not in it.")
        if not is_main and name in self.functions.reachable(name, self.active):
            return self.read_loop(name, values)
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise NotImplementedError(f"{self.path!r} has functions that call each other {_MAX_DEPTH} deep.")
        env = self.functions.bind_inputs(name, values)
        for node in self.functions.functions[name].get("node", []):
            self.follow_node(node, env)
        self.depth -= 1
        return self._lookup_function_result(name, env)

    def read_loop(self, name: str, values: Iterable[Any], outer_loop: Loop | None = None) -> Any:
        """Trace a function that calls itself. `outer_loop` is the loop whose body contains this call, or None."""
        return self.loops.read(name, values, outer_loop)

    def _lookup_function_result(self, name, env):
        outputs = self.functions.functions[name].get("output", [])
        if not outputs:
            raise BadFileError(f"{self.path!r} is damaged: the function {name!r} gives nothing.")
        results = [self.lookup_value(output["name"], env) for output in outputs]
        return results[0] if len(results) == 1 else tuple(results)

    def lookup_value(self, name: str, env: dict[str, Any]) -> Any:
        """Return the value of a name in a function."""
        if name in env:
            value = env[name]
        elif name in self.globals:
            value = self.globals[name]
        elif name.removeprefix("REF::") in self.functions.functions:
            value = Closure(name.removeprefix("REF::"), ())
        else:
            raise BadFileError(f"{self.path!r} is damaged: the value {name!r} is used and never made.")
        if isinstance(value, BadFileError):
            raise value
        return value

    def follow_node(self, node: dict[str, Any], env: dict[str, Any]) -> None:
        """Trace one node and store its result in `env`."""
        self.followed_count += 1
        if self.followed_count > _MAX_NODES:
            raise NotImplementedError(f"{self.path!r} has functions that call each other more than {_MAX_NODES} times.")
        op_type = node.get("op_type", "")
        if op_type == "Constant":
            return
        if not node.get("output"):
            raise BadFileError(f"{self.path!r} is damaged: a node {op_type!r} gives nothing.")
        values = [self.lookup_value(name, env) for name in node.get("input", [])]
        target = op_type.removeprefix("REF::")
        functions, primitives = self.functions.functions, self.functions.primitives
        if target in primitives or op_type == target and target not in functions and target not in env:
            primitive = primitives.get(target, {"op_type": target, "attribute": node.get("attribute", [])})
            value = self._read_operator(primitive, values, node)
        elif target in functions:
            value = self.call_function(target, values)
        else:
            value = self._call_closure_or_choice(self.lookup_value(target, env), values)
        env[node["output"][0]] = value

    def _call_closure_or_choice(self, callee, values):
        """Call a closure, or a choice between closures."""
        if isinstance(callee, Closure):
            return self.call_function(callee.function, [*callee.values, *values])
        if isinstance(callee, Choice):
            yes, no = (Closure(c.function, (*c.values, *values)) for c in (callee.yes, callee.no))
            return self.branches.call_choice(callee.predicate, yes, no)
        if isinstance(callee, IndexedChoice):
            return self.branches.call_indexed(
                callee.index, [Closure(w.function, (*w.values, *values)) for w in callee.closures]
            )
        raise BadFileError(f"{self.path!r} is damaged: it calls something that is no function.")

    # ------------------------------------------------------------------ operators
    def _read_operator(self, primitive, values, node):
        op = primitive.get("op_type", "")
        structural = STRUCTURE.get(op)
        if structural is not None and not (self.is_open and op in ITEMS and isinstance(values[0], Ref)):
            return structural(values)
        if op in SHAPES and values and shape_of(values[0]) is not None:
            shape = shape_of(values[0])
            return shape if op == "Shape" else np.array(shape)
        attributes = {
            a.get("name", ""): mindir.value_of(a) for a in primitive.get("attribute", []) if not is_spelling(a)
        }
        abstract = next((a for a in node.get("attribute", []) if a.get("name") == "shape"), None)
        if abstract is None:
            raise BadFileError(f"{self.path!r} is damaged: a node {op!r} does not say what it gives.")
        values = [v for v in values if not isinstance(v, EffectToken)]
        if is_folded(op, values):
            try:
                return fold(op, values)
            except NotExpressible as why:
                raise BadFileError(f"{self.path!r} is damaged: '{op}' gives {why}.") from None
        types = tuple(types_of(abstract))
        if op in REGISTRY and REGISTRY[op].written:
            return self._read_parameter_update(op, primitive.get("prim_type", 1) == 2, values, attributes, node)
        try:
            name, args = call_of(op, primitive.get("prim_type", 1) == 2, values, attributes)
        except NotExpressible as why:
            if self.strict and not (self.is_open and is_of_shapes(op)):
                self.unsupported.setdefault(op, str(why))
            name, args = "", {}
        scope = node.get("domain", "").rpartition("/")[0]
        result = None
        if name:
            try:
                result = self.builder.add_call(name, args, types, scope)
            except ComputedAttribute:
                if not self.is_open:
                    raise
        if result is None:
            tensors = [leaf for leaf in leaves(values) if is_leaf(leaf)]
            result = self.builder.add_node(op, tensors, types, scope, attributes)
        if abstract.get("type") == mindir.TUPLE:
            return tuple(Ref(result, i) for i in range(len(result.types)))
        return Ref(result, 0)

    def _read_parameter_update(self, op, function, values, attributes, node):
        """Read a node that writes Parameters and return their new values."""
        if self.active or self.builder.is_in_subgraph:
            raise NotImplementedError(
                f"{self.path!r} writes Parameters in a branch or a loop, which msnb does not read."
            )
        try:
            name, args = call_of(op, function, values, attributes)
        except NotExpressible as why:
            raise NotImplementedError(f"{self.path!r} has an operator that msnb cannot read: {op} ({why}).") from None
        written = [args[REGISTRY[name].inputs[index].name] for index in REGISTRY[name].written]
        if not all(isinstance(value, Ref) and isinstance(value.node, ParameterNode) for value in written):
            raise BadFileError(f"{self.path!r} is damaged: '{op}' writes what is no Parameter.")
        types = tuple(value.node.types[value.slot] for value in written)
        node_added = self.builder.add_call(name, args, types, node.get("domain", "").rpartition("/")[0])
        results = tuple(Ref(node_added, slot) for slot in range(len(types)))
        return results if REGISTRY[name].returns_written and len(results) > 1 else results[0]
