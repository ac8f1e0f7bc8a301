"""Write nodes that compute lengths known only at run time from the shapes of the inputs."""

from collections.abc import Sequence
from typing import Any, Protocol

from msnb.exchange.mindir.encoding import Name, integer_description, is_length
from msnb.exchange.mindir.operators import NotExpressible
from msnb.ir.anf import TensorType


class NodeEmitter(Protocol):
    """Protocol: the members of `Emitter` that `LengthWriter` uses. It avoids a cyclic import of `emitter`."""

    name: str
    is_subfunction: bool

    def emit_constant(self, value: Any) -> Name: ...

    def emit_node(
        self, op_type: str, inputs: Sequence[str], types: Sequence[Any], label: str, result_attribute: dict[str, Any]
    ) -> Name: ...

    def intern_primitive(self, op: str, attributes: dict[str, Any] | None) -> str: ...

    def type_of(self, name: Name) -> TensorType: ...


class LengthWriter:
    """Writes the nodes that compute lengths. The node of each length is written once.

    Args:
        emitter (Emitter): Emits the nodes.
    """

    def __init__(self, emitter: NodeEmitter) -> None:
        self.emitter = emitter
        self.lengths: dict[Any, Name] = {}  # values of input dimensions, and of products of them

    def emit_tuple(self, sizes: Sequence[Any]) -> Name:
        """Write a tuple of integers, some of which are known only at run time."""
        items = [self.emit(size) if is_length(size) else self.emitter.emit_constant(int(size)) for size in sizes]
        primitive = self.emitter.intern_primitive("MakeTuple", {})
        return self.emitter.emit_node(f"REF::{primitive}", items, (), "MakeTuple", integer_description(len(items)))

    def emit(self, size: Any) -> Name:
        """Write a dimension known only at run time: a factor times dimensions of inputs."""
        if self.emitter.is_subfunction:
            raise NotExpressible("a length that is not known, in a branch or a loop")
        if not hasattr(size, "axes"):
            raise NotExpressible("a length that is no product of those of the inputs")
        if size in self.lengths:
            return self.lengths[size]
        length = None
        for name, axis in size.axes:
            dimension = self._emit_dimension(name, axis)
            length = dimension if length is None else self._emit_product(length, dimension)
        if size.factor != 1:
            length = self._emit_product(length, self.emitter.emit_constant(size.factor))
        self.lengths[size] = length
        return length

    def _emit_dimension(self, name, axis):
        """Write the lookup of a dimension of a network input."""
        if (name, axis) not in self.lengths:
            shape_value = self.lengths.get(name)
            if shape_value is None:
                rank = len(self.emitter.type_of(Name(f"{self.emitter.name}:{name}")).shape)
                shape = self.emitter.intern_primitive("Shape", None)
                shape_value = self.emitter.emit_node(
                    f"REF::{shape}", [Name(f"{self.emitter.name}:{name}")], (), "Shape", integer_description(rank)
                )
                self.lengths[name] = shape_value
            item = self.emitter.intern_primitive("TupleGetItem", {})
            args = [shape_value, self.emitter.emit_constant(axis)]
            self.lengths[name, axis] = self.emitter.emit_node(
                f"REF::{item}", args, (), "TupleGetItem", integer_description(None)
            )
        return self.lengths[name, axis]

    def _emit_product(self, a, b):
        primitive = self.emitter.intern_primitive("ScalarMul", None)
        return self.emitter.emit_node(f"REF::{primitive}", [a, b], (), "ScalarMul", integer_description(None))
