"""Build the graph that a MINDIR file is read into."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from msnb.core.operator.operator_types import REGISTRY
from msnb.core.tensor.tensor import Tensor, box
from msnb.exchange.mindir.encoding import dtype_of
from msnb.exchange.mindir.read.values import Ref, element_type_name, is_leaf, leaves, slot_of
from msnb.formats.text_files import BadFileError
from msnb.ir.anf import AnfNode, CNode, FuncGraph, TensorType, ValueNode


class GraphBuilder:
    """Adds nodes to the graph that is being built.

    Args:
        path (str): The file, for messages.
        shapes (list[tuple]): Shapes of the inputs if the file leaves them open; types are then computed anew. None: the
            types are those in the file.

    Attributes:
        nodes (list[CNode]): The nodes of the current graph.
    """

    def __init__(self, path: str, shapes: Sequence[tuple[int, ...]] | None) -> None:
        self.path = path
        self.shapes = shapes
        self.nodes: list[CNode] = []
        self._outermost = self.nodes
        self._count = 0

    @property
    def is_in_subgraph(self) -> bool:
        """True while nodes are added to a branch or a loop."""
        return self.nodes is not self._outermost

    @contextlib.contextmanager
    def subgraph(self) -> Iterator[list[CNode]]:
        """Return a context manager in which new nodes are added to a new graph; it yields the list of these nodes."""
        outer, self.nodes = self.nodes, []
        try:
            yield self.nodes
        finally:
            self.nodes = outer

    def add_call(self, name: str, args: dict[str, Any], types: tuple[TensorType, ...], scope: str) -> CNode:
        """Add the node of an operator call."""
        op = REGISTRY[name]
        inputs, layout, attrs = [], [], {k: args[k] for k in op.attributes if k in args}
        for inp in op.inputs:
            value = args.get(inp.name, inp.default)
            if inp.kind is not None:
                layout.append(-1)
                attrs[inp.name] = _check_static_attribute(value, inp.name, name)
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
            attrs[key] = _check_static_attribute(value, key, name)
        attrs = _normalize_attributes(op, attrs)
        is_plain = all(entry == 1 for entry in layout)
        if self.shapes is not None and not op.written:
            types = self._infer_result_types(op, attrs, None if is_plain else tuple(layout), inputs)
        return self.add_node(name.lstrip("_"), inputs, types, scope, attrs, None if is_plain else tuple(layout))

    def _infer_result_types(self, op, attrs, layout, inputs):
        """Return the types of a call's results for the given input shapes."""
        constants = [None if isinstance(value, Ref) else _box_constant(value) for value in inputs]

        def run(*arrays):
            remaining = iter(arrays)
            out = op.call_again(
                attrs, layout, [box(next(remaining)) if value is None else value for value in constants]
            )
            return [o._array for o in (out if isinstance(out, (tuple, list)) else (out,))]

        kinds = [value.node.types[value.slot] for value in inputs if isinstance(value, Ref)]
        try:
            outs = jax.eval_shape(run, *[jax.ShapeDtypeStruct(kind.shape, dtype_of(kind.dtype)) for kind in kinds])
        except (ValueError, TypeError) as error:
            shapes_text = ", ".join(map(str, self.shapes))
            raise ShapeError(f"{self.path!r} does not take inputs of the shapes {shapes_text}: {error}") from None
        return tuple(TensorType(element_type_name(o.dtype), o.shape, o.dtype.itemsize) for o in outs)

    def add_node(
        self,
        op: str,
        values: Sequence[Any],
        types: tuple[TensorType, ...],
        scope: str = "Default",
        attrs: dict[str, Any] | None = None,
        layout: tuple[Any, ...] | None = None,
        graphs: tuple[FuncGraph, ...] = (),
    ) -> CNode:
        """Add a node whose inputs are `values`."""
        inputs = tuple(self.node_of(value) for value in values)
        slots = tuple(slot_of(value) for value in values)
        self._count += 1
        node = CNode(op, inputs, slots, types, attrs=attrs, scope=scope, layout=layout, graphs=graphs, id=self._count)
        self.nodes.append(node)
        return node

    def node_of(self, value: Any) -> AnfNode:
        """Return the node of a value. A constant becomes a ValueNode."""
        if isinstance(value, Ref):
            return value.node
        if value is None:
            return ValueNode(None, ())
        if not is_leaf(value):
            raise BadFileError(f"{self.path!r} is damaged: {value!r:.80} stands where a Tensor should.")
        array = np.asarray(value)
        return ValueNode(value, (TensorType(element_type_name(array.dtype), array.shape, array.dtype.itemsize),))


class ComputedAttribute(NotImplementedError):
    """Raised if an attribute is computed by another node."""


class ShapeError(ValueError):
    """Raised if the file does not accept inputs of these shapes."""


def _box_constant(value):
    """Return a constant as an input of an operator. A Python number stays a number: it does not take part in type
    promotion.
    """
    return Tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


def _normalize_attributes(op, settings):
    """Return settings as a traced call has them: attributes in normal form, and defaults for missing ones."""
    attributes = {key: value for key, value in settings.items() if key in op.attributes}
    try:
        return {**op.bind_attributes((), attributes), **{k: v for k, v in settings.items() if k not in attributes}}
    except (TypeError, ValueError):  # the graph can still be shown; the operator reports the error when it runs
        return settings


def _check_static_attribute(value, what, op):
    """Return an attribute, or raise an error if it is computed."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if any(isinstance(leaf, Ref) for leaf in leaves(value)):
        raise ComputedAttribute(f"'{op}' in the file has a '{what}' that is computed, which msnb does not read.")
    return value
