"""From a network to a MINDIR file: nodes become nodes, branches and loops become functions that call each other."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb import log
from msnb._version import __version__
from msnb.common.kinds import hashable
from msnb.core.operator import REGISTRY
from msnb.exchange.any_length import open_axes
from msnb.exchange.mindir import forms as _forms  # noqa: F401 - fills the table
from msnb.exchange.mindir import gradient_forms as _gradient_forms  # noqa: F401 - and these
from msnb.exchange.mindir import index_forms as _index_forms  # noqa: F401
from msnb.exchange.mindir.choices import in_twos
from msnb.exchange.mindir.gradients import rules
from msnb.exchange.mindir.operators import Unsayable, forms
from msnb.exchange.mindir.primitives import primitives
from msnb.exchange.mindir.spelling import (
    TYPE_ID,
    Name,
    abstract,
    common_type,
    described,
    dtype_of,
    is_length,
    marks_in,
    plain,
    spelled,
)
from msnb.exchange.mindir.write_control import ControlWriter
from msnb.exchange.mindir.write_lengths import LengthWriter
from msnb.exchange.mindir.write_order import OrderWriter
from msnb.exchange.missing import unsupported_error
from msnb.exchange.symbolic import Extent, Unknown
from msnb.exchange.tracing import trace_step
from msnb.formats import mindir
from msnb.formats.encryption import Cipher, Own
from msnb.ir.anf import AnfNode, CNode, FuncGraph, TensorType, ValueNode

PRIMITIVE, FUNCTION = 1, 2  # whether an operator has attributes, or all its arguments as inputs
_LIKE = "2.7.1"  # the version of MindSpore whose spelling this is
# Operators whose operands MindSpore's compiler brings to one element type; a file has to say it.
_PROMOTING = frozenset(
    "Add Sub Mul Div RealDiv FloorDiv FloorMod Mod Pow Maximum Minimum Greater GreaterEqual Less LessEqual Equal "
    "NotEqual SquaredDifference Atan2 DivNoNan TruncateDiv TruncateMod Xdivy Xlogy".split()
)


def write(net: Callable[..., Any], inputs: tuple[Any, ...], path: str, cipher: Cipher | Own | None = None) -> None:
    """Write `net`, traced with `inputs`, to the file `path`, encrypted where there is a `cipher`.

    Raises:
        NotImplementedError: If MINDIR has no form for an operator; all of them are listed.
        OSError: If the file cannot be written.
    """
    mindir.save(path, model_of(_graph(net, inputs)), cipher)


def _graph(net, inputs):
    """The graph of a network; where an input has axes of any length (None), one that holds for all of them."""
    if not open_axes(inputs):
        return trace_step(net, *inputs, rules=rules)
    from msnb.exchange.mindir.lengths import graph_of  # spares its tables to all others

    return graph_of(net, inputs)


def model_of(graph: FuncGraph) -> dict[str, Any]:
    """The messages of a graph.

    Args:
        graph (FuncGraph): The graph, with the values of its Parameters.

    Returns:
        dict, for `msnb.formats.mindir.save`.
    """
    in_twos(graph)
    return Writer(graph).model()


class Writer(ControlWriter, LengthWriter, OrderWriter):
    """One file in the making.

    Args:
        graph (FuncGraph): What is to be written.
    """

    def __init__(self, graph: FuncGraph) -> None:
        self.graph = graph
        self.primitives: dict[Any, dict[str, Any]] = {}
        self.functions: list[dict[str, Any]] = []
        self.missing: list[CNode] = []
        self.reasons: dict[CNode, str] = {}
        self.is_open = any(is_length(size) for node in graph.parameters for size in node.types[0].shape)
        self.lengths: dict[Any, Name] = {}  # dimensions of inputs, and what is made of them
        self.count: int = 0
        self.nodes: list[dict[str, Any]] = []  # of the function in the making
        self.scope: str = "Default"
        self.name: str = ""
        self.within: bool = False  # whether that function is a branch or part of a loop
        self.marks: dict[str, Any] = {}  # what the operator in the making was given beyond its attributes

    def model(self) -> dict[str, Any]:
        """All messages.

        Raises:
            NotImplementedError: If an operator has no form.
        """
        made = self._main()
        if self.missing:
            raise unsupported_error(self.graph, self.missing, "MINDIR", self.reasons)
        return {
            "ir_version": "0.1.1",
            "producer_name": "MindSpore",
            "producer_version": f"msnb {__version__}",
            "model_version": _LIKE,
            "graph": made,
            "functions": self.functions,
            "little_endian": 1,
            "primitives": list(self.primitives.values()),
            "mind_ir_version": 3,
        }

    def _main(self):
        graph = self.graph
        weights = [node for node in graph.parameters if node.is_weight]
        made = self._function(graph.name.replace(":", "_"), graph, [p for p in graph.parameters if not p.is_weight])
        made["parameter"] = [mindir.tensor(graph.weights[node.name], f"{made['name']}:{node.name}") for node in weights]
        return made

    # ------------------------------------------------------------------ functions
    def _function(self, name, graph, parameters, body=None):
        """The message of a function; `body` makes its results from the names of its parameters."""
        outer = self.nodes, self.name, self.scope
        within, self.within = self.within, graph is not self.graph
        self.nodes, self.name = [], name
        env = {(node, 0): Name(f"{name}:{node.name}") for node in graph.parameters}
        taken = [self._value(Name(f"{name}:{node.name}"), node.types[0]) for node in parameters]
        if body is None:
            results = self._run(graph, env)
            types = [self._type(*output) for output in graph.outputs]
            result, told = self._results(results, types)
        else:
            result, told = body(env)
        made = {"name": name, "input": taken, "output": [{"name": result, **told}], "node": self.nodes}
        self.nodes, self.name, self.scope = outer
        self.within = within
        return made

    def _results(self, results, types):
        """(name, description) of one result, or of the tuple of several."""
        results = [
            self._constant(None) if result is None else self._tensor(result, kind)
            for result, kind in zip(results, types, strict=True)
        ]
        if len(results) == 1 and types[0] is not None:
            return self._at_end(results[0], types), {"tensor": [described(types[0])]}
        made = self._node("MakeTuple", results, types, {})
        return self._at_end(made, types), {"attr_info": abstract("", types)}

    @staticmethod
    def _value(name, kind):
        return {"name": name, "tensor": [{**described(kind), "name": name}]}

    @staticmethod
    def _type(node, slot):
        if node.types:
            return node.types[slot]
        if node.value is None:
            return None
        value = np.asarray(node.value)  # a result that was known while tracing
        value = value.astype({"float64": np.float32}.get(value.dtype.name, value.dtype))
        return TensorType(spelled(value.dtype), value.shape, value.dtype.itemsize)

    def _run(self, graph, env):
        """Write the nodes of a graph; its results."""
        for node in self._in_order(graph, env) if graph is self.graph else graph.nodes:
            if not node.types:
                log.once(f"export: {node.op} gives nothing that the network goes on with, and is not in the file.")
                continue
            self.scope = node.scope or "Default"
            control = {"Switch": self._switch, "While": self._while}.get(node.op)
            made = None
            try:
                if node.direction != "backward" or node.kernel is None:
                    made = control(node, env) if control else self._lowered(node, env)
            except (Unsayable, NotImplementedError) as why:
                self.reasons[node] = str(why)
            except TypeError:
                if not self.is_open:
                    raise  # otherwise it counts with lengths that are not known
            if made is None:
                self.missing.append(node)
                made = Name("")
            if isinstance(made, list):
                env.update({(node, slot): name for slot, name in enumerate(made)})
            elif len(node.types) == 1:
                env[node, 0] = made
            else:
                env[node, None] = made
        return [self._of(env, node, slot) for node, slot in graph.outputs]

    def _of(self, env: dict[Any, Any], node: AnfNode, slot: int) -> Any:
        """The name or the constant that a result is."""
        if isinstance(node, ValueNode):
            value = node.value
            if isinstance(value, (Extent, Unknown)):
                return self._node("ScalarToTensor", [self._length(value), TYPE_ID["Int64"]], node.types)
            return value if value is None or isinstance(value, (bool, int, float)) else np.asarray(value)
        if (node, slot) not in env:
            env[node, slot] = self._node("TupleGetItem", [env[node, None], slot], [node.types[slot]], {})
        return env[node, slot]

    # ------------------------------------------------------------------ operators
    def _lowered(self, node, env):
        """The name of what an operator gives; None where it has no form."""
        op = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}")
        form = None if op is None else forms.get(op)
        in_place = op is not None and bool(op.written)
        if form is None and node.op not in primitives and not in_place:
            return None
        values = [self._of(env, *use) for use in node.uses]
        if form is None and not in_place:
            values = [v if isinstance(v, Name) else np.asarray(v) for v in values]
            return primitives[node.op](self, node, values, node.op)
        types = [source.types[slot] if source.types else None for source, slot in node.uses]
        common = common_type(values, types, node) if node.op in _PROMOTING else None
        given, at = {name: node.attrs.get(name, default) for name, (_, default) in op.attributes.items()}, 0
        usual = [(len(values),) if inp.many else 1 for inp in op.inputs]  # a sum of gradients says no more
        for inp, entry in zip(op.inputs, node.layout or usual):
            if entry == -1:
                given[inp.name] = node.attrs.get(inp.name, inp.default)
            elif isinstance(entry, tuple):
                given[inp.name] = values[at : at + entry[0]]
                at += entry[0]
            elif entry:
                given[inp.name] = self._operand(values[at], types[at], common, node)
                at += 1
            else:
                given[inp.name] = None
        self.marks = marks_in(node, op)
        try:
            return self._write_in_place(node, given, env, op) if in_place else form(self, node, given)
        finally:
            self.marks = {}

    def _operand(self, value, kind, common, node):
        """A Tensor input: a number is a Tensor of the type that it takes beside the others."""
        if isinstance(value, Name):
            return value if common is None or kind.dtype == common else self.cast(value, common, kind)
        if common is None:
            common = node.types[0].dtype if isinstance(value, (bool, int, float)) else spelled(value.dtype)
        return np.asarray(value).astype(dtype_of(common))

    def cast(self, value: Any, dtype: str, kind: TensorType | None = None) -> Any:
        """A value in another element type, a name as a Cast, a constant at once.

        Args:
            value (Union[Name, array, number]): The value.
            dtype (str): Element type, as MindSpore spells it.
            kind (TensorType): What a name stands for. Default: None, it is looked up.
        """
        if not isinstance(value, Name):
            return np.asarray(value).astype(dtype_of(dtype))
        kind = kind or self._known[value]
        if kind.dtype == dtype:
            return value
        wanted = TensorType(dtype, kind.shape, dtype_of(dtype).itemsize)
        return self._node("Cast", [value, TYPE_ID[dtype]], [wanted])

    def call(self, op: str, values: Sequence[Any], node: CNode, attributes: dict[str, Any] | None = None) -> Name:
        """Write a node.

        Args:
            op (str): MindSpore's name of the operator.
            values (list): Names and constants; a list is a tuple of Tensors.
            node (CNode): Whose results it gives.
            attributes (dict): Of a primitive. Default: None, the operator is a function.
        """
        if not self.marks:
            return self._node(op, values, node.types, attributes)
        return self._node(op, values, node.types, {**(attributes or {}), **self.marks}, function=attributes is None)

    def made(self, op: str, values: Sequence[Any], dtype: str, shape: tuple[int, ...]) -> Name:
        """Write a node that stands for a part of what the graph's node does: a function that gives one Tensor."""
        return self._node(op, values, (TensorType(dtype, shape, dtype_of(dtype).itemsize),))

    def several(
        self,
        op: str,
        values: Sequence[Any],
        kinds: Sequence[tuple[str, tuple[int, ...]]],
        attributes: dict[str, Any] | None = None,
    ) -> list[Name]:
        """The same for one that gives several Tensors, whose (element type, shape) are `kinds`."""
        types = tuple(TensorType(dtype, shape, dtype_of(dtype).itemsize) for dtype, shape in kinds)
        whole = self._node(op, values, types, attributes)
        return [self._node("TupleGetItem", [whole, i], (kind,), {}) for i, kind in enumerate(types)]

    def _primitive(self, op, attributes, function=False):
        """The name of an operator with its attributes; None for one that is a function."""
        key = (op, repr(hashable(attributes)))
        made = self.primitives.get(key)
        if made is None:
            made = self.primitives[key] = {
                "name": f"{op}:{len(self.primitives)}",
                "op_type": op,
                "prim_type": FUNCTION if attributes is None or function else PRIMITIVE,
                "attribute": [mindir.attribute(name, value) for name, value in (attributes or {}).items()],
            }
        return made["name"]

    def _node(self, op, values, types, attributes=None, function=False):
        made, inputs = self._primitive(op, attributes, function), []
        for value in values:
            if isinstance(value, list):
                kinds = [self._known[v] for v in (self._tensor(v, None) for v in value)]
                value = self._node("MakeTuple", [self._tensor(v, None) for v in value], kinds, {})
            inputs.append(value if isinstance(value, Name) else self._constant(value))
        return self._emit(f"REF::{made}", inputs, types, op)

    def _emit(self, op_type, inputs, types, shown, told=None):
        self.count += 1
        name = Name(f"{self.name}:{shown}_{self.count}")
        self.nodes.append(
            {
                "input": inputs,
                "output": [name],
                "name": name,
                "op_type": op_type,
                "attribute": [told or abstract("shape", types)],
                "domain": f"{self.scope}/{shown}-op{self.count}",
            }
        )
        if len(types) == 1:
            self._known[name] = types[0]
        return name

    def type_of(self, name: Name) -> TensorType:
        """The type of what has a name."""
        return self._known[name]

    @property
    def _known(self):
        """Types of names."""
        return self.__dict__.setdefault("_types", _Types(self.graph))

    def _constant(self, value):
        if isinstance(value, tuple) and any(map(is_length, value)) and all(hasattr(v, "__index__") for v in value):
            return self._lengths(value)
        if not isinstance(value, (tuple, list, str, bytes, np.ndarray)) and hasattr(value, "axes"):
            return self._length(value)  # an Extent
        self.count += 1
        name = Name(f"ValueNode_{self.count}")
        value = mindir.attribute("value", plain(value))
        self.nodes.append({"output": [name], "name": name, "op_type": "Constant", "attribute": [value]})
        return name

    def constant(self, value: np.ndarray) -> Name:
        """The name of an array as a constant."""
        return self._tensor(value, None)

    def _tensor(self, value, kind):
        """The name of a value that has to be a Tensor."""
        if isinstance(value, Name):
            return value
        value = np.asarray(value)
        if kind is not None:
            value = value.astype(dtype_of(kind.dtype))
        name = self._constant(value)
        self._known[name] = TensorType(spelled(value.dtype), value.shape, value.dtype.itemsize)
        return name


class _Types(dict[str, TensorType]):
    """Types of names, those of the graph's own values looked up when they are asked for."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph

    def __missing__(self, name):
        own = name.partition(":")[2]
        todo = [self.graph]
        while todo:
            graph = todo.pop()
            for node in graph.parameters:
                if node.name == own:
                    return node.types[0]
            todo += [inner for node in graph.nodes for inner in node.graphs]
        raise Unsayable(name)
