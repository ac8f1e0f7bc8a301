"""Results of operators that write a Parameter, in PYNATIVE mode: a Tensor with the Parameter's current value.

The result follows later changes of the Parameter, as in MindSpore, where both share memory. Most programs drop the
result without reading it, so nothing is copied before the first read. A read returns a copy, because the array itself
may be donated to the next training step.
"""

from typing import Any

import jax

from msnb.common import dtype as mstype
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread


class ParameterView(Tensor):
    """The value of a Parameter, as a Tensor that is not a Parameter.

    Args:
        parameter (Parameter): The Parameter that was written.
    """

    __slots__ = ("_parameter",)

    def __init__(self, parameter: Parameter) -> None:
        self._parameter = parameter
        self._node = parameter._node

    @property
    def _array(self) -> Any:
        return self._parameter._array if _thread.frame is not None else self._parameter._snapshot_array()

    @_array.setter
    def _array(self, array: Any) -> None:
        self._parameter._rebind_array(array)

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


def _unflatten_tensor(_: None, children: Any) -> Any:
    return box(children[0])  # a plain Tensor is sufficient for a tree map


jax.tree_util.register_pytree_node(ParameterView, lambda t: ((t._array,), None), _unflatten_tensor)
