"""From the messages of a model to a graph of MindSpore's operators: names, shapes, constants, and graphs within."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.core.operator import _ABSENT, REGISTRY
from msnb.core.tensor import Tensor, box
from msnb.formats import onnx
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode

from .shared import Shared
from .values import HANDLERS, Attributes, NeedsValue, Node, Ref, Unfit, Unread, type_of

_FOLDED = 1 << 16  # elements of a constant that is computed when the model is read
_SMALL = 64  # elements of inputs of which the results are small, too, but for
_WIDENING = frozenset(("BroadcastTo", "OneHot", "Pad", "Tile"))
# Attributes that say again what the inputs do, or what inference or the types that msnb has do not ask.
_IMPLIED = frozenset(("kernel_shape", "hidden_size", "ratio", "saturate", "seed", "sorted", "training_mode"))


class Reader:
    """Makes the nodes of one graph.

    Attributes:
        model (Model): What all graphs of a model share.
        nodes (list[CNode]): The nodes so far.
        scope (str): Where the node that is read stands.
    """

    def __init__(self, model: "Shared", parent: "Reader | None" = None) -> None:
        self.model: Shared = model
        self.parent: Reader | None = parent
        self.nodes: list[CNode] = []
        self.names: dict[str, Ref] = {}
        self.captured: list[tuple[Ref, ParameterNode]] = []
        self.scope: str = "Default"
        self.version: int = model.version

    # ------------------------------------------------------------------ values
    def find(self, name: str) -> Ref:
        """What a name stands for, here or in a graph around this one."""
        found = self.names.get(name)
        if found is not None:
            return found
        if self.parent is None:
            raise ValueError(f"The ONNX model uses the value '{name}', which nothing makes.")
        outer = self.parent.find(name)
        if isinstance(outer.node, ValueNode):
            return outer
        return self.capture(outer, name)

    def capture(self, outer: Ref, name: str = "free") -> Ref:
        """A value of a graph around this one as a parameter of this one."""
        for known, made in self.captured:
            if known == outer:
                return Ref(made)
        made = ParameterNode(name, (outer.node.types[outer.slot],))
        self.captured.append((outer, made))
        found = self.names[name] = Ref(made)
        return found

    def const(self, value: Any, dtype: Any = None) -> Ref:
        """A constant."""
        value = np.asarray(value, dtype)
        return Ref(ValueNode(value, (type_of(value.shape, value.dtype),)))

    def filled(self, shape: Iterable[int], value: Any, dtype: Any) -> Ref:
        """An array of one number; a large one is made when the network runs."""
        shape = tuple(int(n) for n in shape)
        if math.prod(shape) <= _FOLDED:
            return self.const(np.full(shape, value, dtype))
        return self("BroadcastTo", self.const(value, dtype), shape=shape)

    def room(self, *lengths: int) -> None:
        """Take note of a constant of so many elements that is about to be made.

        Raises:
            Unread: If the constants of the model get too large: a file of a few bytes can ask for any number.
        """
        self.model.make(math.prod(max(n, 1) for n in lengths))  # one that is none spares none of the others

    def like(self, number: float, x: Ref) -> Ref:
        """A number in the element type of a value."""
        return self.const(number, x.dtype)

    def static(self, x: Ref | None) -> np.ndarray:
        """The value of what decides on shapes.

        Raises:
            NeedsValue: If it is an input of the model.
            Unread: If it is computed of one.
        """
        if x is None:
            raise Unread("an input is missing")
        if x.value is not None:
            return x.value
        node = x.node
        if isinstance(node, ParameterNode):
            if node.name in self.model.samples:
                self.model.used.add(node.name)
                return self.model.samples[node.name]
            if node.is_weight:
                return self.model.weights[node.name]
            if self.parent is None:
                raise NeedsValue(node.name)
        if isinstance(node, CNode):
            return self._computed(x)
        raise Unread("its shape depends on values that are only known when it runs")

    def _computed(self, x):
        """A value that was computed of what `static` knows: the node is run."""
        node = x.node
        inputs = [self.static(Ref(source, slot)) for source, slot in node.uses]
        op = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}")
        if op is None:
            raise Unread("its shape depends on values that are only known when it runs")
        out = op.again(node.attrs, node.layout, [Tensor(v) for v in inputs])
        return (out if isinstance(out, tuple) else (out,))[x.slot].asnumpy()

    def ints(self, x: Ref | None) -> tuple[int, ...]:
        """The whole numbers of what decides on shapes."""
        return tuple(int(n) for n in np.atleast_1d(self.static(x)))

    # ------------------------------------------------------------------ calls
    def __call__(self, name: str, *args: Any, **attributes: Any) -> Any:
        """Call an operator of msnb: its inputs in order, its attributes by name. Of constants the value is computed.

        Returns:
            Ref, or a tuple of them.
        """
        op = REGISTRY.get(name) or REGISTRY[f"_{name}"]
        settings = dict(op.bind_attributes((), attributes))
        layout, tensors = [], []
        for place, declared in enumerate(op.inputs):
            arg = args[place] if place < len(args) else declared.default
            if arg is _ABSENT:
                raise TypeError(f"For '{name}', the input '{declared.name}' is missing.")
            if declared.kind is not None:
                layout.append(-1)
                settings[declared.name] = declared.kind(arg, declared.name, op.name)
            elif declared.many:
                layout.append((len(arg),))
                tensors.extend(arg)
            elif arg is None:
                layout.append(0)
            else:
                layout.append(1)
                tensors.append(arg if isinstance(arg, Ref) else self.const(arg))
        layout = None if all(entry == 1 for entry in layout) else tuple(layout)
        types = None
        if all(t.value is not None for t in tensors) and sum(t.value.size for t in tensors) < _FOLDED:
            if sum(t.value.size for t in tensors) > _SMALL or op.name in _WIDENING:
                many, types = _abstract(op, settings, layout, tensors)
            if types is None or all(math.prod(kind.shape) <= _FOLDED for kind in types):
                return self._folded(op, settings, layout, tensors)
        if types is None:
            many, types = _abstract(op, settings, layout, tensors)
        node = CNode(
            op.name.removeprefix("_"),
            tuple(t.node for t in tensors),
            tuple(t.slot for t in tensors),
            types,
            attrs=settings,
            scope=self.scope,
            layout=layout,
        )
        self.nodes.append(node)
        made = tuple(Ref(node, slot) for slot in range(len(types)))
        return made if many else made[0]

    def _folded(self, op, settings, layout, tensors):
        """The value of a call of constants."""
        out = op.again(settings, layout, [Tensor(t.value) for t in tensors])
        if isinstance(out, (tuple, list)):
            return tuple(self.const(v.asnumpy()) for v in out)
        return self.const(out.asnumpy())

    def control(self, op: str, inputs: Sequence[Ref], types: Sequence[TensorType], graphs: Sequence[FuncGraph]) -> Any:
        """Add a branch or a loop; its results."""
        node = CNode(
            op,
            tuple(x.node for x in inputs),
            tuple(x.slot for x in inputs),
            tuple(types),
            scope=self.scope,
            graphs=tuple(graphs),
        )
        self.nodes.append(node)
        return tuple(Ref(node, slot) for slot in range(len(types)))

    # ------------------------------------------------------------------ what many handlers need
    def cast(self, x: Ref, dtype: Any) -> Ref:
        """The value in another element type."""
        dtype = np.dtype(dtype)
        if x.dtype == dtype:
            return x
        return self("Cast", x, _mindspore(dtype))

    def reshape(self, x: Ref, shape: Iterable[int]) -> Ref:
        """The value in another shape."""
        shape = tuple(int(n) for n in shape)
        return x if shape == x.shape else self("Reshape", x, shape)

    def transpose(self, x: Ref, perm: Iterable[int]) -> Ref:
        """The value with its axes in another order."""
        perm = tuple(int(p) for p in perm)
        return x if perm == tuple(range(len(perm))) else self("Transpose", x, perm)

    # ------------------------------------------------------------------ graphs
    def run(self, nodes: Iterable[dict[str, Any]]) -> None:
        """Read nodes in order."""
        for message in nodes:
            op, domain = message.get("op_type", ""), message.get("domain", "")
            key = op if domain in ("", "ai.onnx") else f"{domain}.{op}"
            function = self.model.functions.get((domain, op))
            handler = HANDLERS.get(key)
            scope, self.scope = self.scope, self._scope_of(message)
            try:
                if function is not None:
                    results = self.call_function(function, message)
                elif handler is None:
                    raise Unread("msnb has no operator for it")
                else:
                    inputs = [self.find(name) if name else None for name in message.get("input", [])]
                    attrs = Attributes(onnx.attributes(message))
                    node = Node(op, inputs, attrs, message.get("output", []), self.version)
                    results = handler(self, node)
                    for name in attrs.unasked():
                        if name not in _IMPLIED:
                            log.once(
                                f"load_onnx: msnb does not know the attribute '{name}' of {key}, and leaves it out."
                            )
            except Unread as error:
                self.model.missing.setdefault((key, str(error)), message.get("name") or self.scope)
                results = ()
            except (NeedsValue, Stop, Unfit, MemoryError):
                raise
            except Exception as error:  # what an operator says of types and shapes that are not its own
                name = message.get("name") or (message.get("output") or [""])[0]
                raise Unfit(f"The node '{name}' ({key}) of the model cannot be read: {error}") from error
            finally:
                self.scope = scope
            results = (results,) if isinstance(results, Ref) else tuple(results or ())
            for number, name in enumerate(message.get("output", [])):
                if not name:
                    continue
                if number < len(results) and results[number] is not None:
                    self.names[name] = results[number]
                elif self.model.missing:  # goes on, to find what else is missing
                    raise Stop
                else:
                    self.model.missing.setdefault((key, f"msnb does not compute its result {number}"), name)
                    raise Stop

    def _scope_of(self, message):
        """A scope of a node's name: ``/layer1/conv/Conv`` stands in ``Default/layer1/conv``."""
        parts = [part for part in message.get("name", "").split("/")[:-1] if part]
        return "/".join(["Default", *parts]) if parts else "Default"

    def call_function(self, function: dict[str, Any], message: dict[str, Any]) -> list[Ref | None]:
        """The results of a function of the model's own: its nodes are read in its place."""
        self.model.enter(function)
        inner = dict(zip(function.get("input", []), message.get("input", []), strict=False))
        around, version = self.names, self.version
        values = {name: self.find(outer) for name, outer in inner.items() if outer}
        for opset in function.get("opset_import", []):
            if opset.get("domain", "") in ("", "ai.onnx"):
                self.version = opset.get("version", version)
        defaults = {m.get("name"): m for m in function.get("attribute_proto", [])}
        own = {m.get("name"): m for m in message.get("attribute", [])}
        self.names = values
        try:
            self.run([_with_attributes(node, {**defaults, **own}) for node in function.get("node", [])])
            results = [self.names.get(name) for name in function.get("output", [])]
        finally:
            self.names, self.version = around, version
            self.model.leave()
        return results

    def inner(self, message: dict[str, Any], inputs: Sequence[tuple[Any, TensorType]]) -> tuple["Reader", list[Ref]]:
        """Read a graph within, whose inputs are values that only it knows; what made it, and its outputs.

        Args:
            message (dict): The Graph message.
            inputs (Sequence): For each input a Ref that it stands for, or None and its type.
        """
        reader = Reader(self.model, self)
        reader.version = self.version
        reader.scope = self.scope
        reader.parameters = []
        for info, (known, kind) in zip(message.get("input", []), inputs, strict=False):
            if known is not None and known.value is not None:
                reader.names[info.get("name", "")] = known
                continue
            node = ParameterNode(info.get("name", ""), (kind,))
            reader.parameters.append(node)
            reader.names[info.get("name", "")] = Ref(node)
        reader.initializers(message)
        reader.run(message.get("node", []))
        return reader, [reader.find(value.get("name", "")) for value in message.get("output", [])]

    def inline(self, message: dict[str, Any], inputs: Sequence[Ref]) -> list[Ref]:
        """Read a graph within in place of the node that has it."""
        self.model.begin_round()
        around = dict(self.names)
        for info, value in zip(message.get("input", []), inputs, strict=False):
            self.names[info.get("name", "")] = value
        self.initializers(message)
        self.run(message.get("node", []))
        results = [self.find(value.get("name", "")) for value in message.get("output", [])]
        self.names = around
        return results

    def initializers(self, message: dict[str, Any]) -> None:
        """The constants of a graph within."""
        for tensor in message.get("initializer", []):
            self.names[tensor.get("name", "")] = self.const(onnx.array(tensor, self.model.folder))

    parameters: list[ParameterNode]


class Stop(Exception):
    """Nothing that follows can be read."""


def _with_attributes(node, given):
    """A node of a function with the attributes that refer to those of the function."""
    made = []
    for message in node.get("attribute", []):
        wanted = message.get("ref_attr_name")
        if not wanted:
            made.append(message)
        elif wanted in given:
            made.append({**given[wanted], "name": message.get("name", "")})
    return {**node, "attribute": made}


def _mindspore(dtype):
    return mstype.pytype_to_dtype(dtype) if dtype.name == "bool" else getattr(mstype, dtype.name)


def _abstract(op, settings, layout, tensors):
    """(whether there are many results, their types) of a call, without running it."""
    shape = []

    def run(*arrays):
        out = op.again(settings, layout, [box(a) for a in arrays])
        shape.append(isinstance(out, (tuple, list)))
        return [o._array for o in (out if shape[-1] else (out,))]

    outs = jax.eval_shape(run, *[jax.ShapeDtypeStruct(t.shape, t.dtype) for t in tensors])
    return shape[-1], tuple(type_of(o.shape, o.dtype) for o in outs)
