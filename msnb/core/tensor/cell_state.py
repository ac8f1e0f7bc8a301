"""Tensors that are attributes of a Cell and that its graph sets: ``self.state = f(x, self.state)``.

An attribute cannot change while a program runs. So the first trace that meets such a statement ends with `MustKeep`,
the attribute becomes a `Kept`, a Tensor whose values a Parameter of its own holds, and the next trace reads and writes
that as it does with other Parameters: it is an input and an output of the program.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax

from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.parameter_view import ParameterView
from msnb.core.tensor.tensor import Tensor, box

_Made = TypeVar("_Made")


class CellState(ParameterView):
    """A Tensor that programs set: what the Parameter holds which it is made of."""

    __slots__ = ()

    def _assign(self, array: Any) -> None:
        self._parameter._assign(array)


def _box(_: None, children: Any) -> Any:
    return box(children[0])


jax.tree_util.register_pytree_node(CellState, lambda t: ((t._array,), None), _box)


class NeedsCellState(Exception):
    """A graph sets the Tensor that is the attribute `name` of `cell`."""

    def __init__(self, cell: Any, name: str) -> None:
        super().__init__(
            f"'{name}' of {type(cell).__name__} is a Tensor that a graph sets: call the network once first."
        )
        self.cell, self.name = cell, name

    def keep(self) -> None:
        """Let the Cell have it as a `Kept`."""
        before: Tensor = self.cell.__dict__[self.name]
        setattr(self.cell, self.name, CellState(Parameter(before, name=self.name, requires_grad=False)))


def keeping(trace: Callable[[], _Made]) -> _Made:
    """What `trace` makes, once all attributes are kept that it sets."""
    while True:
        try:
            return trace()
        except NeedsCellState as error:
            found = error
        found.keep()
