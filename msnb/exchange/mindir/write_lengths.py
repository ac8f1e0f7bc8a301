"""Lengths that are known when a network runs, and not before: nodes that compute them of the inputs' shapes."""

from typing import Any

from msnb.exchange.mindir.operators import Unsayable
from msnb.exchange.mindir.spelling import Name, is_length, numbers


class LengthWriter:
    """What of a `Writer` writes such lengths."""

    name: str
    within: bool
    lengths: dict[Any, Any]
    _constant: Any
    _emit: Any
    _known: Any
    _primitive: Any

    def _lengths(self, sizes):
        """A tuple of numbers, some of which are known when the network runs."""
        parts = [self._length(size) if is_length(size) else self._constant(int(size)) for size in sizes]
        made = self._primitive("MakeTuple", {})
        return self._emit(f"REF::{made}", parts, (), "MakeTuple", numbers(len(parts)))

    def _length(self, size):
        """The number that a dimension has when the network runs: a factor times dimensions of inputs."""
        if self.within:
            raise Unsayable("a length that is not known, in a branch or a loop")
        if not hasattr(size, "axes"):
            raise Unsayable("a length that is no product of those of the inputs")
        if size in self.lengths:
            return self.lengths[size]
        made = None
        for name, axis in size.axes:
            each = self._dimension(name, axis)
            made = each if made is None else self._times(made, each)
        if size.factor != 1:
            made = self._times(made, self._constant(size.factor))
        self.lengths[size] = made
        return made

    def _dimension(self, name, axis):
        """A dimension of an input of the network."""
        if (name, axis) not in self.lengths:
            whole = self.lengths.get(name)
            if whole is None:
                rank = len(self._known[Name(f"{self.name}:{name}")].shape)
                shape = self._primitive("Shape", None)
                whole = self._emit(f"REF::{shape}", [Name(f"{self.name}:{name}")], (), "Shape", numbers(rank))
                self.lengths[name] = whole
            item = self._primitive("TupleGetItem", {})
            given = [whole, self._constant(axis)]
            self.lengths[name, axis] = self._emit(f"REF::{item}", given, (), "TupleGetItem", numbers(None))
        return self.lengths[name, axis]

    def _times(self, a, b):
        made = self._primitive("ScalarMul", None)
        return self._emit(f"REF::{made}", [a, b], (), "ScalarMul", numbers(None))
