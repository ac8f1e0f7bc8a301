"""What an operator that writes a Parameter gives back in PYNATIVE mode: a Tensor of what the Parameter holds.

As with MindSpore, whose result shares its memory, it follows later changes. Most programs drop it unread, so that
nothing is copied before somebody reads it; then it has to be a copy, as the array itself may be given away to the next
training step.
"""

from typing import Any

import jax

from msnb.common import dtype as mstype
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread


class ParameterView(Tensor):
    """The value of a Parameter, as a Tensor that is none.

    Args:
        parameter (Parameter): What was written.
    """

    __slots__ = ("_parameter",)

    def __init__(self, parameter: Parameter) -> None:
        self._parameter = parameter
        self._node = parameter._node

    @property
    def _array(self) -> Any:
        return self._parameter._array if _thread.frame is not None else self._parameter._detached()

    @_array.setter
    def _array(self, array: Any) -> None:
        self._parameter._assign(array)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self._parameter.shape

    @property
    def dtype(self) -> mstype.Type:
        """The element type."""
        return self._parameter.dtype

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._parameter.size

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._parameter.ndim


def _box(_: None, children: Any) -> Any:
    return box(children[0])  # a Tensor of its own: who maps over a tree wants no view


jax.tree_util.register_pytree_node(ParameterView, lambda t: ((t._array,), None), _box)
