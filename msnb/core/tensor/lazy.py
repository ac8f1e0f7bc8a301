"""Tensors and Parameters whose first values are found when somebody needs them, see `nn.utils.no_init_parameters`.

Until then they know their shape and type alone, and a network may be traced and planned that no memory could hold.
What has its values is an ordinary Tensor or Parameter from then on: nobody else is asked whether it has.
"""

from typing import Any, Self

import jax

from msnb.common import dtype as mstype
from msnb.common.deferred_init import Unfilled
from msnb.common.initializer import register_boxer
from msnb.core.state.trace_state import epoch, thread
from msnb.core.tensor.conversion import of_numpy, to_array
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, box

_slot: Any = Tensor._array  # what every Tensor keeps its array in


class LateTensor(Tensor):
    """A Tensor that an initializer is to fill; `initializer` makes it where it is asked to wait."""

    __slots__ = ()

    @property
    def _array(self):
        unfilled = _slot.__get__(self)
        array = to_array(unfilled.filled())
        self.__class__ = Tensor
        self._array = array
        return array

    @_array.setter
    def _array(self, array):
        self.__class__ = Tensor
        self._array = array

    def _hand_over(self, parameter):
        """Make a new Parameter one that has its values later, too; returns what stands for them."""
        parameter.__class__ = LateParameter
        return _slot.__get__(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, a tuple of int."""
        return _slot.__get__(self).shape

    @property
    def dtype(self) -> mstype.Type:
        """Type of the elements, a MindSpore dtype."""
        return mstype.from_numpy_dtype(_slot.__get__(self).dtype)


class LateParameter(Parameter):
    """A Parameter that was made of such a Tensor."""

    __slots__ = ()
    has_init = True

    def _unfilled(self):
        store, index = self._slot
        return store.results[-1][0][index]

    def _stored(self):
        unfilled = self._unfilled()
        if isinstance(unfilled, Unfilled):  # not where this was asked for before it was filled, and called after
            _settle(self, to_array(unfilled.filled()))
        return Parameter._stored(self)

    def _like(self):
        unfilled = self._unfilled()
        return jax.ShapeDtypeStruct(unfilled.shape, unfilled.dtype)

    def set_dtype(self, dtype: mstype.Type) -> Self:
        """Say of which type its first values are to be, and return self."""
        unfilled = self._unfilled()
        if not isinstance(unfilled, Unfilled):
            Parameter.set_dtype(self, dtype)
            return self
        store, index = self._slot
        store.results[-1][0][index] = unfilled.of_type(mstype.np_dtype(dtype))
        epoch.bump()
        return self

    @property
    def _kind(self):
        return self._unfilled() if thread.frame is None else Parameter._kind.__get__(self)

    @property
    def _array(self):
        return self._stored() if thread.frame is None else thread.frame.read(self)

    @_array.setter
    def _array(self, array):
        self._assign(array)

    def _assign(self, array):
        if thread.frame is not None:
            thread.frame.write(self, array)
        else:
            _settle(self, array)


def _settle(parameter, array):
    """It has values now, as any other."""
    store, index = parameter._slot
    store.results[-1][0][index] = array
    parameter.__class__ = Parameter


def _box_initial(values):
    """A Tensor of what an initializer gives."""
    if not isinstance(values, Unfilled):
        return box(of_numpy(values))
    tensor = LateTensor.__new__(LateTensor)
    _slot.__set__(tensor, values)
    tensor._node = None
    return tensor


def _boxed(arrays) -> Any:
    return box(arrays[0])


register_boxer(_box_initial)
jax.tree_util.register_pytree_node(LateTensor, lambda t: ((t._array,), None), lambda _, arrays: _boxed(arrays))
