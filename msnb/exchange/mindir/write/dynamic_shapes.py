"""Write nodes that compute lengths known only at run time from the shapes of the inputs."""

from typing import Any

from msnb.exchange.mindir.encoding import Name, integer_description, is_length
from msnb.exchange.mindir.operators import NotExpressible


class LengthWriter:
    """The part of `Writer` that writes such lengths."""

    name: str
    is_subfunction: bool
    lengths: dict[Any, Any]
    _emit_constant: Any
    _emit_node: Any
    _name_types: Any
    _intern_primitive: Any

    def _emit_lengths(self, sizes):
        """Write a tuple of integers, some of which are known only at run time."""
        items = [self._emit_length(size) if is_length(size) else self._emit_constant(int(size)) for size in sizes]
        primitive = self._intern_primitive("MakeTuple", {})
        return self._emit_node(f"REF::{primitive}", items, (), "MakeTuple", integer_description(len(items)))

    def _emit_length(self, size):
        """Write a dimension known only at run time: a factor times dimensions of inputs."""
        if self.is_subfunction:
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
            length = self._emit_product(length, self._emit_constant(size.factor))
        self.lengths[size] = length
        return length

    def _emit_dimension(self, name, axis):
        """Write the lookup of a dimension of a network input."""
        if (name, axis) not in self.lengths:
            shape_value = self.lengths.get(name)
            if shape_value is None:
                rank = len(self._name_types[Name(f"{self.name}:{name}")].shape)
                shape = self._intern_primitive("Shape", None)
                shape_value = self._emit_node(
                    f"REF::{shape}", [Name(f"{self.name}:{name}")], (), "Shape", integer_description(rank)
                )
                self.lengths[name] = shape_value
            item = self._intern_primitive("TupleGetItem", {})
            args = [shape_value, self._emit_constant(axis)]
            self.lengths[name, axis] = self._emit_node(
                f"REF::{item}", args, (), "TupleGetItem", integer_description(None)
            )
        return self.lengths[name, axis]

    def _emit_product(self, a, b):
        primitive = self._intern_primitive("ScalarMul", None)
        return self._emit_node(f"REF::{primitive}", [a, b], (), "ScalarMul", integer_description(None))
