"""From a network to a MINDIR file: nodes become nodes, branches and loops become functions that call each other."""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from msnb._version import __version__
from msnb.core.operator import REGISTRY
from msnb.exchange.mindir import forms as _forms  # noqa: F401 - fills the table
from msnb.exchange.mindir.operators import Unsayable, forms
from msnb.exchange.missing import refusal
from msnb.exchange.tracing import traced
from msnb.formats import mindir
from msnb.formats.encryption import Cipher, Own
from msnb.ir.anf import AnfNode, CNode, FuncGraph, TensorType, ValueNode

_PRIMITIVE, _FUNCTION = 1, 2
_LIKE = "2.7.1"  # the version of MindSpore whose spelling this is
# Operators whose operands MindSpore's compiler brings to one element type; a file has to say it.
_PROMOTING = frozenset(
    "Add Sub Mul Div RealDiv FloorDiv FloorMod Mod Pow Maximum Minimum Greater GreaterEqual Less LessEqual Equal "
    "NotEqual SquaredDifference Atan2 DivNoNan TruncateDiv TruncateMod Xdivy Xlogy".split()
)


class Name(str):
    """The name of a value in a file, as against a text that is a constant."""


def write(net: Callable[..., Any], inputs: tuple[Any, ...], path: str, cipher: Cipher | Own | None = None) -> None:
    """Write `net`, traced with `inputs`, to the file `path`, encrypted where there is a `cipher`.

    Raises:
        NotImplementedError: If MINDIR has no form for an operator; all of them are listed.
        OSError: If the file cannot be written.
    """
    mindir.save(path, model_of(traced(net, *inputs)), cipher)


def model_of(graph: FuncGraph) -> dict[str, Any]:
    """The messages of a graph.

    Args:
        graph (FuncGraph): The graph, with the values of its Parameters.

    Returns:
        dict, for `msnb.formats.mindir.save`.
    """
    return Writer(graph).model()


class Writer:
    """One file in the making.

    Args:
        graph (FuncGraph): What is to be written.
    """

    def __init__(self, graph: FuncGraph) -> None:
        self.graph = graph
        self.primitives: dict[Any, dict[str, Any]] = {}
        self.functions: list[dict[str, Any]] = []
        self.missing: list[CNode] = []
        self.count = 0
        self.nodes: list[dict[str, Any]] = []  # of the function in the making
        self.scope = "Default"
        self.name = ""

    def model(self) -> dict[str, Any]:
        """All messages.

        Raises:
            NotImplementedError: If an operator has no form.
        """
        made = self._main()
        if self.missing:
            raise refusal(self.graph, self.missing, "MINDIR")
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
        return made

    def _results(self, results, types):
        """(name, description) of one result, or of the tuple of several."""
        results = [self._tensor(result, kind) for result, kind in zip(results, types, strict=True)]
        if len(results) == 1:
            return results[0], {"tensor": [_described(types[0])]}
        made = self._node("MakeTuple", results, types, {})
        return made, {"attr_info": _abstract("", types)}

    @staticmethod
    def _value(name, kind):
        return {"name": name, "tensor": [{**_described(kind), "name": name}]}

    @staticmethod
    def _type(node, slot):
        if node.types:
            return node.types[slot]
        value = np.asarray(node.value)  # a result that was known while tracing
        value = value.astype({"float64": np.float32}.get(value.dtype.name, value.dtype))
        return TensorType(_spelled(value.dtype), value.shape, value.dtype.itemsize)

    def _run(self, graph, env):
        """Write the nodes of a graph; its results."""
        for node in graph.nodes:
            self.scope = node.scope or "Default"
            control = {"Switch": self._switch, "While": self._while}.get(node.op)
            try:
                made = control(node, env) if control else self._lowered(node, env)
            except Unsayable:
                made = None
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
            return value if isinstance(value, (bool, int, float)) else np.asarray(value)
        if (node, slot) not in env:
            env[node, slot] = self._node("TupleGetItem", [env[node, None], slot], [node.types[slot]], {})
        return env[node, slot]

    # ------------------------------------------------------------------ operators
    def _lowered(self, node, env):
        """The name of what an operator gives; None where it has no form."""
        op = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}")
        form = None if op is None else forms.get(op)
        if form is None:
            return None
        values = [self._of(env, *use) for use in node.uses]
        types = [source.types[slot] if source.types else None for source, slot in node.uses]
        common = _common(values, types, node) if node.op in _PROMOTING else None
        given, at = {name: node.attrs.get(name, default) for name, (_, default) in op.attributes.items()}, 0
        for inp, entry in zip(op.inputs, node.layout or (1,) * len(op.inputs)):
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
        return form(self, node, given)

    def _operand(self, value, kind, common, node):
        """A Tensor input: a number is a Tensor of the type that it takes beside the others."""
        if isinstance(value, Name):
            return value if common is None or kind.dtype == common else self.cast(value, common, kind)
        if common is None:
            common = node.types[0].dtype if isinstance(value, (bool, int, float)) else _spelled(value.dtype)
        return np.asarray(value).astype(_dtype(common))

    def cast(self, value: Any, dtype: str, kind: TensorType | None = None) -> Any:
        """A value in another element type, a name as a Cast, a constant at once.

        Args:
            value (Union[Name, array, number]): The value.
            dtype (str): Element type, as MindSpore spells it.
            kind (TensorType): What a name stands for. Default: None, it is looked up.
        """
        if not isinstance(value, Name):
            return np.asarray(value).astype(_dtype(dtype))
        kind = kind or self._known[value]
        if kind.dtype == dtype:
            return value
        wanted = TensorType(dtype, kind.shape, _dtype(dtype).itemsize)
        return self._node("Cast", [value, _TYPE_ID[dtype]], [wanted])

    def call(self, op: str, values: Sequence[Any], node: CNode, attributes: dict[str, Any] | None = None) -> Name:
        """Write a node.

        Args:
            op (str): MindSpore's name of the operator.
            values (list): Names and constants; a list is a tuple of Tensors.
            node (CNode): Whose results it gives.
            attributes (dict): Of a primitive. Default: None, the operator is a function.
        """
        return self._node(op, values, node.types, attributes)

    def made(self, op: str, values: Sequence[Any], dtype: str, shape: tuple[int, ...]) -> Name:
        """Write a node that stands for a part of what the graph's node does: a function that gives one Tensor."""
        return self._node(op, values, (TensorType(dtype, shape, _dtype(dtype).itemsize),))

    def several(
        self,
        op: str,
        values: Sequence[Any],
        kinds: Sequence[tuple[str, tuple[int, ...]]],
        attributes: dict[str, Any] | None = None,
    ) -> list[Name]:
        """The same for one that gives several Tensors, whose (element type, shape) are `kinds`."""
        types = tuple(TensorType(dtype, shape, _dtype(dtype).itemsize) for dtype, shape in kinds)
        whole = self._node(op, values, types, attributes)
        return [self._node("TupleGetItem", [whole, i], (kind,), {}) for i, kind in enumerate(types)]

    def _node(self, op, values, types, attributes=None):
        key = (op, repr(attributes))
        made = self.primitives.get(key)
        if made is None:
            made = self.primitives[key] = {
                "name": f"{op}:{len(self.primitives)}",
                "op_type": op,
                "prim_type": _FUNCTION if attributes is None else _PRIMITIVE,
                "attribute": [mindir.attribute(name, value) for name, value in (attributes or {}).items()],
            }
        inputs = []
        for value in values:
            if isinstance(value, list):
                kinds = [self._known[v] for v in (self._tensor(v, None) for v in value)]
                value = self._node("MakeTuple", [self._tensor(v, None) for v in value], kinds, {})
            inputs.append(value if isinstance(value, Name) else self._constant(value))
        return self._emit(f"REF::{made['name']}", inputs, types, op)

    def _emit(self, op_type, inputs, types, shown, abstract=None):
        self.count += 1
        name = Name(f"{self.name}:{shown}_{self.count}")
        self.nodes.append(
            {
                "input": inputs,
                "output": [name],
                "name": name,
                "op_type": op_type,
                "attribute": [abstract or _abstract("shape", types)],
                "domain": f"{self.scope}/{shown}-op{self.count}",
            }
        )
        if len(types) == 1:
            self._known[name] = types[0]
        return name

    @property
    def _known(self):
        """Types of names."""
        return self.__dict__.setdefault("_types", _Types(self.graph))

    def _constant(self, value):
        self.count += 1
        name = Name(f"ValueNode_{self.count}")
        value = mindir.attribute("value", _plain(value))
        self.nodes.append({"output": [name], "name": name, "op_type": "Constant", "attribute": [value]})
        return name

    def _tensor(self, value, kind):
        """The name of a value that has to be a Tensor."""
        if isinstance(value, Name):
            return value
        value = np.asarray(value)
        if kind is not None:
            value = value.astype(_dtype(kind.dtype))
        name = self._constant(value)
        self._known[name] = TensorType(_spelled(value.dtype), value.shape, value.dtype.itemsize)
        return name

    # ------------------------------------------------------------------ control flow
    def _partial(self, function, values):
        """A function with its first arguments; the name goes in as it is."""
        made = self._node_of_primitive("Partial")
        abstract = {"name": "shape", "type": mindir.GRAPH_CLOSURE, "s": function.encode()}
        return self._emit(f"REF::{made}", [function, *values], (), "Partial", abstract)

    def _node_of_primitive(self, op):
        key = (op, "{}")
        made = self.primitives.setdefault(
            key, {"name": f"{op}:{len(self.primitives)}", "op_type": op, "prim_type": _PRIMITIVE}
        )
        return made["name"]

    def _chosen(self, predicate, yes, no, functions, types):
        """Call one of two closures."""
        abstract = {
            "name": "shape",
            "type": mindir.ANY_CLOSURE,
            "values": [{"type": mindir.GRAPH_CLOSURE, "s": name.encode()} for name in functions],
        }
        made = self._node_of_primitive("Switch")
        switch = self._emit(f"REF::{made}", [predicate, yes, no], (), "Switch", abstract)
        return self._emit(f"REF::{switch}", [], types, "call")

    def _fed(self, node, graph, env):
        """(names, types) of what a sub-graph is called with."""
        kinds = [p.types[0] for p in graph.parameters]
        values = [self._of(env, node.inputs[i], node.slots[i]) for i in graph.feeds]
        return [self._tensor(v, k) for v, k in zip(values, kinds, strict=True)]

    def _switch(self, node, env):
        if len(node.graphs) != 2:
            return None
        names, parts = [], []
        predicate = self._tensor(self._of(env, node.inputs[0], node.slots[0]), None)
        if self._known[predicate].dtype != "Bool":
            predicate = self.cast(predicate, "Bool")
        for graph in node.graphs:
            name = f"{self._fresh(graph)}"
            given = self._fed(node, graph, env)
            self.functions.append(self._function(name, graph, graph.parameters))
            names.append(name)
            parts.append(self._partial(name, given))
        return self._chosen(predicate, parts[1], parts[0], names[::-1], node.types)

    def _fresh(self, graph):
        self.count += 1
        return f"{self.count}_{graph.name.replace(':', '_')}"

    def _while(self, node, env):
        """A function that calls itself: the condition, then the rest of the rounds or the end."""
        test, body = node.graphs
        state = body.parameters[body.free :]
        free = [i for graph in (test, body) for i in graph.feeds[: graph.free]]
        taken = list(dict.fromkeys(free))
        header, rounds, end = (f"{self._fresh(g)}{ending}" for g, ending in ((test, ""), (body, ""), (body, "_end")))
        kinds = {i: p.types[0] for g in (test, body) for i, p in zip(g.feeds[: g.free], g.parameters)}
        own = [f"free_{i}" for i in taken] + [f"state_{i}" for i in range(len(state))]
        types = [kinds[i] for i in taken] + [p.types[0] for p in state]
        given = [self._tensor(self._of(env, node.inputs[i], node.slots[i]), kinds[i]) for i in taken]
        given += [
            self._tensor(self._of(env, node.inputs[i], node.slots[i]), p.types[0])
            for i, p in zip(body.feeds[body.free :], state, strict=True)
        ]

        def function(name, make, skip=0):
            outer = self.nodes, self.name, self.scope
            self.nodes, self.name = [], name
            names = [Name(f"{name}:{n}") for n in own[skip:]]
            for n, kind in zip(names, types[skip:]):
                self._known[n] = kind
            result, told = make(names)
            taken = [self._value(n, kind) for n, kind in zip(names, types[skip:])]
            made = {"name": name, "input": taken, "output": [{"name": result, **told}], "node": self.nodes}
            self.functions.append(made)
            self.nodes, self.name, self.scope = outer

        def bound(graph, names):
            values = [names[taken.index(i)] for i in graph.feeds[: graph.free]] + names[len(taken) :]
            return {(p, 0): v for p, v in zip(graph.parameters, values, strict=True)}

        told = {"tensor": [_described(node.types[0])]} if len(node.types) == 1 else {
            "attr_info": _abstract("", node.types)
        }  # fmt: skip

        def tested(names):
            predicate = self._tensor(self._run(test, bound(test, names))[0], None)
            if self._known[predicate].dtype != "Bool":
                predicate = self.cast(predicate, "Bool")
            go, stop = self._partial(rounds, names), self._partial(end, names[len(taken) :])
            return self._chosen(predicate, go, stop, [rounds, end], node.types), told

        def rounded(names):
            results = self._run(body, bound(body, names))
            results = [self._tensor(r, p.types[0]) for r, p in zip(results, state, strict=True)]
            return self._emit(f"REF::{header}", [*names[: len(taken)], *results], node.types, "call"), told

        function(header, tested)
        function(rounds, rounded)
        function(end, lambda names: self._results(names, types[len(taken) :]), len(taken))
        return self._emit(f"REF::{header}", given, node.types, "call")


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


# ---------------------------------------------------------------------- types
_TYPE_ID = {
    "Bool": 30, "Int8": 32, "Int16": 33, "Int32": 34, "Int64": 35, "UInt8": 37, "UInt16": 38, "UInt32": 39,
    "UInt64": 40, "Float16": 42, "Float32": 43, "Float64": 44, "BFloat16": 45,
}  # fmt: skip
_SPELLED = {"Bool": "bool", "UInt8": "uint8", "UInt16": "uint16", "UInt32": "uint32", "UInt64": "uint64"}


def _dtype(spelled):
    """The dtype of an element type as MindSpore spells it."""
    return jnp.dtype(_SPELLED.get(spelled, spelled.lower()))


def _spelled(dtype):
    name = jnp.dtype(dtype).name
    return {v: k for k, v in _SPELLED.items()}.get(name, {"bfloat16": "BFloat16"}.get(name, name.capitalize()))


def _common(values, types, node):
    """The element type that the operands of an operator come to: that of the result, where it is not a truth value."""
    if node.types[0].dtype != "Bool":
        return node.types[0].dtype
    tensors = [
        _dtype(kind.dtype) if isinstance(value, Name) else value.dtype
        for value, kind in zip(values, types, strict=True)
        if not isinstance(value, (bool, int, float))
    ]
    numbers = [value for value in values if isinstance(value, (bool, int, float))]
    common = jnp.result_type(*tensors) if tensors else jnp.dtype(np.int32)
    if any(type(number) is float for number in numbers) and not jnp.issubdtype(common, jnp.floating):
        common = jnp.dtype(np.float32)
    elif any(type(number) is int for number in numbers) and common == np.bool_:
        common = jnp.dtype(np.int32)
    return _spelled(common)


def _plain(value):
    """Numbers of numpy as Python's."""
    if isinstance(value, (tuple, list)):
        return tuple(_plain(v) for v in value)
    if isinstance(value, np.generic):
        return value.item()
    return value


def _described(kind):
    """A Tensor without its value."""
    return {"dims": list(kind.shape), "data_type": mindir.CODES[_dtype(kind.dtype)]}


def _abstract(name, types):
    """What a node gives, as an attribute."""
    if len(types) == 1:
        return {"name": name, "type": mindir.TENSORS, "tensors": [_described(types[0])]}
    return {"name": name, "type": mindir.TUPLE, "values": [_abstract("", (kind,)) for kind in types]}
