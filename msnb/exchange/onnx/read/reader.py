"""Build a graph of MindSpore's operators from the messages of an ONNX model."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.core.operator.operator_types import _ABSENT, REGISTRY
from msnb.core.tensor.tensor import Tensor, box
from msnb.formats import onnx
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode

from .shared import Shared
from .values import HANDLERS, Attributes, InconsistentModel, NeedsValue, Node, Ref, UnsupportedOperator, type_of

_MAX_FOLDED = 1 << 16  # elements of a constant that is computed when the model is read
# Calls with inputs of up to this number of elements are folded without inferring the size of the result, which is
# small. Exceptions are the operators in `_WIDENING`.
_MAX_SMALL = 64
_WIDENING = frozenset(("BroadcastTo", "OneHot", "Pad", "Tile"))
# Attributes that a handler may leave unread, because they repeat properties of the inputs or have no effect here. Some
# have an effect in one mode of their operator only, in which its handler reads them.
_IMPLIED = frozenset(
    "extrapolation_value hidden_size keep_aspect_ratio_policy kernel_shape ratio saturate seed sorted storage_order "
    "training_mode".split()
)
# Defaults of further attributes: exporters write them too.
_DEFAULTS = {"output_dtype": 0, "precision": 0, "round_mode": "up", "stash_type": 1}


class Reader:
    """Builds the nodes of one graph of an ONNX model.

    Attributes:
        model (Shared): State shared by all graphs of the model.
        nodes (list[CNode]): The nodes so far.
        scope (str): Scope of the current node.
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
        """Look up the value of a name in this graph and in enclosing graphs."""
        value = self.names.get(name)
        if value is not None:
            return value
        if self.parent is None:
            raise ValueError(f"The ONNX model uses the value '{name}', which nothing makes.")
        outer = self.parent.find(name)
        if isinstance(outer.node, ValueNode):
            return outer
        return self.capture(outer, name)

    def capture(self, outer: Ref, name: str = "free") -> Ref:
        """Return a parameter of this graph that stands for a value of an enclosing graph."""
        for captured_value, parameter in self.captured:
            if captured_value == outer:
                return Ref(parameter)
        parameter = ParameterNode(name, (outer.node.types[outer.slot],))
        self.captured.append((outer, parameter))
        ref = self.names[name] = Ref(parameter)
        return ref

    def const(self, value: Any, dtype: Any = None) -> Ref:
        """Return a constant."""
        value = np.asarray(value, dtype)
        return Ref(ValueNode(value, (type_of(value.shape, value.dtype),)))

    def filled(self, shape: Iterable[int], value: Any, dtype: Any) -> Ref:
        """Return an array whose elements are all `value`. A large one is computed at run time."""
        shape = tuple(int(n) for n in shape)
        if math.prod(shape) <= _MAX_FOLDED:
            return self.const(np.full(shape, value, dtype))
        return self("BroadcastTo", self.const(value, dtype), shape=shape)

    def reserve_constant(self, *lengths: int) -> None:
        """Count the elements of a new constant; raise an error above the limit of the model.

        Raises:
            UnsupportedOperator: If the constants of the model exceed the limit. A file of a few bytes can ask for any
            size.
        """
        # a length of 0 must not hide the other lengths
        self.model.reserve_elements(math.prod(max(n, 1) for n in lengths))

    def like(self, number: float, x: Ref) -> Ref:
        """Return a number as a constant with the element type of `x`."""
        return self.const(number, x.dtype)

    def static(self, x: Ref | None) -> np.ndarray:
        """Return the value of `x`, on which the shape of another value depends, as an array.

        Raises:
            NeedsValue: If it is an input of the model.
            UnsupportedOperator: If it is computed from an input.
        """
        if x is None:
            raise UnsupportedOperator("an input is missing")
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
            for outer, parameter in self.captured:
                if parameter is node:
                    return self.parent.static(outer)
        if isinstance(node, CNode):
            return self._evaluate_static_node(node)[x.slot]
        raise UnsupportedOperator("its shape depends on values that are only known when it runs")

    def _evaluate_static_node(self, node):
        """Return the results of a node whose inputs are static. Each node is computed once."""
        results, stack = self.model.static_results, [node]
        while stack:  # not a recursion: a network may have thousands of nodes in a row
            top = stack[-1]
            sources = [s for s in top.inputs if isinstance(s, CNode) and s not in results] if top not in results else []
            if sources:
                stack.extend(sources)
                continue
            stack.pop()
            if top in results:
                continue
            op = REGISTRY.get(top.op) or REGISTRY.get(f"_{top.op}")
            if op is None:
                raise UnsupportedOperator("its shape depends on values that are only known when it runs")
            inputs = [results[s][n] if isinstance(s, CNode) else self.static(Ref(s, n)) for s, n in top.uses]
            out = _compute(op, top.attrs, top.layout, inputs)
            results[top] = tuple(value.asnumpy() for value in (out if isinstance(out, tuple) else (out,)))
        return results[node]

    def ints(self, x: Ref | None) -> tuple[int, ...]:
        """Return the integers of a static value."""
        return tuple(int(n) for n in np.atleast_1d(self.static(x)))

    # ------------------------------------------------------------------ calls
    def __call__(self, name: str, *args: Any, **attributes: Any) -> Any:
        """Call an operator of msnb with inputs by position and attributes by name.

        A call whose inputs are all constants is computed when the model is read.

        Returns:
            Ref, or a tuple of them.
        """
        op = REGISTRY.get(name) or REGISTRY[f"_{name}"]
        settings = dict(op.bind_attributes((), attributes))
        layout, tensors = [], []
        for index, declared in enumerate(op.inputs):
            arg = args[index] if index < len(args) else declared.default
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
        if all(t.value is not None for t in tensors) and sum(t.value.size for t in tensors) < _MAX_FOLDED:
            if sum(t.value.size for t in tensors) > _MAX_SMALL or op.name in _WIDENING:
                has_many, types = _infer_result_types(op, settings, layout, tensors)
            if types is None or all(math.prod(kind.shape) <= _MAX_FOLDED for kind in types):
                return self._fold_constant_call(op, settings, layout, tensors)
        if types is None:
            has_many, types = _infer_result_types(op, settings, layout, tensors)
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
        results = tuple(Ref(node, slot) for slot in range(len(types)))
        return results if has_many else results[0]

    def _fold_constant_call(self, op, settings, layout, tensors):
        """Compute an operator call, all of whose inputs are constants."""
        out = _compute(op, settings, layout, [t.value for t in tensors])
        if isinstance(out, (tuple, list)):
            return tuple(self.const(v.asnumpy()) for v in out)
        return self.const(out.asnumpy())

    def control(self, op: str, inputs: Sequence[Ref], types: Sequence[TensorType], graphs: Sequence[FuncGraph]) -> Any:
        """Add a node for a branch or a loop and return its results."""
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

    # ------------------------------------------------------------------ common operations
    def cast(self, x: Ref, dtype: Any) -> Ref:
        """Cast a value to another element type."""
        dtype = np.dtype(dtype)
        if x.dtype == dtype:
            return x
        return self("Cast", x, get_mindspore_type(dtype))

    def reshape(self, x: Ref, shape: Iterable[int]) -> Ref:
        """Reshape a value."""
        shape = tuple(int(n) for n in shape)
        return x if shape == x.shape else self("Reshape", x, shape)

    def transpose(self, x: Ref, perm: Iterable[int]) -> Ref:
        """Permute the axes of a value."""
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
            scope, self.scope = self.scope, self._get_node_scope(message)
            try:
                if function is not None:
                    results = self.call_function(function, message)
                elif handler is None:
                    raise UnsupportedOperator("msnb has no operator for it")
                else:
                    inputs = [self.find(name) if name else None for name in message.get("input", [])]
                    attrs = Attributes(onnx.attributes(message))
                    node = Node(op, inputs, attrs, message.get("output", []), self.version)
                    results = handler(self, node)
                    for name in attrs.unread_names():
                        if name not in _IMPLIED and _DEFAULTS.get(name) != attrs[name]:
                            log.once(
                                f"load_onnx: msnb does not know the attribute '{name}' of {key}, and leaves it out."
                            )
            except UnsupportedOperator as error:
                self.model.missing.setdefault((key, str(error)), message.get("name") or self.scope)
                results = ()
            except (NeedsValue, Stop, InconsistentModel, MemoryError):
                raise
            except Exception as error:  # an operator's own error about types and shapes
                name = message.get("name") or (message.get("output") or [""])[0]
                raise InconsistentModel(f"The node '{name}' ({key}) of the model cannot be read: {error}") from error
            finally:
                self.scope = scope
            results = (results,) if isinstance(results, Ref) else tuple(results or ())
            for number, name in enumerate(message.get("output", [])):
                if not name:
                    continue
                if number < len(results) and results[number] is not None:
                    self.names[name] = results[number]
                elif self.model.missing:  # an earlier node is missing; all missing ones are collected
                    raise Stop
                else:
                    self.model.missing.setdefault((key, f"msnb does not compute its result {number}"), name)
                    raise Stop

    def _get_node_scope(self, message):
        """Return the scope of a node's name: ``/layer1/conv/Conv`` is in ``Default/layer1/conv``."""
        segments = [segment for segment in message.get("name", "").split("/")[:-1] if segment]
        return "/".join(["Default", *segments]) if segments else "Default"

    def call_function(self, function: dict[str, Any], message: dict[str, Any]) -> list[Ref | None]:
        """Inline a function of the model and return its results."""
        self.model.enter_function(function)
        inner = dict(zip(function.get("input", []), message.get("input", []), strict=False))
        outer_names, version = self.names, self.version
        values = {name: self.find(outer) for name, outer in inner.items() if outer}
        for opset in function.get("opset_import", []):
            if opset.get("domain", "") in ("", "ai.onnx"):
                self.version = opset.get("version", version)
        defaults = {m.get("name"): m for m in function.get("attribute_proto", [])}
        attributes = {m.get("name"): m for m in message.get("attribute", [])}
        self.names = values
        try:
            self.run(
                [_resolve_attribute_references(node, {**defaults, **attributes}) for node in function.get("node", [])]
            )
            results = [self.names.get(name) for name in function.get("output", [])]
        finally:
            self.names, self.version = outer_names, version
            self.model.leave_function()
        return results

    def inner(self, message: dict[str, Any], inputs: Sequence[tuple[Any, TensorType]]) -> tuple["Reader", list[Ref]]:
        """Read a subgraph as a separate graph with its own parameters. Return its reader and its outputs.

        Args:
            message (dict): The Graph message.
            inputs (Sequence): A pair (Ref, type) for each input. The Ref is the value that the input stands for, or
                None.
        """
        reader = Reader(self.model, self)
        reader.version = self.version
        reader.scope = self.scope
        reader.parameters = []
        for info, (ref, kind) in zip(message.get("input", []), inputs, strict=False):
            if ref is not None and ref.value is not None:
                reader.names[info.get("name", "")] = ref
                continue
            node = ParameterNode(info.get("name", ""), (kind,))
            reader.parameters.append(node)
            reader.names[info.get("name", "")] = Ref(node)
        reader.initializers(message)
        reader.run(message.get("node", []))
        return reader, [reader.find(output.get("name", "")) for output in message.get("output", [])]

    def inline(self, message: dict[str, Any], inputs: Sequence[Ref]) -> list[Ref]:
        """Read a subgraph into this graph, in place of the node that contains it."""
        self.model.begin_round()
        outer_names = dict(self.names)
        for info, value in zip(message.get("input", []), inputs, strict=False):
            self.names[info.get("name", "")] = value
        self.initializers(message)
        self.run(message.get("node", []))
        results = [self.find(value.get("name", "")) for value in message.get("output", [])]
        self.names = outer_names
        return results

    def initializers(self, message: dict[str, Any]) -> None:
        """Add the constants of a subgraph."""
        for tensor in message.get("initializer", []):
            self.names[tensor.get("name", "")] = self.const(onnx.array(tensor, self.model.folder))

    parameters: list[ParameterNode]


class Stop(Exception):
    """Raised if no further node can be read."""


def _resolve_attribute_references(node, values):
    """Replace attribute references in a node of a function by the attributes of the call."""
    bound = []
    for message in node.get("attribute", []):
        reference = message.get("ref_attr_name")
        if not reference:
            bound.append(message)
        elif reference in values:
            bound.append({**values[reference], "name": message.get("name", "")})
    return {**node, "attribute": bound}


def get_mindspore_type(dtype: np.dtype) -> mstype.Type:
    """Return MindSpore's element type for that of an array."""
    return mstype.pytype_to_dtype(dtype) if dtype.name == "bool" else getattr(mstype, dtype.name)


def _compute(op, settings, layout, values):
    """Return the results of an operator call. A model may be read while a program is traced, so it is computed now."""
    with jax.core.eval_context():
        return op.call_again(settings, layout, [Tensor(value) for value in values])


def _infer_result_types(op, settings, layout, tensors):
    """Return (has several results, types of the results) of an operator call, without running it."""
    shape = []

    def run(*arrays):
        out = op.call_again(settings, layout, [box(a) for a in arrays])
        shape.append(isinstance(out, (tuple, list)))
        return [o._array for o in (out if shape[-1] else (out,))]

    outs = jax.eval_shape(run, *[jax.ShapeDtypeStruct(t.shape, t.dtype) for t in tensors])
    return shape[-1], tuple(type_of(o.shape, o.dtype) for o in outs)
