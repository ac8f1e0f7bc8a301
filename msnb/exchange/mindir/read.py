"""From a MINDIR file to a graph: functions are followed as they call each other, and what they do is written down.

Reading is a run without numbers. A value is a `Ref` (a result of a node), a constant, a tuple of values, a function
that waits for arguments (`Closure`), or a choice among two of these. What only orders side effects (Load, UpdateState,
Depend) disappears on the way. A call puts the nodes of a function where the call stands; of a choice that is called
comes a Switch, and of a function that calls itself a While.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from msnb.core.operator import REGISTRY
from msnb.core.tensor import Tensor, box
from msnb.exchange.mindir import forms as _forms  # noqa: F401 - fills the table
from msnb.exchange.mindir import gradient_forms as _gradient_forms  # noqa: F401 - and this one
from msnb.exchange.mindir.closing import close, freeze
from msnb.exchange.mindir.control import ControlFlow
from msnb.exchange.mindir.host import SHAPES, folded, is_folded, is_of_shapes, shape_of
from msnb.exchange.mindir.operators import Unsayable, call_of
from msnb.exchange.mindir.spelling import dtype_of
from msnb.exchange.mindir.structure import ITEMS, STRUCTURE
from msnb.exchange.mindir.values import (
    ORDER,
    Again,
    Choice,
    Closure,
    Layers,
    Order,
    Ref,
    class_name,
    is_leaf,
    is_spelling,
    leaves,
    own_name,
    slot_of,
    spelled,
    type_of,
    types_of,
)
from msnb.formats import mindir, mindir_first
from msnb.formats.encryption import Cipher, Own
from msnb.formats.reading import BadFileError
from msnb.ir.anf import CNode, FuncGraph, OpenGraph, ParameterNode, TensorType, ValueNode
from msnb.nn.graph_cell import prune

_MOST = 1_000_000  # nodes that are followed; functions that call each other can be more than any memory holds
_DEEPEST = 100  # functions that are followed within each other


class Weights(Mapping[str, Any]):
    """The values of Parameters by name, read when they are asked for.

    Args:
        messages (list[dict]): Tensors of the file.
        beside (Beside): Where they stand that are not in the file.
    """

    def __init__(self, messages: list[dict[str, Any]], beside: mindir.Beside) -> None:
        self._messages = {own_name(message.get("name", "")): message for message in messages}
        self._beside = beside

    def __getitem__(self, name: str) -> np.ndarray:
        return mindir.array(self._messages[name], self._beside)

    def __iter__(self) -> Iterator[str]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)


def read(path: str, cipher: Cipher | Own | None = None) -> FuncGraph:
    """The graph in a MINDIR file.

    Args:
        path (str): The file.
        cipher (Cipher): What it was encrypted with. Default: None, it is not.

    Returns:
        FuncGraph, with the values of its Parameters.

    Raises:
        BadFileError: If the file is damaged.
        NotImplementedError: If it is built in a way that msnb does not read.
        OSError: If it cannot be read.
    """
    return _read(path, True, cipher)


def look(path: str) -> FuncGraph:
    """The graph in a file, with operators that msnb does not have as they stand there; see `read`."""
    return _read(path, False)


def _read(path, strict, cipher=None):
    model = mindir.opened(path, cipher)
    if model.get("ir_version") == mindir_first.VERSION:
        model = mindir_first.renewed(model, path)
    weights = model["graph"].get("parameter", [])
    beside = Weights(weights, mindir.Beside(os.path.dirname(os.path.abspath(path)), cipher))

    def build(shapes):
        graph = _followed(model, path, True, shapes)
        graph.weights = beside
        return graph

    graph = _followed(model, path, strict)
    graph.weights = beside
    return graph.built_by(build) if isinstance(graph, OpenGraph) else graph


def _followed(model, path, strict, shapes=None):
    try:
        return Reader(model, path, strict, shapes).graph()
    except (BadFileError, NotImplementedError, ShapeError):
        raise
    except RecursionError:
        raise BadFileError(f"{path!r} is damaged: its functions are nested without end.") from None
    except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise BadFileError(f"{path!r} is damaged: {type(error).__name__}: {error}") from error


class Reader(ControlFlow):
    """One file being read.

    Args:
        model (dict): What `msnb.formats.mindir.opened` gives.
        path (str): The file, for messages.
        strict (bool): Whether an operator that cannot run is refused, rather than shown as it is. Default: True.
        shapes (list[tuple]): Shapes of the inputs, of a file that leaves some of their axes open. Default: None: what
            depends on such axes is shown as it stands in the file.
    """

    def __init__(
        self, model: dict[str, Any], path: str, strict: bool = True, shapes: Sequence[tuple[int, ...]] | None = None
    ) -> None:
        self.path: str = path
        self.strict: bool = strict
        self.shapes = shapes
        self.main = model["graph"]
        taken = [tensor for value in self.main.get("input", []) for tensor in value.get("tensor", [])]
        self.is_open = shapes is None and any(size < 0 for tensor in taken for size in tensor.get("dims", ()))
        self.functions = {g.get("name", ""): g for g in [self.main, *model.get("functions", [])]}
        self.primitives = {p.get("name", ""): p for p in model.get("primitives", [])}
        self.followed: int = 0
        self.depth: int = 0
        self.made: int = 0
        self.nodes: list[CNode] = []  # of the graph in the making
        self.top = self.nodes  # of the outermost one
        self.active: tuple[str, ...] = ()  # functions whose call is an `Again`
        self.unknown: dict[str, str] = {}  # operators that msnb does not have -> why
        self.globals: dict[str, Any] = {}
        self._reach: dict[Any, frozenset[str]] = {}
        for function in self.functions.values():
            for node in function.get("node", []):
                if node.get("op_type") == "Constant":
                    for name in node.get("output", []):
                        self.globals[name] = self._constant(node)

    def graph(self) -> FuncGraph:
        """The whole graph."""
        main = self.main
        weights = [self._parameter(message, True) for message in main.get("parameter", [])]
        if main.get("map_parameter"):
            raise NotImplementedError(f"{self.path!r} holds hash tables (MapParameter), which msnb does not have.")
        inputs = [self._parameter(value, False) for value in main.get("input", [])]
        if self.shapes is not None:
            self._shape(inputs)
        env = {message["name"]: Ref(node, 0) for message, node in zip(main.get("parameter", []), weights)}
        self.globals.update(env)
        result = self._call(main.get("name", ""), [Ref(node, 0) for node in inputs], inputs_are=True)
        outputs = [(self._node_of(leaf), leaf.slot if isinstance(leaf, Ref) else 0) for leaf in leaves(result)]
        if self.unknown:
            told = "; ".join(f"{name} ({why})" for name, why in sorted(self.unknown.items()))
            raise NotImplementedError(f"{self.path!r} has operators that msnb cannot read: {told}.")
        kind = OpenGraph if self.is_open else FuncGraph
        made = kind(main.get("name", "main"), [*weights, *inputs], self.nodes, outputs)
        prune(made)
        close(made)
        freeze(made)
        made.name = class_name(main.get("name", "main"))
        return made

    def _parameter(self, message, weight):
        tensor = message if weight else (message.get("tensor") or [None])[0]
        if tensor is None:
            raise NotImplementedError(f"{self.path!r} takes an input that is no Tensor: {message.get('name')!r}.")
        kind = type_of(tensor)
        trained = weight and kind.dtype.startswith(("Float", "BFloat"))
        return ParameterNode(own_name(message.get("name", "")), (kind,), weight, trained)

    def _shape(self, inputs):
        """Give the inputs their shapes; ValueError where the file does not take them."""
        for node, shape in zip(inputs, self.shapes, strict=True):
            (known,) = node.types
            fits = len(shape) == len(known.shape) and all(n in (-1, m) for n, m in zip(known.shape, shape))
            if not fits and known.shape != (-2,):
                told = ", ".join("any" if n == -1 else str(n) for n in known.shape)
                raise ShapeError(f"The input '{node.name}' of {self.path!r} has the shape ({told}), but got {shape}.")
            node.types = (TensorType(known.dtype, shape, known.itemsize),)

    def _constant(self, node):
        attributes = node.get("attribute", [])
        kind = attributes[0].get("type", 0) if attributes else mindir.NONE
        if kind in (mindir.UMONAD, mindir.IOMONAD):
            return ORDER
        try:
            return mindir.value_of(attributes[0]) if attributes else None
        except BadFileError as error:
            return error  # raised by whoever needs it

    # ------------------------------------------------------------------ following functions
    def _call(self, name, values, inputs_are=False):
        """What a function gives for values."""
        if name in self.active:
            return Again(name, tuple(values))
        if name not in self.functions:
            raise BadFileError(f"{self.path!r} is damaged: it calls {name!r}, which is not in it.")
        if not inputs_are and name in self._reached(name):
            return self._loop(name, values)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotImplementedError(f"{self.path!r} has functions that call each other {_DEEPEST} deep.")
        env = self._bound(name, values)
        for node in self.functions[name].get("node", []):
            self._follow(node, env)
        self.depth -= 1
        return self._output(name, env)

    def _bound(self, name, values):
        inputs = [value["name"] for value in self.functions[name].get("input", [])]
        values = list(values)
        if len(values) < len(inputs):  # what orders side effects may be left out
            values += [ORDER] * (len(inputs) - len(values))
        return dict(zip(inputs, values[: len(inputs)], strict=True))

    def _output(self, name, env):
        outputs = self.functions[name].get("output", [])
        if not outputs:
            raise BadFileError(f"{self.path!r} is damaged: the function {name!r} gives nothing.")
        found = [self._value(output["name"], env) for output in outputs]
        return found[0] if len(found) == 1 else tuple(found)

    def _value(self, name, env):
        if name in env:
            value = env[name]
        elif name in self.globals:
            value = self.globals[name]
        elif name.removeprefix("REF::") in self.functions:
            value = Closure(name.removeprefix("REF::"), ())
        else:
            raise BadFileError(f"{self.path!r} is damaged: the value {name!r} is used and never made.")
        if isinstance(value, BadFileError):
            raise value
        return value

    def _follow(self, node, env):
        """Do what one node says."""
        self.followed += 1
        if self.followed > _MOST:
            raise NotImplementedError(f"{self.path!r} has functions that call each other more than {_MOST} times.")
        op_type = node.get("op_type", "")
        if op_type == "Constant":
            return
        if not node.get("output"):
            raise BadFileError(f"{self.path!r} is damaged: a node {op_type!r} gives nothing.")
        values = [self._value(name, env) for name in node.get("input", [])]
        target = op_type.removeprefix("REF::")
        if target in self.primitives or op_type == target and target not in self.functions and target not in env:
            primitive = self.primitives.get(target, {"op_type": target, "attribute": node.get("attribute", [])})
            value = self._operator(primitive, values, node)
        elif target in self.functions:
            value = self._call(target, values)
        else:
            value = self._enter(self._value(target, env), values)
        env[node["output"][0]] = value

    def _enter(self, called, values):
        """Call a value."""
        if isinstance(called, Closure):
            return self._call(called.function, [*called.values, *values])
        if isinstance(called, Choice):
            yes, no = (Closure(c.function, (*c.values, *values)) for c in (called.yes, called.no))
            return self._branch(called.predicate, yes, no)
        if isinstance(called, Layers):
            return self._one_of(called.index, [Closure(w.function, (*w.values, *values)) for w in called.ways])
        raise BadFileError(f"{self.path!r} is damaged: it calls something that is no function.")

    # ------------------------------------------------------------------ operators
    def _operator(self, primitive, values, node):
        op = primitive.get("op_type", "")
        structural = STRUCTURE.get(op)
        if structural is not None and not (self.is_open and op in ITEMS and isinstance(values[0], Ref)):
            return structural(values)
        if op in SHAPES and values and shape_of(values[0]) is not None:
            found = shape_of(values[0])
            return found if op == "Shape" else np.array(found)
        attributes = {
            a.get("name", ""): mindir.value_of(a) for a in primitive.get("attribute", []) if not is_spelling(a)
        }
        abstract = next((a for a in node.get("attribute", []) if a.get("name") == "shape"), None)
        if abstract is None:
            raise BadFileError(f"{self.path!r} is damaged: a node {op!r} does not say what it gives.")
        values = [v for v in values if not isinstance(v, Order)]
        if is_folded(op, values):
            try:
                return folded(op, values)
            except Unsayable as why:
                raise BadFileError(f"{self.path!r} is damaged: '{op}' gives {why}.") from None
        types = tuple(types_of(abstract))
        if op in REGISTRY and REGISTRY[op].written:
            return self._writing(op, primitive.get("prim_type", 1) == 2, values, attributes, node)
        try:
            name, given = call_of(op, primitive.get("prim_type", 1) == 2, values, attributes)
        except Unsayable as why:
            if self.strict and not (self.is_open and is_of_shapes(op)):
                self.unknown.setdefault(op, str(why))
            name, given = "", {}
        scope = node.get("domain", "").rpartition("/")[0]
        made = None
        if name:
            try:
                made = self._made(name, given, types, scope)
            except Computed:
                if not self.is_open:
                    raise
        if made is None:
            shown = [leaf for leaf in leaves(values) if is_leaf(leaf)]
            made = self._add(op, shown, types, scope, attributes)
        if abstract.get("type") == mindir.TUPLE:
            return tuple(Ref(made, i) for i in range(len(made.types)))
        return Ref(made, 0)

    def _writing(self, op, function, values, attributes, node):
        """A node that gives Parameters new values: its results are these."""
        if self.active or self.nodes is not self.top:
            raise NotImplementedError(
                f"{self.path!r} writes Parameters in a branch or a loop, which msnb does not read."
            )
        try:
            name, given = call_of(op, function, values, attributes)
        except Unsayable as why:
            raise NotImplementedError(f"{self.path!r} has an operator that msnb cannot read: {op} ({why}).") from None
        written = [given[REGISTRY[name].inputs[place].name] for place in REGISTRY[name].written]
        if not all(isinstance(value, Ref) and isinstance(value.node, ParameterNode) for value in written):
            raise BadFileError(f"{self.path!r} is damaged: '{op}' writes what is no Parameter.")
        types = tuple(value.node.types[value.slot] for value in written)
        made = self._made(name, given, types, node.get("domain", "").rpartition("/")[0])
        results = tuple(Ref(made, slot) for slot in range(len(types)))
        return results if REGISTRY[name].returns_written and len(results) > 1 else results[0]

    def _made(self, name, given, types, scope):
        """The node of a call."""
        op = REGISTRY[name]
        inputs, layout, attrs = [], [], {k: given[k] for k in op.attributes if k in given}
        for inp in op.inputs:
            value = given.get(inp.name, inp.default)
            if inp.kind is not None:
                layout.append(-1)
                attrs[inp.name] = _static(value, inp.name, name)
            elif inp.many:
                items = leaves(value)
                layout.append((len(items),))
                inputs += items
            elif value is None:
                layout.append(0)
            else:
                layout.append(1)
                inputs.append(value)
        for key, value in attrs.items():
            attrs[key] = _static(value, key, name)
        attrs = _bound(op, attrs)
        plain = all(entry == 1 for entry in layout)
        if self.shapes is not None and not op.written:
            types = self._types(op, attrs, None if plain else tuple(layout), inputs)
        return self._add(name.lstrip("_"), inputs, types, scope, attrs, None if plain else tuple(layout))

    def _types(self, op, attrs, layout, inputs):
        """What a call gives for the shapes at hand."""
        known = [None if isinstance(value, Ref) else _boxed(value) for value in inputs]

        def run(*arrays):
            given = iter(arrays)
            out = op.again(attrs, layout, [box(next(given)) if value is None else value for value in known])
            return [o._array for o in (out if isinstance(out, (tuple, list)) else (out,))]

        kinds = [value.node.types[value.slot] for value in inputs if isinstance(value, Ref)]
        try:
            outs = jax.eval_shape(run, *[jax.ShapeDtypeStruct(kind.shape, dtype_of(kind.dtype)) for kind in kinds])
        except (ValueError, TypeError) as error:
            told = ", ".join(map(str, self.shapes))
            raise ShapeError(f"{self.path!r} does not take inputs of the shapes {told}: {error}") from None
        return tuple(TensorType(spelled(o.dtype), o.shape, o.dtype.itemsize) for o in outs)

    def _add(self, op, values, types, scope="Default", attrs=None, layout=None, graphs=()):
        inputs = tuple(self._node_of(value) for value in values)
        slots = tuple(slot_of(value) for value in values)
        self.made += 1
        node = CNode(op, inputs, slots, types, attrs=attrs, scope=scope, layout=layout, graphs=graphs, id=self.made)
        self.nodes.append(node)
        return node

    def _node_of(self, value):
        """The node of a value: a constant becomes one."""
        if isinstance(value, Ref):
            return value.node
        if value is None:
            return ValueNode(None, ())
        if not is_leaf(value):
            raise BadFileError(f"{self.path!r} is damaged: {value!r:.80} stands where a Tensor should.")
        array = np.asarray(value)
        return ValueNode(value, (TensorType(spelled(array.dtype), array.shape, array.dtype.itemsize),))


class Computed(NotImplementedError):
    """An attribute is computed."""


class ShapeError(ValueError):
    """The file is not for inputs of these shapes."""


def _boxed(value):
    """A constant as an operator takes it: a number stays one, since it widens nothing."""
    return Tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


def _bound(op, settings):
    """Settings as those of a traced call: attributes in normal form, with defaults for what a file leaves out."""
    own = {key: value for key, value in settings.items() if key in op.attributes}
    try:
        return {**op.bind_attributes((), own), **{k: v for k, v in settings.items() if k not in own}}
    except (TypeError, ValueError):  # the graph can be looked at; the operator says what is wrong when it runs
        return settings


def _static(value, what, op):
    """An attribute, which must not be computed."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if any(isinstance(leaf, Ref) for leaf in leaves(value)):
        raise Computed(f"'{op}' in the file has a '{what}' that is computed, which msnb does not read.")
    return value
