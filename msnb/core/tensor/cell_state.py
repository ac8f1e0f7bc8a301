"""Mutable Tensor attributes of a Cell: ``self.state = f(x, self.state)`` in a graph.

An attribute cannot change while a program runs. The first trace that reaches such an assignment therefore ends with
`NeedsCellState`. The attribute becomes a `CellState`, a Tensor whose values a Parameter stores. The next trace reads
and writes it like other Parameters, as an input and an output of the program.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax

from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.parameter_view import ParameterView
from msnb.core.tensor.tensor import Tensor, box

_Traced = TypeVar("_Traced")


class CellState(ParameterView):
    """A Tensor attribute of a Cell that programs assign. The values are stored in a Parameter."""

    __slots__ = ()

    def _rebind_array(self, array: Any) -> None:
        self._parameter._rebind_array(array)


def _unflatten_tensor(_: None, children: Any) -> Any:
    return box(children[0])


jax.tree_util.register_pytree_node(CellState, lambda t: ((t._array,), None), _unflatten_tensor)


class NeedsCellState(Exception):
    """Raised when a graph assigns the Tensor attribute `name` of `cell`, which is not yet a `CellState`."""

    def __init__(self, cell: Any, name: str) -> None:
        super().__init__(
            f"'{name}' of {type(cell).__name__} is a Tensor that a graph sets: call the network once first."
        )
        self.cell, self.name = cell, name

    def keep(self) -> None:
        """Replace the attribute by a `CellState`."""
        tensor: Tensor = self.cell.__dict__[self.name]
        setattr(self.cell, self.name, CellState(Parameter(tensor, name=self.name, requires_grad=False)))


def trace_with_cell_state(trace: Callable[[], _Traced]) -> _Traced:
    """Return ``trace()``, repeated until all Tensor attributes that it assigns are `CellState`."""
    while True:
        try:
            return trace()
        except NeedsCellState as error:
            needs = error
        needs.keep()
